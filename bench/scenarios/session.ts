// An agent's session: its bootstrap over HTTP among many grains of others, beside a get of one grain, and in process the
// compile of its context and the summary of many actions.
import { join } from 'node:path';
import type { AddItem } from '../../src/engine/calls/grain.ts';
import { compileContext } from '../../src/engine/session/compile.ts';
import { addAll, batchesOf, contextOf, makeMemories, openShard, settle } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { grainSource } from '../lib/grains.ts';
import { getRequest, HttpConnection } from '../lib/http-client.ts';
import { type Measured, type Options, type Scenario, type Size, sized } from '../lib/scenario.ts';
import { askJson, createMemory, settled, startServer, type Target } from '../lib/server.ts';
import { inTurns, median, medianRatio, percentile, rounded } from '../lib/statistics.ts';

const START = 1_750_000_000;
const SESSION = 'the-session';
const GOALS = 10;
const ACTIONS = 100;
const SESSION_GRAINS = 200;
const CANDIDATES = 500;
const TOKENS = 4_000;
/** A get by how much a bootstrap may be slower, and by how many milliseconds more. */
const OF_A_GET = 1.5;
const MORE_MS = 0.5;

export const scenario: Scenario = {
  name: 'session',
  about: 'bootstrap of a session over HTTP beside a get, and context and summary in process',
  aims: [
    { metric: 'near_bootstrap_over_aim_ratio', atMost: 1 },
    { metric: 'far_bootstrap_over_aim_ratio', atMost: 1 },
    { metric: 'context_p50_ms', atMost: 3 },
  ],
  run,
};

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const memories = {
    near: sized(size, { full: 100_000, quick: 30_000, smoke: 300 }),
    far: sized(size, { full: 1_000_000, quick: 100_000, smoke: 600 }),
  };
  const rounds = sized(size, { full: 9, quick: 5, smoke: 1 });
  const calls = sized(size, { full: 300, quick: 150, smoke: 3 });
  return inFolder(async (folder) => {
    const dataDirectory = join(folder, 'served');
    const server = await start({ dataDirectory, workers: 2, shards: 8, profile, auth: 'api-key' });
    const metrics: Record<string, number> = {};
    try {
      for (const [name, grains] of Object.entries(memories))
        Object.assign(metrics, await overHttp(server, name, { grains, rounds, calls }));
    } finally {
      await server.stop();
    }
    Object.assign(metrics, await inProcess(join(folder, 'shard'), size, rounds));
    return {
      parameters: {
        ...memories,
        session_grains: SESSION_GRAINS,
        candidates: CANDIDATES,
        tokens: TOKENS,
        calls,
        rounds,
      },
      metrics: rounded(metrics),
    };
  });
}

/** A session in the middle of a memory of others. */
async function overHttp(
  server: Target,
  name: string,
  { grains, rounds, calls }: { readonly grains: number; readonly rounds: number; readonly calls: number },
): Promise<Record<string, number>> {
  const id = `session-${name}`;
  await createMemory(server, id);
  const source = grainSource(1);
  const crowd = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= 10_000) await addOver(server, id, source.take(Math.min(left, 10_000)));
  };
  await crowd(grains / 2);
  await addOver(server, id, sessionGrains());
  await crowd(grains / 2);
  await settled(server);
  const M = `/api/memories/${id}`;
  const [{ hash }] = (
    (await askJson(server, 'GET', `/memories/${id}/grains?session_id=${SESSION}&limit=1`)) as {
      grains: [{ hash: string }];
    }
  ).grains;
  const connection = await HttpConnection.open(server.http);
  const requests = {
    get: getRequest(`${M}/grains/${hash}`, server.key),
    bootstrap: getRequest(`${M}/sessions/${SESSION}/bootstrap`, server.key),
  };
  const times = await inTurns(
    rounds + 1,
    {
      get: () => timed(calls, () => answered(connection, requests.get)),
      bootstrap: () => timed(calls, () => answered(connection, requests.bootstrap)),
    },
    {
      get: { operations: calls, server, row: `${name}_get` },
      bootstrap: { operations: calls, server, row: `${name}_bootstrap` },
    },
  );
  connection.close();
  const p50s = (what: keyof typeof times): number[] => times[what].slice(1).map((ms) => percentile(ms, 0.5));
  return {
    [`${name}_get_p50_ms`]: median(p50s('get')),
    [`${name}_bootstrap_p50_ms`]: median(p50s('bootstrap')),
    [`${name}_bootstrap_p99_ms`]: median(times.bootstrap.slice(1).map((ms) => percentile(ms, 0.99))),
    [`${name}_bootstrap_over_aim_ratio`]: medianRatio(
      p50s('bootstrap'),
      p50s('get').map((ms) => OF_A_GET * ms + MORE_MS),
    ),
  };
}

