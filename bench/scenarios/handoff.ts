// What it costs to hand a call to a worker and get its answer: packed echo of 300-byte requests and 46-byte replies
// through the real client and worker, closed loop, beside the two other ways to use the same thread. Prints a table
// and one JSON line a row.
//
//   node bench/scenarios/handoff.ts [milliseconds a measurement] [rounds]
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { ShardClient } from '../../src/shards/client.ts';
import type { CallContext } from '../../src/shards/protocol.ts';
import type { WorkerTask } from '../../src/shards/worker.ts';
import { ECHO_CODEC, type EchoTask } from './handoff-worker.ts';

const IN_FLIGHT = [1, 64, 256];
const BODY = Buffer.alloc(300, 7);
const CONTEXT: CallContext = {
  memory: 7,
  partition: 0,
  actor: 'key:3f2a9c7e1b',
  requestId: '9f1c2d3e-aaaa-bbbb-cccc-0123456789ab',
  deadlineMs: Date.now() + 3_600_000,
};

/** One way to hand calls over: `call` resolves when the answer is there. */
interface Way {
  readonly name: string;
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

/** What the server does: batches over a port, the thread kept by one run. */
async function overPort(name: string, batchesOutMax: number, call: 'raw' | 'typed'): Promise<Way> {
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
    name,
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

/** A run a batch, its answers as the run's result or over a port. */
async function runABatch(name: string, batchesOutMax: number, answers: 'result' | 'port'): Promise<Way> {
  const thread = pool();
  let port: MessagePort | undefined;
  const client = new ShardClient({
    batchesOutMax,
    send: (batch) => {
      const done = thread.run({ batch } satisfies EchoTask, { transferList: [batch] });
      if (answers === 'result') done.then((message) => client.receive(message));
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
    name,
    call: () => shard.callRaw(ECHO_CODEC, CONTEXT, BODY),
    close: async () => {
      port?.close();
      await thread.destroy();
    },
  };
}

export interface HandoffRow {
  readonly scenario: 'handoff';
  readonly way: string;
  readonly inFlight: number;
  readonly callsPerSecond: number;
  readonly p50Us: number;
  /** Of both threads. */
  readonly cpuUsPerCall: number;
}

async function measure(way: Way, inFlight: number, milliseconds: number): Promise<HandoffRow> {
  let stopped = false;
  let done = 0;
  let latencies: number[] = [];
  const loop = async (): Promise<void> => {
    while (!stopped) {
      const startMs = performance.now();
      await way.call();
      if ((++done & 15) === 0) latencies.push(performance.now() - startMs);
    }
  };
  const loops = Array.from({ length: inFlight }, loop);
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  await pause(milliseconds / 4);
  done = 0;
  latencies = [];
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  await pause(milliseconds);
  const elapsedMs = performance.now() - startMs;
  const cpu = process.cpuUsage(cpuBefore);
  const calls = done;
  stopped = true;
  await Promise.all(loops);
  latencies.sort((a, b) => a - b);
  return {
    scenario: 'handoff',
    way: way.name,
    inFlight,
    callsPerSecond: Math.round((calls * 1_000) / elapsedMs),
    p50Us: Math.round((latencies[latencies.length >> 1] ?? 0) * 1_000),
    cpuUsPerCall: Number(((cpu.user + cpu.system) / calls).toFixed(2)),
  };
}

/** All ways at all numbers in flight, in turns: medians over the rounds, since the machine's mood moves single rows. */
export async function handoff(milliseconds: number, rounds: number): Promise<HandoffRow[]> {
  const makers = [
    () => overPort('port, raw', 1, 'raw'),
    () => overPort('port, raw, 2 out', 2, 'raw'),
    () => overPort('port, typed', 1, 'typed'),
    () => overPort('port, typed, 2 out', 2, 'typed'),
    () => runABatch('a run a batch', 1, 'result'),
    () => runABatch('a run a batch, 2 out', 2, 'result'),
    () => runABatch('a run a batch, answers over a port', 1, 'port'),
  ];
  const rows: HandoffRow[] = [];
  for (const inFlight of IN_FLIGHT) {
    const ways = await Promise.all(makers.map((make) => make()));
    const measured: HandoffRow[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const way of ways) measured.push(await measure(way, inFlight, milliseconds));
    }
    for (const way of ways) {
      await way.close();
      rows.push(medians(measured.filter((row) => row.way === way.name)));
    }
  }
  return rows;
}

function medians(rows: readonly HandoffRow[]): HandoffRow {
  const median = (key: 'callsPerSecond' | 'p50Us' | 'cpuUsPerCall'): number =>
    rows.map((row) => row[key]).sort((a, b) => a - b)[rows.length >> 1]!;
  return {
    ...rows[0]!,
    callsPerSecond: median('callsPerSecond'),
    p50Us: median('p50Us'),
    cpuUsPerCall: median('cpuUsPerCall'),
  };
}

if (import.meta.main) {
  const rows = await handoff(Number(process.argv[2] ?? 400), Number(process.argv[3] ?? 5));
  console.table(rows, ['way', 'inFlight', 'callsPerSecond', 'p50Us', 'cpuUsPerCall']);
  for (const row of rows) console.log(JSON.stringify(row));
}
