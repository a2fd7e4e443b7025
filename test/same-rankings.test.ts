// The same turns over every interface (HTTP batch-add, gRPC BatchAdd, `granary import`), in one partition and in four:
// the same grains, rankings and scores, with vectors and without.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { GrpcClient } from './conformance/grpc-client.ts';
import { granary } from './support/cli.ts';
import { eventually } from './support/eventually.ts';
import { startTestServer, type TestServer } from './support/server.ts';
import { temporaryDirectory } from './support/temporary.ts';

const TURNS = 200;
const THEN = 1_700_000_000;
const WORDS =
  'harbour lantern saffron kitchen budget sprint deadline bicycle garden concert violin recipe airport passport window ' +
  'painting coffee meeting weather mountain library doctor garden yesterday monday photograph rehearsal umbrella';
const QUERIES = [
  'where is the saffron kept',
  'when was the concert',
  'budget and deadline of the sprint',
  'Ada and the violin',
  '"coffee meeting"',
  '+garden umbrella',
  'mountain -weather',
  'what did Tom say about the passport',
  'photographs of the harbour',
  'lantern',
  'the of and',
  'recipe recipe recipe',
  'who goes to the airport on monday',
  'library window painting',
  'doctor yesterday',
  'rehearsal with my violin',
  'bicycle',
  'kitchen saffron recipe',
  'weather in the mountains?',
  'nothing of this is known zzyzx',
];

interface Turn {
  readonly grain_type: 'event';
  readonly fields: Readonly<Record<string, string | number>>;
}

/** Always the same turns: a Lehmer generator with a fixed seed. */
function turns(): Turn[] {
  let state = 42;
  const below = (count: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % count;
  };
  const words = WORDS.split(' ');
  return Array.from({ length: TURNS }, (_, at) => {
    const speaker = ['Ada', 'Tom', 'Ines'][below(3)]!;
    const said = Array.from({ length: 4 + below(20) }, () => words[below(words.length)]!).join(' ');
    const ends = ['.', '?', ' in 2024.', ' I think.'][below(4)]!;
    return {
      grain_type: 'event',
      fields: {
        content: said + ends,
        role: at % 2 === 0 ? 'user' : 'assistant',
        session_id: `s${below(9)}`,
        created_at: THEN + at * 60,
        ...(below(2) === 0 ? { speaker } : {}),
      },
    };
  });
}

async function json(server: TestServer, verb: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${server.http}/api${path}`, {
    method: verb,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const parsed = (await answer.json()) as Record<string, unknown>;
  assert.ok(answer.ok, JSON.stringify(parsed));
  return parsed;
}

/** A filled memory for each interface. */
async function filled(t: TestContext, server: TestServer): Promise<readonly string[]> {
  const folder = temporaryDirectory(t);
  const client = GrpcClient.open(server.grpc, '');
  t.after(() => client.close());
  const memories = ['http', 'grpc', 'import', 'http4', 'grpc4'];
  for (const id of memories) await json(server, 'POST', '/memories', { id, partitions: id.endsWith('4') ? 4 : 1 });
  const grains = turns();
  for (const id of ['http', 'http4'])
    assert.equal((await json(server, 'POST', `/memories/${id}/batch-add`, { grains }))['total_added'], TURNS);
  for (const id of ['grpc', 'grpc4']) {
    const items = grains.map(({ grain_type, fields }) => ({ grain_type, fields_json: JSON.stringify(fields) }));
    const { total_added: added } = await client.call('BatchAdd', { items }, { 'x-memory-id': id });
    assert.equal(added, TURNS);
  }
  const path = join(folder, 'turns.jsonl');
  writeFileSync(path, grains.map((grain) => `${JSON.stringify(grain)}\n`).join(''));
  const place = ['--url', server.grpc, '--http-url', server.http];
  const { code, stderr } = await granary(['import', path, '-m', 'import', ...place]);
  assert.equal(code, 0, stderr);
  return memories;
}

/** Hash and score of each hit, over HTTP and over gRPC. */
async function rankings(server: TestServer, memory: string, query: object): Promise<readonly string[][]> {
  const asked = { limit: 20, score_breakdown: true, ...query };
  const client = GrpcClient.open(server.grpc, '');
  try {
    const { results } = (await json(server, 'POST', `/memories/${memory}/recall`, asked)) as { results: Hit[] };
    const { results: others } = await client.call('Recall', asked, { 'x-memory-id': memory });
    return [results, others as Hit[]].map((hits) => hits.map(shown));
  } finally {
    client.close();
  }
}

interface Hit {
  readonly hash: string;
  readonly score: number;
  readonly score_breakdown: Readonly<Record<string, number>>;
}

const TERMS = ['bm25', 'phrase', 'vector', 'near', 'answer', 'session', 'pooled', 'role', 'speaker', 'time', 'self'];

function shown({ hash, score, score_breakdown: account }: Hit): string {
  // 12 digits: sums over partitions are added in another order.
  return [hash.slice(0, 12), score, ...TERMS.map((term) => account[term] ?? 0)]
    .map((part) => (typeof part === 'number' ? part.toFixed(12) : part))
    .join(' ');
}

for (const embedder of ['none', 'ngram'])
  test(`the same turns rank the same over every interface, in one partition and four (embedder ${embedder})`, async (t) => {
    const server = await startTestServer({ auth: 'none', embedder, shards: '4' });
    t.after(() => server.close());
    const memories = await filled(t, server);
    if (embedder !== 'none')
      for (const memory of memories)
        await eventually('nothing waits for its vector', async () => {
          const { index_lag: lag, vectors } = await json(server, 'GET', `/memories/${memory}/stats`);
          return lag === 0 && vectors === TURNS;
        });
    let found = 0;
    for (const query of QUERIES) {
      const [first, ...others] = await Promise.all(memories.map((memory) => rankings(server, memory, { query })));
      found += first![0]!.length;
      assert.deepEqual(first![1], first![0], `${query}: gRPC as HTTP`);
      for (const [at, other] of others.entries()) assert.deepEqual(other, first, `${query}: ${memories[at + 1]}`);
    }
    assert.ok(found > 200, `${found} hits`);
  });
