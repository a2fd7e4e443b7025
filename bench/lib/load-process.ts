// The process that generates load: for each job it prepares the bodies, then calls until all are answered.
import { once } from 'node:events';
import { BUILTIN_INT8_NAME } from '../../src/embed/builtin/builtin.ts';
import { ENCODER_DIMENSIONS } from '../../src/embed/builtin/graph.ts';
import { AddRequest, BatchAddRequest, RecallRequest } from '../../src/server/gen/memory/v1/memory.ts';
import { type DrawVector, englishSource, keptDrawnVectors } from './drawn-vectors.ts';
import { type GrainSource, grainSource } from './grains.ts';
import { callHead, framed, GrpcConnection } from './grpc-client.ts';
import { HttpConnection, postRequest } from './http-client.ts';
import type { LoadJob, LoadResult, PlacedJob } from './load.ts';
import { percentile } from './statistics.ts';

/** Interval at which a load with a rate starts due calls. */
const TICK_MS = 2;

const RPCS = { add: 'MemoryService/Add', batchAdd: 'MemoryBatchService/BatchAdd', recall: 'MemoryService/Recall' };
const PATHS = { add: 'add', batchAdd: 'batch-add', recall: 'recall' };

type Answered = (reply: Buffer | undefined) => void;
/** Begins a numbered call on a free connection. */
type Begin = (call: number, answered: Answered) => void;

async function run(job: LoadJob, begin: Begin, enough: AbortSignal): Promise<LoadResult> {
  const latencies: number[] = [];
  let failed = 0;
  let replyBytes = 0;
  let started = 0;
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  await new Promise<void>((resolve) => {
    const endMs = startMs + (job.seconds ?? Number.POSITIVE_INFINITY) * 1_000;
    const mayBegin = (): boolean => started < job.calls && !enough.aborted && performance.now() < endMs;
    const one = (): void => {
      const sentMs = performance.now();
      begin(started++, (reply) => {
        latencies.push(performance.now() - sentMs);
        if (reply === undefined) failed += 1;
        else replyBytes += reply.length;
        if (job.perSecond === undefined && mayBegin()) one();
        else if (!mayBegin() && latencies.length === started) resolve();
      });
    };
    if (job.perSecond === undefined) while (started < job.inFlight && mayBegin()) one();
    else {
      const { perSecond } = job;
      const timer = setInterval(() => {
        const due = ((performance.now() - startMs) * perSecond) / 1_000;
        while (started < due && mayBegin()) one();
        if (mayBegin()) return;
        clearInterval(timer);
        if (latencies.length === started) resolve();
      }, TICK_MS);
    }
  });
  const seconds = (performance.now() - startMs) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    calls: started,
    failed,
    seconds,
    callsPerSecond: started / seconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    p999Ms: percentile(latencies, 0.999),
    meanMs: latencies.reduce((sum, one) => sum + one, 0) / started,
    cpuUsPerCall: (user + system) / started,
    replyBytes,
  };
}

interface Open {
  readonly begin: Begin;
  readonly close: () => void;
}

async function overGrpc(job: PlacedJob): Promise<Open> {
  const source = sourceOf(job);
  const draw =
    job.vectorsFrom === undefined
      ? undefined
      : keptDrawnVectors(job.vectorsFrom, BUILTIN_INT8_NAME, ENCODER_DIMENSIONS);
  const messages = Array.from({ length: job.calls }, () => framed(messageOf(job, source, draw)));
  const auth = job.key === undefined ? {} : { authorization: `Bearer ${job.key}` };
  const heads = job.memories.map((memory) =>
    callHead(`/memory.v1.${RPCS[job.what]}`, { 'x-memory-id': memory, ...auth }),
  );
  const connections = await Promise.all(Array.from({ length: job.connections }, () => GrpcConnection.open(job.port)));
  return {
    begin: (call, answered) =>
      connections[call % connections.length]!.call(heads[call % heads.length]!, messages[call]!, answered),
    close: () => {
      for (const connection of connections) connection.close();
    },
  };
}

function sourceOf({ english, seed }: LoadJob): GrainSource {
  return english === true ? englishSource(seed) : grainSource(seed);
}

function messageOf({ what, batchGrains = 1 }: LoadJob, source: GrainSource, draw?: DrawVector): Uint8Array {
  if (what === 'recall') {
    const query = source.question();
    const embedding = draw === undefined ? [] : Array.from(draw(query));
    return RecallRequest.encode(RecallRequest.fromPartial({ query, embedding })).finish();
  }
  const items = source.take(batchGrains).map(({ grainType, fields }) =>
    // Plain messages without options.
    AddRequest.fromPartial({ grainType, fieldsJson: JSON.stringify(fields) }),
  );
  return what === 'add'
    ? AddRequest.encode(items[0]!).finish()
    : BatchAddRequest.encode(BatchAddRequest.fromPartial({ items })).finish();
}

async function overHttp(job: PlacedJob): Promise<Open> {
  const source = sourceOf(job);
  const requests = Array.from({ length: job.calls }, (_, call) =>
    postRequest(
      `/api/memories/${job.memories[call % job.memories.length]}/${PATHS[job.what]}`,
      JSON.stringify(bodyOf(job, source)),
      job.key,
    ),
  );
  const free = await Promise.all(Array.from({ length: job.inFlight }, () => HttpConnection.open(job.port)));
  const all = [...free];
  return {
    begin: (call, answered) => {
      const connection = free.pop();
      if (connection === undefined) throw new Error('more calls than connections');
      connection.call(requests[call]!, (body) => {
        free.push(connection);
        answered(body);
      });
    },
    close: () => {
      for (const connection of all) connection.close();
    },
  };
}

function bodyOf({ what, batchGrains = 1 }: LoadJob, source: GrainSource): unknown {
  if (what === 'recall') return { query: source.question() };
  if (what === 'add') return source.take(1)[0]!.fields;
  return { grains: source.take(batchGrains).map(({ grainType, fields }) => ({ grain_type: grainType, fields })) };
}

process.once('disconnect', () => process.exit());

/** Runs jobs until the parent disconnects: a job arrives, `ready` is sent, `go` arrives, a result is sent. */
for (;;) {
  const [job] = (await once(process, 'message')) as [PlacedJob | 'enough']; // what `LoadClient` sends
  // It arrived just after the previous job had ended.
  if (job === 'enough') continue;
  const { begin, close } = await (job.protocol === 'grpc' ? overGrpc(job) : overHttp(job));
  process.send?.('ready');
  await once(process, 'message');
  const enough = new AbortController();
  const end = (): void => enough.abort();
  process.once('message', end);
  const result = await run(job, begin, enough.signal);
  process.removeListener('message', end);
  close();
  process.send?.(result);
}
