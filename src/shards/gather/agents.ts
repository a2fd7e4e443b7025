// Writes the identities of agents to every partition, so that each can decide alone. Partition 0 decides, and lists them.
// Changes of one memory's identities run one after the other.

import type { Input, Output } from '../protocol.ts';
import { type Fan, halfDone } from './fan.ts';
import type { GatherTools } from './tools.ts';

/**
 * Partition 0 gets the identity last. If the others did not all get it, none is registered yet, and a repeat completes
 * it.
 */
export function gatherRegister(
  fan: Fan,
  input: Input<'registerAgent'>,
  { turns }: Pick<GatherTools, 'turns'>,
): Promise<Output<'registerAgent'>> {
  return turns.take([turnOf(fan)], async () => {
    await fan.one(0, 'registerAgent', { ...input, check: true });
    const others = fan.repeatable();
    const settled = await Promise.allSettled(
      Array.from({ length: fan.partitions - 1 }, (_, at) =>
        others.one(at + 1, 'registerAgent', { ...input, decided: true }),
      ),
    );
    if (settled.some(({ status }) => status === 'rejected')) throw halfDone('the identity');
    return fan.one(0, 'registerAgent', input);
  });
}

/** Partition 0 knows whether there is such an agent, and answers: a repeated deactivation completes one that did not reach every partition. */
export function gatherDeactivate(
  fan: Fan,
  input: Input<'deactivateAgent'>,
  { turns }: Pick<GatherTools, 'turns'>,
): Promise<Output<'deactivateAgent'>> {
  return turns.take([turnOf(fan)], async () => {
    await fan.withoutIdempotency().one(0, 'identity', { agentId: input.agentId });
    return (await fan.everywhere('deactivateAgent', input, 'the deactivation'))[0]!;
  });
}

function turnOf({ context: { memory } }: Fan): string {
  return `agents of ${memory}`;
}
