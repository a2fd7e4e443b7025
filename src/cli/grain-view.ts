// A grain for terminals, with all of its fields.

import { stringifyJson } from '../engine/grain/api/json.ts';
import type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';
import { printable, printLine, printPairs, utc } from './output.ts';

/** Fields of an answer that hold a time. */
const TIMES = new Set(['created_at', 'valid_from', 'valid_to', 'expires_at']);

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
