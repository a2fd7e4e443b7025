import { defined } from '../../../engine/base/defined.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { DESCRIPTION_CHARS_MAX, MEMORY_SETTINGS_BYTES_MAX, NAME_CHARS_MAX } from '../../../engine/base/limits.ts';
import { compose, looserOverrides, type Overrides } from '../../../engine/govern/policy/compose.ts';
import { nested } from '../../../engine/govern/policy/rules.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import type { NewMemory } from '../../control/memories.ts';
import { defineOperation } from '../define.ts';
import type { Members } from '../names.ts';
import { isLanguage, plainText } from '../text.ts';
import { described, Type } from '../type.ts';
import { MemoryOutput, memoryOutput } from './view.ts';

const Input = Type.Object({
  id: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Id of the memory; the default is made from the name, with a suffix where it is taken.',
    }),
  ),
  name: Type.Optional(
    described(plainText({ minLength: 1, maxLength: NAME_CHARS_MAX }), 'Name of the memory; the default is its id.'),
  ),
  description: Type.Optional(
    described(plainText({ maxLength: DESCRIPTION_CHARS_MAX }), 'Description of the memory; the default is empty.'),
  ),
  region: Type.Optional(
    described(
      plainText({ maxLength: NAME_CHARS_MAX }),
      "Region that the memory lies in, which a policy's regions are compared with.",
    ),
  ),
  settings: Type.Optional(
    Type.Unsafe<Members>({ type: 'object', description: "Settings of the caller's own, which are kept and shown." }),
  ),
  policies: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Names of the policy presets that hold from the first grain on; the default is none.',
    }),
  ),
  partitions: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Number of partitions, from 1 to the number of shards; the default is 1.',
      default: 1,
    }),
  ),
  language: Type.Optional(
    Type.String({
      pattern: '^[a-z]{2}$',
      description: 'ISO 639-1 code of the language of the text index, fixed at creation; the default is en.',
      default: 'en',
    }),
  ),
  dedup: Type.Optional(
    Type.Enum(['none', 'exact', 'fuzzy', 'upsert'], {
      description: 'How duplicates are recognised; the default is exact.',
      default: 'exact',
    }),
  ),
  dedupThreshold: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        'Similarity of objects from which dedup fuzzy treats grains as duplicates, from 0 to 1; the default is 0.85.',
      default: 0.85,
    }),
  ),
  guardrailPatterns: Type.Optional(
    Type.Array(Type.String(), { description: 'Texts that no grain may hold; the default is none.' }),
  ),
  guardrailMode: Type.Optional(
    Type.Enum(['exact', 'contains', 'fuzzy'], {
      description: 'How a guardrail pattern matches a text; the default is contains.',
      default: 'contains',
    }),
  ),
  vectorBackend: Type.Optional(
    Type.String({
      description:
        "Name of the embedder that makes the memory's vectors, such as use-lite-int8, ngram or onnx:NAME; the default is the deployment's.",
    }),
  ),
});

export const memoriesCreate = defineOperation({
  name: 'create_memory',
  summary: 'Make a memory.',
  description: 'Partitions and language are fixed from then on.',
  example: { id: 'ada', description: 'What the assistant knows of Ada.', policies: ['gdpr'] },
  needs: 'admin',
  orMayCreateMemories: true,
  on: 'deployment',
  reach: 'deployment',
  mutates: true,
  onUnknown: 'refuse',
  input: Input,
  output: MemoryOutput,
  errors: ['MEM-E004', 'VAL-E001', 'LIM-E002', 'POL-E009'],
  http: [{ verb: 'POST', path: '/memories', successStatus: 201 }],
  async run(
    { policies, guardrailPatterns, guardrailMode, vectorBackend, settings, ...wanted },
    { services, principal, requestId },
    first,
  ) {
    if (vectorBackend !== undefined) services.embedders.check(vectorBackend);
    const policy = firstPolicy(policies, guardrailPatterns, guardrailMode);
    if (wanted.language !== undefined && !isLanguage(wanted.language)) throw refused('language', 'not in ISO 639-1');
    const memory = await services.memories.create(
      {
        ...wanted,
        settings: settings === undefined ? undefined : checkedSettings(settings),
        vectorBackend: vectorBackend === undefined || vectorBackend === '' ? undefined : vectorBackend,
        policy,
      },
      { actor: principal.actor, requestId, first },
    );
    return memoryOutput(memory, services);
  },
});

/**
 * The policy of a new memory, in force from its first grain. Throws POL-E009 for an unknown preset, VAL-E001 for
 * invalid patterns.
 */
function firstPolicy(
  presets: readonly string[] = [],
  patterns: readonly string[] = [],
  mode: string | undefined,
): NewMemory['policy'] {
  // Patterns without an explicit mode block matching texts.
  const listed = patterns.length === 0 ? undefined : [...patterns];
  const overrides: JsonObject = defined({
    'guardrail.patterns': listed,
    'guardrail.mode': mode ?? (listed === undefined ? undefined : 'contains'),
  });
  if (presets.length === 0 && Object.keys(overrides).length === 0) return undefined;
  const [looser] = looserOverrides(presets, overrides as Overrides); // of the rules above
  if (looser !== undefined) throw looser;
  const composed = compose(presets, overrides as Overrides);
  return { presets: composed.presets, overrides, rules: nested(composed.rules) as JsonObject }; // rules are JSON
}

/** Checks the size of settings, which the server stores and shows but does not interpret. */
function checkedSettings(settings: Members): JsonObject {
  let text: string;
  try {
    text = JSON.stringify(settings);
  } catch {
    throw refused('settings', 'invalid: it contains an integer beyond 2^53');
  }
  if (Buffer.byteLength(text) > MEMORY_SETTINGS_BYTES_MAX)
    throw refused('settings', `longer than ${MEMORY_SETTINGS_BYTES_MAX} bytes as JSON`);
  return settings as JsonObject; // parsed from JSON
}

function refused(field: string, issue: string): EngineError {
  return new EngineError('VAL-E001', `\`${field}\` is ${issue}`, { details: [{ field, issue }] });
}
