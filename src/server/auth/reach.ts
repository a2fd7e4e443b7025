// How far a call reaches, and whether its caller covers that. A caller bound or narrowed to a part of the data may act on that part
// alone, whatever scope its key has.
import { EngineError } from '../../engine/base/errors.ts';
import { toNfc } from '../../engine/base/nfc.ts';
import type { Principal } from './principal.ts';

/**
 * `nothing`: the call is about no stored data. `binding`: the shards keep the call within the caller's namespace and user. `memory`,
 * `deployment`: the call is about all of it. `persons`: the call is about all that the memory holds of these people; with
 * `namespaced` the shards keep it within the caller's namespace.
 */
export type Reach =
  | 'nothing'
  | 'binding'
  | 'memory'
  | 'deployment'
  | { readonly persons: readonly string[]; readonly namespaced?: true };

/** Throws AUT-E001 unless the caller covers all that the call reaches. */
export function requireReach(principal: Principal, reach: Reach): void {
  const { memoryId, namespace, userId } = principal;
  if (reach === 'nothing' || reach === 'binding') return;
  if (reach === 'deployment') {
    if (memoryId !== undefined || namespace !== undefined || userId !== undefined)
      throw refused('the whole deployment, this caller is bound to a part of it');
    return;
  }
  if (reach === 'memory') {
    if (namespace !== undefined || userId !== undefined)
      throw refused('the whole memory, this caller is bound to a part of it');
    return;
  }
  const { persons, namespaced = false } = reach;
  if (namespace !== undefined && !namespaced)
    throw refused('a person in the whole memory, this caller is bound to a namespace');
  if (userId !== undefined && persons.some((person) => toNfc(person) !== userId))
    throw refused('another person than the one that this caller is bound to');
}

function refused(what: string): EngineError {
  return new EngineError('AUT-E001', `the call reaches ${what}`, {
    details: [{ field: 'binding', issue: 'does not cover the call' }],
  });
}
