// A worker thread: opens the engines of its shards, runs batches, and closes them. The entry file of the thread is
// one line: `export default serveShards({ openEngine, codecs })`.
//
// Piscina owns the thread, with one `run` that lasts as long as the thread serves; batches travel over a MessagePort
// of our own. Measured (bench/scenarios/handoff.ts, ratios within one run): a `run` a batch costs 1.3 to 1.5 times the
// CPU of the port and 1.4 to 2 times its latency, at 1, 64 and 256 in flight; and its one answer a batch would make the
// reads of a batch wait for its writes' commit, or need a port beside it (1.1 to 1.3 times the CPU).
import { isMainThread, type MessagePort } from 'node:worker_threads';
import { assert } from '../../engine/base/assert.ts';
import { EngineError, type WireError } from '../../engine/base/errors.ts';
import { BatchRunner } from './batch-runner.ts';
import type { ShardCodecs } from './codec.ts';
import type { EngineDoor, EngineOptions, OpenEngine } from './engine-door.ts';
import { Maintenance } from './maintenance.ts';

/** What the pool starts a worker with. */
export interface WorkerTask {
  readonly port: MessagePort;
  readonly engines: readonly EngineOptions[];
  /** True when the server was started for tests: the fault hook works. */
  readonly faults: boolean;
}

/** What is said over the port beside batches and replies, which are ArrayBuffers. */
export type ToWorker =
  | { readonly kind: 'close' }
  /** A message of replies of so many bytes was looked at. */
  | { readonly kind: 'taken'; readonly bytes: number };
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly error: WireError }
  | { readonly kind: 'bug'; readonly problem: string; readonly id?: number };

export interface ServeOptions {
  readonly openEngine: OpenEngine;
  readonly codecs: ShardCodecs;
}

/** Exit code of a worker that met a bug and stops before it writes. */
export const BUG_EXIT_CODE = 70;
/** Exit code that the fault hook asks for. */
export const FAULT_EXIT_CODE = 71;

/** The function that Piscina runs in the thread: resolves when the worker was closed. */
export function serveShards({ openEngine, codecs }: ServeOptions): (task: WorkerTask) => Promise<void> {
  return async ({ port, engines: options, faults }) => {
    assert(!isMainThread, 'shards are served in a thread of their own');
    const say = (message: FromWorker): void => port.postMessage(message);
    const onBug = (error: unknown, id?: number): void => {
      say({ kind: 'bug', problem: describe(error), ...(id === undefined ? {} : { id }) });
      process.exit(BUG_EXIT_CODE);
    };
    let engines: ReadonlyMap<number, EngineDoor>;
    try {
      engines = await openAll(options, (one) => openEngine(one, (error) => onBug(error)));
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      say({ kind: 'refused', error: error.toWire() });
      port.close();
      return;
    }

    const maintenance = new Maintenance({ engines: [...engines.values()], onBug });
    const runner = new BatchRunner({
      engines,
      codecs,
      send: (message) => port.postMessage(message, [message]),
      onBug,
      ran: () => maintenance.batchRan(),
      ...(faults ? { onFault } : {}),
    });
    let isClosing = false;
    const closed = new Promise<void>((resolve) => {
      port.on('message', (message: ArrayBuffer | ToWorker) => {
        if (message instanceof ArrayBuffer) {
          // What comes after a drain that took too long is refused by the client, once this thread has ended.
          if (!isClosing) runner.run(message);
        } else if (message.kind === 'taken') runner.taken(message.bytes);
        else {
          isClosing = true;
          runner.stop();
          resolve();
        }
      });
    });
    say({ kind: 'ready' });
    maintenance.wake();
    await closed;
    maintenance.stop();
    await Promise.all([...engines.values()].map((engine) => engine.close()));
    // The answers of the last writes leave before the port does.
    await new Promise((resolve) => setImmediate(resolve));
    port.close();
  };
}

/** All the engines or none: those that opened are closed again when one does not. */
async function openAll(
  options: readonly EngineOptions[],
  open: (options: EngineOptions) => Promise<EngineDoor>,
): Promise<ReadonlyMap<number, EngineDoor>> {
  const opening = await Promise.allSettled(options.map(open));
  const engines = new Map<number, EngineDoor>();
  const failures: unknown[] = [];
  opening.forEach((result, index) => {
    if (result.status === 'rejected') failures.push(result.reason);
    else engines.set(options[index]!.shard, result.value);
  });
  if (failures.length === 0) return engines;
  await Promise.allSettled([...engines.values()].map((engine) => engine.close()));
  throw failures[0];
}

function onFault(kind: 'throw' | 'exit'): void {
  if (kind === 'exit') process.exit(FAULT_EXIT_CODE);
  assert(false, 'the fault hook was asked to throw');
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? `${error.name}: ${error.message}`) : String(error);
}
