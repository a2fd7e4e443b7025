// Grains for terminals: a one-line summary, and all fields.

import { stringifyJson } from '../engine/grain/api/json.ts';
import type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';
import type { GrainType } from '../engine/grain/grain.ts';
import { printable, printLine, printPairs, utc } from './output.ts';

/** Fields that summarise a grain, by type. Other types use the fields they have. */
const SAYING = ['content', 'description', 'conclusion', 'agreed_content', 'thinking_content', 'trigger'] as const;
/** Fields of an answer that hold a time. */
const TIMES = new Set(['created_at', 'valid_from', 'valid_to', 'expires_at']);

const SAID_BY_TYPE: Readonly<Record<GrainType, (fields: JsonObject) => string>> = {
  belief: tripleOf,
  event: saidOf,
  state: saidOf,
  workflow: saidOf,
  action: (fields) => [text(fields['tool_name']), ownWords(fields) ?? ''].filter((part) => part !== '').join(': '),
  observation: saidOf,
  goal: saidOf,
  reasoning: saidOf,
  consensus: saidOf,
  consent: consentOf,
};

/** One line with the content of a grain of any type, unknown types included. */
export function sayingOf(grainType: string, fields: JsonObject): string {
  return Object.hasOwn(SAID_BY_TYPE, grainType) ? SAID_BY_TYPE[grainType as GrainType](fields) : saidOf(fields);
}

function consentOf(fields: JsonObject): string {
  const verb = fields['is_withdrawal'] === true ? 'withdraws' : 'grants';
  return `${text(fields['subject_did'] ?? fields['user_id'])} ${verb} ${text(fields['scope'] ?? fields['grantee_did'])}`;
}

function tripleOf(fields: JsonObject): string {
  return ['subject', 'relation', 'object']
    .map((name) => text(fields[name]))
    .filter((part) => part !== '')
    .join(' ');
}

function ownWords(fields: JsonObject): string | undefined {
  return SAYING.map((name) => text(fields[name])).find((part) => part !== '');
}

function saidOf(fields: JsonObject): string {
  const said = ownWords(fields);
  const speaker = text(fields['speaker'] ?? fields['role']);
  if (said !== undefined) return speaker === '' ? said : `${speaker}: ${said}`;
  return fields['data'] === undefined ? tripleOf(fields) : stringifyJson(fields['data']);
}

export function printGrain(grain: { hash: string; grainType: string; fields: JsonObject }): void {
  const names = Object.keys(grain.fields).filter((name) => !isEmpty(grain.fields[name]));
  printPairs([
    ['hash', grain.hash],
    ['type', grain.grainType],
  ]);
  if (names.length > 0) printLine();
  printPairs(names.map((name) => [name, shown(name, grain.fields[name])]));
}

function shown(name: string, value: JsonValue | undefined): string {
  if (TIMES.has(name) && typeof value === 'number') return `${utc(value)} UTC`;
  return printable(text(value));
}

function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

export function text(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : stringifyJson(value);
}
