// Properties of the boundary over arbitrary fields: only the contract's errors, nothing that the codec refuses, and
// every field back as it was sent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { EngineError } from '../base/errors.ts';
import { anyText } from '../base/testing/any-text.ts';
import { type ApiGrain, fromApi } from './api/input.ts';
import { parseJson, setJson, stringifyJson } from './api/json.ts';
import type { JsonObject, JsonValue } from './api/json-value.ts';
import { accumulateFields, supersedeFields } from './api/merge.ts';
import { contractNames } from './api/names.ts';
import { storedFields, toApi } from './api/output.ts';
import { searchText, triple } from './api/text.ts';
import { decodeGrain, encodeGrain } from './codec/blob.ts';
import { MS } from './codec/kind.ts';
import { GrainError } from './error.ts';
import { GRAIN_TYPE_NAMES, type GrainType } from './grain.ts';
import { FIELD_ROWS } from './registry.ts';
import { GRAIN_TYPES } from './types/table.ts';

const nowMs = 1_800_000_000_123;
const context = { nowMs };
const hash = fc.constantFrom('a'.repeat(64), 'b'.repeat(64), '0123456789abcdef'.repeat(4));
const jsonLeaf = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.double(),
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }),
  anyText({ maxLength: 8 }),
  fc.string({ maxLength: 12 }),
  fc.constantFrom('', '\ud800', '\u0000', '\ufeffx', 'e\u0301', 'high', 'active', 'realtime', 'real_time', 'pending'),
  hash,
  hash.map((address) => `sha256:${address}`),
);
const { value: json } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  object: fc.dictionary(key(), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  value: fc.oneof({ maxDepth: 3 }, jsonLeaf, fc.array(tie('value'), { maxLength: 3 }), tie('object')),
}));

function key(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.string({ unit: 'grapheme-composite', maxLength: 5 }),
    fc.constantFrom('__proto__', 'constructor', 'toString', 'e\u0301', '\u00e9', 'hash', 'mode', 'type', 'src', 'h'),
  );
}

const formatNames = FIELD_ROWS.flatMap(([name, short]) => [short, name]);
const ownNames = ['extra_fields', 'common_context', 'threshold_ratio', 'rollback_enabled', 'priority_text', 'cnt'];

/** Values that are valid for many of the contract's fields, so that a good part of the inputs is accepted. */
const likely = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.boolean(),
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.nat(),
  fc.array(fc.string({ maxLength: 6 }), { maxLength: 3 }),
  fc.array(hash, { maxLength: 2 }),
  hash,
  fc.constantFrom<JsonValue>(
    'active',
    'high',
    'HIGH',
    'urgent',
    'definition',
    'pending',
    'state',
    'timed',
    { mode: 'locked' },
    { mode: 'hard', deadline: 1_700_000_000 },
    [{ hash: 'a'.repeat(64), relation_type: 'causal', weight: 1 }],
    [{ uri: 'cas://x', modality: 'image' }],
    [{ url: 'x' }],
    [{ type: 'text', text: 'hello' }],
    [{ src: 'a', dst: 'b' }],
    [{ hypothesis: 'h', rejection_reason: 'r' }],
    ['a', 'b'],
    { a: 1 },
    { a: 'a'.repeat(64) },
  ),
);

