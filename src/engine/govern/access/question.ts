// The question whether a subject has a relation to an object.

import { refuseAccessToMemory } from '../decide.ts';
import type { Governed } from '../governed.ts';
import { type Caller, subjectOf } from './caller.ts';
import type { Checked } from './check.ts';
import { checkQuestion, type Tuple } from './tuple.ts';

/** AUT-E001 where tuples decide, unless the caller is an admin of the memory or asks about itself. VAL-E001. */
export function checkAccess(
  { governed }: { readonly governed: Governed },
  caller: Caller,
  asked: Tuple,
): Checked & { readonly tuple: Tuple } {
  const tuple = checkQuestion(asked);
  const denied = tuple.subject === subjectOf(caller) ? undefined : refuseAccessToMemory(governed, caller, ['admin']);
  if (denied !== undefined) throw denied;
  return { ...governed.access.check(tuple), tuple };
}
