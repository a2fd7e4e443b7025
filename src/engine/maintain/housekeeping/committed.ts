import type { Sliced } from '../../index/files/section.ts';
import type { Sequence } from '../../log/log.ts';
import type { WriteQueue } from '../../write/queue.ts';

/** Values removed, and state entries changed, in one transaction of upkeep. */
export const CHANGES_MAX = 4_096;

/**
 * Commits a change from within work in slices, which goes on when it is on disk: however slow the disk is, no group carries more
 * than one of them. Throws what storage refused it with.
 */
export function* committed(
  queue: WriteQueue,
  state: readonly (readonly [key: string, value: Uint8Array | null])[],
  removals: readonly Sequence[] = [],
): Sliced<void> {
  const outcome: { isKnown: boolean; refusal?: unknown } = { isKnown: false };
  queue.commitState(state, removals).then(
    () => {
      outcome.isKnown = true;
    },
    (refusal: unknown) => {
      outcome.refusal = refusal;
      outcome.isKnown = true;
    },
  );
  while (!outcome.isKnown) yield;
  if (outcome.refusal !== undefined) throw outcome.refusal;
}
