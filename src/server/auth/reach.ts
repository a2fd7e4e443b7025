// Checks that a caller's bindings cover a call's reach. A bound caller may act only on its part of the data, whatever
// the scope of its key.
import { EngineError } from '../../engine/base/errors.ts';
import { toNfc } from '../../engine/base/nfc.ts';
import type { Principal } from './principal.ts';

/**
 * `nothing`: the call concerns no stored data. `binding`: the shards restrict the call to the caller's namespace and
 * user. `memory`, `deployment`: the call concerns all of it. `persons`: the call concerns everything that the memory
 * holds about these people; with `namespaced` the shards restrict it to the caller's namespace.
 */
export type Reach =
  | 'nothing'
  | 'binding'
  | 'memory'
  | 'deployment'
  | { readonly persons: readonly string[]; readonly namespaced?: true | undefined };

/** Throws AUT-E001 unless the caller's bindings cover the call's reach. */
export function requireReach(principal: Principal, reach: Reach): void {
  const { memoryIds, namespace, userId } = principal;
  if (reach === 'nothing' || reach === 'binding') return;
  if (reach === 'deployment') {
    if (memoryIds !== undefined || namespace !== undefined || userId !== undefined)
      throw refused('the whole deployment; this key is bound to a part of it');
    return;
  }
  if (reach === 'memory') {
    if (namespace !== undefined || userId !== undefined)
      throw refused('the whole memory; this key is bound to a part of it');
    return;
  }
  const { persons, namespaced = false } = reach;
  if (namespace !== undefined && !namespaced)
    throw refused('a person in the whole memory; this key is bound to a namespace');
  if (userId !== undefined && persons.some((person) => toNfc(person) !== userId))
    throw refused('a person other than the one that this key is bound to');
}

function refused(what: string): EngineError {
  return new EngineError('AUT-E001', `the call reaches ${what}`, {
    details: [{ field: 'binding', issue: 'does not cover the call' }],
  });
}
