// Validates an operation's input against its schema and throws the contract's codes: VAL-E003 (422) for a missing or
// mistyped member, VAL-E001 (400) for one out of range, VAL-E004 for bad paging. Errors use the caller's member names.

import type { Validator } from 'typebox/schema';
import { assert } from '../../engine/base/assert.ts';
import { EngineError, type ErrorCode } from '../../engine/base/errors.ts';
import { onDemand } from '../../engine/base/on-demand.ts';
import { formNamesOf } from './name-form.ts';
import { toSnake } from './names.ts';
import type * as Compiler from './schema-compiler.ts';
import type { Static, TSchema } from './type.ts';

/** Paging members, whose errors are VAL-E004. */
const PAGE_MEMBERS = new Set(['limit', 'cursor', 'offset']);

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** Returns `value` as the schema's type, its names in NFC, or throws EngineError. */
export type Validate<S extends TSchema> = (value: unknown) => Static<S>;

/** A starting thread does not need it, and a command seldom does. */
const compiler = onDemand<typeof Compiler>(import.meta.url, './schema-compiler');

/** Makes a check that compiles on first use. With `paged`, errors in the paging members are VAL-E004. */
export function compileCheck<S extends TSchema>(schema: S, options: { readonly paged: boolean }): Validate<S> {
  const formNames = formNamesOf(schema);
  let validator: Validator | undefined;
  return (value) => {
    validator ??= compiler().Compile(schema);
    if (validator.Check(value)) return formNames(value as Static<S>); // `Check` said so
    throw asEngineError(validator.Errors(value)[1], value, options.paged);
  };
}

function asEngineError(errors: readonly SchemaError[], value: unknown, paged: boolean): EngineError {
  const first = errors.find((error) => error.keyword === 'required') ?? errors[0];
  assert(first !== undefined, 'a failed check has an error');
  const path = outsidePath(first.instancePath);
  if (first.keyword === 'required') {
    const names = 'requiredProperties' in first.params ? first.params.requiredProperties : [];
    const field = joined(path, toSnake(String(Array.isArray(names) ? names[0] : '')));
    return new EngineError('VAL-E003', `missing field \`${field}\``, { details: [{ field, issue: 'required' }] });
  }
  if (paged && PAGE_MEMBERS.has(path)) return refusal('VAL-E004', path, `bad ${path}: ${first.message}`, first.message);
  if (first.keyword === 'type' && isEndless(valueAt(value, first.instancePath)))
    return refusal('VAL-E001', path, `\`${path}\` is not a finite number`, 'not a finite number');
  if (first.keyword === 'type') return mistyped(path, 'type' in first.params ? String(first.params.type) : 'another');
  if (first.keyword === 'enum' && 'allowedValues' in first.params && Array.isArray(first.params.allowedValues))
    return outsideList(path, valueAt(value, first.instancePath), first.params.allowedValues);
  if (first.keyword === 'const')
    return outsideList(path, valueAt(value, first.instancePath), constantsAt(errors, first.instancePath));
  return refusal('VAL-E001', path, `\`${path}\` ${first.message}`, first.message);
}

/** The constants that a value could have been: each branch of a union has an error of its own. */
function constantsAt(errors: readonly SchemaError[], instancePath: string): readonly unknown[] {
  return errors.flatMap(({ keyword, instancePath: at, params }) =>
    keyword === 'const' && at === instancePath && 'allowedValue' in params ? [params.allowedValue] : [],
  );
}

/** The error for a value outside an enum: it has the wrong type, or is another string. */
function outsideList(path: string, value: unknown, allowed: readonly unknown[]): EngineError {
  if (typeof value !== 'string') return mistyped(path, 'string');
  // An empty string stands for the default.
  const named = allowed.filter((one) => one !== '');
  const issue = `must be ${named.length === 1 ? '' : 'one of '}${named.join(', ')}`;
  return refusal('VAL-E001', path, `\`${path}\` ${issue}`, issue);
}

function mistyped(path: string, wanted: string): EngineError {
  return refusal(
    'VAL-E003',
    path,
    `invalid type for \`${path}\`: expected ${wanted}`,
    `invalid type, expected ${wanted}`,
  );
}

function refusal(code: ErrorCode, field: string, text: string, issue: string): EngineError {
  return new EngineError(code, text, { details: [{ field, issue }] });
}

/** True for NaN and infinities: gRPC carries them, and JSON's 1e999 parses to Infinity. */
function isEndless(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value);
}

function valueAt(value: unknown, instancePath: string): unknown {
  let found = value;
  for (const part of instancePath.split('/').slice(1)) {
    if (typeof found !== 'object' || found === null) return undefined;
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found = (found as Record<string, unknown>)[name]; // any member of any object, only inspected
  }
  return found;
}

/** Converts `/aB/0/c` to `a_b[0].c`. Inside open values the caller's own names stay unchanged. */
function outsidePath(instancePath: string): string {
  let path = '';
  for (const part of instancePath.split('/').slice(1)) {
    if (/^\d+$/.test(part)) path += `[${part}]`;
    else path = joined(path, toSnake(part.replaceAll('~1', '/').replaceAll('~0', '~')));
  }
  return path;
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
