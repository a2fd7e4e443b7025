import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../../test/support/random.ts';
import { runs } from '../../../test/support/runs.ts';
import { nextHandOver, type Owners, type SpreadNode, spread, toTake } from './spread.ts';

const node = (id: string, weight = 1, isDraining = false): SpreadNode => ({ id, weight, isDraining });

function countsOf(owners: Owners): Map<string | undefined, number> {
  const counts = new Map<string | undefined, number>();
  for (const owner of owners) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  return counts;
}

/** The fewest live-owned shards that any fair spread moves, by trying all quotas. */
function fewestMoves(nodes: readonly SpreadNode[], owners: Owners): number {
  const able = nodes.filter(({ isDraining }) => !isDraining);
  const total = able.reduce((sum, { weight }) => sum + weight, 0);
  const live = owners.filter((owner) => nodes.some(({ id }) => id === owner)).length;
  const counts = countsOf(owners);
  const most = (at: number, left: number): number => {
    const one = able[at];
    if (one === undefined) return left === 0 ? 0 : Number.NEGATIVE_INFINITY;
    const fair = (owners.length * one.weight) / total;
    const held = counts.get(one.id) ?? 0;
    return Math.max(
      ...[Math.floor(fair), Math.ceil(fair)].map((quota) => Math.min(held, quota) + most(at + 1, left - quota)),
    );
  };
  return live - most(0, owners.length);
}

function randomCase(random: Random): { nodes: SpreadNode[]; owners: (string | undefined)[] } {
  const nodes = Array.from({ length: random.between(1, 5) }, (_, i) =>
    node(`n${i}`, random.between(1, 4), random.chance(0.2)),
  );
  const known = [...nodes.map(({ id }) => id), 'dead', undefined];
  // Uneven: some nodes are chosen far more often.
  const owners = Array.from(
    { length: random.between(1, 16) },
    () => known[random.int(random.between(1, known.length))],
  );
  return { nodes, owners };
}

test('shards are spread fairly, with the fewest moves, and one after the other', () => {
  for (const { seed, random } of seeds(400)) {
    const { nodes, owners } = randomCase(random);
    const able = nodes.filter(({ isDraining }) => !isDraining);
    if (able.length === 0) continue;
    const targets = spread(nodes, owners);
    const total = able.reduce((sum, { weight }) => sum + weight, 0);
    const counts = countsOf(targets);
    for (const { id, weight } of able) {
      const fair = (owners.length * weight) / total;
      const got = counts.get(id) ?? 0;
      assert.ok(got >= Math.floor(fair) && got <= Math.ceil(fair), `seed ${seed}: ${id} gets ${got} of ${fair}`);
    }
    assert.ok(
      targets.every((target) => able.some(({ id }) => id === target)),
      `seed ${seed}`,
    );

    // Each node acts on what it sees, one hand-over at a time, in any order.
    const now = [...owners].map((owner) => (nodes.some(({ id }) => id === owner) ? owner : undefined));
    const fewest = fewestMoves(nodes, owners);
    let moves = 0;
    for (let steps = 0; ; steps++) {
      assert.ok(steps <= 200, `seed ${seed}: it ends`);
      const { id } = random.pick(nodes);
      const plan = spread(nodes, now);
      for (const shard of toTake(plan, now, id)) now[shard] = id;
      const away = nextHandOver(plan, now, id);
      if (away !== undefined) {
        now[away] = undefined;
        moves += 1;
      }
      if (now.every((owner, shard) => owner !== undefined && owner === spread(nodes, now)[shard])) break;
    }
    assert.equal(moves, fewest, `seed ${seed}: ${JSON.stringify({ nodes, owners })}`);
    assert.deepEqual(spread(nodes, now), now, `seed ${seed}: a spread that is fair stays`);
  }
});

test('a draining node gives all away, unless nobody can have it', () => {
  const owners = ['a', 'a', 'b', undefined];
  assert.deepEqual(spread([node('a', 1, true), node('b')], owners), ['b', 'b', 'b', 'b']);
  assert.deepEqual(spread([node('a', 1, true)], owners), ['a', 'a', undefined, undefined]);
  assert.deepEqual(spread([], owners), [undefined, undefined, undefined, undefined]);
  assert.equal(nextHandOver(['b', 'b', 'b', 'b'], owners, 'a'), 0);
  assert.equal(nextHandOver(['a', 'a', undefined, undefined], owners, 'a'), undefined);
  assert.deepEqual(toTake(['b', 'b', 'b', 'b'], owners, 'b'), [3]);
});

test('a shard that a node cannot open goes to one that may, and stays with it', () => {
  const a = { ...node('a'), refused: [{ shard: 0 }, { shard: 3 }] };
  const wanted = ['b', 'a', 'b', 'b'];
  assert.deepEqual(spread([a, node('b')], [undefined, 'a', 'b', 'b']), wanted);
  assert.deepEqual(spread([a, node('b')], wanted), wanted);
  // Nobody can: one goes on to try.
  const b = { ...node('b'), refused: [{ shard: 0 }] };
  assert.deepEqual(spread([a, b], [undefined, 'a', 'b', 'b']).slice(1), ['a', 'b', 'b']);
  assert.ok(['a', 'b'].includes(spread([a, b], [undefined, 'a', 'b', 'b'])[0]!));
  assert.deepEqual(spread([a], ['a', 'a', undefined, undefined]), ['a', 'a', 'a', 'a']);
});

/** A number of seeds, each with its random numbers. */
function* seeds(count: number): Generator<{ readonly seed: number; readonly random: Random }> {
  for (let seed = 1; seed <= runs(count); seed++) yield { seed, random: new Random(seed) };
}
