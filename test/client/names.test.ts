// The generated table: complete, up to date, and its names are reversible.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { GENERATED, generateClient, sentOperations } from '../../scripts/generate-client.ts';
import { GUARDED } from '../../src/client/calls.ts';
import { ROUTES } from '../../src/client/gen/operations.ts';
import { Granary } from '../../src/client/index.ts';
import { fromWire, toSnake, toWire } from '../../src/client/names.ts';
import { toCamel } from '../../src/server/operations/names.ts';
import { OPERATIONS } from '../../src/server/operations/table.ts';

test('the generated file is that of the table (`npm run client` writes it)', () => {
  assert.ok(readFileSync(GENERATED, 'utf8') === generateClient(), 'run `npm run client`');
});

test('every operation that HTTP offers is a method', () => {
  const granary = new Granary({ url: 'http://127.0.0.1:1' });
  const { operations } = granary.memory('default');
  const methods = new Set([...Object.keys(granary.operations), ...Object.keys(operations), ...GUARDED]);
  const offered = OPERATIONS.filter(({ http, exec }) => http.length > 0 || exec !== undefined);
  assert.ok(offered.length > 130, `${offered.length} operations`);
  assert.deepEqual(
    offered.map(({ name }) => toCamel(name)).filter((name) => !methods.has(name)),
    [],
  );
  assert.deepEqual(
    Object.keys(ROUTES).filter((name) => !methods.has(name)),
    [],
  );
});

test('an operation that is added to the table, or renamed, changes the file', () => {
  const [first, ...rest] = OPERATIONS;
  assert.notEqual(generateClient(rest), generateClient());
  assert.notEqual(generateClient([{ ...first!, name: 'other' }, ...rest]), generateClient());
});

test('every name of the wire survives the way to the client and back', () => {
  const names = new Set<string>();
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(collect);
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) {
        if (name === 'properties') for (const one of Object.keys(member as object)) names.add(one);
        collect(member);
      }
  };
  for (const { input, output } of sentOperations()) collect([input, output]);
  assert.ok(names.size > 300, `${names.size} names`);
  for (const name of names) assert.equal(toSnake(toCamel(name)), name);
});

test('times become dates where the table has times, and open data keeps its names', () => {
  const at = new Date(1_700_000_000_000);
  assert.deepEqual(toWire('statsHistory', { from: at, interval: 'day' }), { from: 1_700_000_000, interval: 'day' });
  assert.deepEqual(toWire('add', { grainType: 'event', fields: { madeUp: at, __proto__x: [at] } }), {
    grain_type: 'event',
    fields: { madeUp: 1_700_000_000, __proto__x: [1_700_000_000] },
  });
  const hit = {
    created_at: 1_700_000_000,
    fields: { created_at: 1_700_000_000 },
    score_breakdown: { time: 0.5, bm25_rank: 1 },
  };
  assert.deepEqual(fromWire('recall', { results: [hit] }), {
    results: [{ createdAt: at, fields: { created_at: 1_700_000_000 }, scoreBreakdown: { time: 0.5, bm25Rank: 1 } }],
  });
  assert.throws(() => toWire('statsHistory', { from: new Date(Number.NaN) }), TypeError);
  const polluting = JSON.parse('{"__proto__":{"polluted":true}}');
  assert.equal(Object.getPrototypeOf(fromWire('recall', polluting)), Object.prototype);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});
