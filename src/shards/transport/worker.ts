// A worker thread: opens the engines of its shards, runs batches and closes the engines. The thread's entry file is one
// line: `export default serveShards({ openEngine, codecs })`.
//
// Piscina owns the thread, with one `run` for as long as the thread serves. Batches use a MessagePort of our own,
// because a `run` for each batch is slower: 1.3 to 1.5 times the CPU and 1.4 to 2 times the latency, with 1, 64 and 256
// batches in flight (bench/scenarios/handoff.ts, ratios within one run). It also allows one answer for each batch only:
// the reads of a batch would wait for the commit of its writes, or need an additional port (1.1 to 1.3 times the CPU).
import { isMainThread, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { assert } from '../../engine/base/assert.ts';
import { EngineError, type WireError } from '../../engine/base/errors.ts';
import { BatchRunner } from './batch-runner.ts';
import type { ShardCodecs } from './codec.ts';
import type { EngineOptions, EngineThread, FetchShard, OpenEngine } from './engine-door.ts';
import { EngineSet } from './engine-set.ts';
import { Maintenance } from './maintenance.ts';

/** The argument that the pool starts a worker with. */
export interface WorkerTask {
  readonly port: MessagePort;
  /** Of the shards that are open from the start. */
  readonly engines: readonly EngineOptions[];
  /** Enables the fault hook; only for servers started for tests. */
  readonly faults: boolean;
}

/** Control messages on the port. Batches and replies are ArrayBuffers. */
export type ToWorker =
  | { readonly kind: 'close' }
  | ShardChange
  /** Acknowledges a message of replies of this many bytes. */
  | { readonly kind: 'taken'; readonly bytes: number };
/** Answered with `changed`. `fetch`: for an `open` soon. `prepare`: for a `closeShard` soon. */
type ShardChange =
  | { readonly kind: 'open' | 'fetch'; readonly engine: EngineOptions }
  | { readonly kind: 'prepare'; readonly shard: number }
  | { readonly kind: 'closeShard'; readonly shard: number };
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly error: WireError }
  /** The change of a shard that was asked for is done, or failed. */
  | { readonly kind: 'changed'; readonly shard: number; readonly error?: WireError | undefined }
  | { readonly kind: 'bug'; readonly problem: string; readonly id?: number | undefined }
  /** A bug that failed one call alone. The worker goes on. */
  | { readonly kind: 'lost'; readonly problem: string };

export interface ServeOptions {
  readonly openEngine: OpenEngine;
  /** Default: there is nothing to fetch. */
  readonly fetchShard?: FetchShard | undefined;
  readonly codecs: ShardCodecs;
}

/** Exit code of a worker that met a bug and stops before it can write. */
export const BUG_EXIT_CODE = 70;
/** Exit code of the fault hook. */
export const FAULT_EXIT_CODE = 71;

/** The function that Piscina runs in the thread. Resolves when the worker is closed. */
export function serveShards({ openEngine, fetchShard, codecs }: ServeOptions): (task: WorkerTask) => Promise<void> {
  return async ({ port, engines: options, faults }) => {
    assert(!isMainThread, 'shards run in a worker thread');
    const say = (message: FromWorker): void => port.postMessage(message);
    const onBug = (error: unknown, id?: number): void => {
      say({ kind: 'bug', problem: describeBug(error), id });
      process.exit(BUG_EXIT_CODE);
    };
    const set = new EngineSet((one) => openEngine(one, thread));
    let runner: BatchRunner | undefined;
    let receive: ((message: ArrayBuffer | ToWorker) => void) | undefined;
    const thread: EngineThread = {
      onBug: (error) => onBug(error),
      isAlone: () => runner?.isAlone === true,
      // One sync makes groups of several shards durable. Their next groups would all be planned before the event loop
      // reads another message. The client sends few: it waits until a batch was run.
      betweenGroups: () => {
        if (receive === undefined) return;
        for (let waiting = receiveMessageOnPort(port); waiting !== undefined; waiting = receiveMessageOnPort(port))
          receive(waiting.message);
      },
    };
    try {
      await set.openAll(options);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      say({ kind: 'refused', error: error.toWire() });
      port.close();
      return;
    }

    const { engines } = set;
    const maintenance = new Maintenance({ engines, onBug });
    const running = new BatchRunner({
      engines,
      codecs,
      // After all writes that one sync made durable, without another turn of the loop.
      answerSoon: process.nextTick,
      send: (message) => port.postMessage(message, [message]),
      onBug,
      onLost: (error) => say({ kind: 'lost', problem: describeBug(error) }),
      ran: () => maintenance.batchRan(),
      onFault: faults ? onFault : undefined,
    });
    runner = running;
    const change = changerOf({ set, maintenance, fetchShard, say, onBug });
    let isClosing = false;
    const closed = new Promise<void>((resolve) => {
      receive = (message) => {
        if (message instanceof ArrayBuffer) {
          // Drop messages that arrive after an overlong drain: the client rejects these calls when this thread ends.
          if (!isClosing) running.run(message);
        } else if (message.kind === 'taken') running.taken(message.bytes);
        else if (message.kind !== 'close') change(message);
        else {
          isClosing = true;
          running.stop();
          resolve();
        }
      };
      port.on('message', receive);
    });
    say({ kind: 'ready' });
    maintenance.wake();
    await closed;
    maintenance.stop();
    await set.close();
    // Let the answers to the last writes leave before the port closes.
    await new Promise((resolve) => setImmediate(resolve));
    port.close();
  };
}

function onFault(kind: 'throw' | 'exit'): void {
  if (kind === 'exit') process.exit(FAULT_EXIT_CODE);
  assert(false, 'the fault hook was asked to throw');
}

/** Opens and closes shards as the main thread asks, and tells it what became of that. */
function changerOf({ set, maintenance, fetchShard, say, onBug }: Changing): (message: ShardChange) => void {
  const changed = async (message: ShardChange): Promise<void> => {
    switch (message.kind) {
      case 'fetch':
        return fetchShard?.(message.engine);
      case 'open':
        await set.open(message.engine);
        return maintenance.wake();
      case 'prepare':
        return set.engines.get(message.shard)?.prepareMove?.();
      default:
        return closeShard(set, maintenance, message.shard);
    }
  };
  return (message) => {
    const shard = 'engine' in message ? message.engine.shard : message.shard;
    changed(message).then(
      () => say({ kind: 'changed', shard }),
      (error) => {
        if (error instanceof EngineError) say({ kind: 'changed', shard, error: error.toWire() });
        else onBug(error);
      },
    );
  };
}

interface Changing {
  readonly fetchShard: FetchShard | undefined;
  readonly set: EngineSet;
  readonly maintenance: Maintenance;
  readonly say: (message: FromWorker) => void;
  readonly onBug: (error: unknown) => void;
}

/** Answers the queued calls of a shard, closes its engine and gives its lease back. Rejects with EngineError. */
export async function closeShard(set: EngineSet, maintenance: Maintenance, shard: number): Promise<void> {
  const engine = set.take(shard);
  if (engine === undefined) return;
  maintenance.leave(engine);
  await engine.close();
}

/** An error that only a bug can cause, for the log. */
export function describeBug(error: unknown): string {
  return error instanceof Error ? (error.stack ?? `${error.name}: ${error.message}`) : String(error);
}
