import { EngineError } from '../../../engine/base/errors.ts';
import { DESCRIPTION_CHARS_MAX, MEMORY_SETTINGS_BYTES_MAX, NAME_CHARS_MAX } from '../../../engine/base/limits.ts';
import { compose, looserOverrides, type Overrides } from '../../../engine/govern/policy/compose.ts';
import { nested } from '../../../engine/govern/policy/rules.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import type { NewMemory } from '../../control/memories.ts';
import { defineOperation } from '../define.ts';
import type { Members } from '../names.ts';
import { isLanguage, plainText } from '../text.ts';
import { Type } from '../type.ts';
import { MemoryOutput, memoryOutput } from './view.ts';

const Input = Type.Object({
  id: Type.Optional(Type.String({ minLength: 1 })),
  name: Type.Optional(plainText({ minLength: 1, maxLength: NAME_CHARS_MAX })),
  description: Type.Optional(plainText({ maxLength: DESCRIPTION_CHARS_MAX })),
  region: Type.Optional(plainText({ maxLength: NAME_CHARS_MAX })),
  settings: Type.Optional(Type.Unsafe<Members>({ type: 'object' })),
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
  ) {
    if (vectorBackend !== undefined) services.embedders.check(vectorBackend);
    const policy = firstPolicy(policies, guardrailPatterns, guardrailMode);
    if (wanted.language !== undefined && !isLanguage(wanted.language)) throw refused('language', 'not in ISO 639-1');
    const memory = await services.memories.create(
      {
        ...wanted,
        ...(settings === undefined ? {} : { settings: checkedSettings(settings) }),
        ...(vectorBackend === undefined || vectorBackend === '' ? {} : { vectorBackend }),
        ...(policy === undefined ? {} : { policy }),
      },
      { actor: principal.actor, requestId },
    );
    return memoryOutput(memory, services);
  },
});

/** What holds from the first grain on. Throws POL-E009 for an unknown preset, VAL-E001 for patterns that a rule cannot have. */
function firstPolicy(
  presets: readonly string[] = [],
  patterns: readonly string[] = [],
  mode: string | undefined,
): NewMemory['policy'] {
  // Patterns without a word on how they are meant keep out what holds them.
  const overrides: JsonObject = {
    ...(patterns.length === 0 ? {} : { 'guardrail.patterns': [...patterns], 'guardrail.mode': 'contains' }),
    ...(mode === undefined ? {} : { 'guardrail.mode': mode }),
  };
  if (presets.length === 0 && Object.keys(overrides).length === 0) return undefined;
  const [looser] = looserOverrides(presets, overrides as Overrides); // of rules that are named here
  if (looser !== undefined) throw looser;
  const composed = compose(presets, overrides as Overrides);
  return { presets: composed.presets, overrides, rules: nested(composed.rules) as JsonObject }; // rules are JSON
}

/** Settings are the caller's own: they are kept and shown, and mean nothing to the server. */
function checkedSettings(settings: Members): JsonObject {
  let text: string;
  try {
    text = JSON.stringify(settings);
  } catch {
    throw refused('settings', 'not kept with integers past 2^53');
  }
  if (Buffer.byteLength(text) > MEMORY_SETTINGS_BYTES_MAX)
    throw refused('settings', `longer than ${MEMORY_SETTINGS_BYTES_MAX} bytes as JSON`);
  return settings as JsonObject; // parsed from JSON
}

function refused(field: string, issue: string): EngineError {
  return new EngineError('VAL-E001', `\`${field}\` is ${issue}`, { details: [{ field, issue }] });
}