/** A state, goals, actions and beliefs. */
function sessionGrains(): AddItem[] {
  return Array.from({ length: SESSION_GRAINS }, (_, i): AddItem => {
    const common = { session_id: SESSION, created_at: START + i };
    if (i === 0)
      return { grainType: 'state', fields: { ...common, data: { step: i, plan: ['find', 'order', 'ship'] } } };
    if (i <= GOALS)
      return { grainType: 'goal', fields: { ...common, description: `goal ${i}`, priority: ['low', 'high'][i % 2]! } };
    return i <= GOALS + ACTIONS ? action(i, common) : belief(i, common);
  });
}

function action(i: number, common: AddItem['fields']): AddItem {
  const fields = { tool_name: `tool-${i % 7}`, input: { query: `question ${i}` }, duration_ms: i % 400 };
  const outcome = i % 9 === 0 ? { is_error: true, error: `error ${i % 3}` } : { content: `answer ${i} in some words` };
  return { grainType: 'action', fields: { ...common, ...fields, ...outcome } };
}

function belief(i: number, common: AddItem['fields']): AddItem {
  const fields = { subject: `thing-${i}`, relation: 'is like', object: `another thing of number ${i}` };
  return { grainType: 'belief', fields: { ...common, ...fields, importance: (i % 10) / 10 } };
}

async function addOver(server: Target, id: string, items: readonly AddItem[]): Promise<void> {
  for (const { items: some } of batchesOf(1, items))
    await askJson(server, 'POST', `/memories/${id}/batch-add`, {
      grains: some.map(({ grainType, fields }) => ({ grain_type: grainType, fields })),
    });
}

function answered(connection: HttpConnection, request: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.call(request, (body) => (body === undefined ? reject(new Error('refused')) : resolve()));
  });
}

async function inProcess(folder: string, size: Size, rounds: number): Promise<Record<string, number>> {
  const actions = sized(size, { full: 100_000, quick: 20_000, smoke: 300 });
  const repeats = sized(size, { full: 200, quick: 50, smoke: 2 });
  const shard = await openShard(folder);
  await makeMemories(shard.engine, 1, 1);
  const ofContext = Array.from({ length: CANDIDATES }, (_, i) => {
    const common = { session_id: SESSION, created_at: START + i };
    return i % 2 === 0 ? action(i, common) : belief(i, common);
  });
  const many = Array.from({ length: actions }, (_, i) => action(i, { session_id: 'long', created_at: START + i }));
  for (let at = 0; at < many.length; at += 10_000) await addAll(shard, batchesOf(1, many.slice(at, at + 10_000)));
  await addAll(shard, batchesOf(1, ofContext));
  await settle(shard);
  const asked = { tokenBudget: TOKENS, format: 'json' } as const;
  const { engine } = shard;
  const context = contextOf(1);
  const times = await inTurns(
    rounds + 1,
    {
      context: () =>
        timed(repeats, async () => {
          compileContext(engine.read('sessionContext', context, { sessionId: SESSION, ...asked }), asked);
        }),
      summary: () =>
        timed(Math.ceil(repeats / 10), async () => {
          engine.read('sessionSummary', context, { sessionId: 'long' });
        }),
    },
    { context: repeats, summary: Math.ceil(repeats / 10) },
  );
  await shard.close();
  const p50 = (what: keyof typeof times): number => median(times[what].slice(1).map((ms) => percentile(ms, 0.5)));
  return { context_p50_ms: p50('context'), summary_p50_ms: p50('summary') };
}

/** Milliseconds of each. */
async function timed(count: number, work: () => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return times;
}
