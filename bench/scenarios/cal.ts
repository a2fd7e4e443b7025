// CAL queries over one sealed memory of beliefs, events and goals: in the engine, with the answer as JSON text, and
// over gRPC with parsing, audit entry and transport. Every query text was sent before, as an agent's are.

import { join } from 'node:path';
import { defined } from '../../src/engine/base/defined.ts';
import { PLAIN_SESSION } from '../../src/engine/cal/run/session.ts';
import { isRefused } from '../../src/engine/calls/cal.ts';
import type { AddItem } from '../../src/engine/calls/grain.ts';
import { CalQueryRequest } from '../../src/server/gen/memory/v1/memory.ts';
import type { CallMemory } from '../../src/shards/gather/answers.ts';
import { runCal } from '../../src/shards/gather/cal.ts';
import { CALL_ROWS } from '../../src/shards/protocol.ts';
import { addAll, batchesOf, contextOf, makeMemories, type OpenShard, openShard, settle } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { type GrainSource, grainSource } from '../lib/grains.ts';
import { callHead, framed, GrpcConnection } from '../lib/grpc-client.ts';
import { type Measured, type Options, type Scenario, sized } from '../lib/scenario.ts';
import { askJson, createMemory, settled, startServer, type Target } from '../lib/server.ts';
import { inTurns, median, percentile, rounded } from '../lib/statistics.ts';

const CONTEXT = contextOf(1);
const VARIED = contextOf(2);
const EVENTS_EVERY = 10;
const GOALS_EVERY = 50;
const START = 1_750_000_000;

export const scenario: Scenario = {
  name: 'cal',
  about: 'CAL queries over one memory: in the engine, and over gRPC',
  aims: [
    { metric: 'subject_p50_ms', atMost: 0.3 },
    { metric: 'recent_p50_ms', atMost: 0.17 },
    { metric: 'assemble_p50_ms', atMost: 1 },
    { metric: 'grpc_assemble_p50_ms', atMost: 2 },
    { metric: 'filters_worst_cpu_ms', atMost: 10 },
    { metric: 'group_relation_cpu_ms', atMost: 10 },
    { metric: 'contradictions_cpu_ms', atMost: 300 },
  ],
  run,
};

type Query = (subject: string) => string;

const QUERIES = {
  subject: (subject) => `RECALL beliefs WHERE subject = "${subject}"`,
  recent: () => 'RECALL events RECENT 20',
  first: () => 'RECALL beliefs',
  filtered: (subject) =>
    `RECALL beliefs WHERE subject = "${subject}" AND relation != "relation-1" AND confidence < 0.5`,
  ordered: (subject) => `RECALL beliefs WHERE subject = "${subject}" ORDER BY confidence DESC LIMIT 10`,
  count: () => 'RECALL beliefs WHERE confidence >= 0.5 | COUNT',
  assemble: (subject) =>
    `ASSEMBLE context FOR "what to say next" FROM goals: (RECALL goals LIMIT 10), who: (RECALL beliefs WHERE subject = "${subject}"), talk: (RECALL events RECENT 20) BUDGET 900 tokens PRIORITY goals > who > talk`,
} as const satisfies Record<string, Query>;
/**
 * Conditions on fields of all kinds, over a whole memory of many kinds. Measured in CPU time, which other processes
 * change less.
 */
const FILTERS = {
  goal_state: 'RECALL goals WHERE goal_state = "active" LIMIT 20',
  goal_state_not: 'RECALL goals WHERE goal_state != "active" LIMIT 20',
  role: 'RECALL events WHERE role = "user" LIMIT 20',
  role_recent: 'RECALL events WHERE role = "user" RECENT 20',
  tool_name: 'RECALL actions WHERE tool_name = "search" LIMIT 20',
  source_type: 'RECALL WHERE source_type = "agent" LIMIT 20',
  verification: 'RECALL WHERE verification_status = "contested" LIMIT 20',
  recall_priority: 'RECALL WHERE recall_priority = "hot" LIMIT 20',
  order_role: 'RECALL events ORDER BY role LIMIT 20',
  group_relation: 'RECALL beliefs | GROUP BY relation',
  group_role: 'RECALL events | GROUP BY role',
  group_source_type: 'RECALL | GROUP BY source_type',
  contradictions: 'RECALL beliefs CONTRADICTIONS LIMIT 20',
} as const;
/** These open the grains of twenty groups, or score all beliefs, and have separate aims. */
const HEAVY: ReadonlySet<string> = new Set(['group_relation', 'contradictions']);