function fieldsOf(type: GrainType, value: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject> {
  const name = fc.oneof(
    { arbitrary: fc.constantFrom(...contractNames(type)), weight: 6 },
    { arbitrary: fc.constantFrom(...formatNames, ...ownNames), weight: 2 },
    { arbitrary: key(), weight: 1 },
  );
  return fc.dictionary(name, value, { maxKeys: 6, noNullPrototype: true });
}

/** The required fields of the type. */
const REQUIRED: Record<GrainType, JsonObject> = {
  belief: { subject: 's', relation: 'r', object: 'o' },
  event: { content: 'c' },
  state: {},
  workflow: { nodes: ['a', 'b'] },
  action: {},
  observation: { content: 'c' },
  goal: { description: 'd' },
  reasoning: {},
  consensus: { participating_observers: ['a', 'b', 'c'] },
  consent: { user_id: 'u' },
};

const request = fc
  .constantFrom(...GRAIN_TYPE_NAMES)
  .chain((type) =>
    fc.record({ type: fc.constant(type), fields: fieldsOf(type, fc.oneof({ weight: 4, arbitrary: likely }, json)) }),
  )
  .map(({ type, fields }) => ({ type, fields: { ...REQUIRED[type], ...fields } }));

/** The result of `fromApi`, or undefined when it refuses with a permitted error. */
function accepted(type: string, fields: JsonObject): ApiGrain | undefined {
  try {
    return fromApi(type, fields, context);
  } catch (error) {
    assert.ok(error instanceof EngineError, String(error));
    assert.match(error.code, /^(VAL-E001|VAL-E003|MEM-E005)$/);
    assert.ok(error.details.length === 1 && error.details[0]!.issue !== '');
    return undefined;
  }
}

test('the API refuses a grain that lacks what its type requires, before the codec does', () => {
  for (const type of GRAIN_TYPE_NAMES) {
    const names = new Set([...Object.keys(REQUIRED[type]), ...GRAIN_TYPES[type].format.filled]);
    for (const name of names)
      for (const given of [undefined, '', []]) {
        const { [name]: _, ...rest } = REQUIRED[type];
        const grain = accepted(type, given === undefined ? rest : { ...rest, [name]: given });
        if (grain !== undefined) assert.doesNotThrow(() => encodeGrain(grain.type, grain.fields), `${type}: ${name}`);
      }
  }
});

test('a time of any type is in seconds in the API and in milliseconds in the grain', () => {
  const times = FIELD_ROWS.filter(([name, , kind]) => kind === MS && !name.endsWith('_ms')).map(([name]) => name);
  for (const type of GRAIN_TYPE_NAMES)
    for (const name of times.filter((one) => contractNames(type).has(one))) {
      const grain = fromApi(type, { ...REQUIRED[type], [name]: 1_700_000_000 }, context);
      assert.equal(grain.fields[name], 1_700_000_000_000, `${type}: ${name}`);
      assert.equal(toApi(grain)[name], 1_700_000_000, `${type}: ${name}`);
    }
});

test('the codec encodes every accepted input, and decodes it to the same fields', () => {
  let encodedCount = 0;
  fc.assert(
    fc.property(request, ({ type, fields }) => {
      const grain = accepted(type, fields);
      if (grain === undefined) return;
      encodedCount += 1;
      const { blob } = encodeGrain(grain.type, grain.fields);
      const decoded = decodeGrain(blob, { verifyReencode: true });
      assert.deepEqual(toApi(decoded), toApi(grain));
      assert.equal(searchText(decoded), searchText(grain));
      assert.deepEqual(triple(decoded), triple(grain));
    }),
    { numRuns: runs(800) },
  );
  // About 195 of 800 are accepted; chance makes it fewer than 120 in one run of a billion.
  assert.ok(encodedCount > 120, `only ${encodedCount} were accepted`);
});

test('an answer is accepted as input and gives the same grain', () => {
  fc.assert(
    fc.property(request, ({ type, fields }) => {
      const grain = accepted(type, fields);
      if (grain === undefined) return;
      const again = fromApi(type, storedFields(grain), { nowMs, trusted: true });
      const { created_at: _, ...expected } = grain.fields;
      const { created_at: __, ...actual } = again.fields;
      assert.deepEqual(actual, expected);
    }),
    { numRuns: runs(600) },
  );
});

test('extra fields are returned as sent, whatever they mean to the format', () => {
  const extraNames = formatNames.filter((name) => !ownNames.includes(name));
  fc.assert(
    fc.property(
      fc.constantFrom(...GRAIN_TYPE_NAMES.filter((type) => type !== 'state')),
      fc.constantFrom(...extraNames, ...ownNames.filter((name) => name !== 'cnt'), '__proto__', 'constructor'),
      fc.oneof(likely, fc.integer(), fc.string(), fc.constant('2026-01-01'), fc.constant(1_700_000_000)),
      (type, name, value) => {
        if (contractNames(type).has(name) || ['_elided', '_disclosure_of'].includes(name)) return;
        const fields: JsonObject = { ...REQUIRED[type] };
        setJson(fields, name, value);
        const grain = accepted(type, fields);
        if (grain === undefined || grain.warnings.some((warning) => warning.includes('read-only'))) return;
        assert.deepEqual(Object.getOwnPropertyDescriptor(toApi(grain), name)?.value, value);
      },
    ),
    { numRuns: runs(600) },
  );
});

test('arbitrary JSON causes no foreign error and never reaches Object.prototype', () => {
  const before = Reflect.ownKeys(Object.prototype).length;
  fc.assert(
    fc.property(
      fc.oneof(fc.constantFrom(...GRAIN_TYPE_NAMES), fc.string()),
      fc.oneof(fc.dictionary(key(), json, { noNullPrototype: true }), json),
      (type, value) => {
        // A transport may pass any JSON value.
        accepted(type, value as JsonObject);
      },
    ),
    { numRuns: runs(600) },
  );
  assert.equal(Reflect.ownKeys(Object.prototype).length, before);
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
});

test('a version without changes has the content of the old one', () => {
  fc.assert(
    fc.property(request, ({ type, fields }) => {
      const old = accepted(type, fields);
      if (old === undefined) return;
      const next = supersedeFields(old, {}, type);
      const grain = fromApi(next.grainType, { ...next.fields, derived_from: 'c'.repeat(64) }, { nowMs, trusted: true });
      const dropped = ['created_at', 'derived_from', 'supersession_justification', 'supersession_auth'];
      const kept = ({ type: of, fields: all }: ApiGrain) =>
        Object.entries(storedFields({ type: of, fields: all })).filter(([name]) => !dropped.includes(name));
      assert.deepEqual(Object.fromEntries(kept(grain)), Object.fromEntries(kept(old)));
    }),
    { numRuns: runs(400) },
  );
});

test('versions of arbitrary input and deltas fail only as the contract says', () => {
  fc.assert(
    fc.property(
      request,
      fc.dictionary(key(), json),
      fc.dictionary(key(), fc.double()),
      ({ type, fields }, input, deltas) => {
        const old = accepted(type, fields);
        if (old === undefined) return;
        const copy = structuredClone(old);
        for (const make of [() => supersedeFields(old, input, ''), () => accumulateFields(old, deltas, input)]) {
          try {
            const { grainType, fields: next } = make();
            accepted(grainType, next);
          } catch (error) {
            assert.ok(error instanceof EngineError, String(error));
            assert.match(error.code, /^VAL-E00[13]$/);
          }
        }
        assert.deepEqual(old, copy, 'the old version is untouched');
      },
    ),
    { numRuns: runs(400) },
  );
});

test('any grain that the codec accepts has an answer, a text, and a next version or a refusal', () => {
  const full = FIELD_ROWS.filter(([, , , storage]) => storage === undefined).map(([name]) => name);
  const seconds = fc.integer({ min: -1e12, max: 1e12 });
  const foreign = fc.constantFrom(...GRAIN_TYPE_NAMES).chain((type) =>
    fc.record({
      type: fc.constant(type),
      fields: fc.dictionary(fc.constantFrom(...full), fc.oneof(likely, seconds, json), { maxKeys: 5 }),
    }),
  );
  let encodedCount = 0;
  fc.assert(
    fc.property(foreign, ({ type, fields }) => {
      const base = fromApi(type, REQUIRED[type], context).fields;
      let blob: Buffer;
      try {
        blob = encodeGrain(type, { ...base, ...fields, type: undefined }).blob;
      } catch (error) {
        assert.ok(error instanceof GrainError);
        return;
      }
      encodedCount += 1;
      const grain = decodeGrain(blob);
      const text = stringifyJson(toApi(grain));
      assert.equal(stringifyJson(parseJson(text)), text);
      assert.equal(typeof searchText(grain), 'string');
      assert.ok(Object.values(triple(grain)).every((side) => side !== ''));
      const next = supersedeFields(grain, {}, type);
      const version = accepted(next.grainType, next.fields);
      if (version !== undefined) encodeGrain(version.type, version.fields);
    }),
    { numRuns: runs(600) },
  );
  assert.ok(encodedCount > 60, `only ${encodedCount} were encoded`);
});

test('JSON texts keep the digits of long integers', () => {
  const integers = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n });
  fc.assert(
    fc.property(fc.array(integers), (values) => {
      const text = `{"a":[${values.join(',')}],"b":1.5,"c":"1234567890123456789"}`;
      assert.equal(stringifyJson(parseJson(text)), text);
    }),
  );
  assert.deepEqual(parseJson('[100000000000000000000, 18446744073709551616, 1e30]'), [1e20, 2 ** 64, 1e30]);
});
