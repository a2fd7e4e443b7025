// Whether live beliefs speak against one another, asked of grains where they lie: a condition on `contradicted` needs it.
import type { Sliced } from '../../index/section.ts';
import type { CalGrain } from '../output/grain.ts';
import { contradicts, pairOf } from '../run/contested.ts';
import type { FieldTest } from '../run/field-test.ts';
import { calGrain } from '../run/grain-of.ts';
import { allPlaces, countAll, type Search, searchOf, viewAt } from './places.ts';

/** Grains that are opened between two yields. */
const STEP_GRAINS = 16;

export function needsRivals(tests: readonly FieldTest[]): boolean {
  return tests.some(({ field }) => field === 'contradicted');
}

/**
 * Of grains of this partition. Where a memory has several, what was said in different sessions may lie apart: that is told by
 * `contested_by`, which asks all of them, and not found here.
 */
export class Rivals {
  readonly #search: Pick<Search, 'store' | 'memory' | 'context'>;
  readonly #openedMax: number;
  readonly #byPair = new Map<string, readonly CalGrain[]>();
  /** Grains opened to compare with. */
  opened = 0;

  /** Opens `openedMax` grains at most. */
  constructor(search: Search, openedMax: number) {
    this.#search = search;
    this.#openedMax = openedMax;
  }

  /** The grain with what speaks against it; undefined: too many grains would have to be opened to know. */
  *contested(grain: CalGrain): Sliced<CalGrain | undefined> {
    const pair = pairOf(grain);
    if (pair === undefined) return grain;
    let rivals = this.#byPair.get(pair.key);
    if (rivals === undefined) {
      rivals = yield* this.#of(pair);
      if (rivals === undefined) return undefined;
      this.#byPair.set(pair.key, rivals);
    }
    const against = rivals.filter((other) => contradicts(grain, other));
    return against.length === 0 ? grain : { ...grain, contestedBy: against.map(({ hash }) => hash) };
  }

  *#of({
    subject,
    relation,
  }: {
    readonly subject: string;
    readonly relation: string;
  }): Sliced<readonly CalGrain[] | undefined> {
    const { store, memory, context } = this.#search;
    const search = searchOf(store, memory, context, { grainTypes: ['belief'], subject, relation });
    const count = countAll(search);
    // Alone of its pair: nothing speaks against it.
    if (count <= 1) return [];
    if (this.opened + count > this.#openedMax) return undefined;
    this.opened += count;
    const grains: CalGrain[] = [];
    for (const { part, doc } of [...allPlaces(search)]) {
      const view = viewAt(search, search.parts[part]!.ordinals[doc]!);
      if (view !== undefined) grains.push(calGrain(view, 1));
      if (grains.length % STEP_GRAINS === 0) yield;
    }
    return grains;
  }
}
