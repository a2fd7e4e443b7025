// Arguments are compared with the schema, never converted; locked ones win; and no schema makes the check long.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringifyJson } from '../../../engine/grain/api/json.ts';
import type { JsonObject, JsonValue } from '../../../shards/protocol.ts';
import { checkArguments, malformedAt, modelTool } from './check.ts';

const tool = (properties: JsonObject, more: JsonObject = {}, lockedParams: JsonObject = {}, strict = false) => ({
  toolName: 'orders.find',
  description: 'Finds orders',
  inputSchema: { type: 'object', properties, ...more },
  lockedParams,
  strict,
});

/** A schema of one value, values that fit, and values that do not. */
const TABLE: readonly (readonly [schema: JsonValue, fits: readonly JsonValue[], not: readonly JsonValue[]])[] = [
  [{ type: 'string' }, ['', 'a'], [1, null, true, [], {}]],
  [{ type: 'integer' }, [1, -2, 1e15, 12345678901234567890n], [1.5, '1', null]],
  [{ type: 'number' }, [1, 1.5], ['1.5']],
  [{ type: 'boolean' }, [true, false], ['true', 0, null]],
  [{ type: ['string', 'null'] }, ['a', null], [1]],
  [{ type: 'null' }, [null], [0, '']],
  [{ enum: ['a', { b: 1, c: 2 }, null] }, ['a', { c: 2, b: 1 }, null], ['b', { b: 1 }, 0]],
  [{ const: [1, 2] }, [[1, 2]], [[2, 1], [1]]],
  [{ type: 'string', minLength: 2, maxLength: 3 }, ['ab', '😀😀😀'], ['a', 'abcd']],
  [{ type: 'string', pattern: '^[A-Z]{2}$' }, ['AB'], ['ab', 'ABC']],
  [{ type: 'string', format: 'date' }, ['2024-02-29'], ['2023-02-29', '2024-2-1', '2024-13-01', 'today']],
  [{ type: 'string', format: 'time' }, ['23:59:60Z', '01:02:03.5+02:00'], ['24:00:00Z', '01:02:03', '1:2:3Z']],
  [{ type: 'string', format: 'date-time' }, ['2024-02-29T01:02:03Z'], ['2024-02-29', '2024-02-30T01:02:03Z']],
  [{ type: 'string', format: 'email' }, ['ann@example.com'], ['ann', 'ann@', '@example.com', 'a b@example.com']],
  [{ type: 'string', format: 'uri' }, ['https://example.com/a?b', 'urn:isbn:1'], ['example.com', 'https://a b']],
  [{ type: 'string', format: 'uuid' }, ['123e4567-e89b-12d3-a456-426614174000'], ['123e4567']],
  [{ type: 'number', minimum: 1, exclusiveMaximum: 2 }, [1, 1.9], [0.9, 2]],
  [{ type: 'number', maximum: 1, exclusiveMinimum: 0 }, [1, 0.1], [0, 1.1]],
  [{ type: 'number', multipleOf: 0.1 }, [0.3, 7], [0.35]],
  [{ type: 'integer', maximum: 9223372036854775807n }, [9223372036854775807n, 1], [9223372036854775808n, 1e19]],
  [
    { type: 'integer', minimum: 9007199254740993n, multipleOf: 3 },
    [9007199254740993n],
    [9007199254740992, 9007199254740994n],
  ],
  [{ type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 2 }, [[1], [1, 2]], [[], [1, 2, 3], ['1']]],
  [{ type: 'array', items: [{ type: 'string' }, { type: 'integer' }] }, [['a', 1, null]], [[1, 1]]],
  [
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
    [{ a: 'x' }],
    [{}, { a: 1 }, { a: 'x', b: 1 }],
  ],
  [{ type: 'object', additionalProperties: { type: 'integer' } }, [{}, { x: 1 }], [{ x: '1' }]],
  [{ type: 'object', minProperties: 1, maxProperties: 2 }, [{ a: 1 }], [{}, { a: 1, b: 1, c: 1 }]],
  [true, [1, null], []],
  [false, [], [1, null]],
  [{ type: 'string', pattern: '(?=a)' }, [], ['a']],
];

for (const [schema, fits, not] of TABLE)
  test(`a value of ${stringifyJson(schema)}`, () => {
    assert.equal(malformedAt(schema, 's'), undefined);
    for (const value of fits)
      assert.deepEqual(checkArguments(tool({ x: schema }), { x: value }), { ok: true, arguments: { x: value } });
    for (const value of not) {
      const checked = checkArguments(tool({ x: schema }), { x: value });
      assert.ok(!checked.ok && checked.faults[0]?.path.startsWith('x'), String(value));
    }
  });

