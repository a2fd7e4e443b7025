// The version links of an imported file, over three partitions: how many calls they take, and which of them are refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Input, ManifestEntry, Method, ShardCaller } from '../protocol.ts';
import { Turns } from '../turns.ts';
import { Fan } from './fan.ts';
import { GATHER } from './gather.ts';
import { GatherRoom } from './room.ts';

const PARTITIONS = 3;
const TOOLS = {
  placementOf: () => ({ grainType: 'belief', fields: {} }),
  turns: new Turns(),
  room: new GatherRoom(),
  dedup: 'exact',
} as const;

/** Partitions that hold these grains, by hash, and count the calls to them. */
function partitions(
  held: ReadonlyMap<string, number>,
  goals: ReadonlySet<string> = new Set(),
  parentsOf: (hash: string) => readonly string[] = () => [],
) {
  const calls = new Map<string, number>();
  const linked: string[] = [];
  const callers = Array.from({ length: PARTITIONS }, (_, partition) => ({
    call: async (method: Method, _: unknown, input: unknown): Promise<unknown> => {
      calls.set(method, (calls.get(method) ?? 0) + 1);
      const here = (hash: string): boolean => held.get(hash) === partition;
      if (method === 'locate') {
        return { held: (input as Input<'locate'>).hashes.map(here) };
      }
      if (method === 'namedGoals') {
        const found = (input as Input<'namedGoals'>).hashes.map((hash) => {
          if (!here(hash)) return null;
          const isGoal = goals.has(hash);
          return { chain: [...held.keys()].indexOf(hash), isGoal, parents: isGoal ? parentsOf(hash) : [] };
        });
        return { goals: found };
      }
      const { manifest } = input as Input<'importBlobs'>;
      linked.push(...manifest.map((entry) => `${entry.hash} in ${partition}`));
      return { outcomes: [], refused: [] };
    },
  }));
  const context = { memory: 1, actor: 'key:test', requestId: 'req' };
  // Only these calls reach the shards.
  return { calls, linked, fan: new Fan(context, callers as unknown as ShardCaller[]) };
}

const link = (at: number): ManifestEntry => ({ hash: `old ${at}`, supersededBy: `new ${at}` });
const linkAll = (fan: Fan, manifest: readonly ManifestEntry[]) =>
  GATHER.importBlobs(fan, { blobs: [], manifest: [...manifest], accepted: manifest.map(({ hash }) => hash) }, TOOLS);

test('links to grains that earlier calls stored take one call of each kind in each partition', async () => {
  const manifest = Array.from({ length: 500 }, (_, at) => link(at));
  const held = new Map(manifest.flatMap(({ hash }, at) => [[hash, at % 3] as const, [`new ${at}`, at % 3] as const]));
  const { fan, calls, linked } = partitions(held);
  const { refused } = await linkAll(fan, manifest);
  assert.deepEqual(refused, []);
  assert.equal(linked.length, manifest.length);
  assert.ok(linked.includes('old 4 in 1'));
  const once = { namedGoals: PARTITIONS, locate: PARTITIONS, importBlobs: PARTITIONS };
  assert.deepEqual(Object.fromEntries(calls), once);
});

test('links to goals come last', async () => {
  const manifest = Array.from({ length: 30 }, (_, at) => link(at));
  const held = new Map(manifest.flatMap(({ hash }, at) => [[hash, 0] as const, [`new ${at}`, 0] as const]));
  const { fan, calls, linked } = partitions(held, new Set(['new 7']));
  assert.deepEqual((await linkAll(fan, manifest)).refused, []);
  assert.equal(linked.at(-1), 'old 7 in 0', 'it comes last');
  assert.equal(linked.length, manifest.length);
  assert.equal(calls.get('importBlobs'), 2);
});

test('links to goals take a call for each level above them, and only where the search of the chunk found them', async () => {
  const manifest = Array.from({ length: 10 }, (_, at) => link(at));
  const held = new Map(manifest.flatMap(({ hash }, at) => [[hash, at % 3] as const, [`new ${at}`, at % 3] as const]));
  held.set('above', 1);
  const goals = new Set(['above', ...manifest.map((_, at) => `new ${at}`)]);
  const goalsAndOld = new Set([...goals, ...manifest.map(({ hash }) => hash)]);
  const { fan, calls, linked } = partitions(held, goalsAndOld, (hash) => (hash.startsWith('new') ? ['above'] : []));
  assert.deepEqual((await linkAll(fan, manifest)).refused, []);
  assert.equal(linked.length, manifest.length);
  // All partitions tell which successors are goals; then each tells of its own, and all are asked for the parent.
  assert.equal(calls.get('namedGoals'), PARTITIONS * 3);
  assert.equal(calls.get('importBlobs'), PARTITIONS);
});

test('a link to a grain that is not there does not count', async () => {
  const held = new Map([['old 1', 2]]);
  const { fan, linked } = partitions(held);
  const { refused } = await linkAll(fan, [link(1)]);
  assert.deepEqual(
    refused.map(({ hash, error }) => [hash, error.code]),
    [['old 1', 'MEM-E001']],
  );
  assert.deepEqual(linked, [], 'what is stored after the search was not checked for cycles');
});
