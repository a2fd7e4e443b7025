// Converts a memory to its answer (service contract 4.3).
import type { Services } from '../../context.ts';
import type { MemoryRecord } from '../../control/memories.ts';
import type { Members } from '../names.ts';
import { type Static, Type } from '../type.ts';

export const MemoryOutput = Type.Object({
  id: Type.String({ description: 'Id of the memory.' }),
  name: Type.String({ description: 'Name of the memory.' }),
  description: Type.String({ description: 'Description of the memory.' }),
  createdAt: Type.Integer({ description: 'Time at which the memory was made, in Unix seconds.' }),
  owner: Type.String({ description: 'Principal that made the memory.' }),
  region: Type.Optional(Type.String({ description: 'Region that the memory lies in; absent where none was given.' })),
  settings: Type.Unsafe<Members>({ type: 'object', description: "Settings of the caller's own." }),
  partitions: Type.Integer({ description: 'Number of partitions.' }),
  language: Type.String({ description: 'ISO 639-1 code of the language of the text index.' }),
  policies: Type.Array(Type.String(), { description: 'Names of the policy presets that hold.' }),
  dedup: Type.String({ description: 'How duplicates are recognised: none, exact, fuzzy or upsert.' }),
  dedupThreshold: Type.Number({
    description: 'Similarity of objects from which dedup fuzzy treats grains as duplicates, from 0 to 1.',
  }),
  vectorBackend: Type.String({ description: "Name of the embedder that makes the memory's vectors." }),
  guardrailPatterns: Type.Array(Type.String(), { description: 'Texts that no grain may hold.' }),
  guardrailMode: Type.String({ description: 'How a guardrail pattern matches a text: exact, contains or fuzzy.' }),
  warnings: Type.Optional(
    Type.Array(Type.String(), { description: 'Parts of the request that were ignored or not fulfilled.' }),
  ),
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
    region: memory.region,
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
