// ForgetUser: the same erasure that `forget` does for a user alone, as a call of its own.
import { ErasureProofResponse, ForgetUserRequest } from '../../gen/memory/v1/memory.ts';
import { defineOperation, rpc } from '../define.ts';
import { Type } from '../type.ts';
import { DryRun, isDryRun, previewMembers, previewOf } from './dry-run.ts';
import { eraseUser } from './erase-user.ts';

export const forgetUser = defineOperation({
  name: 'forget_user',
  summary: 'Erase a user: the key is destroyed before the answer, which is the proof.',
  needs: 'admin',
  on: 'memory',
  reach: ({ userId }) => ({ persons: [userId] }),
  mutates: true,
  onUnknown: 'refuse',
  keptByShards: true,
  dryRun: true,
  input: Type.Object({
    userId: Type.String({ minLength: 1 }),
    reason: Type.Optional(Type.String()),
    dryRun: DryRun,
  }),
  output: Type.Object({
    userId: Type.String(),
    count: Type.Integer(),
    keyFingerprint: Type.Optional(Type.String()),
    timestamp: Type.Optional(Type.Integer()),
    auditEntryHash: Type.Optional(Type.String()),
    ...previewMembers(),
  }),
  errors: ['AUT-E001', 'POL-E003'],
  grpc: rpc({ rpc: 'ForgetUser', request: ForgetUserRequest, response: ErasureProofResponse }),
  exec: { command: 'forget_user' },
  async run({ userId, reason, dryRun = false }, context) {
    if (!isDryRun({ dryRun }, context)) return eraseUser(context, userId, reason);
    return { userId, ...(await previewOf(context, { of: 'user', userId }, reason)) };
  },
});
