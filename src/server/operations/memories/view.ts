// A memory as answers show it (service contract 4.3).
import type { Services } from '../../context.ts';
import type { MemoryRecord } from '../../control/memories.ts';
import type { Members } from '../names.ts';
import { type Static, Type } from '../type.ts';

export const MemoryOutput = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  createdAt: Type.Integer(),
  owner: Type.String(),
  region: Type.Optional(Type.String()),
  settings: Type.Unsafe<Members>({ type: 'object' }),
  partitions: Type.Integer(),
  language: Type.String(),
  policies: Type.Array(Type.String()),
  dedup: Type.String(),
  dedupThreshold: Type.Number(),
  vectorBackend: Type.String(),
  guardrailPatterns: Type.Array(Type.String()),
  guardrailMode: Type.String(),
  warnings: Type.Optional(Type.Array(Type.String())),
});

export function memoryOutput(
  memory: MemoryRecord,
  { embedders }: Pick<Services, 'embedders'>,
): Static<typeof MemoryOutput> {
  return {
    id: memory.id,
    name: memory.name,
    description: memory.description,
    createdAt: Math.floor(memory.createdAtMs / 1000),
    owner: memory.owner,
    ...(memory.region === undefined ? {} : { region: memory.region }),
    settings: memory.settings ?? {},
    partitions: memory.partitions,
    language: memory.language,
    policies: [...(memory.governing?.presets ?? memory.policy?.presets ?? [])],
    dedup: memory.dedup,
    dedupThreshold: memory.dedupThreshold,
    vectorBackend: embedders.nameOf(memory.vectorBackend ?? ''),
    ...guardrailOf(memory),
  };
}

function guardrailOf({ governing, policy }: MemoryRecord) {
  if (governing !== undefined)
    return { guardrailPatterns: [...governing.guardrailPatterns], guardrailMode: governing.guardrailMode };
  const { 'guardrail.patterns': patterns, 'guardrail.mode': mode } = policy?.overrides ?? {};
  return {
    guardrailPatterns: Array.isArray(patterns) ? patterns.map(String) : [],
    guardrailMode: typeof mode === 'string' ? mode : 'contains',
  };
}
