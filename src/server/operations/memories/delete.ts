import { defineOperation } from '../define.ts';
import { DryRun, isDryRun, previewMembers, previewOf } from '../erasure/dry-run.ts';
import { Type } from '../type.ts';

export const memoryDelete = defineOperation({
  name: 'delete_memory',
  summary: 'Delete a memory: its keys are destroyed, so no copy of it can be read.',
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  dryRun: true,
  slow: true,
  input: Type.Object({ confirm: Type.Optional(Type.Boolean()), dryRun: DryRun }),
  output: Type.Object({
    deleted: Type.Boolean(),
    id: Type.String(),
    keyFingerprint: Type.Optional(Type.String()),
    count: Type.Optional(Type.Integer()),
    ...previewMembers(),
  }),
  http: [{ verb: 'DELETE', path: 'M' }],
  async run({ dryRun = false }, context) {
    const { services, memory, principal, requestId } = context;
    if (isDryRun({ dryRun }, context))
      return { deleted: false, id: memory.id, ...(await previewOf(context, { of: 'memory' })) };
    const keyFingerprint = await services.memories.delete(memory, { actor: principal.actor, requestId });
    return { deleted: true, id: memory.id, keyFingerprint };
  },
});
