import Type from 'typebox';
import { EngineError } from '../../../engine/errors.ts';
import { defineOperation } from '../define.ts';

export const memoryDelete = defineOperation({
  name: 'delete_memory',
  summary: 'Delete a memory: its keys are destroyed, so no copy of it can be read.',
  needs: 'admin',
  on: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  slow: true,
  input: Type.Object({ confirm: Type.Optional(Type.Boolean()) }),
  output: Type.Object({ deleted: Type.Literal(true), id: Type.String(), keyFingerprint: Type.String() }),
  http: [{ verb: 'DELETE', path: 'M' }],
  async run(_, { services, memory, principal, requestId }) {
    if (principal.namespace !== undefined || principal.userId !== undefined)
      throw new EngineError('AUT-E001', 'a call bound or narrowed to a part of a memory does not delete it');
    const keyFingerprint = await services.memories.delete(memory, { actor: principal.actor, requestId });
    return { deleted: true as const, id: memory.id, keyFingerprint };
  },
});
