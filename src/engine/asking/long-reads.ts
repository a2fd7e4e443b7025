// Which reads may have to open many grains. They run in slices, so that their shard goes on with other calls.

import { SHORT_READ_GRAINS_MAX } from '../base/limits.ts';
import type { PartitionRead } from '../calls/cal.ts';

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
