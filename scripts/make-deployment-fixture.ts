// Writes a data directory as a fixture, with the answers to questions about it: test/fixtures/deployments/NAME.br and .json.
// It asks over HTTP alone, so it works with the program of an earlier commit too:
//
//   node scripts/make-deployment-fixture.ts --name log-7 --log 7 --control 3 --segments 8 [--program OLD/src/cli/main.ts]
//
// The last write stays in the write-ahead files, as after a crash, where the program has any.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { type Answers, FIXTURES, hashesIn, type Json, packed } from '../test/support/deployment-fixture.ts';

const FIXTURE_BYTES_MAX = 300_000;
const PEOPLE = ['ada', 'bob', 'eve'] as const;
const PLACES = ['harbour', 'quarry', 'orchard', 'lighthouse', 'foundry', 'windmill', 'chapel', 'granite bridge'];
const CAL = [
  'RECALL beliefs WHERE subject = "ada" LIMIT 50',
  'RECALL goals LIMIT 50',
  'RECALL events WHERE session_id = "s1" LIMIT 50',
];
const WAIT_MS = 100;
const WAITS_MAX = 300;

interface Server {
  readonly url: string;
  readonly end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<void>;
  readonly kill: () => void;
}

async function start(program: string, directory: string): Promise<Server> {
  const flags = ['--http-port', '0', '--grpc-port', '0', '--shards', '2', '--workers', '1', '--embedder', 'ngram'];
  const child = spawn(process.execPath, [program, 'serve', '--data-dir', directory, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { http } = JSON.parse(line) as { readonly http: string };
  return {
    url: http,
    kill: () => child.kill('SIGKILL'),
    end: async (signal) => {
      const closed = once(child, 'exit');
      child.kill(signal);
      await closed;
    },
  };
}

interface Answered {
  readonly status: number;
  readonly body: Json;
}

async function ask(server: Server, key: string, verb: string, path: string, json?: unknown): Promise<Answered> {
  const answer = await fetch(`${server.url}/api${path}`, {
    method: verb,
    headers: { authorization: `Bearer ${key}`, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  return { status: answer.status, body: (await answer.json()) as Json };
}

const M = '/memories/default';

interface Item {
  readonly grain_type: string;
  readonly fields: Json;
}

/** The grains that are added at first: each type, several persons, and sentences that only one grain has. */
function grains(): readonly Item[] {
  const of = (grain_type: string, fields: Json): Item => ({ grain_type, fields });
  const texts = PLACES.flatMap((place, at) =>
    PEOPLE.map((user_id, turn) =>
      of('event', {
        content: `${user_id} told how the ${place} looked in the ${['rain', 'snow', 'sun'][turn]}`,
        user_id,
        role: 'user',
        session_id: `s${at % 3}`,
        tags: [at % 2 === 0 ? 'walk' : 'talk'],
      }),
    ),
  );
  return [
    ...texts,
    of('belief', { subject: 'ada', relation: 'prefers', object: 'jasmine tea', confidence: 0.75, user_id: 'ada' }),
    of('belief', { subject: 'ada', relation: 'lives in', object: 'Lisbon', namespace: 'acme/prod', user_id: 'ada' }),
    of('belief', { subject: 'bob', relation: 'works at', object: 'the bakery', user_id: 'bob' }),
    of('belief', { subject: 'eve', relation: 'plays', object: 'the cello', user_id: 'eve' }),
    of('state', { data: { theme: 'dark', open: ['a.ts'] }, session_id: 's1', user_id: 'ada' }),
    of('workflow', { nodes: ['fetch', 'store'], edges: [{ src: 'fetch', dst: 'store' }], trigger: 'nightly import' }),
    of('action', { tool_name: 'grep', input: { pattern: 'x+' }, content: 'three lines', session_id: 's1' }),
    of('observation', { content: 'the kettle boils', observer_id: 'sensor-1', observer_type: 'sensor' }),
    of('goal', { description: 'Ship the release', goal_state: 'active', priority: 'high', session_id: 's1' }),
    of('reasoning', { premises: ['it rains', 'roofs leak'], conclusion: 'bring a bucket' }),
    of('consensus', { participating_observers: ['a', 'b'], threshold: 0.5, agreement_count: 2, agreed_content: 'yes' }),
  ];
}

const QUESTIONS = [
  'how did the lighthouse look in the snow?',
  'jasmine tea',
  'where does ada live? Lisbon',
  'kettle boils',
  'ship the release',
  'bring a bucket',
];

class Maker {
  readonly #key: string;
  readonly #server: Server;
  readonly refused: Record<string, string> = {};

  constructor(server: Server, key: string) {
    this.#server = server;
    this.#key = key;
  }

  /** The answer. A refusal is noted: an earlier build has not all operations. */
  async do(what: string, verb: string, path: string, json?: unknown): Promise<Json> {
    const { status, body } = await ask(this.#server, this.#key, verb, path, json);
    if (status >= 400) this.refused[what] = `${status} ${JSON.stringify(body)}`.slice(0, 160);
    return body;
  }

  async settled(): Promise<number> {
    for (let turn = 0; turn < WAITS_MAX; turn += 1) {
      const stats = await this.do('stats', 'GET', `${M}/stats`);
      const lag =
        Number(stats['index_lag'] ?? 0) + Number(stats['purge_pending'] ?? 0) + Number(stats['pending_writes'] ?? 0);
      if (lag === 0) return Number(stats['vectors'] ?? 0);
      await new Promise((done) => setTimeout(done, WAIT_MS));
    }
    throw new Error('the memory did not settle');
  }
}

const hashOf = (body: Json): string => String(body['hash'] ?? body['blob_hash'] ?? body['new_hash']);

/** Changes of each kind: a new version, a grain forgotten, a person and a scope erased, one restricted, keys, a policy. */
async function change(
  maker: Maker,
): Promise<Pick<Answers, 'keys'> & { readonly gone: string[]; readonly kept: string[] }> {
  const answer = await maker.do('batch', 'POST', `${M}/batch-add`, { grains: grains() });
  if (!Array.isArray(answer['added'])) throw new Error(`no grain was added: ${JSON.stringify(answer)}`);
  const { added, errors } = answer as unknown as {
    readonly added: readonly { readonly blob_hash: string; readonly index: number }[];
    readonly errors: readonly Json[];
  }; // the contract
  for (const { index, error } of errors) maker.refused[`item ${String(index)}`] = String(error);
  const all = grains();
  const at = (test: (fields: Json) => boolean): string =>
    added.find(({ index }) => test(all[index]?.fields ?? {}))?.blob_hash ?? '';
  const tea = at((fields) => fields['object'] === 'jasmine tea');
  const next = await maker.do('supersede', 'POST', `${M}/supersede`, {
    old_hash: tea,
    grain_type: 'belief',
    fields: { subject: 'ada', relation: 'prefers', object: 'jasmine tea with honey', user_id: 'ada' },
    justification: 'She said so.',
  });
  const forgotten = at((fields) => String(fields['content']).startsWith('bob told how the quarry'));
  await maker.do('forget', 'POST', `${M}/forget`, { hashes: [forgotten] });
  const ofEve = added.filter(({ index }) => all[index]?.fields['user_id'] === 'eve').map(({ blob_hash }) => blob_hash);
  await maker.do('erase', 'POST', `${M}/forget`, { user_id: 'eve' });
  await maker.do('consent', 'POST', `${M}/consent/grant`, {
    user_id: 'ada',
    purpose: 'marketing',
    basis: 'Form of 3 May.',
  });
  await maker.do('policy', 'PUT', `${M}/policy`, { add_policies: ['ccpa'] });
  await maker.do('restrict', 'POST', `${M}/app/exec`, {
    command: 'restrict',
    args: { user_id: 'bob', reason: 'Contested.' },
  });
  const key = async (
    name: string,
    scopes: readonly string[],
  ): Promise<{ readonly id: string; readonly raw: string }> => {
    const made = await maker.do(`key ${name}`, 'POST', '/auth/keys', { name, scopes });
    const { key_id, id, key: raw, raw_key } = made as Readonly<Record<string, string | undefined>>;
    return { id: key_id ?? id ?? '', raw: raw ?? raw_key ?? '' };
  };
  const [admin, read, revoked] = [await key('a', ['admin']), await key('r', ['read']), await key('x', ['read'])];
  await maker.do('revoke', 'DELETE', `/auth/keys/${revoked.id}`);
  await maker.do('other memory', 'POST', '/memories', { id: 'wide', partitions: 2, name: 'Two partitions' });
  await maker.do('wide', 'POST', '/memories/wide/batch-add', { grains: grains().slice(0, 8) });
  const gone = [forgotten, ...ofEve];
  const kept = [...added.map(({ blob_hash }) => blob_hash).filter((hash) => !gone.includes(hash)), hashOf(next)];
  return { keys: { admin: admin.raw, read: read.raw, revoked: revoked.raw }, gone, kept };
}

/** Asks about the memory. */
async function answersOf(maker: Maker, kept: readonly string[]) {
  const shown: Record<string, Json> = {};
  for (const hash of kept) {
    const { grain, fields } = await maker.do(`get ${hash}`, 'GET', `${M}/grains/${hash}`);
    const found = (fields ?? (grain as Json | undefined)?.['fields']) as Json | undefined;
    if (found !== undefined) shown[hash] = found;
  }
  const recalled: Record<string, string> = {};
  for (const query of QUESTIONS) {
    const { results, hits } = await maker.do('recall', 'POST', `${M}/recall`, { query, limit: 3 });
    const [first] = (results ?? hits) as readonly Json[];
    if (first !== undefined) recalled[query] = hashOf(first);
  }
  const cal: Record<string, readonly string[]> = {};
  for (const query of CAL) {
    const { result = {} } = await maker.do('cal', 'POST', `${M}/app/exec`, { command: 'cal', args: { query } });
    cal[query] = hashesIn(result);
  }
  const { entries } = (await maker.do('audit', 'GET', `${M}/audit?limit=200`)) as { readonly entries: readonly Json[] };
  const policy = await maker.do('show policy', 'GET', `${M}/policy`);
  return {
    grains: shown,
    recalled,
    cal,
    trail: entries.map(({ hash }) => String(hash)),
    presets: (policy['policies'] ?? policy['presets']) as readonly string[],
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      name: { type: 'string' },
      program: { type: 'string', default: join(import.meta.dirname, '../src/cli/main.ts') },
      log: { type: 'string' },
      control: { type: 'string' },
      segments: { type: 'string' },
    },
  });
  if (values.name === undefined) throw new Error('--name is missing: the name of the fixture');
  const formats = { log: Number(values.log), control: Number(values.control), segments: Number(values.segments) };
  const directory = mkdtempSync(join(tmpdir(), 'granary-fixture-'));
  try {
    const program = resolve(values.program);
    let server = await start(program, directory);
    process.once('exit', () => server.kill());
    const key = readFileSync(join(directory, 'keys/bootstrap.key'), 'utf8').trim();
    let maker = new Maker(server, key);
    const { keys, gone, kept } = await change(maker);
    const vectors = await maker.settled();
    await server.end('SIGTERM');
    const { refused } = maker;
    server = await start(program, directory);
    maker = new Maker(server, key);
    const last = await maker.do('last', 'POST', `${M}/add`, { subject: 'Zoe', relation: 'keeps', object: 'pigeons' });
    const answers: Answers = {
      formats,
      refused: { ...refused, ...maker.refused },
      keys,
      gone,
      vectors,
      restricted: ['bob'],
      ...(await answersOf(maker, [...kept, hashOf(last)])),
    };
    await maker.settled();
    await server.end('SIGKILL');
    const bytes = packed(directory);
    if (bytes.length > FIXTURE_BYTES_MAX) throw new Error(`the fixture has ${bytes.length} bytes`);
    mkdirSync(FIXTURES, { recursive: true });
    writeFileSync(join(FIXTURES, `${values.name}.br`), bytes);
    writeFileSync(join(FIXTURES, `${values.name}.json`), `${JSON.stringify(answers, null, 1)}\n`);
    console.log(`${values.name}: ${bytes.length} bytes, ${Object.keys(answers.grains).length} grains`, answers.refused);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
