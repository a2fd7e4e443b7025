// Fields whose values differ between the API and the grain, with the conversion in both directions. They apply to every
// type; conversions that depend on the type or on several fields are in fields.ts and output.ts.

import { MS } from '../codec/kind.ts';
import type { FieldRow } from '../types/row.ts';
import { GRAIN_TYPES } from '../types/table.ts';
import type { Value, ValueMap } from '../value.ts';
import { toJson } from './free.ts';
import type { JsonValue } from './json-value.ts';
import { alternatives } from './nested.ts';
import { invalidType } from './refusal.ts';
import { count, secondsToMs, type Take, text, texts } from './take.ts';

export interface Conversion {
  readonly take: Take;
  /** Converts the blob's value for an answer. Accepts any kind, because another engine may have written the blob. */
  readonly give: (value: Value) => JsonValue;
}

const time: Conversion = { take: secondsToMs, give: msToSeconds };
const oneOrMore: Conversion = { take: oneText, give: oneOut };

export const CONVERSIONS: ReadonlyMap<string, Conversion> = new Map<string, Conversion>([
  ['created_at', time],
  ['valid_from', time],
  ['valid_to', time],
  ['system_valid_from', time],
  ...Object.values(GRAIN_TYPES).flatMap(({ format }) => timesOf(format.fields)),
  ['delegation_expiry', time],
  ['scope', oneOrMore],
  ['criteria', oneOrMore],
  ['alternatives_considered', { take: alternatives, give: alternativesOut }],
  ['evidence_required', { take: evidence, give: toJson }],
  [
    'observation_mode',
    { take: observationMode, give: (value) => (value === 'real_time' ? 'realtime' : toJson(value)) },
  ],
]);

/** The times among the fields of a type. A name that ends in _ms says that the API has milliseconds too. */
function timesOf(rows: readonly FieldRow[]): [string, Conversion][] {
  return rows.flatMap(([name, , kind]) => (kind === MS && !name.endsWith('_ms') ? [[name, time]] : []));
}

function msToSeconds(value: Value): JsonValue {
  if (typeof value === 'bigint') return value / 1000n;
  return typeof value === 'number' ? Math.floor(value / 1000) : toJson(value);
}

function oneText(value: JsonValue, field: string): string[] {
  if (typeof value === 'string') return [text(value, field)];
  if (!Array.isArray(value)) throw invalidType(field, value, 'a string');
  return texts(value, field);
}

/** Replaces an array of one item by the item. */
export function oneOut(value: Value): JsonValue {
  return Array.isArray(value) && value.length === 1 ? toJson(value[0]!) : toJson(value);
}

function alternativesOut(value: Value): JsonValue {
  return Array.isArray(value) ? value.map(alternativeOut) : toJson(value);
}

function alternativeOut(value: Value): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return toJson(value);
  const keys = Object.keys(value);
  const { hypothesis } = value as ValueMap; // an object that is neither array nor null is looked at as a map
  return keys.length === 1 && typeof hypothesis === 'string' ? hypothesis : toJson(value);
}

function evidence(value: JsonValue, field: string): number {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'number' && typeof value !== 'bigint')
    throw invalidType(field, value, 'a boolean or an integer');
  return count(value, field);
}

function observationMode(value: JsonValue, field: string): string {
  const mode = text(value, field);
  return mode === 'realtime' ? 'real_time' : mode;
}
