// The thread that writes segments for a worker (segment-client.ts), with less priority than the threads that requests wait
// for. It collects the copies of tails. Seals come first, one after the other, because writes wait for them. Merges share
// what is left, so that a large one does not hold up those of other shards.
import { constants, getPriority, setPriority } from 'node:os';
import type { MessagePort } from 'node:worker_threads';
import { EngineError, type WireError } from '../../engine/base/errors.ts';
import { SLICE_MS } from '../../engine/base/limits.ts';
import type { Sliced } from '../../engine/index/files/section.ts';
import { type MergeOrder, type MergeOutcome, runMerge } from '../../engine/index/merging.ts';
import { TailCopy, type TailPiece } from '../../engine/index/parts/frozen-tail.ts';
import { type SealOrder, writeOrder } from '../../engine/index/sealing.ts';
import { describeBug } from './worker.ts';

export type ToSegmentThread =
  | { readonly kind: 'seal'; readonly id: number; readonly order: SealOrder }
  | { readonly kind: 'piece'; readonly id: number; readonly piece: TailPiece }
  /** After the last piece. */
  | { readonly kind: 'end'; readonly id: number }
  | { readonly kind: 'merge'; readonly id: number; readonly order: MergeOrder }
  | { readonly kind: 'cancel'; readonly id: number };

/** The result of a seal, its number of chunks, or of a merge. */
type Result = number | MergeOutcome | undefined;

type Outcome =
  | { readonly result: Result }
  | { readonly error: WireError }
  | { readonly problem: string }
  | { readonly cancelled: true };

/** The one answer to an order, when nobody writes its file any more. */
export type FromSegmentThread = { readonly id: number } & Outcome;

/** The number by which the thread lowers its priority, where the system has priorities of threads. */
const NICE = 5;

interface Work {
  readonly id: number;
  readonly steps: Sliced<Result>;
}

/** Serves the orders that come over `port`. */
export function serveSegments(port: MessagePort): void {
  lowerPriority();
  /** Seals whose pieces are still coming. */
  const coming = new Map<number, { readonly order: SealOrder; readonly copy: TailCopy }>();
  const seals: Work[] = [];
  const merges: Work[] = [];
  let isWorking = false;
  const say = (message: FromSegmentThread): void => port.postMessage(message);

  const work = (): void => {
    const lane = seals.length > 0 ? seals : merges;
    const [next] = lane;
    isWorking = next !== undefined;
    if (next === undefined) return;
    const outcome = outcomeOf(() => slice(next.steps));
    if (outcome !== undefined || lane === merges) lane.shift();
    if (outcome !== undefined) say({ id: next.id, ...outcome });
    else if (lane === merges) lane.push(next);
    // Syncs of the files end in a turn of the loop, and other messages may have come.
    setImmediate(work);
  };
  const add = (lane: Work[], id: number, steps: Sliced<Result>): void => {
    lane.push({ id, steps });
    if (!isWorking) work();
  };
  const cancel = (id: number): void => {
    let isFound = coming.delete(id);
    for (const lane of [seals, merges]) {
      const at = lane.findIndex((one) => one.id === id);
      if (at < 0) continue;
      outcomeOf(() => void lane[at]!.steps.return(undefined));
      lane.splice(at, 1);
      isFound = true;
    }
    // Otherwise it has ended.
    if (isFound) say({ id, cancelled: true });
  };

  port.on('message', (message: ToSegmentThread) => {
    const { id } = message;
    const seal = coming.get(id);
    switch (message.kind) {
      case 'seal':
        coming.set(id, { order: message.order, copy: new TailCopy() });
        return;
      case 'piece':
        seal?.copy.take(message.piece);
        return;
      case 'end':
        coming.delete(id);
        if (seal !== undefined) add(seals, id, writeOrder(seal.order, seal.copy));
        return;
      case 'merge':
        add(merges, id, runMerge(message.order));
        return;
      case 'cancel':
        cancel(id);
    }
  });
}

/** Works for a slice. Returns the result once the work has ended. */
function slice(steps: Sliced<Result>): { readonly result: Result } | undefined {
  const until = performance.now() + SLICE_MS;
  do {
    const step = steps.next();
    if (step.done === true) return { result: step.value };
  } while (performance.now() < until);
  return undefined;
}

function outcomeOf(run: () => Outcome | undefined): Outcome | undefined {
  try {
    return run();
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
