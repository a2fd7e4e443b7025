// The goals above goals, over several partitions. Parents may be in any partition, and each partition sees only its own
// grains. Goals that were read are kept, so that many walks of one call ask each partition only a few times.
import { EngineError } from '../../engine/base/errors.ts';
import { GOALS_ABOVE_MAX, GOALS_KNOWN_MAX, GOALS_NAMED_MAX, GOALS_VISITED_TURN } from '../../engine/base/limits.ts';
import type { JsonValue, Output } from '../protocol.ts';
import type { Fan } from './fan.ts';

/** The partitions of grains, as far as they are known: all partitions are asked for others. */
export type Home = ReadonlyMap<string, number>;

/** The goal of a hash, in any version. */
export interface Named {
  /** The same for all versions of a grain. */
  readonly chain: string;
  readonly isGoal: boolean;
  readonly parents: readonly string[];
}

export interface Walk {
  /** The parents that the walk begins with have to be goals, as far as the caller may read them. */
  readonly typed?: boolean | undefined;
  /** Called for each hash that is met. `named`: undefined if nothing is there that the caller may read. */
  readonly meet: (hash: string, named: Named | undefined) => void;
}

export class GoalGraph {
  readonly #fan: Fan;
  readonly #home: Home | undefined;
  readonly #coming: ReadonlyMap<string, readonly string[]>;
  readonly #known = new Map<string, Named | undefined>();
  /** Parents of each chain that is known. */
  readonly #parents = new Map<string, readonly string[]>();
  /** Chains that will perhaps be one: a walk takes the parents of both. */
  readonly #joined = new Map<string, Set<string>>();
  #visited = 0;

  /** `coming`: the parents of goals that will be stored, which count where nothing is stored under their hash. */
  constructor(
    fan: Fan,
    {
      home,
      coming = new Map(),
    }: { readonly home?: Home | undefined; readonly coming?: ReadonlyMap<string, readonly string[]> } = {},
  ) {
    this.#fan = fan.withoutIdempotency();
    this.#home = home;
    this.#coming = coming;
  }

  /** True if the graph holds so much that a new one should take its place. */
  get isFull(): boolean {
    return this.#known.size > GOALS_KNOWN_MAX;
  }

  async named(hash: string): Promise<Named | undefined> {
    await this.#load([hash]);
    return this.#known.get(hash);
  }

  /** Those of the hashes that name goals. */
  async goalsOf(hashes: readonly string[]): Promise<ReadonlySet<string>> {
    await this.#load(hashes);
    return new Set(hashes.filter((hash) => this.#known.get(hash)?.isGoal === true));
  }

  /**
   * Reads these goals and those above them level by level, as far as there is room and the partitions answer. Walks read
   * what is missing.
   */
  async readAbove(hashes: readonly string[]): Promise<void> {
    let level: readonly string[] = [...new Set(hashes)];
    try {
      while (level.length > 0 && this.#known.size + level.length <= GOALS_KNOWN_MAX) {
        await this.#load(level);
        const above = level.flatMap((hash) => this.#above(hash, this.#known.get(hash)));
        level = [...new Set(above)].filter((hash) => !this.#known.has(hash));
      }
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }

  /**
   * Walks up from these parents, level by level, meeting each hash once. Throws VAL-E001 for more than GOALS_ABOVE_MAX goals,
   * and for a parent that is no goal where the walk is `typed`.
   */
  async walk(parents: readonly string[], { typed = false, meet }: Walk): Promise<void> {
    const met = new Set(parents);
    if (met.size > GOALS_ABOVE_MAX) throw TOO_MANY();
    const seen = new Set<string>();
    let isFirst = true;
    for (let level = [...met]; level.length > 0; isFirst = false) {
      await this.#load(level);
      const next: string[] = [];
      for (const hash of level) {
        if (++this.#visited % GOALS_VISITED_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
        const named = this.#known.get(hash);
        meet(hash, named);
        if (typed && isFirst && named?.isGoal === false) throw refused('names a grain that is not a goal');
        const chain = named?.chain ?? hash;
        if (seen.has(chain)) continue;
        seen.add(chain);
        for (const above of this.#above(hash, named)) {
          if (met.has(above)) continue;
          if (met.size >= GOALS_ABOVE_MAX) throw TOO_MANY();
          met.add(above);
          next.push(above);
        }
      }
      level = next;
    }
  }

  /** The parents of the chain, and of all chains that it may be joined with. */
  parentsOf(chain: string): readonly string[] {
    return this.chainsOf(chain).flatMap((one) => this.#parents.get(one) ?? []);
  }

  /** The chain with all chains that it may be joined with. */
  chainsOf(chain: string): readonly string[] {
    if (!this.#joined.has(chain)) return [chain];
    const chains = new Set([chain]);
    for (const one of chains) for (const other of this.#joined.get(one) ?? []) chains.add(other);
    return [...chains];
  }

  /** Notes that two chains will perhaps be one. */
  join(one: string, other: string): void {
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      const joined = this.#joined.get(from);
      if (joined === undefined) this.#joined.set(from, new Set([to]));
      else joined.add(to);
    }
  }

  #above(hash: string, named: Named | undefined): readonly string[] {
    return named === undefined ? (this.#coming.get(hash) ?? []) : this.parentsOf(named.chain);
  }

  /** Asks for the hashes that are not known, each in its partition, or in all. */
  async #load(hashes: readonly string[]): Promise<void> {
    const unknown = hashes.filter((hash) => !this.#known.has(hash));
    for (let at = 0; at < unknown.length; at += GOALS_NAMED_MAX)
      await this.#ask(unknown.slice(at, at + GOALS_NAMED_MAX));
  }

  async #ask(hashes: readonly string[]): Promise<void> {
    await Promise.all(
      Array.from({ length: this.#fan.partitions }, async (_, partition) => {
        const asked = hashes.filter((hash) => (this.#home?.get(hash) ?? partition) === partition);
        if (asked.length === 0) return;
        const { goals } = await this.#fan.one(partition, 'namedGoals', { hashes: asked });
        for (const [at, goal] of goals.entries()) if (goal !== null) this.#keep(asked[at]!, partition, goal);
      }),
    );
    for (const hash of hashes) if (!this.#known.has(hash)) this.#known.set(hash, undefined);
  }

  #keep(hash: string, partition: number, goal: NamedGoal): void {
    const named = { ...goal, chain: `${partition} ${goal.chain}` };
    this.#known.set(hash, named);
    this.#parents.set(named.chain, named.parents);
  }
}

type NamedGoal = NonNullable<Output<'namedGoals'>['goals'][number]>;

/** The parents that the fields of a goal name. */
export function hashesIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((hash) => typeof hash === 'string') : [];
}

export const CIRCLE = 'would make the goal its own parent';

const TOO_MANY = (): EngineError => refused(`would place the goal below more than ${GOALS_ABOVE_MAX} goals`);

export function refused(issue: string): EngineError {
  return new EngineError('VAL-E001', `\`parent_goals\` ${issue}`, { details: [{ field: 'parent_goals', issue }] });
}
