// What a CAL query under way asks: the executor never holds the store, and nothing here removes a grain.

import type { Asking } from '../../asking/asking.ts';
import type { CalQuestion } from '../../asking/questions.ts';
import { SHORT_READ_GRAINS_MAX } from '../../base/limits.ts';
import type { PartitionRead } from '../../calls/cal.ts';

/** A stretch of a query under way. */
export type Running<T> = Asking<T, CalQuestion>;

/**
 * True for what may have to open many grains: asked of a partition in slices, so that its shard goes on with others' calls.
 */
export function isLongRead({ kind, input }: PartitionRead): boolean {
  switch (kind) {
    case 'select':
      return (
        input.tests.length > 0 ||
        input.order.by === 'field' ||
        input.dedup !== undefined ||
        input.take > SHORT_READ_GRAINS_MAX
      );
    case 'count':
      return input.tests.length > 0;
    case 'values':
    case 'group':
    case 'pairs':
    case 'rivals':
      return true;
    default:
      return false;
  }
}