type Name = keyof typeof QUERIES;
const NAMES = Object.keys(QUERIES) as Name[]; // keys of the literal above

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const grains = sized(size, { full: 100_000, quick: 30_000, smoke: 500 });
  const rounds = sized(size, { full: 7, quick: 3, smoke: 1 });
  const subjects = sized(size, { full: 200, quick: 100, smoke: 5 });
  const source = grainSource(1);
  const items = mixed(source, grains);
  const asked = Array.from({ length: subjects }, () => source.subject());
  return inFolder(async (folder) => {
    const engine = await inEngine(join(folder, 'granary'), items, asked, rounds);
    const grpc = await overGrpc(join(folder, 'server'), items, asked, { rounds, profile, start });
    return {
      parameters: { grains, subjects, rounds },
      metrics: rounded({ ...engine, ...grpc }),
    };
  });
}

/** Beliefs of the source, with events and goals between them. Latencies have always been measured over these. */
function mixed(source: GrainSource, grains: number): AddItem[] {
  return source.take(grains).map(({ grainType, fields }, i): AddItem => {
    const created_at = START + i;
    if (i % GOALS_EVERY === 1)
      return { grainType: 'goal', fields: { description: fields['object']!, subject: fields['subject']!, created_at } };
    if (i % EVENTS_EVERY === 0)
      return {
        grainType: 'event',
        fields: {
          content: fields['object']!,
          role: i % 20 === 0 ? 'user' : 'assistant',
          session_id: `s${i % 100}`,
          created_at,
        },
      };
    return { grainType, fields: { ...fields, created_at } };
  });
}

/** The same with the values that filters test: states of goals, actions, and beliefs with more fields. */
function varied(items: readonly AddItem[]): AddItem[] {
  return items.map((item, i): AddItem => {
    const { grainType, fields } = item;
    switch (i % GOALS_EVERY) {
      case 1:
        return { grainType, fields: { ...fields, goal_state: ['active', 'satisfied', 'failed'][i % 3]! } };
      case 2:
        return {
          grainType: 'action',
          fields: { tool_name: `tool-${i % 7}`, content: fields['object']!, created_at: fields['created_at']! },
        };
      case 3:
        return {
          grainType,
          fields: { ...fields, source_type: 'agent', verification_status: 'contested', recall_priority: 'hot' },
        };
      default:
        return item;
    }
  });
}

async function inEngine(
  folder: string,
  items: readonly AddItem[],
  subjects: readonly string[],
  rounds: number,
): Promise<Record<string, number>> {
  const shard = await openShard(folder);
  await makeMemories(shard.engine, 1, 1);
  await addAll(shard, batchesOf(1, items));
  await settle(shard);
  let grains = 0;
  const work = Object.fromEntries(
    NAMES.map((name) => [
      name,
      () =>
        subjects.map((subject) => {
          const query = QUERIES[name](subject);
          const started = performance.now();
          grains += answered(shard, query);
          return performance.now() - started;
        }),
    ]),
  ) as unknown as Record<Name, () => number[]>; // One for each name.
  const counted = Object.fromEntries(NAMES.map((name) => [name, subjects.length]));
  const all = await inTurns<Name, number[]>(rounds + 1, work, counted);
  await makeMemories(shard.engine, VARIED.memory, 1);
  await addAll(shard, batchesOf(VARIED.memory, varied(items)));
  await settle(shard);
  const filters = await filterCosts(shard, rounds);
  await shard.close();
  const metrics: Record<string, number> = {
    grains_mean: grains / (subjects.length * (rounds + 1) * NAMES.length),
    ...filters,
  };
  for (const name of NAMES) {
    const later = all[name].slice(1);
    metrics[`${name}_p50_ms`] = median(later.map((figures) => percentile(figures, 0.5)));
    metrics[`${name}_p99_ms`] = median(later.map((figures) => percentile(figures, 0.99)));
  }
  return metrics;
}

