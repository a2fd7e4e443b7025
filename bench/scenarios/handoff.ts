// The cost of handing a call to a worker and getting its answer: packed echo of 300-byte requests and 46-byte replies
// through the real client and worker, closed loop, compared with two other ways to use the same thread.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { CallContext } from '../../src/shards/protocol.ts';
import { ShardClient } from '../../src/shards/transport/client.ts';
import type { WorkerTask } from '../../src/shards/transport/worker.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { inTurns, median, percentile, rounded } from '../lib/statistics.ts';
import { ECHO_CODEC, type EchoTask } from './handoff-worker.ts';

/** Names as in the metrics: `port` is the server's way, `run` one run of the pool per batch. */
const WAYS = {
  port_raw: () => overPort(1, 'raw'),
  port_raw_2_out: () => overPort(2, 'raw'),
  port_typed: () => overPort(1, 'typed'),
  port_typed_2_out: () => overPort(2, 'typed'),
  run: () => runABatch(1, 'result'),
  run_2_out: () => runABatch(2, 'result'),
  run_answers_over_port: () => runABatch(1, 'port'),
} as const satisfies Record<string, () => Promise<Variant>>;
type WayName = keyof typeof WAYS;
const BODY = Buffer.alloc(300, 7);
const CONTEXT: CallContext = {
  memory: 7,
  partition: 0,
  actor: 'key:3f2a9c7e1b',
  requestId: '9f1c2d3e-aaaa-bbbb-cccc-0123456789ab',
  deadlineMs: Date.now() + 3_600_000,
};

export const scenario: Scenario = {
  name: 'handoff',
  about: 'a call handed to a worker and its answer, packed, beside a run of the pool a batch',
  aims: [{ metric: 'port_raw_2_out_64_cpu_us', atMost: 3 }],
  run,
};

/** All variants at all numbers in flight, alternating. */
async function run({ size }: Options): Promise<Measured> {
  const milliseconds = sized(size, { full: 400, quick: 100, smoke: 10 });
  const rounds = sized(size, { full: 5, quick: 3, smoke: 1 });
  const inFlights = sized(size, { full: [1, 64, 256], quick: [1, 64, 256], smoke: [64] });
  const metrics: Record<string, number> = {};
  for (const inFlight of inFlights) {
    const variants = await Promise.all(Object.values(WAYS).map((make) => make()));
    const names = Object.keys(WAYS) as WayName[]; // the keys of the literal
    const turns = names.map((name, i) => [name, () => measure(variants[i]!, inFlight, milliseconds)] as const);
    const figures = await inTurns(rounds, Object.fromEntries(turns));
    for (const variant of variants) await variant.close();
    for (const [name, measured] of Object.entries(figures)) {
      metrics[`${name}_${inFlight}_calls_per_s`] = median(measured.map((one) => one.callsPerSecond));
      metrics[`${name}_${inFlight}_p50_us`] = median(measured.map((one) => one.p50Us));
      metrics[`${name}_${inFlight}_cpu_us`] = median(measured.map((one) => one.cpuUsPerCall));
    }
  }
  return { parameters: { request_bytes: BODY.length, milliseconds, rounds }, metrics: rounded(metrics) };
}

/** One way to hand over calls: `call` resolves when the answer has arrived. */
interface Variant {
  call(): Promise<unknown>;
  close(): Promise<void>;
}

function pool(): Piscina {
  return new Piscina({
    filename: new URL('./handoff-worker.ts', import.meta.url).href,
    minThreads: 1,
    maxThreads: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    atomics: 'disabled',
    concurrentTasksPerWorker: 4,
    recordTiming: false,
  });
}

/** The server's way: batches over a port, with one run that keeps the thread. */
async function overPort(batchesOutMax: number, call: 'raw' | 'typed'): Promise<Variant> {
  const thread = pool();
  const { port1, port2 } = new MessageChannel();
  const task: WorkerTask = { port: port2, engines: [ENGINE], faults: false };
  const life = thread.run({ serve: task } satisfies EchoTask, { transferList: [port2] });
  const client = new ShardClient({ send: (message) => port1.postMessage(message, [message]), batchesOutMax });
  await new Promise<void>((resolve) => {
    port1.on('message', (message: ArrayBuffer | { kind: string }) => {
      if (message instanceof ArrayBuffer) client.receive(message);
      else resolve();
    });
  });
  const shard = client.shard(0);
  return {
    call: () =>
      call === 'raw' ? shard.callRaw(ECHO_CODEC, CONTEXT, BODY) : shard.call('locate', CONTEXT, { hashes: [HASH] }),
    close: async () => {
      port1.postMessage({ kind: 'close' });
      await life;
      port1.close();
      await thread.destroy();
    },
  };
}

const HASH = 'a'.repeat(64);
const ENGINE = {
  directory: '',
  keysDirectory: '',
  shard: 0,
  shards: 1,
  masterKeys: [new Uint8Array(32)],
  indexHeapBytes: 0,
};

/** One run per batch, with answers as the run's result or over a port. */
async function runABatch(batchesOutMax: number, answers: 'result' | 'port'): Promise<Variant> {
  const thread = pool();
  let port: MessagePort | undefined;
  const client = new ShardClient({
    batchesOutMax,
    send: (batch) => {
      const done = thread.run({ batch } satisfies EchoTask, { transferList: [batch] });
      if (answers === 'result') done.then((message) => message !== undefined && client.receive(message));
    },
  });
  if (answers === 'port') {
    const channel = new MessageChannel();
    port = channel.port1;
    port.on('message', (message: ArrayBuffer) => client.receive(message));
    await thread.run({ answersTo: channel.port2 } satisfies EchoTask, { transferList: [channel.port2] });
  }
  const shard = client.shard(0);
  return {
    call: () => shard.callRaw(ECHO_CODEC, CONTEXT, BODY),
    close: async () => {
      port?.close();
      await thread.destroy();
    },
  };
}

interface Figure {
  readonly callsPerSecond: number;
  readonly p50Us: number;
  /** CPU of both threads. */
  readonly cpuUsPerCall: number;
}

async function measure(variant: Variant, inFlight: number, milliseconds: number): Promise<Figure> {
  let stopped = false;
  let done = 0;
  let latencies: number[] = [];
  const loop = async (): Promise<void> => {
    while (!stopped) {
      const startMs = performance.now();
      await variant.call();
      if ((done++ & 15) === 0) latencies.push(performance.now() - startMs);
    }
  };
  const loops = Array.from({ length: inFlight }, loop);
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  await pause(milliseconds / 4);
  done = 0;
  latencies = [];
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  do await pause(milliseconds);
  while (done === 0);
  const elapsedMs = performance.now() - startMs;
  const cpu = process.cpuUsage(cpuBefore);
  const calls = done;
  stopped = true;
  await Promise.all(loops);
  return {
    callsPerSecond: (calls * 1_000) / elapsedMs,
    p50Us: percentile(latencies, 0.5) * 1_000,
    cpuUsPerCall: (cpu.user + cpu.system) / calls,
  };
}
