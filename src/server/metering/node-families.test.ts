import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NodeSources, nodeFamilies, type SeenFleet } from './node-families.ts';

const node = (id: string, seenMs: number, isDraining = false) => ({
  ...{
    id,
    address: `${id}:7070`,
    httpPort: 1,
    grpcPort: 2,
    version: '1',
    weight: 1,
    isDraining,
    seenMs,
    protocol: 1,
    refused: [],
  },
});
const CONTROL = 64;

function valuesOf(fleet: SeenFleet | undefined, copy?: NodeSources['copy']): Record<string, Record<string, number>> {
  const families = nodeFamilies({ fleet: () => fleet, leaseMs: 10_000, shards: 4, copy });
  return Object.fromEntries(
    families.map(({ name, values }) => {
      const samples = values() as readonly { labels?: Record<string, string>; value: number }[]; // these wait for nothing
      return [
        name,
        Object.fromEntries(samples.map(({ labels, value }) => [Object.values(labels ?? {}).join(' '), value])),
      ];
    }),
  );
}

test('nodes, their shards and leases are told as they were seen, less the time since', () => {
  const row = (shard: number, owner: string | undefined, leaseMs: number) => ({
    shard,
    owner,
    leaseMs,
    token: 1,
    appends: 1,
  });
  const refused = [1, 3].map((shard) => ({ shard, reason: 'its folder is not writable' }));
  const values = valuesOf({
    nodes: [node('a', 100), { ...node('b', 9_900), refused }, node('c', 200, true)],
    shards: [row(0, 'a', 8_000), row(1, 'a', 400), row(2, 'c', 7_000), row(CONTROL, 'a', 8_000)],
    ageMs: 500,
  });
  assert.deepEqual(values, {
    granary_node_up: { a: 1, b: 0, c: 1 },
    granary_node_draining: { a: 0, b: 0, c: 1 },
    granary_node_shards: { a: 1, b: 0, c: 1 },
    granary_node_refused_shards: { a: 0, b: 2, c: 0 },
    granary_shard_lease_seconds: { 'a 0': 7.5, 'c 2': 6.5 },
    granary_unowned_shards: { '': 2 },
    granary_control_copy_up: {},
    granary_requests_passed_total: {},
  });
});

test('a node that does not run the server tells of its copy of the control log', () => {
  const fleet: SeenFleet = { nodes: [node('a', 100)], shards: [], ageMs: 500 };
  for (const isFresh of [true, false]) {
    const values = valuesOf(fleet, { isFresh: () => isFresh, passed: () => 3 });
    assert.deepEqual(values['granary_control_copy_up'], { '': isFresh ? 1 : 0 });
    assert.deepEqual(values['granary_requests_passed_total'], { '': 3 });
  }
});

test('a server without nodes tells nothing of nodes', () => {
  for (const [name, values] of Object.entries(valuesOf(undefined))) assert.deepEqual(values, {}, name);
});
