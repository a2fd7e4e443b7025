// The thread of the handoff scenario: an engine that does nothing, served like the server's, or one run per batch.
import type { MessagePort } from 'node:worker_threads';
import { move } from 'piscina';
import type { Output, ReadMethod } from '../../src/shards/protocol.ts';
import { BatchRunner } from '../../src/shards/transport/batch-runner.ts';
import type { ShardCodec } from '../../src/shards/transport/codec.ts';
import type { EngineDoor } from '../../src/shards/transport/engine-door.ts';
import { batchesRun, LANES } from '../../src/shards/transport/pack.ts';
import { serveShards, type WorkerTask } from '../../src/shards/transport/worker.ts';

export const ECHO_CODEC = 1;

export type EchoTask =
  | { readonly serve: WorkerTask }
  | { readonly answersTo: MessagePort }
  | { readonly batch: ArrayBuffer };

const REPLY = { bytes: Buffer.alloc(46, 9), notes: '' };
const HELD: Output<'locate'> = { held: [true] };

/** Reads the request's first and last byte, so that it is really transferred. */
const echo: ShardCodec = {
  decode: (bytes) => ({
    call: { method: 'locate', input: { hashes: bytes[0] === bytes[bytes.length - 1] ? [] : ['unequal'] } },
    encode: () => REPLY,
  }),
};

const idle: EngineDoor = {
  // Only `locate` is asked.
  read: <M extends ReadMethod>() => HELD as Output<M>,
  record: () => {
    throw new Error('the scenario records nothing');
  },
  write: () => Promise.reject(new Error('the scenario writes nothing')),
  maintain: () => false,
  pendingWrites: 0,
  close: () => Promise.resolve(),
};

const serve = serveShards({ openEngine: () => Promise.resolve(idle), codecs: { [ECHO_CODEC]: echo } });

/** Runs of batches that wait for their answers, in order, when answers are the result of a run. */
const waiting: ((message: ArrayBuffer | undefined) => void)[] = [];
let port: MessagePort | undefined;
const runner = new BatchRunner({
  engines: new Map([[0, idle]]),
  codecs: { [ECHO_CODEC]: echo },
  send: (message) => {
    if (port !== undefined) {
      port.postMessage(message, [message]);
      return;
    }
    // One message may answer several batches: the first of their runs gives it.
    const runs = LANES.reduce((batches, lane) => batches + batchesRun(message, lane), 0);
    for (const [at, done] of waiting.splice(0, runs).entries()) done(at === 0 ? message : undefined);
  },
  onBug: (error) => {
    throw error;
  },
  onLost: (error) => {
    throw error;
  },
});

export default async function run(task: EchoTask): Promise<unknown> {
  if ('serve' in task) return serve(task.serve);
  if ('answersTo' in task) {
    port = task.answersTo;
    return undefined;
  }
  if (port !== undefined) {
    runner.run(task.batch);
    return undefined;
  }
  // The runner may answer in a later turn, because it yields the thread when a turn takes long.
  const answered = new Promise<ArrayBuffer | undefined>((resolve) => waiting.push(resolve));
  runner.run(task.batch);
  const message = await answered;
  return message === undefined ? undefined : move(message);
}
