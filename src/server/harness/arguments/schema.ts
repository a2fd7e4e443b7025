// Compares a value with a tool's schema: the part of JSON Schema that tool-schema.ts admits. A value is never changed to
// fit. The work is bounded: see `Budget`.

import { ARGUMENT_CHECK_STEPS_MAX, ARGUMENT_FAULTS_MAX } from '../../../engine/base/limits.ts';
import { isJsonObject } from '../../../engine/grain/api/json-value.ts';
import type { JsonObject, JsonValue } from '../../../shards/protocol.ts';
import { canonicalText } from '../tool.ts';
import { isOfFormat } from './formats.ts';
import { Pattern, PatternRefused } from './pattern.ts';

export interface Fault {
  /** Place of the value, such as `to[0].name`; empty for the arguments as a whole. */
  readonly path: string;
  readonly issue: string;
}

export interface SchemaCheck {
  /** Members that the schema does not name are faults everywhere, whatever `additionalProperties` says. */
  readonly strict: boolean;
}

/** The first faults of a value, at most ARGUMENT_FAULTS_MAX; none: it fits. */
export function faultsOf(value: JsonValue, schema: JsonValue, { strict }: SchemaCheck): readonly Fault[] {
  const check = new Check(strict);
  check.value(value, schema, '');
  return check.faults;
}

class Check {
  readonly faults: Fault[] = [];
  readonly #strict: boolean;
  /** By source; one that is refused is not kept. */
  readonly #patterns = new Map<string, Pattern>();
  readonly #allowed = new Map<object, ReadonlySet<string>>();
  #steps = 0;

  constructor(strict: boolean) {
    this.#strict = strict;
  }

  value(value: JsonValue, schema: JsonValue, path: string): void {
    if (!this.#spend(1)) {
      this.#fault(path, TOO_MUCH);
      return;
    }
    if (schema === false) this.#fault(path, 'is not allowed');
    if (!isJsonObject(schema)) return;
    if (!this.#isOfType(value, schema['type'], path)) return;
    this.#equals(value, schema, path);
    if (typeof value === 'string') this.#text(value, schema, path);
    else if (typeof value === 'number' || typeof value === 'bigint') this.#number(value, schema, path);
    else if (Array.isArray(value)) this.#list(value, schema, path);
    else if (isJsonObject(value)) this.#members(value, schema, path);
  }

  #isOfType(value: JsonValue, type: JsonValue | undefined, path: string): boolean {
    if (type === undefined) return true;
    const types = Array.isArray(type) ? type : [type];
    if (types.some((one) => isOf(value, one))) return true;
    this.#fault(path, `must be ${types.map(String).join(' or ')}`);
    return false;
  }

  #equals(value: JsonValue, schema: JsonObject, path: string): void {
    const { enum: allowed, const: only } = schema;
    if (allowed === undefined && only === undefined) return;
    const text = canonicalText(value);
    this.#spend(text.length);
    if (Array.isArray(allowed) && !this.#textsOf(allowed, allowed).has(text))
      this.#fault(path, `must be one of ${shortened([...this.#textsOf(allowed, allowed)].join(', '))}`);
    if (only !== undefined && !this.#textsOf(schema, [only]).has(text))
      this.#fault(path, `must be ${shortened(canonicalText(only))}`);
  }

  /** The texts of values that are allowed at one place, written once, however many values are compared with them. */
  #textsOf(place: object, allowed: readonly JsonValue[]): ReadonlySet<string> {
    const known = this.#allowed.get(place) ?? new Set(allowed.map(canonicalText));
    this.#allowed.set(place, known);
    return known;
  }

