// A long mixed load at a fixed share of the highest rate of the same mix: adds, batches, recalls, CAL, removals, an erasure
// in each interval, and the end of a whole memory. The number of grains is steady, so that latency, memory and disk at the
// end can be compared with those at the start. Every memory lies in all shards, so that all have the same size.
import { bytesOnDisk, inFolder } from '../lib/folder.ts';
import { LoadClient, type LoadJob, type ServedLoad } from '../lib/load.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { serverSize, sized } from '../lib/scenario.ts';
import { askJson, createMemory, grainsHeld, startServer, type Target } from '../lib/server.ts';
import { median, percentile, rounded } from '../lib/statistics.ts';

/** The memory in which persons are added and erased, and grains removed. It lasts. */
const PEOPLE = 'people';
/** Memories that are filled. Each interval begins with the end of the oldest, and a new one in its place. */
const FILLED = 4;
/** After these intervals at one rate, as many grains are deleted as are added. */
const FILLING_INTERVALS = FILLED;
const BATCH_GRAINS = 100;
const CONNECTIONS = 4;
/** Calls in flight while the highest rate is measured, and a rate that the server does not reach. */
const HIGHEST = {
  add: { inFlight: 64, perSecond: 12_000 },
  batchAdd: { inFlight: 4, perSecond: 300 },
  recall: { inFlight: 2, perSecond: 3_000 },
} as const;
/** Of the highest rate of each kind, with all kinds at once. */
const SHARE = 0.7;
/** Grains of the person who is erased in an interval. */
const PERSON_GRAINS = 50;
const PURGE_LOOK_MS = 100;
/** CAL and removals, one of each, at this rate. */
const BESIDES_PER_SECOND = 10;

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

/** Calls that are started in a second, of each kind. */
interface Rates {
  readonly adds: number;
  readonly batches: number;
  readonly recalls: number;
}

/** All calls of an interval. */
interface Loads {
  readonly add: ServedLoad;
  readonly batch: ServedLoad;
  readonly recall: ServedLoad;
  readonly calP99Ms: number;
  readonly forgetP99Ms: number;
  readonly eraseMs: number;
}

