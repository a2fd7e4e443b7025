// Schemas that the operations on a session share: the id in the path, and the members of answers.
import { toNfc } from '../../../engine/base/nfc.ts';
import { GrainOutput } from '../grains/view.ts';
import { described, Type } from '../type.ts';

/** A grain takes an id of any length. A longer one is not reached by its path. */
const SESSION_ID_CHARS_MAX = 1_024;

export const SessionId = Type.String({
  minLength: 1,
  maxLength: SESSION_ID_CHARS_MAX,
  description: 'Id of the session: the session_id of its grains, or the namespace that they are in.',
});

/** The id as grains have it. */
export function sessionIdOf(sid: string): string {
  return toNfc(sid);
}

export const SessionIdOutput = Type.String({ description: 'Id of the session, as it was asked for.' });

export const StateOutput = Type.Union([GrainOutput, Type.Null()], {
  description: 'The newest current state of the session; null where it has none.',
});

export const ActionsOutput = Type.Array(described(GrainOutput, 'An action.'), {
  description: 'Actions of the session, newest first, without definitions of tools.',
});