  #text(text: string, schema: JsonObject, path: string): void {
    const { minLength, maxLength, format, pattern } = schema;
    if (minLength !== undefined || maxLength !== undefined) {
      this.#spend(text.length);
      const length = [...text].length;
      this.#atLeast(length, minLength, path, 'characters');
      this.#atMost(length, maxLength, path, 'characters');
    }
    if (typeof format === 'string' && !isOfFormat(text, format))
      this.#fault(path, `must be a text of format ${format}`);
    if (typeof pattern === 'string') this.#pattern(text, pattern, path);
  }

  #pattern(text: string, source: string, path: string): void {
    try {
      const pattern = this.#patterns.get(source) ?? new Pattern(source);
      this.#patterns.set(source, pattern);
      const found = pattern.isIn(text, (steps) => this.#spend(steps));
      if (found !== true) this.#fault(path, found === false ? `must match ${shortened(source)}` : TOO_MUCH);
    } catch (error) {
      if (!(error instanceof PatternRefused)) throw error;
      // A definition that was written as a grain, not bound as a tool.
      this.#fault(path, `has a pattern that cannot be checked: ${error.message}`);
    }
  }

  #number(value: number | bigint, schema: JsonObject, path: string): void {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
    if (isNumber(minimum) && value < minimum) this.#fault(path, `must be at least ${minimum}`);
    if (isNumber(maximum) && value > maximum) this.#fault(path, `must be at most ${maximum}`);
    if (isNumber(exclusiveMinimum) && value <= exclusiveMinimum) this.#fault(path, `must be above ${exclusiveMinimum}`);
    if (isNumber(exclusiveMaximum) && value >= exclusiveMaximum) this.#fault(path, `must be below ${exclusiveMaximum}`);
    if (isNumber(multipleOf) && !isMultiple(value, multipleOf))
      this.#fault(path, `must be a multiple of ${multipleOf}`);
  }

  #list(list: readonly JsonValue[], schema: JsonObject, path: string): void {
    this.#atLeast(list.length, schema['minItems'], path, 'items');
    this.#atMost(list.length, schema['maxItems'], path, 'items');
    const { items } = schema;
    if (items === undefined) return;
    for (const [index, one] of list.entries()) {
      if (this.#isFull()) return;
      const own = Array.isArray(items) ? items[index] : items;
      if (own !== undefined) this.value(one, own, `${path}[${index}]`);
    }
  }

  #members(members: JsonObject, schema: JsonObject, path: string): void {
    const names = Object.keys(members);
    this.#atLeast(names.length, schema['minProperties'], path, 'members');
    this.#atMost(names.length, schema['maxProperties'], path, 'members');
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    const { required, additionalProperties: others } = schema;
    for (const name of Array.isArray(required) ? required : [])
      if (typeof name === 'string' && !Object.hasOwn(members, name)) this.#fault(within(path, name), 'is required');
    const areOthersAllowed = !this.#strict || schema['properties'] === undefined;
    for (const name of names) {
      if (this.#isFull()) return;
      const place = within(path, name);
      if (Object.hasOwn(properties, name)) this.value(members[name]!, properties[name]!, place);
      else if (!areOthersAllowed) this.#fault(place, 'is not a member of the schema');
      else if (others !== undefined) this.value(members[name]!, others, place);
    }
  }

  #atLeast(count: number, min: JsonValue | undefined, path: string, what: string): void {
    if (isNumber(min) && count < min) this.#fault(path, `must have at least ${min} ${what}`);
  }

  #atMost(count: number, max: JsonValue | undefined, path: string, what: string): void {
    if (isNumber(max) && count > max) this.#fault(path, `must have at most ${max} ${what}`);
  }

  #fault(path: string, issue: string): void {
    if (this.faults.length < ARGUMENT_FAULTS_MAX) this.faults.push({ path: shortened(path), issue });
  }

  #isFull(): boolean {
    return this.faults.length >= ARGUMENT_FAULTS_MAX || this.#steps > ARGUMENT_CHECK_STEPS_MAX;
  }

  #spend(steps: number): boolean {
    this.#steps += steps;
    return this.#steps <= ARGUMENT_CHECK_STEPS_MAX;
  }
}

const TOO_MUCH = 'takes too long to check';
const SHOWN_CHARS = 200;

function isOf(value: JsonValue, type: JsonValue): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'boolean':
    case 'string':
      return typeof value === type;
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint';
    case 'integer':
      return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isJsonObject(value);
    default:
      return false;
  }
}

/** Decimal fractions are no exact doubles: 0.3 counts as a multiple of 0.1. */
function isMultiple(value: number | bigint, of: number | bigint): boolean {
  if (typeof value === 'bigint' && Number.isInteger(Number(of))) return value % BigInt(of) === 0n;
  const times = Number(value) / Number(of);
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times));
}

function isNumber(value: JsonValue | undefined): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function within(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function shortened(text: string): string {
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS).toWellFormed()}…`;
}