/** Measurements of one interval. */
interface Interval extends Loads {
  readonly residentMb: number;
  readonly grains: number;
  readonly diskBytesPerGrain: number;
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
  const minutes = sized(size, { full: 120, quick: 2, smoke: 0 });
  const seconds = sized(size, { full: 60, quick: 15, smoke: 0.5 });
  const filling = size === 'smoke' ? 1 : FILLING_INTERVALS;
  const { workers, shards } = serverSize(size);
  return inFolder(async (folder) => {
    const options = { dataDirectory: folder, workers, shards, auth: 'api-key', profile, isOwn: true } as const;
    const server = await start(options);
    const clients = startClients();
    try {
      const soak = new Soak({ server, folder, seconds, clients, shards });
      const tell = (name: string, one: Interval): void => {
        if (size !== 'smoke') process.stderr.write(`${name}: ${lineOf(one)}\n`);
      };
      await soak.begin();
      // The last one counts: a recall takes longer when there are more grains.
      let highest: Interval | undefined;
      for (let i = 0; i < filling; i++) {
        highest = await soak.interval(undefined);
        tell(`highest rate, ${i + 1} of ${filling}`, highest);
      }
      const rates = shareOf(highest!); // filling is at least 1
      for (let i = 0; i < filling; i++) tell(`filling ${i + 1} of ${filling}`, await soak.interval(rates));
      const measured: Interval[] = [];
      const endMs = performance.now() + minutes * 60_000;
      do {
        const one = await soak.interval(rates);
        measured.push(one);
        tell(`interval ${measured.length}`, one);
      } while (performance.now() < endMs);
      return {
        parameters: {
          minutes,
          intervals: measured.length,
          interval_s: seconds,
          adds_per_s: rates.adds,
          batches_per_s: rates.batches,
          recalls_per_s: rates.recalls,
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

function shareOf({ add, batch, recall }: Loads): Rates {
  const of = ({ callsPerSecond }: ServedLoad): number => Math.max(1, Math.round(callsPerSecond * SHARE));
  return { adds: of(add), batches: of(batch), recalls: of(recall) };
}

interface Plan {
  readonly server: Target;
  readonly folder: string;
  /** Of an interval. */
  readonly seconds: number;
  readonly clients: Clients;
  readonly shards: number;
}

class Soak {
  readonly #plan: Plan;
  /** Memories that are filled, the oldest first. */
  readonly #memories: string[] = [];
  #memoriesMade = 0;
  /** Each load has grains and questions of its own. */
  #seeds = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  async begin(): Promise<void> {
    await createMemory(this.#plan.server, PEOPLE);
    for (let i = 0; i < FILLED; i++) await this.#addMemory();
  }

  /** Runs all loads at once, for the time of an interval: at these rates, or as many calls as those in flight allow. */
  async interval(rates: Rates | undefined): Promise<Interval> {
    await this.#renewMemory();
    const loads = await this.#loads(rates);
    let grains = 0;
    for (const id of [PEOPLE, ...this.#memories]) grains += await grainsHeld(this.#plan.server, id);
    return {
      ...loads,
      residentMb: (this.#plan.server.residentBytes() ?? Number.NaN) / 1_048_576,
      grains,
      diskBytesPerGrain: bytesOnDisk(this.#plan.folder) / grains,
    };
  }

  async #addMemory(): Promise<void> {
    const id = `filled-${this.#memoriesMade++}`;
    await createMemory(this.#plan.server, id, { partitions: this.#plan.shards });
    this.#memories.push(id);
  }

  async #renewMemory(): Promise<void> {
    const oldest = this.#memories.shift();
    await askJson(this.#plan.server, 'DELETE', `/memories/${oldest}`);
    await this.#addMemory();
  }

  /** All kinds of calls at once: at these rates, or, without rates, as many as the calls in flight allow. */
  async #loads(rates: Rates | undefined): Promise<Loads> {
    const { adder, batcher, asker } = this.#plan.clients;
    const seed = this.#seeds;
    this.#seeds += 3;
    const job = (what: keyof typeof HIGHEST, number: number, perSecond: number | undefined): LoadJob => ({
      protocol: 'grpc',
      memories: this.#memories,
      what,
      connections: CONNECTIONS,
      inFlight: HIGHEST[what].inFlight,
      perSecond,
      seconds: this.#plan.seconds,
      calls: Math.ceil((perSecond ?? HIGHEST[what].perSecond) * this.#plan.seconds),
      batchGrains: what === 'batchAdd' ? BATCH_GRAINS : undefined,
      seed: seed + number,
    });
    const go = await Promise.all([
      adder.prepare(this.#plan.server, job('add', 0, rates?.adds)),
      batcher.prepare(this.#plan.server, job('batchAdd', 1, rates?.batches)),
      asker.prepare(this.#plan.server, job('recall', 2, rates?.recalls)),
    ]);
    const ended = new AbortController();
    const others = beside(this.#plan.server, `${seed}`, ended.signal);
    const [add, batch, recall] = await Promise.all([go[0](), go[1](), go[2]()]);
    ended.abort();
    return { add, batch, recall, ...(await others) };
  }
}

/** CAL, removals by hash, and the erasure of a person, one after another until the interval has ended. */
async function beside(
  server: Target,
  interval: string,
  ended: AbortSignal,
): Promise<Pick<Loads, 'calP99Ms' | 'forgetP99Ms' | 'eraseMs'>> {
  const eraseMs = await erased(server, `person-${interval}`);
  const cal: number[] = [];
  const forget: number[] = [];
  do {
    const { blob_hash: hash } = await ask(server, 'add', belief(`thing-${interval}`, forget.length));
    forget.push(await timed(() => ask(server, 'forget', { blob_hash: hash })));
    const query = 'RECALL beliefs RECENT 10';
    cal.push(await timed(() => ask(server, 'app/exec', { command: 'cal', args: { query } })));
    await new Promise((resolve) => setTimeout(resolve, 1_000 / BESIDES_PER_SECOND));
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

function lineOf({ add, batch, recall, residentMb, grains, diskBytesPerGrain }: Interval): string {
  const ms = ({ p50Ms, p99Ms, p999Ms }: ServedLoad): string =>
    [p50Ms, p99Ms, p999Ms].map((one) => one.toFixed(1)).join(' / ');
  return (
    `${[add, batch, recall].map(({ callsPerSecond }) => callsPerSecond.toFixed(0)).join(', ')} calls/s; ` +
    `p50 / p99 / p99.9 ms: add ${ms(add)}, batch ${ms(batch)}, recall ${ms(recall)}; ` +
    `${residentMb.toFixed(0)} MB, ${grains} grains of ${diskBytesPerGrain.toFixed(0)} bytes`
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
