// Version links between goals, sent many at a time: the same ones are refused as if each had been checked and sent by itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { Input, ManifestEntry, Method, Output, ShardCaller } from '../protocol.ts';
import { Fan } from './fan.ts';
import { linkGoals } from './goal-links.ts';

const PARTITIONS = 3;
const GOALS = 12;
const ALL = Array.from({ length: GOALS }, (_, goal) => goal);

interface World {
  /** For each goal the goals that it names as its parents. */
  readonly parents: readonly (readonly number[])[];
  /** Goals whose links the partition refuses, as a policy would. */
  readonly held: ReadonlySet<number>;
}

/** Goals and the links between them. A goal lies in the partition of its number. */
class Goals {
  readonly #world: World;
  readonly newer = new Map<number, number>();

  constructor(world: World) {
    this.#world = world;
  }

  tip(goal: number): number {
    const next = this.newer.get(goal);
    return next === undefined ? goal : this.tip(next);
  }

  parentsOf(goal: number): readonly number[] {
    return this.#world.parents[this.tip(goal)]!;
  }

  /** True if `old`, with the parents of the versions from `next` on, would be above itself. */
  wouldCircle(old: number, next: number): boolean {
    const own = [this.tip(old), this.tip(next)];
    const waiting = [...this.parentsOf(next)];
    const seen = new Set<number>();
    for (let goal = waiting.pop(); goal !== undefined; goal = waiting.pop()) {
      const tip = this.tip(goal);
      if (own.includes(tip)) return true;
      if (seen.has(tip)) continue;
      seen.add(tip);
      waiting.push(...this.parentsOf(tip));
    }
    return false;
  }

  /** The code of the partition's refusal. */
  link(old: number, next: number): 'POL-E004' | 'MEM-E001' | 'MEM-E002' | 'VAL-E001' | undefined {
    if (old % PARTITIONS !== next % PARTITIONS) return 'MEM-E001';
    if (this.newer.has(old)) return this.newer.get(old) === next ? undefined : 'MEM-E002';
    if (this.tip(next) === old) return 'VAL-E001';
    if (this.#world.held.has(old)) return 'POL-E004';
    this.newer.set(old, next);
    return undefined;
  }
}

const hashOf = (goal: number): string => `goal ${goal}`;
const goalOf = (hash: string): number => Number(hash.slice('goal '.length));

function partitions(goals: Goals) {
  const calls = new Map<string, number>();
  const callers = Array.from({ length: PARTITIONS }, (_, partition) => ({
    call: async (method: Method, _: unknown, input: unknown): Promise<unknown> => {
      calls.set(method, (calls.get(method) ?? 0) + 1);
      if (method === 'importBlobs') {
        const refused = (input as Input<'importBlobs'>).manifest.flatMap(({ hash, supersededBy }) => {
          const code = goals.link(goalOf(hash), goalOf(supersededBy!));
          return code === undefined ? [] : [{ hash, error: new EngineError(code).toWire() }];
        });
        return { outcomes: [], refused } satisfies Output<'importBlobs'>;
      }
      const named = (input as Input<'namedGoals'>).hashes.map((hash) => {
        const goal = goalOf(hash);
        if (goal % PARTITIONS !== partition) return null;
        return { chain: goals.tip(goal), isGoal: true, parents: goals.parentsOf(goal).map(hashOf) };
      });
      return { goals: named } satisfies Output<'namedGoals'>;
    },
  }));
  const context = { memory: 1, actor: 'key:test', requestId: 'req' };
  // Only these calls reach the shards.
  return { calls, fan: new Fan(context, callers as unknown as ShardCaller[]) };
}

const HOME = new Map(ALL.map((goal) => [hashOf(goal), goal % PARTITIONS]));
const entryOf = ([old, next]: readonly [number, number]): ManifestEntry => {
  return { hash: hashOf(old), supersededBy: hashOf(next) };
};
const accepted = new Set(ALL.map(hashOf));

/** The refusal and its code for each link, checked after the outcome of all links before it. */
function oneByOne(goals: Goals, links: readonly (readonly [number, number])[]): string[] {
  return links.flatMap(([old, next]) => {
    const code = goals.wouldCircle(old, next) ? 'VAL-E001' : goals.link(old, next);
    return code === undefined ? [] : [`${hashOf(old)} ${code}`];
  });
}

const goal = fc.nat({ max: GOALS - 1 });
/** No goal is above itself at first: its parents have higher numbers. */
const world = fc.record({
  parents: fc.tuple(...ALL.map((own) => fc.subarray(ALL.slice(own + 1, own + 4)))),
  held: fc.uniqueArray(goal, { maxLength: 3 }).map((goals) => new Set(goals)),
});
/** Mostly of goals in one partition. */
const link = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(goal, fc.nat({ max: GOALS / PARTITIONS - 1 })) },
  { weight: 1, arbitrary: fc.tuple(goal, goal) },
);
const links = fc.array(
  link.map(([old, at]): [number, number] => [old, (old % PARTITIONS) + PARTITIONS * (at % (GOALS / PARTITIONS))]),
  { maxLength: 30 },
);

test('links that travel together are refused like links that are checked and sent one by one', async () => {
  let refused = 0;
  let linked = 0;
  await fc.assert(
    fc.asyncProperty(world, links, async (world, links) => {
      const expected = new Goals(world);
      const codes = oneByOne(expected, links);
      const goals = new Goals(world);
      const { fan } = partitions(goals);
      const refusals = await linkGoals(fan, links.map(entryOf), { accepted, home: HOME });
      assert.deepEqual(refusals.map(({ hash, error }) => `${hash} ${error.code}`).sort(), codes.sort());
      assert.deepEqual([...goals.newer].sort(), [...expected.newer].sort());
      refused += codes.filter((code) => code.endsWith('VAL-E001')).length;
      linked += goals.newer.size;
    }),
    { numRuns: runs(300) },
  );
  assert.ok(refused > 100 && linked > 100, `${refused} refused as cycles, ${linked} linked`);
});

test('many links take one call in each partition, and one for each level above them', async () => {
  // Two versions in each partition, the newer of which stand below one another.
  const parents = ALL.map((goal) => (goal >= 6 && goal < 11 ? [goal + 1] : []));
  const goals = new Goals({ parents, held: new Set() });
  const { fan, calls } = partitions(goals);
  const entries = [0, 1, 2, 3, 4, 5].map((old) => entryOf([old, old + 6]));
  assert.deepEqual(await linkGoals(fan, entries, { accepted, home: HOME }), []);
  assert.equal(goals.newer.size, 6);
  assert.deepEqual(Object.fromEntries(calls), { namedGoals: PARTITIONS, importBlobs: PARTITIONS });
});