/** CPU time of each filter, and the worst of those that share an aim. */
async function filterCosts(shard: OpenShard, rounds: number): Promise<Record<string, number>> {
  const costs: Record<string, number> = {};
  let worst = 0;
  for (const [name, query] of Object.entries(FILTERS)) {
    for (let i = 0; i < FILTER_WARM_UPS; i++) await answeredAnyhow(shard, query);
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = process.cpuUsage();
      for (let i = 0; i < FILTER_REPEATS; i++) await answeredAnyhow(shard, query);
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1_000 / FILTER_REPEATS);
    }
    costs[`${name}_cpu_ms`] = median(times);
    if (!HEAVY.has(name)) worst = Math.max(worst, median(times));
  }
  return { ...costs, filters_worst_cpu_ms: worst };
}

const FILTER_REPEATS = 4;
/** The first call opens index blocks, and V8 compiles during the next ones. Agents do not pay for either later. */
const FILTER_WARM_UPS = 8;

/** Also runs reads that a shard does in slices, as the server requests them. */
async function answeredAnyhow({ engine }: OpenShard, query: string): Promise<void> {
  const input = { query, session: PLAIN_SESSION, vectors: [] };
  const reply = engine.read('cal', VARIED, input);
  const call: CallMemory = async (method, asked) =>
    // Both sides of the table use the same method.
    (CALL_ROWS[method].kind === 'long'
      ? engine.write(method as 'flush', VARIED, asked as never)
      : engine.read(method as 'get', VARIED, asked as never)) as never;
  const whole = 'tooLong' in reply ? await runCal(call, VARIED, input) : reply;
  if (isRefused(whole)) throw new Error(`${whole.refused}: ${whole.message}`);
}

function answered({ engine }: OpenShard, query: string): number {
  const reply = engine.read('cal', CONTEXT, { query, session: PLAIN_SESSION, vectors: [] });
  if ('tooLong' in reply) throw new Error(`too long: ${query}`);
  if (isRefused(reply)) throw new Error(`${reply.refused}: ${reply.message}`);
  return reply.resultCount;
}

const GRPC_NAMES: readonly Name[] = ['subject', 'recent', 'assemble'];

async function overGrpc(
  dataDirectory: string,
  items: readonly AddItem[],
  subjects: readonly string[],
  { rounds, profile, start }: { rounds: number; profile: Options['profile']; start: typeof startServer },
): Promise<Record<string, number>> {
  const server = await start({ dataDirectory, workers: 2, shards: 8, auth: 'api-key' as const, profile });
  try {
    await createMemory(server, 'cal');
    for (const { items: some } of batchesOf(1, items))
      await askJson(server, 'POST', '/memories/cal/batch-add', {
        grains: some.map(({ grainType, fields }) => ({ grain_type: grainType, fields })),
      });
    await settled(server);
    const connection = await connected(server);
    const metrics: Record<string, number> = {};
    for (const name of GRPC_NAMES) {
      const row = `grpc_${name}`;
      const ask = async (): Promise<number> => {
        const times: number[] = [];
        for (const subject of subjects) times.push(await callMs(connection, QUERIES[name](subject)));
        return percentile(times, 0.5);
      };
      const { figures } = await inTurns(
        rounds + 1,
        { figures: ask },
        { figures: { operations: subjects.length, server, row } },
      );
      metrics[`${row}_p50_ms`] = median(figures.slice(1));
    }
    connection.connection.close();
    return metrics;
  } finally {
    await server.stop();
  }
}

interface Connection {
  readonly connection: GrpcConnection;
  readonly head: Buffer;
}

async function connected({ grpc, key }: Target): Promise<Connection> {
  const metadata = defined({ 'x-memory-id': 'cal', authorization: key === undefined ? undefined : `Bearer ${key}` });
  return {
    connection: await GrpcConnection.open(grpc),
    head: callHead('/memory.v1.MemoryService/CalQuery', metadata),
  };
}

function callMs({ connection, head }: Connection, query: string): Promise<number> {
  const message = framed(CalQueryRequest.encode({ query }).finish());
  const started = performance.now();
  return new Promise((resolve, reject) => {
    connection.call(head, message, (reply) => {
      if (reply === undefined) reject(new Error(`refused: ${query}`));
      else resolve(performance.now() - started);
    });
  });
}
