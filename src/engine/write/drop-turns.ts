// Removes the turns of harnesses, and the conversations, of a person or a scope that is erased, and those that have outlived
// the policy's times to live.
import { refuseHeld, refuseRestricted } from '../govern/decide.ts';
import type { Sequence } from '../log/log.ts';
import type { Memory } from '../store/memory.ts';
import { sequenceOf } from '../store/rules.ts';
import {
  hasOutlived,
  openTurnState,
  ownedName,
  ownedState,
  readTalk,
  recordAt,
  statesOfOwned,
  talkAtState,
} from '../store/turns.ts';
import { isOver, type Turn } from '../turn/turn.ts';
import type { Group } from './group.ts';

/** Only for settled writes. A turn that is sealed under both a person's and a scope's key belongs to the person. */
export function dropTurns(group: Group, memory: Memory, owner: Pick<Turn, 'userId' | 'namespace'>): void {
  const removals: Sequence[] = [];
  for (const [owned] of group.store.log.scanState(ownedState(memory, owner)))
    removals.push(...dropOwned(group, memory, owned));
  if (removals.length > 0) group.removeValues(removals);
}

/**
 * Only for settled writes. Drops the turns and conversations at these state entries that have outlived their time. Leaves
 * all under a hold, those of a restricted person, and turns that are not over.
 */
export function planDropOutlived(
  group: Group,
  memory: Memory,
  states: readonly string[],
): { readonly dropped: number } {
  if (refuseHeld(memory.governed) !== undefined) return { dropped: 0 };
  const removals: Sequence[] = [];
  for (const state of states) {
    const record = recordAt(group.store.log, memory, state);
    if (record === undefined || !hasOutlived(memory, record, group.nowMs)) continue;
    if ('status' in record && !isOver(record)) continue;
    if (refuseRestricted(memory.governed, record.userId) !== undefined) continue;
    removals.push(...dropOwned(group, memory, `${ownedState(memory, record)}${ownedName(state)}`));
  }
  if (removals.length > 0) group.removeValues(removals);
  return { dropped: removals.length };
}

/** Deletes an entry of an owner and all entries that it leads to. Returns the record of the turn or conversation. */
function dropOwned(group: Group, memory: Memory, owned: string): Sequence[] {
  const { kind, state } = statesOfOwned(memory, owned);
  group.setState(owned, null);
  const value = group.store.log.getState(state);
  if (value === undefined) return [];
  group.setState(state, null);
  if (kind === 'turn') {
    group.setState(openTurnState(memory, state.slice(state.lastIndexOf('/') + 1)), null);
    return [sequenceOf(value)];
  }
  const { sequence, updatedAtMs } = readTalk(value);
  const [slug = '', token = ''] = state.split('/').slice(-2);
  group.setState(talkAtState(memory, slug, updatedAtMs, token), null);
  return [sequence];
}
