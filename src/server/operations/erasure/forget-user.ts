// ForgetUser: erases one user, as `forget` does with user_id alone.
import { ErasureProofResponse, ForgetUserRequest } from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { Type } from '../type.ts';
import { DryRun, isDryRun, previewMembers, previewOf } from './dry-run.ts';
import { eraseUser } from './erase-user.ts';

export const forgetUser = defineOperation({
  name: 'forget_user',
  summary: 'Erase a user: the key is destroyed before the answer, which is the proof.',
  description:
    "Copies and backups of the user's grains cannot be read without the key. A repeated call answers with the first proof.",
  example: { user_id: 'ada', reason: 'Asked for by the user.' },
  needs: 'admin',
  on: 'memory',
  reach: ({ userId }) => ({ persons: [userId] }),
  mutates: true,
  onUnknown: 'refuse',
  keptByShards: true,
  dryRun: true,
  input: Type.Object({
    userId: Type.String({ minLength: 1, description: 'The user to erase.' }),
    reason: Type.Optional(
      Type.String({
        description: 'Why the user is erased; the default is the x-reason header, else data_subject_request.',
      }),
    ),
    dryRun: DryRun,
  }),
  output: Type.Object({
    userId: Type.String({ description: 'The user who was erased.' }),
    count: Type.Integer({
      description: 'Number of grains that were deleted, all versions; 0 when the user was erased before.',
    }),
    keyFingerprint: Type.Optional(
      Type.String({
        description: 'First 16 hexadecimal digits of the SHA-256 of the destroyed key; empty for an unknown user.',
      }),
    ),
    timestamp: Type.Optional(
      Type.Integer({
        description: 'Time of the erasure in Unix seconds; a repeated call gives the time of the first one.',
      }),
    ),
    auditEntryHash: Type.Optional(Type.String({ description: 'Hash of the audit entry of the erasure.' })),
    ...previewMembers(),
  }),
  errors: ['AUT-E001', 'POL-E003'],
  grpc: rpc({ rpc: 'ForgetUser', request: ForgetUserRequest, response: ErasureProofResponse }),
  exec: { command: 'forget_user' },
  async run({ userId, reason, dryRun = false }, context) {
    if (!isDryRun({ dryRun }, context)) return eraseUser(context, userId, reason);
    return { ...(await previewOf(context, { of: 'user', userId }, reason)), userId };
  },
});
