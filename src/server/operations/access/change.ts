// Grants and revokes access tuples.
import { defineOperation } from '../define.ts';
import { described, Type } from '../type.ts';
import { Tuple, TupleInput, tupleOf } from './tuple.ts';

const EXAMPLE = { subject: 'group:eng#member', relation: 'editor', object: 'namespace:acme/prod' };

export const grantAccess = defineOperation({
  name: 'grant_access',
  summary: 'Give a subject a relation to an object.',
  description:
    'Tuples decide where the policy sets access.authz_required. Granting a tuple again changes nothing and is not an error.',
  example: EXAMPLE,
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object(TupleInput),
  output: Type.Object({
    granted: Type.Literal(true, { description: 'The tuple is there.' }),
    created: Type.Boolean({ description: 'Whether this call added it; false if it was there before.' }),
    tuple: described(Tuple, 'The tuple, with its texts in Unicode NFC.'),
  }),
  errors: ['VAL-E001', 'LIM-E002'],
  http: [{ verb: 'POST', path: 'M/authz/grant' }],
  async run(input, context) {
    const tuple = tupleOf(input);
    if (/^group:[^#]+$/.test(tuple.subject))
      context.warnings.push(
        `${tuple.subject} is the group itself, and no caller acts as a group: its members are ${tuple.subject}#member`,
      );
    return { granted: true as const, ...(await context.call('grantTuple', { tuple })) };
  },
});

export const revokeAccess = defineOperation({
  name: 'revoke_access',
  summary: 'Remove the relation of a subject to an object.',
  description:
    'The subject may keep the relation through another tuple. Revoking a tuple that is not there is not an error.',
  example: EXAMPLE,
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object(TupleInput),
  output: Type.Object({
    revoked: Type.Literal(true, { description: 'The tuple is not there.' }),
    existed: Type.Boolean({ description: 'Whether this call removed it; false if it was not there before.' }),
    tuple: described(Tuple, 'The tuple, with its texts in Unicode NFC.'),
  }),
  errors: ['VAL-E001'],
  http: [{ verb: 'POST', path: 'M/authz/revoke' }],
  run: async (input, context) => ({
    revoked: true as const,
    ...(await context.call('revokeTuple', { tuple: tupleOf(input) })),
  }),
});
