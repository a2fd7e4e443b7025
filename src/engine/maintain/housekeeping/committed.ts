import type { Sliced } from '../../index/files/section.ts';
import type { Sequence } from '../../log/log.ts';
import type { WriteQueue } from '../../write/queue.ts';

/** Values removed and state entries changed in one maintenance transaction. */
export const CHANGES_MAX = 4_096;

/**
 * Commits a change from sliced work, which continues when the change is durable. So a group never carries more than one
 * of them, however slow the disk is. Throws the storage error of a refusal.
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
