import { issueMemoryProof } from '../../proofs/issue-removal.ts';
import { defineOperation } from '../define.ts';
import { DryRun, isDryRun, previewMembers, previewOf } from '../erasure/dry-run.ts';
import { RemovalProofOutput } from '../erasure/erasure-proof.ts';
import { described, Type } from '../type.ts';

export const memoryDelete = defineOperation({
  name: 'delete_memory',
  summary: 'Delete a memory: its keys are destroyed, so no copy of it can be read.',
  description: 'Keys that are bound to the memory are revoked. A legal hold refuses it.',
  example: { dry_run: true },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  dryRun: true,
  slow: true,
  input: Type.Object({
    confirm: Type.Optional(Type.Boolean({ description: 'Has no effect: the memory is deleted with or without it.' })),
    dryRun: DryRun,
  }),
  output: Type.Object({
    deleted: Type.Boolean({ description: 'Whether the memory was deleted; false for a dry run.' }),
    id: Type.String({ description: 'Id of the memory.' }),
    keyFingerprint: Type.Optional(
      Type.String({
        description: 'First 16 hexadecimal digits of the SHA-256 of the destroyed key; absent for a dry run.',
      }),
    ),
    signedProof: Type.Optional(
      described(
        RemovalProofOutput,
        'The signed proof of the deletion, a JSON object to be kept as it is; absent for a dry run.',
      ),
    ),
    count: Type.Optional(
      Type.Integer({ description: 'Number of grains that would be removed; absent unless it is a dry run.' }),
    ),
    ...previewMembers(),
  }),
  http: [{ verb: 'DELETE', path: 'M' }],
  async run({ dryRun = false }, context) {
    const { services, memory, principal, requestId } = context;
    if (isDryRun({ dryRun }, context))
      return { ...(await previewOf(context, { of: 'memory' })), deleted: false, id: memory.id };
    const keyFingerprint = await services.memories.delete(memory, { actor: principal.actor, requestId });
    return { deleted: true, id: memory.id, keyFingerprint, signedProof: issueMemoryProof(context, keyFingerprint) };
  },
});
