// A harness's turn over HTTP, with a model that answers at once in the server itself; and its context alone: the definition is read, then the query of its template finds what the memory
// holds about the message and renders it. Beside it, in turns, a recall of the same words and a get of one grain.
import { join } from 'node:path';
import { ESTIMATE } from '../../src/engine/cal/output/tokens.ts';
import { namedQuery } from '../../src/server/harness/assemble/named.ts';
import { boundText } from '../../src/server/harness/assemble/query.ts';
import { batchesOf } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { type GrainSource, grainSource } from '../lib/grains.ts';
import { getRequest, HttpConnection, postRequest } from '../lib/http-client.ts';
import { type Measured, type Options, type Scenario, sized } from '../lib/scenario.ts';
import { askJson, createMemory, settled, startServer, type Target } from '../lib/server.ts';
import { inTurns, median, percentile, rounded } from '../lib/statistics.ts';

const MEMORY = 'agents';
const SLUG = 'support';
const SESSION = 'the-session';
const USER = 'user-7';
const QUERY = 'support_copilot';
const BUDGET = 3_500;
/** Share of the grains that are chunks of documents. */
const DOCUMENTS = 0.1;
const QUESTIONS = 64;

export const scenario: Scenario = {
  name: 'harness',
  about: 'a turn over HTTP with a model that answers at once, and its context: definition and query of a template',
  aims: [
    { metric: 'turn_p50_ms', atMost: 15 },
    { metric: 'assembly_p50_ms', atMost: 5 },
  ],
  run,
};

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const grains = sized(size, { full: 100_000, quick: 20_000, smoke: 300 });
  const rounds = sized(size, { full: 9, quick: 5, smoke: 1 });
  const calls = sized(size, { full: 300, quick: 100, smoke: 3 });
  return inFolder(async (folder) => {
    const dataDirectory = join(folder, 'served');
    const server = await start({ dataDirectory, workers: 2, shards: 8, profile, auth: 'api-key' });
    try {
      const source = grainSource(1);
      const hash = await fill(server, source, grains);
      const metrics = await measured(server, source, { hash, rounds, calls });
      return { parameters: { grains, documents: DOCUMENTS, query: QUERY, calls, rounds }, metrics: rounded(metrics) };
    } finally {
      await server.stop();
    }
  });
}

/** Facts, chunks of documents, a session and the harness. Resolves to the hash of a grain. */
async function fill(server: Target, source: GrainSource, grains: number): Promise<string> {
  await createMemory(server, MEMORY);
  const M = `/memories/${MEMORY}`;
  const facts = source.take(grains).map((item, at) =>
    at % (1 / DOCUMENTS) === 0
      ? {
          grainType: 'event',
          fields: {
            content: String(item.fields['object']),
            context: { document: { file_name: `book-${at % 100}.pdf`, page: at % 300 } },
          },
        }
      : item,
  );
  const said = Array.from({ length: 12 }, (_, at) => ({
    grainType: 'event',
    fields: {
      content: source.question(),
      session_id: SESSION,
      user_id: USER,
      role: at % 2 === 0 ? 'user' : 'assistant',
    },
  }));
  for (const { items } of batchesOf(1, [...facts, ...said]))
    await askJson(server, 'POST', `${M}/batch-add`, {
      grains: items.map(({ grainType, fields }) => ({ grain_type: grainType, fields })),
    });
  // The model repeats the message, in no time.
  await askJson(server, 'PUT', '/settings/providers/echo', { kind: 'mock' });
  const model = { provider: 'echo', model: 'echo' };
  await askJson(server, 'POST', `${M}/harnesses/${SLUG}/provision`, { template: 'support-copilot', ...model });
  await settled(server);
  const page = await askJson(server, 'GET', `${M}/grains?limit=1`);
  return (page as { grains: [{ hash: string }] }).grains[0].hash;
}

interface Rounds {
  readonly hash: string;
  readonly rounds: number;
  readonly calls: number;
}

async function measured(
  server: Target,
  source: GrainSource,
  { hash, rounds, calls }: Rounds,
): Promise<Record<string, number>> {
  const questions = Array.from({ length: QUESTIONS }, () => source.question());
  const M = `/api/memories/${MEMORY}`;
  const connection = await HttpConnection.open(server.http);
  const text = namedQuery(QUERY, { forUser: true, budget: BUDGET }) ?? '';
  const parameters = { user: USER, def_ns: `harnesses/${SLUG}/def`, session_id: SESSION };
  const assemblies = questions.map((query) => {
    const args = { query: boundText(text, { ...parameters, query }) };
    return postRequest(`${M}/app/exec`, JSON.stringify({ command: 'cal', args }), server.key);
  });
  const recalls = questions.map((query) =>
    postRequest(`${M}/recall`, JSON.stringify({ query, limit: 20 }), server.key),
  );
  const turns = questions.map((question) => {
    const message = { conversation_id: SESSION, user_id: USER, user_message: question };
    return postRequest(`${M}/harnesses/${SLUG}/chat`, JSON.stringify(message), server.key);
  });
  const get = getRequest(`${M}/grains/${hash}`, server.key);
  const definition = getRequest(`${M}/harnesses/${SLUG}`, server.key);
  const counted = { operations: calls, server };
  const times = await inTurns(
    rounds + 1,
    {
      get: () => timed(connection, calls, () => get),
      definition: () => timed(connection, calls, () => definition),
      recall: () => timed(connection, calls, (at) => recalls[at % QUESTIONS]!),
      query: () => timed(connection, calls, (at) => assemblies[at % QUESTIONS]!),
      turn: () => timed(connection, calls, (at) => turns[at % QUESTIONS]!),
    },
    { get: counted, definition: counted, recall: counted, query: counted, turn: counted },
  );
  const sizes: number[] = [];
  for (const request of assemblies) sizes.push(ESTIMATE.count(contentOf(await answered(connection, request))));
  connection.close();
  const p50 = (what: keyof typeof times): number => median(times[what].slice(1).map((ms) => percentile(ms, 0.5)));
  return {
    get_p50_ms: p50('get'),
    definition_p50_ms: p50('definition'),
    recall_p50_ms: p50('recall'),
    query_p50_ms: p50('query'),
    query_p99_ms: median(times.query.slice(1).map((ms) => percentile(ms, 0.99))),
    assembly_p50_ms: p50('definition') + p50('query'),
    turn_p50_ms: p50('turn'),
    turn_p99_ms: median(times.turn.slice(1).map((ms) => percentile(ms, 0.99))),
    context_tokens: median(sizes),
  };
}

function contentOf(body: Buffer): string {
  const { result } = JSON.parse(body.toString()) as { result: { result: { content: string } } }; // of an ASSEMBLE
  return result.result.content;
}

/** Milliseconds of each call, one after the other. */
async function timed(connection: HttpConnection, calls: number, request: (at: number) => Buffer): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < calls; at += 1) {
    const started = performance.now();
    await answered(connection, request(at));
    times.push(performance.now() - started);
  }
  return times;
}

function answered(connection: HttpConnection, request: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    connection.call(request, (body) => (body === undefined ? reject(new Error('refused')) : resolve(body)));
  });
}