test('arguments are an object, and required ones are there', () => {
  for (const args of [null, [], 'a', 1]) assert.equal(checkArguments(tool({}), args).ok, false);
  assert.deepEqual(checkArguments(tool({ x: {} }, { required: ['x', 'y'] }), { x: 1 }), {
    ok: false,
    faults: [{ path: 'y', issue: 'is required' }],
  });
  assert.equal(checkArguments(tool({}, { required: ['constructor'] }), {}).ok, false);
});

test('a strict tool takes only what its schema names, at every depth', () => {
  const properties = { a: { type: 'object', properties: { b: {} } }, free: { type: 'object' } };
  assert.equal(checkArguments(tool(properties), { a: { c: 1 }, z: 1 }).ok, true);
  const strict = tool(properties, {}, {}, true);
  assert.equal(checkArguments(strict, { a: { b: 1 }, free: { any: 1 } }).ok, true);
  assert.equal(checkArguments(strict, { a: { c: 1 } }).ok, false);
  assert.equal(checkArguments(strict, { z: 1 }).ok, false);
});

test('locked arguments win, and the model is not told of them', () => {
  const locked = tool(
    { tenant: { type: 'string' }, id: { type: 'string' } },
    { required: ['tenant', 'id'], additionalProperties: false },
    { tenant: 'acme', region: 'eu' },
  );
  assert.deepEqual(checkArguments(locked, { id: '7', tenant: 5 }), {
    ok: true,
    arguments: { id: '7', tenant: 'acme', region: 'eu' },
  });
  assert.deepEqual(checkArguments(locked, { id: '7' }), {
    ok: true,
    arguments: { id: '7', tenant: 'acme', region: 'eu' },
  });
  assert.deepEqual(modelTool(locked), {
    name: 'orders__find',
    description: 'Finds orders',
    inputSchema: {
      type: 'object',
      properties: { id: { type: 'string' } },
      required: ['id'],
      additionalProperties: false,
    },
  });
});

test('the work of a check is bounded, and so are the faults that it names', () => {
  const started = process.cpuUsage();
  const words = Array.from({ length: 100_000 }, () => 'a'.repeat(200));
  const slow = { type: 'array', items: { type: 'string', pattern: '^(a{1,20}){1,20}b$' } };
  const checked = checkArguments(tool({ x: slow }), { x: words });
  assert.ok(!checked.ok && checked.faults.some(({ issue }) => issue.includes('too long')));
  const { user, system } = process.cpuUsage(started);
  assert.ok(user + system < 2_000_000, `${(user + system) / 1000} ms of CPU`);
  const many = checkArguments(tool({ x: { type: 'array', items: { type: 'string' } } }), { x: words.map(() => 1) });
  assert.ok(!many.ok && many.faults.length === 16);
});

test('allowed values are written once, not for each item of a list', () => {
  const allowed = Array.from({ length: 3_000 }, (_, at) => `word ${at}`);
  const items = Array.from({ length: 20_000 }, () => 'word 2999');
  for (const schema of [{ enum: allowed }, { const: allowed }]) {
    const started = process.cpuUsage();
    checkArguments(tool({ x: { type: 'array', items: schema } }), { x: items });
    const { user, system } = process.cpuUsage(started);
    assert.ok(user + system < 2_000_000, `${(user + system) / 1000} ms of CPU`);
  }
});

test('a schema that no value can be compared with is found', () => {
  assert.equal(
    malformedAt({ type: 'object', properties: { a: { type: ['string', 'null'] }, b: true } }, 's'),
    undefined,
  );
  const bad: readonly (readonly [JsonValue, string])[] = [
    [{ type: 'object', properties: { a: { type: 'file' } } }, 's.properties.a.type'],
    [{ type: 'object', properties: [] }, 's.properties'],
    [{ type: 'object', required: 'a' }, 's.required'],
    [{ items: { minLength: -1 } }, 's.items.minLength'],
    [{ additionalProperties: 7 }, 's.additionalProperties'],
    [{ multipleOf: 0 }, 's.multipleOf'],
    [{ enum: [] }, 's.enum'],
  ];
  for (const [schema, where] of bad) assert.equal(malformedAt(schema, 's'), where);
});
