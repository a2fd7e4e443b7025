// Members of a definition that requests may state, and how they change it.
import {
  HARNESS_DESCRIPTION_CHARS_MAX,
  HARNESS_GOAL_CHARS_MAX,
  HARNESS_ITERATIONS_MAX,
  HARNESS_PROMPT_CHARS_MAX,
  NAME_CHARS_MAX,
} from '../../../engine/base/limits.ts';
import { onDemand } from '../../../engine/base/on-demand.ts';
import type * as AssembleQuery from '../../harness/assemble/query.ts';
import { ASSEMBLE_QUERY_DEFAULT, type Settings } from '../../harness/definition.ts';
import { plainText } from '../text.ts';
import { described, type Static, Type } from '../type.ts';

/** Loads the language of queries. */
const queries = onDemand<typeof AssembleQuery>(import.meta.url, '../../harness/assemble/query');

const text = (maxLength: number, description: string, minLength = 0) =>
  Type.Optional(described(plainText({ minLength, maxLength }), description));

export const SETTINGS = {
  name: text(NAME_CHARS_MAX, 'Name for people to read, of at most 256 characters; the default is as before.', 1),
  description: text(
    HARNESS_DESCRIPTION_CHARS_MAX,
    'The purpose of the harness, of at most 4,096 characters; the default is as before.',
  ),
  goal: text(
    HARNESS_GOAL_CHARS_MAX,
    'The goal of the agent, of at most 8,192 characters; the default is that of the template, then as before.',
    1,
  ),
  systemPrompt: text(
    HARNESS_PROMPT_CHARS_MAX,
    'Instructions for the model, of at most 65,536 characters; the default is as before.',
  ),
  model: text(
    NAME_CHARS_MAX,
    'Model that answers; an empty text means the model of the role chat; the default is as before.',
  ),
  provider: text(
    NAME_CHARS_MAX,
    'Provider of the model; an empty text means the provider of the role chat; the default is as before.',
  ),
  assembleQuery: text(
    8_192,
    'Query that assembles the context of a turn: a name, or CAL text with $user, $def_ns, $session_id and $query; an empty text means agent_context; the default is as before.',
  ),
  maxIterations: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: HARNESS_ITERATIONS_MAX,
      description: 'Calls of the model that one turn may make, from 1 to 32; the default is as before, at first 8.',
    }),
  ),
};

const SettingsInput = Type.Object(SETTINGS);
type SettingsInput = Static<typeof SettingsInput>;

/** The settings after a request. VAL-E001 and CAL codes for a query that cannot run. */
export function changedSettings(before: Settings, asked: SettingsInput): Settings {
  const { assembleQuery } = asked;
  if (assembleQuery !== undefined && assembleQuery !== '') queries().checkAssembleQuery(assembleQuery);
  return {
    ...before,
    name: asked.name ?? before.name,
    description: asked.description ?? before.description,
    systemPrompt: asked.systemPrompt ?? before.systemPrompt,
    model: chosen(asked.model, before.model),
    provider: chosen(asked.provider, before.provider),
    assembleQuery: chosen(assembleQuery, before.assembleQuery) ?? ASSEMBLE_QUERY_DEFAULT,
    maxIterations: asked.maxIterations ?? before.maxIterations,
  };
}

/** An empty text takes a choice back. */
function chosen(asked: string | undefined, before: string | undefined): string | undefined {
  return asked === undefined ? before : asked === '' ? undefined : asked;
}
