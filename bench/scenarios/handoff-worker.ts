// The thread of the handoff scenario: an engine that does nothing, served as the server does, or a run a batch.
import type { MessagePort } from 'node:worker_threads';
import { move } from 'piscina';
import type { Output, ReadMethod } from '../../src/shards/protocol.ts';
import { BatchRunner } from '../../src/shards/transport/batch-runner.ts';
import type { ShardCodec } from '../../src/shards/transport/codec.ts';
import type { EngineDoor } from '../../src/shards/transport/engine-door.ts';
import { serveShards, type WorkerTask } from '../../src/shards/transport/worker.ts';

export const ECHO_CODEC = 1;

export type EchoTask =
  | { readonly serve: WorkerTask }
  | { readonly answersTo: MessagePort }
  | { readonly batch: ArrayBuffer };

const REPLY = { bytes: Buffer.alloc(46, 9), notes: '' };
const HELD: Output<'locate'> = { held: [true] };

/** Looks at the request's first and last byte, so that it is really read. */
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

let answers: ArrayBuffer | undefined;
let port: MessagePort | undefined;
const runner = new BatchRunner({
  engines: new Map([[0, idle]]),
  codecs: { [ECHO_CODEC]: echo },
  send: (message) => {
    if (port === undefined) answers = message;
    else port.postMessage(message, [message]);
  },
  onBug: (error) => {
    throw error;
  },
});

export default async function run(task: EchoTask): Promise<unknown> {
  if ('serve' in task) return serve(task.serve);
  if ('answersTo' in task) {
    port = task.answersTo;
    return undefined;
  }
  runner.run(task.batch);
  return answers === undefined || port !== undefined ? undefined : move(answers);
}
