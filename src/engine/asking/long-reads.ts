// Decides which reads may open many grains. They run in slices, so that the shard can answer other calls meanwhile.

import { SHORT_READ_GRAINS_MAX } from '../base/limits.ts';
import type { Order, PartitionRead } from '../calls/cal.ts';

/** True for a read that may open many grains and therefore runs in slices. */
export function isLongRead({ kind, input }: PartitionRead): boolean {
  switch (kind) {
    case 'select':
      return (
        input.tests.length > 0 ||
        sortsByField(input.order) ||
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

/** True if a field is a key of the order. No index need know it, and then every grain is opened. */
function sortsByField(order: Order): boolean {
  return order.by !== 'hash' && (order.by === 'field' || order.next?.by === 'field');
}
