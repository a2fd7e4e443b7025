// Looks up the names and hashes of a query: values of parameters, and addresses of grains.

import { ask } from '../../asking/asking.ts';
import type { GrainReference } from '../ast.ts';
import { CalError } from '../errors.ts';
import type { Running } from './running.ts';
import type { Run } from './session.ts';

/** The strings that a parameter holds. Throws E008 if it is unbound, E020 if it holds grains. */
export function valuesOf(name: string, run: Run): readonly string[] {
  if (name === 'current_user_id' && !run.lets.has(name)) {
    if (run.userId !== undefined) return [run.userId];
    throw new CalError('CAL-E008', '$current_user_id needs a session that is bound to a user', {
      suggestion: 'Send x-user-id, or use a key that is bound to a user.',
    });
  }
  const bound = run.lets.get(name);
  if (bound === undefined) throw new CalError('CAL-E008', `$${name} is not bound`);
  if (bound.kind === 'values') return bound.values;
  throw new CalError('CAL-E020', `$${name} is a set of grains, not a list of values`, {
    suggestion: 'End its LET with SUBJECTS, OBJECTS or HASHES.',
  });
}

/** The address that a reference names; undefined if no grain of this session has it. */
export function* resolveReference(reference: GrainReference, run: Run): Running<string | undefined> {
  if (reference.kind === 'hash') return yield* resolveAddress(reference.hex);
  const values = valuesOf(reference.name, run);
  const [only] = values;
  if (values.length === 0) return undefined;
  if (values.length > 1 || only === undefined || !/^sha256:[0-9a-f]{64}$/.test(only))
    throw new CalError('CAL-E020', `$${reference.name} does not hold one hash`, { at: reference.at });
  return yield* resolveAddress(only.slice('sha256:'.length));
}

/**
 * The full address for a prefix, superseded grains included; undefined if there is none. Throws E015 if there are
 * several.
 */
export function* resolveAddress(prefix: string): Running<string | undefined> {
  const { hashes } = yield* ask('find', { prefix: prefix.toLowerCase() });
  if (hashes.length > 1)
    throw new CalError('CAL-E015', `sha256:${prefix} is ambiguous: several hashes begin with it`, {
      suggestion: 'Write more digits.',
    });
  return hashes[0];
}
