// A long mixed load at a fixed share of what the server can do: adds, batches, recalls, CAL, removals, and an erasure in each
// interval. Latency, memory and disk at its end are compared with those at its start.
import { bytesOnDisk, inFolder } from '../lib/folder.ts';
import { LoadClient, type LoadJob, type ServedLoad } from '../lib/load.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { serverSize, sized } from '../lib/scenario.ts';
import { askJson, createMemory, grainsHeld, settled, startServer, type Target } from '../lib/server.ts';
import { median, percentile, rounded } from '../lib/statistics.ts';

const MEMORIES = Array.from({ length: 4 }, (_, i) => `soak-${i}`);
/** The memory in which persons are added and erased, and grains removed. */
const [PEOPLE = ''] = MEMORIES;
const BATCH_GRAINS = 100;
const IN_FLIGHT = 64;
const CONNECTIONS = 4;
/** Of the highest rate of adds, and of batches: together 70 % of the server. */
const SHARE_OF_EACH = 0.35;
/** Grains of the person who is erased in an interval. */
const PERSON_GRAINS = 50;
const PURGE_LOOK_MS = 100;

export const scenario: Scenario = {
  name: 'soak',
  about: 'two hours of mixed load at 70 % of the highest rate: latency, memory and disk over time',
  aims: [
    { metric: 'add_p99_last_over_first_ratio', atMost: 1.25 },
    { metric: 'recall_p99_last_over_first_ratio', atMost: 1.25 },
    { metric: 'resident_last_over_first_ratio', atMost: 1.2 },
    { metric: 'disk_bytes_per_grain_last_over_first_ratio', atMost: 1.1 },
  ],
  run,
};

/** Measurements of one interval. */
interface Interval {
  readonly add: ServedLoad;
  readonly batch: ServedLoad;
  readonly recall: ServedLoad;
  readonly calP99Ms: number;
  readonly forgetP99Ms: number;
  readonly eraseMs: number;
  readonly residentMb: number;
  readonly diskBytesPerGrain: number;
}

interface Plan {
  readonly server: Target;
  readonly folder: string;
  readonly seconds: number;
  readonly adds: number;
  readonly batches: number;
}

/** The processes that make the load. Between intervals they prepare their bodies, for a few seconds. */
interface Clients {
  readonly adder: LoadClient;
  readonly batcher: LoadClient;
  readonly asker: LoadClient;
}

const startClients = (): Clients => ({
  adder: LoadClient.start(),
  batcher: LoadClient.start(),
  asker: LoadClient.start(),
});

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const intervals = sized(size, { full: 120, quick: 8, smoke: 1 });
  const seconds = sized(size, { full: 60, quick: 15, smoke: 0.5 });
  const warmUp = sized(size, { full: 30_000, quick: 10_000, smoke: 40 });
  const { workers, shards } = serverSize(size);
  return inFolder(async (folder) => {
    const options = { dataDirectory: folder, workers, shards, auth: 'api-key', profile, isOwn: true } as const;
    const server = await start(options);
    const clients = startClients();
    try {
      for (const id of MEMORIES) await createMemory(server, id);
      const highest = await highestRates(server, clients, warmUp);
      await settled(server, size === 'smoke' ? 1 : undefined);
      const plan: Plan = {
        server,
        folder,
        seconds,
        adds: Math.max(1, Math.round(highest.adds * SHARE_OF_EACH)),
        batches: Math.max(1, Math.round(highest.batches * SHARE_OF_EACH)),
      };
      const measured: Interval[] = [];
      for (let i = 0; i < intervals; i++) {
        const one = await interval(plan, clients, i);
        measured.push(one);
        if (size !== 'smoke') process.stderr.write(`${lineOf(one, i, intervals)}\n`);
      }
      return {
        parameters: {
          intervals,
          interval_s: seconds,
          adds_per_s: plan.adds,
          batches_per_s: plan.batches,
          workers,
          shards,
        },
        metrics: rounded(metricsOf(measured)),
      };
    } finally {
      for (const client of Object.values(clients) as LoadClient[]) client.stop();
      await server.stop();
    }
  });
}

async function highestRates(
  server: Target,
  { adder, batcher }: Clients,
  calls: number,
): Promise<{ readonly adds: number; readonly batches: number }> {
  const job = { protocol: 'grpc', connections: CONNECTIONS, memories: MEMORIES } as const;
  const adds = { ...job, inFlight: IN_FLIGHT, what: 'add' } as const;
  await adder.run(server, { ...adds, calls, seed: 1 });
  const { callsPerSecond } = await adder.run(server, { ...adds, calls, seed: 2 });
  const batches = await batcher.run(server, {
    ...job,
    inFlight: 4,
    what: 'batchAdd',
    batchGrains: BATCH_GRAINS,
    calls: Math.ceil(calls / BATCH_GRAINS),
    seed: 3,
  });
  return { adds: callsPerSecond, batches: batches.callsPerSecond };
}

