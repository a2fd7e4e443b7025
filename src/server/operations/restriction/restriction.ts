// Restricts processing of a person's data, lifts the restriction, and shows it.
import { defined } from '../../../engine/base/defined.ts';
import { USER_ID_CHARS_MAX } from '../../../engine/base/limits.ts';
import {
  LiftRestrictionRequest,
  LiftRestrictionResponse,
  RestrictRequest,
  RestrictResponse,
} from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { missing } from '../grains/fields.ts';
import { rpc } from '../grpc-face.ts';
import { comparePlaces, PAGE_INPUT, PAGE_OUTPUT, type Place, pageOf, readPage } from '../page.ts';
import { Type } from '../type.ts';

const Input = Type.Object({
  userId: Type.String({ minLength: 1, maxLength: USER_ID_CHARS_MAX, description: 'The user whose data it is.' }),
  reason: Type.Optional(Type.String({ description: 'Why the restriction is put or lifted.' })),
});
const Output = Type.Object({
  userId: Type.String({ description: 'The user whose data it is.' }),
  restricted: Type.Boolean({ description: 'Whether the data is restricted now.' }),
  timestamp: Type.Integer({ description: 'Time of the change in Unix seconds.' }),
});

export const restrict = defineOperation({
  name: 'restrict_processing',
  summary: "Freeze a user's data: it is kept, and neither read nor changed.",
  description: 'Erasure, export and the withdrawal of consent stay possible (GDPR, Art. 18).',
  example: { user_id: 'ada', reason: 'Accuracy is contested.' },
  needs: 'admin',
  on: 'memory',
  reach: ({ userId }) => ({ persons: [userId] }),
  mutates: true,
  onUnknown: 'refuse',
  input: Input,
  output: Output,
  exec: { command: 'restrict' },
  grpc: rpc({
    rpc: 'RestrictProcessing',
    request: RestrictRequest,
    response: RestrictResponse,
    read: ({ userId, reason }) => {
      if (userId === '') throw missing('user_id');
      return defined({ userId, reason: reason === '' ? undefined : reason });
    },
  }),
  async run({ userId, reason }, context) {
    const asked = { userId, restricted: true, reason };
    return { userId, ...(await context.call('restrict', asked)) };
  },
});

export const unrestrict = defineOperation({
  name: 'lift_restriction',
  summary: "Lift the freeze of a user's data.",
  description: 'It changes nothing for a user who is not restricted.',
  example: { user_id: 'ada' },
  needs: 'admin',
  on: 'memory',
  reach: ({ userId }) => ({ persons: [userId] }),
  mutates: true,
  onUnknown: 'refuse',
  input: Input,
  output: Output,
  exec: { command: 'unrestrict' },
  grpc: rpc({
    rpc: 'LiftRestriction',
    request: LiftRestrictionRequest,
    response: LiftRestrictionResponse,
    read: ({ userId }) => {
      if (userId === '') throw missing('user_id');
      return { userId };
    },
  }),
  async run({ userId, reason }, context) {
    const asked = { userId, restricted: false, reason };
    return { userId, ...(await context.call('restrict', asked)) };
  },
});

const SCOPE = 'restrictions';

export const restrictions = defineOperation({
  name: 'restrictions',
  summary: 'List the users whose data is restricted, the latest first.',
  description: 'It lists every user unless user_id names one.',
  example: { limit: 20 },
  needs: 'read',
  on: 'memory',
  reach: ({ userId }) => (userId === undefined ? 'binding' : { persons: [userId], namespaced: true }),
  mutates: false,
  paged: true,
  input: Type.Object({
    userId: Type.Optional(Type.String({ minLength: 1, description: 'Only this user; the default is all.' })),
    ...PAGE_INPUT,
  }),
  output: Type.Object({
    restrictions: Type.Array(
      Type.Object({
        userId: Type.String({ description: 'The user whose data is restricted.' }),
        reason: Type.String({ description: 'Why it is restricted; empty where no reason was given.' }),
        restrictedAt: Type.Integer({ description: 'Time since which it is restricted, in Unix seconds.' }),
        restrictedBy: Type.String({ description: 'Principal that restricted it.' }),
      }),
      { description: 'The restrictions that hold.' },
    ),
    ...PAGE_OUTPUT,
  }),
  errors: ['VAL-E004'],
  exec: { command: 'restrictions' },
  async run({ userId, ...page }, context) {
    const { restrictions: held } = await context.call('restrictions', defined({ userId }));
    const wanted = readPage(page, SCOPE, context.warnings);
    const placeOf = (one: (typeof held)[number]): Place => ({ timeMs: one.restrictedAt * 1000, id: one.userId });
    const sorted = [...held].sort((one, other) => comparePlaces(placeOf(one), placeOf(other)));
    const { items, total, nextCursor } = pageOf(sorted, wanted, placeOf, SCOPE, (one) => one);
    return { restrictions: [...items], total, nextCursor };
  },
});
