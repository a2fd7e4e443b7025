// Converts a grain to the fields of an answer: the inverse of input.ts.

import { unreachable } from '../../base/assert.ts';
import { GRAIN_TYPE_NAMES, type Grain, type GrainType } from '../grain.ts';
import { OWN } from '../types/own-fields.ts';
import type { TypeNames } from '../types/row.ts';
import { GRAIN_TYPES } from '../types/table.ts';
import type { Value } from '../value.ts';
import { CONVERSIONS, oneOut } from './conversion.ts';
import { EXTRA_FIELDS } from './draft.ts';
import { toJson } from './free.ts';
import { setJson } from './json.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { PRIORITIES } from './type-fields.ts';

/** The parts of a grain that an answer needs. The grain was decoded, or made by `fromApi`. */
export type GrainFields = Pick<Grain, 'type' | 'fields'> & Partial<Grain>;

export interface AnswerOptions {
  /** Address of the version that this grain superseded; the answer omits it from the blob's derived_from. */
  readonly predecessor?: string | undefined;
}

/**
 * The fields of a grain as the API shows them: seconds, the service's names, defaults filled (confidence, tags,
 * source_type, temporal_type). Integers past 2^53 are `bigint` (`stringifyJson` writes all their digits), bytes are
 * base64. Arrays and maps may be shared with the grain and must not be changed.
 */
export function toApi(grain: GrainFields, options: AnswerOptions = {}): JsonObject {
  const form = FORMS.get(grain.type)!;
  const answer = fieldsIn(form, grain, options);
  answer['confidence'] ??= 1;
  answer['tags'] ??= [];
  answer['source_type'] ??= 'user';
  answer['temporal_type'] ??= form.temporalType;
  if (grain.type === 'consensus') answer['threshold'] ??= 0;
  return answer;
}

interface Form {
  readonly temporalType: string;
  /** Answer names by blob name, where they differ; undefined if none differ. */
  readonly renamed: ReadonlyMap<string, string> | undefined;
}

const FORMS = new Map(GRAIN_TYPE_NAMES.map((type) => [type, formOf(GRAIN_TYPES[type].api)]));

function formOf({ temporalType, answers }: TypeNames): Form {
  const renamed = Object.entries(answers);
  return { temporalType, renamed: renamed.length === 0 ? undefined : new Map(renamed) };
}

/** `toApi` without filled defaults: only the fields in the blob, which a new version inherits. */
export function storedFields(grain: GrainFields, options: AnswerOptions = {}): JsonObject {
  return fieldsIn(FORMS.get(grain.type)!, grain, options);
}

function fieldsIn({ renamed }: Form, { type, fields }: GrainFields, options: AnswerOptions): JsonObject {
  const answer: JsonObject = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value === undefined || name === EXTRA_FIELDS) continue;
    if (name === 'derived_from') giveSources(answer, value, options.predecessor);
    else setJson(answer, answerName(name, renamed), CONVERSIONS.get(name)?.give(value) ?? toJson(value));
  }
  giveTypeFields(answer, type);
  giveExtras(answer, fields[EXTRA_FIELDS]);
  return answer;
}

function answerName(name: string, renamed: Form['renamed']): string {
  if (name === 'structural_tags') return 'tags';
  if (renamed === undefined) return name;
  return renamed.get(name) ?? name;
}

function giveSources(answer: JsonObject, value: Value, predecessor: string | undefined): void {
  if (!Array.isArray(value) || predecessor === undefined) {
    answer['derived_from'] = oneOut(value);
    return;
  }
  const sources = value.filter((source) => source !== predecessor);
  if (sources.length > 0) answer['derived_from'] = oneOut(sources);
}

/** Adds the entries of `extra_fields` to the answer, except names that it has already (in a foreign grain). */
function giveExtras(answer: JsonObject, extras: Value | undefined): void {
  if (extras === undefined) return;
  const json = toJson(extras);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) answer[EXTRA_FIELDS] = json;
  else for (const name of Object.keys(json)) if (!Object.hasOwn(answer, name)) setJson(answer, name, json[name]!);
}

function giveTypeFields(answer: JsonObject, type: GrainType): void {
  switch (type) {
    case 'action':
      // kind and status imply the phase, and an inherited phase could contradict them in the next version.
      if (answer['action_phase'] === 'definition' && answer['kind'] === 'definition') delete answer['action_phase'];
      if (answer['action_phase'] === 'call' && answer['status'] === 'pending') delete answer['action_phase'];
      break;
    case 'observation':
      // content and object are two names of the observed text.
      if (answer['content'] === undefined && answer['object'] !== undefined) answer['content'] = answer['object'];
      break;
    case 'goal':
      givePriority(answer);
      rename(answer, OWN.rollbackEnabled, 'rollback_on_failure');
      rename(answer, OWN.expiryPolicyMap, 'expiry_policy');
      break;
    case 'consensus':
      giveThreshold(answer);
      break;
    case 'belief':
    case 'event':
    case 'state':
    case 'workflow':
    case 'reasoning':
    case 'consent':
      break;
    default:
      unreachable(type);
  }
}

function rename(answer: JsonObject, from: string, to: string): void {
  const value = answer[from];
  if (value === undefined) return;
  delete answer[from];
  answer[to] ??= value;
}

function givePriority(answer: JsonObject): void {
  const priority = answer['priority'];
  const word = typeof priority === 'number' ? PRIORITIES[priority - 1] : undefined;
  if (word !== undefined) answer['priority'] = word;
  const text = answer[OWN.priorityText];
  if (typeof text !== 'string') return;
  answer['priority'] = text;
  delete answer[OWN.priorityText];
}

/** Shows the requested ratio. For a foreign grain computes it from the number of observers; omits it if that is 0. */
function giveThreshold(answer: JsonObject): void {
  const asked: JsonValue | undefined = answer[OWN.thresholdRatio];
  const { threshold, participating_observers: observers } = answer;
  if (asked !== undefined) {
    answer['threshold'] = asked;
    delete answer[OWN.thresholdRatio];
  } else if (threshold === 0) delete answer['threshold'];
  else if (typeof threshold === 'number' && Array.isArray(observers) && observers.length >= threshold && threshold > 0)
    answer['threshold'] = threshold / observers.length;
}
