// The turns of harnesses over several partitions. A turn is in the partition of its conversation's grains, which the
// conversation names.
import { EngineError } from '../../engine/base/errors.ts';
import type { Input, Output } from '../protocol.ts';
import { type Fan, valuesOf } from './fan.ts';
import { partitionFor } from './placement.ts';

export function turnPartition(fan: Fan, { conversationId }: { readonly conversationId: string }): number {
  return partitionFor({ grainType: 'event', fields: { session_id: conversationId } }, fan.partitions, fan.context);
}

/** A session id names no partition. Another error than HRN-E004 is more telling, as that partition may have the turn. */
export async function gatherTurn(fan: Fan, input: Input<'turn'>): Promise<Output<'turn'>> {
  const settled = await fan.settle('turn', input);
  const found = settled.find((result) => result.status === 'fulfilled');
  if (found !== undefined) return found.value;
  const telling = settled.filter((result) => !(result.status === 'rejected' && isUnknown(result.reason)));
  return valuesOf(telling.length === 0 ? settled : telling)[0]!;
}

function isUnknown(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'HRN-E004';
}

export function mergeConversations(
  answers: readonly Output<'conversations'>[],
  { limit }: Input<'conversations'>,
): Output<'conversations'> {
  const all = answers
    .flatMap(({ conversations }) => conversations)
    .sort((one, other) => other.updatedAtMs - one.updatedAtMs || (one.token < other.token ? -1 : 1));
  return {
    conversations: all.slice(0, limit),
    total: answers.some(({ total }) => total === null)
      ? null
      : answers.reduce((sum, { total }) => sum + (total ?? 0), 0),
    more: all.length > limit || answers.some(({ more }) => more),
  };
}

export function soonest(answers: readonly Output<'settleTurns'>[]): number | undefined {
  const times = answers.flatMap(({ nextMs }) => nextMs ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}
