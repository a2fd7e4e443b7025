import { defineOperation } from '../define.ts';
import { seconds } from '../seconds.ts';
import { described, Type } from '../type.ts';
import { Tuple, TupleInput, tupleOf } from './tuple.ts';

const DEPTH_EXCEEDED = 'depth_exceeded';

export const checkAccess = defineOperation({
  name: 'check_access',
  summary: 'Tell whether a subject has a relation to an object, and by which tuples.',
  description:
    'It follows included relations, usersets and parents. Where tuples decide, only an admin of the memory asks about others.',
  example: { subject: 'user:alice', relation: 'viewer', object: 'namespace:acme/prod' },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: false,
  input: Type.Object(TupleInput),
  output: Type.Object({
    allowed: Type.Boolean({ description: 'Whether the subject has the relation.' }),
    path: Type.Array(Type.Union([Tuple, Type.Literal(DEPTH_EXCEEDED)]), {
      description:
        'The tuples that give the relation, from the object to the subject. It holds depth_exceeded alone if the search ended at its bound of 25 steps.',
    }),
    tuple: described(Tuple, 'The tuple, with its texts in Unicode NFC.'),
    checkedAt: Type.Integer({ description: 'Time of the check in Unix seconds.' }),
  }),
  errors: ['VAL-E001'],
  http: [{ verb: 'GET', path: 'M/authz/check' }],
  async run(input, context) {
    const { allowed, path, depthExceeded, tuple } = await context.call('checkAccess', { tuple: tupleOf(input) });
    const shown = depthExceeded ? [DEPTH_EXCEEDED as typeof DEPTH_EXCEEDED] : [...path];
    return { allowed, path: shown, tuple, checkedAt: seconds(context.services.clock.nowMs()) };
  },
});
