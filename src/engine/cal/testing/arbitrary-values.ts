// Words and values for property tests, including values that are hard to print.
import fc, { type Arbitrary } from 'fast-check';
import { anyText } from '../../base/testing/any-text.ts';
import type { QueryField } from '../../grain/types/query-field.ts';
import type { GrainReference, Value, Word } from '../ast.ts';
import { SINGULARS } from '../vocabulary/grain-types.ts';
import { CATEGORY_RELATIONS } from '../vocabulary/relations.ts';
import { isReserved } from '../vocabulary/words.ts';

const BIDI = /[\u202A-\u202E\u2066-\u2069]/g;

/** Any text that a literal can hold: in NFC, without direction controls. */
export const texts: Arbitrary<string> = fc
  .oneof(
    fc.constantFrom('alice', 'mg:prefers', 'last week', '\\', '"', '\\"', '--', "'", '{{', 'é', '\n', 'e\u0301'),
    anyText({ maxLength: 12 }),
  )
  .map((text) => text.replace(BIDI, '').normalize('NFC'));

export const filled = texts.filter((text) => text.trim() !== '');
export const identifiers = fc
  .stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,8}$/)
  .filter((name) => !isReserved(name.toLowerCase()));
export const labels: Arbitrary<Word> = fc
  .oneof(identifiers, fc.constantFrom('history', 'recent', 'facts', 'Goals', 'observation', 'int'))
  .map((word) => ({ word }));
export const hashes: Arbitrary<GrainReference> = fc
  .stringMatching(/^[0-9a-f]{8,64}$/)
  .map((hex) => ({ kind: 'hash', hex }));
export const numbers = fc
  .oneof(fc.integer({ min: -5, max: 2_000_000_000 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .map((value) => (value === 0 ? 0 : value));
const times = fc.oneof(
  fc.constantFrom('today', 'yesterday', 'last week', 'last 3 days', '2 hours ago', 'this month', '2026-03-01'),
  fc.integer({ min: 0, max: 2_000_000_000_000 }),
);

/** A plain object without its undefined members, as the parsers return it. */
export function compact<T extends object>(value: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T; // A partial copy of the same object.
}

export function maybe<T>(arbitrary: Arbitrary<T>): Arbitrary<T | undefined> {
  return fc.option(arbitrary, { nil: undefined, freq: 3 });
}

export const wildValues: Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    texts.map((value): Value => ({ kind: 'string', value })),
    numbers.map((value): Value => ({ kind: 'number', value })),
    fc.boolean().map((value): Value => ({ kind: 'boolean', value })),
    hashes,
    identifiers.map((name): Value => ({ kind: 'parameter', name })),
    fc.array(tie('value'), { maxLength: 3 }).map((items): Value => ({ kind: 'array', items })),
  ),
})).value;

/** A value of the field's type; one of its words if it has a closed set. */
export function literalOf(field: QueryField): Arbitrary<Value> {
  const strings = (from: Arbitrary<string>): Arbitrary<Value> => from.map((value) => ({ kind: 'string', value }));
  switch (field.type) {
    case 'string':
      return field.name === 'relation'
        ? strings(fc.oneof(texts, fc.constantFrom(...Object.values(CATEGORY_RELATIONS).flat())))
        : strings(texts);
    case 'array':
      return strings(texts);
    case 'enum':
      return strings(fc.constantFrom(...field.values!));
    case 'grain_type':
      return strings(fc.constantFrom(...SINGULARS));
    case 'number':
      return fc
        .double({ min: 0, max: 1, noNaN: true })
        .map((value) => ({ kind: 'number', value: value === 0 ? 0 : value }));
    case 'boolean':
      return fc.boolean().map((value) => ({ kind: 'boolean', value }));
    case 'temporal':
      return times.map((value) => (typeof value === 'string' ? { kind: 'string', value } : { kind: 'number', value }));
    case 'hash':
      return hashes;
  }
}

export function word(field: { readonly name: string }): Word {
  return { word: field.name };
}