/** Runs all loads of an interval at once, for its time. */
async function interval(plan: Plan, { adder, batcher, asker }: Clients, number: number): Promise<Interval> {
  const { server, folder, seconds, adds, batches } = plan;
  // Each interval has grains and questions of its own.
  const seed = 10 + number * 3;
  const job = { protocol: 'grpc', memories: MEMORIES } as const;
  const steady = (perSecond: number, which: Pick<LoadJob, 'what' | 'seed' | 'batchGrains'>): LoadJob => ({
    ...job,
    ...which,
    connections: CONNECTIONS,
    inFlight: 0,
    perSecond,
    calls: Math.ceil(perSecond * seconds),
  });
  const ended = new AbortController();
  const loads = [
    adder.run(server, steady(adds, { what: 'add', seed })),
    batcher.run(server, steady(batches, { what: 'batchAdd', batchGrains: BATCH_GRAINS, seed: seed + 1 })),
  ] as const;
  const questions = { ...job, connections: 1, inFlight: 1, what: 'recall', seed: seed + 2 } as const;
  const recalls = asker.run(server, { ...questions, calls: Math.ceil(2_000 * seconds) });
  const others = beside(server, number, ended.signal);
  const [add, batch] = await Promise.all(loads);
  asker.end();
  ended.abort();
  const recall = await recalls;
  const besides = await others;
  let held = 0;
  for (const id of MEMORIES) held += await grainsHeld(server, id);
  return {
    add,
    batch,
    recall,
    ...besides,
    residentMb: (server.residentBytes() ?? Number.NaN) / 1_048_576,
    diskBytesPerGrain: bytesOnDisk(folder) / held,
  };
}

/** CAL, removals by hash, and the erasure of a person, one after another until the interval has ended. */
async function beside(
  server: Target,
  number: number,
  ended: AbortSignal,
): Promise<Pick<Interval, 'calP99Ms' | 'forgetP99Ms' | 'eraseMs'>> {
  const eraseMs = await erased(server, `person-${number}`);
  const cal: number[] = [];
  const forget: number[] = [];
  do {
    const { blob_hash: hash } = await ask(server, 'add', belief(`thing-${number}`, forget.length));
    forget.push(await timed(() => ask(server, 'forget', { blob_hash: hash })));
    const query = 'RECALL beliefs RECENT 10';
    cal.push(await timed(() => ask(server, 'app/exec', { command: 'cal', args: { query } })));
  } while (!ended.aborted);
  return { calP99Ms: percentile(cal, 0.99), forgetP99Ms: percentile(forget, 0.99), eraseMs };
}

function belief(subject: string, i: number): object {
  return { subject, relation: 'has number', object: `${i} of ${subject}` };
}

/** Adds a person's grains and erases the person. Waits until nothing of them is left to purge. Returns the answer's time. */
async function erased(server: Target, user: string): Promise<number> {
  const grains = Array.from({ length: PERSON_GRAINS }, (_, i) => ({
    grain_type: 'belief',
    fields: { ...belief(user, i), user_id: user },
  }));
  await ask(server, 'batch-add', { grains });
  const eraseMs = await timed(() => ask(server, 'forget', { user_id: user }));
  for (;;) {
    const { purge_pending: pending } = await askJson(server, 'GET', `/memories/${PEOPLE}/stats`);
    if (pending !== true) return eraseMs;
    await new Promise((resolve) => setTimeout(resolve, PURGE_LOOK_MS));
  }
}

const ask = (server: Target, path: string, body: object): Promise<Record<string, unknown>> =>
  askJson(server, 'POST', `/memories/${PEOPLE}/${path}`, body);

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function lineOf({ add, batch, recall, residentMb, diskBytesPerGrain }: Interval, i: number, of: number): string {
  const ms = ({ p50Ms, p99Ms, p999Ms }: ServedLoad): string =>
    [p50Ms, p99Ms, p999Ms].map((one) => one.toFixed(1)).join(' / ');
  return (
    `interval ${i + 1} of ${of}: p50 / p99 / p99.9 ms: add ${ms(add)}, batch ${ms(batch)}, recall ${ms(recall)}; ` +
    `${residentMb.toFixed(0)} MB, ${diskBytesPerGrain.toFixed(0)} bytes a grain`
  );
}

function metricsOf(measured: readonly Interval[]): Record<string, number> {
  const quarter = Math.max(1, Math.floor(measured.length / 4));
  const lastOverFirst = (figure: (one: Interval) => number): number =>
    median(measured.slice(-quarter).map(figure)) / median(measured.slice(0, quarter).map(figure));
  const whole = (figure: (one: Interval) => number): number => median(measured.map(figure));
  const loads = (['add', 'batch', 'recall'] as const).flatMap((name) => [
    [`${name}_p50_ms`, whole((one) => one[name].p50Ms)],
    [`${name}_p99_ms`, whole((one) => one[name].p99Ms)],
    [`${name}_p999_ms`, whole((one) => one[name].p999Ms)],
    [`${name}_p99_last_over_first_ratio`, lastOverFirst((one) => one[name].p99Ms)],
  ]);
  return {
    ...Object.fromEntries(loads),
    cal_p99_ms: whole(({ calP99Ms }) => calP99Ms),
    forget_p99_ms: whole(({ forgetP99Ms }) => forgetP99Ms),
    erase_ms: whole(({ eraseMs }) => eraseMs),
    erasures: measured.length,
    resident_mb: whole(({ residentMb }) => residentMb),
    resident_last_over_first_ratio: lastOverFirst(({ residentMb }) => residentMb),
    disk_bytes_per_grain: whole(({ diskBytesPerGrain }) => diskBytesPerGrain),
    disk_bytes_per_grain_last_over_first_ratio: lastOverFirst(({ diskBytesPerGrain }) => diskBytesPerGrain),
  };
}
