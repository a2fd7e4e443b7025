// The thread that seals for a worker (seal-client.ts). It collects the copies of tails, and writes their files one after
// the other, with less priority than the threads that requests wait for.
import { constants, getPriority, setPriority } from 'node:os';
import type { MessagePort } from 'node:worker_threads';
import { EngineError, type WireError } from '../../engine/base/errors.ts';
import { SLICE_MS } from '../../engine/base/limits.ts';
import { TailCopy, type TailPiece } from '../../engine/index/parts/frozen-tail.ts';
import { type SealOrder, writeOrder } from '../../engine/index/sealing.ts';
import { describeBug } from './worker.ts';

export type ToSealer =
  | { readonly kind: 'begin'; readonly id: number; readonly order: SealOrder }
  | { readonly kind: 'piece'; readonly id: number; readonly piece: TailPiece }
  | { readonly kind: 'end'; readonly id: number }
  | { readonly kind: 'cancel'; readonly id: number };

/** The one answer to a seal, when nobody writes its file any more. */
export type FromSealer =
  | { readonly id: number; readonly chunks: number }
  | { readonly id: number; readonly error: WireError }
  | { readonly id: number; readonly problem: string }
  | { readonly id: number; readonly cancelled: true };

/** The number by which the thread lowers its priority, where the system has priorities of threads. */
const NICE = 5;

interface Seal {
  readonly order: SealOrder;
  readonly copy: TailCopy;
  isCancelled: boolean;
  isWaiting: boolean;
}

/** Serves the seals that come over `port`. */
export function serveSeals(port: MessagePort): void {
  lowerPriority();
  const seals = new Map<number, Seal>();
  let last = Promise.resolve();
  const answer = (message: FromSealer): void => {
    seals.delete(message.id);
    port.postMessage(message);
  };
  port.on('message', (message: ToSealer) => {
    const { id } = message;
    if (message.kind === 'begin') {
      seals.set(id, { order: message.order, copy: new TailCopy(), isCancelled: false, isWaiting: false });
      return;
    }
    const seal = seals.get(id);
    // Cancelled when it had already ended.
    if (seal === undefined) return;
    if (message.kind === 'piece') seal.copy.take(message.piece);
    else if (message.kind === 'end') {
      seal.isWaiting = true;
      last = last.then(async () => answer({ id, ...(await outcomeOf(seal)) }));
    } else {
      seal.isCancelled = true;
      if (!seal.isWaiting) answer({ id, cancelled: true });
    }
  });
}

type Outcome =
  | { readonly chunks: number }
  | { readonly error: WireError }
  | { readonly problem: string }
  | { readonly cancelled: true };

async function outcomeOf(seal: Seal): Promise<Outcome> {
  const steps = writeOrder(seal.order, seal.copy);
  try {
    for (;;) {
      if (seal.isCancelled) {
        steps.return(0);
        return { cancelled: true };
      }
      const until = performance.now() + SLICE_MS;
      do {
        const step = steps.next();
        if (step.done === true) return { chunks: step.value };
      } while (performance.now() < until);
      // Syncs of the file end in a turn of the loop, and a cancellation may have come.
      await new Promise((resolve) => setImmediate(resolve));
    }
  } catch (error) {
    return error instanceof EngineError ? { error: error.toWire() } : { problem: describeBug(error) };
  }
}

function lowerPriority(): void {
  try {
    // On Linux this is the thread, elsewhere the process.
    if (process.platform === 'linux') setPriority(0, Math.min(constants.priority.PRIORITY_LOW, getPriority(0) + NICE));
  } catch {
    // Not permitted here: the thread then competes as an equal.
  }
}
