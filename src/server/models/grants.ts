// Asks a memory whether persons let their texts cross a border.
import { PURPOSES } from '../../engine/govern/decide.ts';
import type { Shards } from '../shards.ts';
import type { HasGrants } from './egress.ts';

export function grantsOf(shards: Pick<Shards, 'call'>): HasGrants {
  return async (memory, userIds) => {
    const context = { memory, actor: 'system', requestId: 'system' };
    const { granted } = await shards.call('granted', context, { userIds, purpose: PURPOSES.crossBorder });
    return granted;
  };
}
