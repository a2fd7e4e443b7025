import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, type Placed, partitionFor, shardOf } from './placement.ts';

interface Golden {
  readonly shards: readonly { memory: number; partition: number; shards: number; shard: number }[];
  readonly partitions: readonly (Placed & { of4: number; of8: number; of64: number })[];
}
const golden = JSON.parse(
  readFileSync(new URL('../../../test/golden/placement.json', import.meta.url), 'utf8'),
) as Golden; // The file is ours.

test('memories and grains lie where the golden file says', () => {
  for (const { memory, partition, shards, shard } of golden.shards) {
    assert.equal(shardOf(memory, partition, shards), shard, `memory ${memory} partition ${partition}`);
  }
  for (const { of4, of8, of64, ...grain } of golden.partitions) {
    assert.deepEqual(
      [4, 8, 64].map((count) => partitionFor(grain, count)),
      [of4, of8, of64],
      JSON.stringify(grain),
    );
    assert.equal(partitionFor(grain, 1), 0);
  }
});

test('the partitions of a memory lie in different shards', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 1, max: 64 }), (memory, shards) => {
      const used = new Set(Array.from({ length: shards }, (_, partition) => shardOf(memory, partition, shards)));
      assert.equal(used.size, shards);
    }),
  );
});

test('memories spread over the shards', () => {
  const counts = new Array<number>(8).fill(0);
  for (let memory = 0; memory < 8_000; memory++) counts[shardOf(memory, 0, 8)]!++;
  for (const count of counts) assert.ok(count > 850 && count < 1_150, `counts are near 1000: ${counts}`);
});

test('grains spread over the partitions, whatever determines their place', () => {
  const kinds: ((i: number) => Placed)[] = [
    (i) => ({ grainType: 'event', fields: { session_id: `s${i}` } }),
    (i) => ({ grainType: 'event', fields: { user_id: `u${i}` } }),
    (i) => ({ grainType: 'belief', fields: { subject: `x${i}`, relation: 'is' } }),
    (i) => ({ grainType: 'event', fields: { content: `text ${i}` } }),
  ];
  for (const kind of kinds) {
    const counts = new Array<number>(4).fill(0);
    for (let i = 0; i < 4_000; i++) counts[partitionFor(kind(i), 4)]!++;
    for (const count of counts) assert.ok(count > 850 && count < 1_150, `counts are near 1000: ${counts}`);
  }
});

test('a grain is placed by its session, without one by its user, without both by its triple', () => {
  const of = (fields: Placed['fields'], grainType = 'event') => partitionFor({ grainType, fields }, 64);
  assert.equal(of({ session_id: 's', user_id: 'a', content: '1' }), of({ session_id: 's', user_id: 'b' }, 'belief'));
  assert.equal(of({ user_id: 'a', content: '1' }), of({ user_id: 'a', subject: 'x', relation: 'y' }));
  const triple = { subject: 'x', relation: 'y' };
  assert.equal(of({ ...triple, object: '1' }), of({ ...triple, object: '2', namespace: 'default' }));
  assert.notEqual(of(triple), of({ ...triple, namespace: 'other' }));
  assert.equal(of({ content: 'x', created_at: 1 }), of({ content: 'x', created_at: 2 }));
});

test('texts that become equal in a grain are placed together', () => {
  const of = (fields: Placed['fields']) => partitionFor({ grainType: 'belief', fields }, 64);
  assert.equal(of({ user_id: 'Zoe\u0308' }), of({ user_id: 'Zoë' }));
  assert.equal(of({ subject: ' Zoe\u0308 ', relation: 'is\n' }), of({ subject: 'Zoë', relation: 'is' }));
  assert.equal(of({ content: 'cafe\u0301' }), of({ content: 'café' }));
  assert.equal(of({ content: 'x', namespace: 'default', note: null }), of({ content: 'x' }));
  assert.notEqual(of({ user_id: ' a' }), of({ user_id: 'a' }), 'users are not trimmed');
});

test('a grain of nobody is placed as it is written (decision 208)', () => {
  const of = (fields: Placed['fields']) => partitionFor({ grainType: 'event', fields }, 64);
  const grain = { content: 'x', tags: ['a'] };
  assert.notEqual(of({ ...grain, verification_status: 'verified' }), of(grain));
  assert.notEqual(of({ content: 'x', structural_tags: ['a'] }), of(grain));
  const owned = { ...grain, user_id: 'a' };
  assert.equal(of({ ...owned, verification_status: 'verified' }), of(owned));
});

test('the narrowing of a caller places grains that do not state it', () => {
  const grain = { grainType: 'event', fields: { content: 'x' } };
  const own = { grainType: 'event', fields: { content: 'y', user_id: 'alice' } };
  assert.equal(partitionFor(grain, 64, { userId: 'alice' }), partitionFor(own, 64));
  const triple = { grainType: 'belief', fields: { subject: 'x', relation: 'y' } };
  const inWork = { ...triple, fields: { ...triple.fields, namespace: 'work' } };
  assert.equal(partitionFor(triple, 64, { namespace: 'work' }), partitionFor(inWork, 64));
});

test('canonical JSON does not depend on the order of keys, and is JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        assert.equal(canonicalJson(Object.fromEntries(Object.entries(value).reverse())), text);
      }
    }),
  );
  assert.equal(canonicalJson({ b: 2n ** 63n, a: undefined }), '{"b":9223372036854775808}');
});
