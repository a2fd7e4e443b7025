// The freeze of a person's data: put, lifted, told.
import { USER_ID_CHARS_MAX } from '../../../engine/limits.ts';
import {
  LiftRestrictionRequest,
  LiftRestrictionResponse,
  RestrictRequest,
  RestrictResponse,
} from '../../gen/memory/v1/memory.ts';
import { defineOperation, rpc } from '../define.ts';
import { missing } from '../grains/fields.ts';
import { Type } from '../type.ts';

const Input = Type.Object({
  userId: Type.String({ minLength: 1, maxLength: USER_ID_CHARS_MAX }),
  reason: Type.Optional(Type.String()),
});
const Output = Type.Object({ userId: Type.String(), restricted: Type.Boolean(), timestamp: Type.Integer() });

export const restrict = defineOperation({
  name: 'restrict_processing',
  summary: "Freeze a user's data: it is kept, and neither read nor changed.",
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
      return { userId, ...(reason === '' ? {} : { reason }) };
    },
  }),
  async run({ userId, reason }, context) {
    const asked = { userId, restricted: true, ...(reason === undefined ? {} : { reason }) };
    return { userId, ...(await context.call('restrict', asked)) };
  },
});

export const unrestrict = defineOperation({
  name: 'lift_restriction',
  summary: "Lift the freeze of a user's data.",
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
    const asked = { userId, restricted: false, ...(reason === undefined ? {} : { reason }) };
    return { userId, ...(await context.call('restrict', asked)) };
  },
});

export const restrictions = defineOperation({
  name: 'restrictions',
  summary: 'Whose data is frozen, why, since when and by whom.',
  needs: 'read',
  on: 'memory',
  reach: ({ userId }) => (userId === undefined ? 'binding' : { persons: [userId], namespaced: true }),
  mutates: false,
  input: Type.Object({ userId: Type.Optional(Type.String({ minLength: 1 })) }),
  output: Type.Object({
    restrictions: Type.Array(
      Type.Object({
        userId: Type.String(),
        reason: Type.String(),
        restrictedAt: Type.Integer(),
        restrictedBy: Type.String(),
      }),
    ),
    total: Type.Integer(),
  }),
  exec: { command: 'restrictions' },
  async run({ userId }, context) {
    const { restrictions: held } = await context.call('restrictions', userId === undefined ? {} : { userId });
    return { restrictions: [...held], total: held.length };
  },
});
