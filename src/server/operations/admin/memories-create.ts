import Type from 'typebox';
import { EngineError } from '../../../engine/errors.ts';
import { defineOperation } from '../define.ts';
import { MemoryOutput, memoryOutput } from './memory-view.ts';

const Input = Type.Object({
  id: Type.Optional(Type.String({ minLength: 1 })),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  description: Type.Optional(Type.String({ maxLength: 4096 })),
  policies: Type.Optional(Type.Array(Type.String())),
  partitions: Type.Optional(Type.Integer({ minimum: 1 })),
  language: Type.Optional(Type.String({ pattern: '^[a-z]{2}$' })),
  dedup: Type.Optional(Type.Enum(['none', 'exact', 'fuzzy', 'upsert'])),
  dedupThreshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  guardrailPatterns: Type.Optional(Type.Array(Type.String())),
  guardrailMode: Type.Optional(Type.Enum(['exact', 'contains', 'fuzzy'])),
  vectorBackend: Type.Optional(Type.String()),
});

export const memoriesCreate = defineOperation({
  name: 'create_memory',
  summary: 'Make a memory.',
  needs: 'admin',
  orMayCreateMemories: true,
  on: 'deployment',
  mutates: true,
  input: Input,
  output: MemoryOutput,
  errors: ['MEM-E004', 'VAL-E001', 'LIM-E002'],
  http: [{ verb: 'POST', path: '/memories', successStatus: 201 }],
  async run(
    { policies, guardrailPatterns, guardrailMode, vectorBackend, ...wanted },
    { services, principal, requestId },
  ) {
    if (principal.memoryId !== undefined || principal.namespace !== undefined || principal.userId !== undefined)
      throw new EngineError('AUT-E001', 'a bound key makes no memories');
    // What protects data is never taken and then not done.
    if (policies !== undefined && policies.length > 0)
      throw new EngineError('SYS-E002', 'policies are not in this build: make the memory without them');
    if (guardrailPatterns !== undefined && guardrailPatterns.length > 0)
      throw new EngineError('SYS-E002', 'guardrails are not in this build: make the memory without them');
    const memory = await services.memories.create(wanted, { actor: principal.actor, requestId });
    const warnings = [
      ...(guardrailMode === undefined ? [] : ['guardrail_mode is not in this build and was ignored']),
      ...(vectorBackend === undefined || vectorBackend === 'none'
        ? []
        : ['vector_backend is not in this build and was ignored']),
    ];
    return { ...memoryOutput(memory), ...(warnings.length === 0 ? {} : { warnings }) };
  },
});
