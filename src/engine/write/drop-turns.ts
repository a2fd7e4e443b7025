// Removes the turns of harnesses, and the conversations, of a person or a scope that is erased.
import type { Sequence } from '../log/log.ts';
import type { Memory } from '../store/memory.ts';
import { sequenceOf } from '../store/rules.ts';
import { openTurnState, ownedState, readTalk, statesOfOwned, talkAtState } from '../store/turns.ts';
import type { Turn } from '../turn/turn.ts';
import type { Group } from './group.ts';

/** Only for settled writes. A turn that is sealed under both a person's and a scope's key belongs to the person. */
export function dropTurns(group: Group, memory: Memory, owner: Pick<Turn, 'userId' | 'namespace'>): void {
  const { log } = group.store;
  const removals: Sequence[] = [];
  for (const [owned] of log.scanState(ownedState(memory, owner))) {
    const { kind, state } = statesOfOwned(memory, owned);
    group.setState(owned, null);
    const value = log.getState(state);
    if (value === undefined) continue;
    group.setState(state, null);
    if (kind === 'turn') {
      removals.push(sequenceOf(value));
      group.setState(openTurnState(memory, state.slice(state.lastIndexOf('/') + 1)), null);
    } else {
      const { sequence, updatedAtMs } = readTalk(value);
      removals.push(sequence);
      const [slug = '', token = ''] = state.split('/').slice(-2);
      group.setState(talkAtState(memory, slug, updatedAtMs, token), null);
    }
  }
  if (removals.length > 0) group.removeValues(removals);
}
