// Writes access tuples to every partition, so that each can decide alone. Changes of one memory's tuples run one after
// the other: otherwise a grant and a revocation of the same tuple could reach the partitions in different orders.

import type { Input, Output } from '../protocol.ts';
import type { Fan } from './fan.ts';
import type { GatherTools } from './tools.ts';

/** Partition 0 tells whether the tuple is new. A repeated grant completes one that did not reach every partition. */
export function gatherGrant(
  fan: Fan,
  input: Input<'grantTuple'>,
  { turns }: Pick<GatherTools, 'turns'>,
): Promise<Output<'grantTuple'>> {
  return turns.take([turnOf(fan)], async () => (await fan.everywhere('grantTuple', input, 'the grant'))[0]!);
}

export function gatherRevoke(
  fan: Fan,
  input: Input<'revokeTuple'>,
  { turns }: Pick<GatherTools, 'turns'>,
): Promise<Output<'revokeTuple'>> {
  return turns.take([turnOf(fan)], async () => (await fan.everywhere('revokeTuple', input, 'the revocation'))[0]!);
}

function turnOf({ context: { memory } }: Fan): string {
  return `access tuples of ${memory}`;
}
