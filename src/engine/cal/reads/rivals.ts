// Decides whether live beliefs contradict each other, by opening grains. A condition on `contradicted` needs it.

import { steadyMs } from '../../base/clock.ts';
import type { RivalReads, Selection, Spoken, Stand } from '../../calls/cal.ts';
import type { CallContext } from '../../calls/context.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import type { CalGrain } from '../output/grain.ts';
import { contestedOf, objectOf, pairName, pairOf, standOf } from '../run/contested.ts';
import { calGrain } from '../run/grain-of.ts';
import { allPlaces, countAll, type Search, searchOf, viewAt } from './places.ts';

/** Grains opened, and pairs looked up, between two yields. */
const STEP = 16;
/** Maximum number of objects of a stand. Two are a contradiction. */
const OBJECTS_MAX = 2;

type Reach = Pick<Search, 'store' | 'memory' | 'context'>;

/** Finds contradicted grains: by this partition's grains, or by the stands of all partitions together. */
export class Rivals {
  readonly #reach: Reach;
  readonly #openedMax: number;
  readonly #contested: ReadonlySet<string> | undefined;
  /** Contested stands, by pair. */
  readonly #byPair = new Map<string, ReadonlySet<string>>();
  /** Grains opened to compare with. */
  opened = 0;

  /** `contested`: the contested stands, if they are known. Otherwise opens at most `openedMax` grains to find them. */
  constructor(reach: Reach, openedMax: number, contested: Selection['contested']) {
    this.#reach = reach;
    this.#openedMax = openedMax;
    this.#contested = contested === undefined ? undefined : new Set(contested);
  }

  /** True if a live belief contradicts the grain; undefined if finding out would open too many grains. */
  *isContested(grain: CalGrain): Sliced<boolean | undefined> {
    const pair = pairOf(grain);
    if (pair === undefined) return false;
    const contested = this.#contested ?? (yield* this.#contestedOf(pair));
    return contested?.has(standOf(grain, pair));
  }

  *#contestedOf(pair: Spoken): Sliced<ReadonlySet<string> | undefined> {
    const key = pairName(pair);
    const known = this.#byPair.get(key);
    if (known !== undefined) return known;
    const search = beliefsOf(this.#reach, pair);
    const count = countAll(search);
    // The only belief of its pair cannot be contradicted.
    const isAlone = count <= 1;
    if (!isAlone && this.opened + count > this.#openedMax) return undefined;
    const stands = isAlone ? [] : yield* standsIn(search, pair);
    if (!isAlone) this.opened += count;
    const contested = new Set(contestedOf(stands));
    this.#byPair.set(key, contested);
    return contested;
  }
}

/** The objects that this partition's live beliefs state for some pairs. */
export function* rivalStands(
  store: Store,
  memory: Memory,
  context: CallContext,
  { pairs, scanMax, untilMs }: RivalReads['rivals']['input'],
): Sliced<RivalReads['rivals']['output']> {
  const stands: Stand[] = [];
  let scanned = 0;
  for (const [i, pair] of pairs.entries()) {
    if (i % STEP === 0) {
      if (i > 0) yield;
      if (steadyMs(store.clock) > untilMs) return { stands: [], scanned, stopped: 'time' };
    }
    const search = beliefsOf({ store, memory, context }, pair);
    scanned += countAll(search);
    if (scanned > scanMax) return { stands: [], scanned, stopped: 'scan' };
    for (const stand of yield* standsIn(search, pair)) stands.push(stand);
  }
  return { stands, scanned };
}

function beliefsOf({ store, memory, context }: Reach, { subject, relation }: Spoken): Search {
  return searchOf(store, memory, context, { grainTypes: ['belief'], subject, relation });
}

function* standsIn(search: Search, pair: Spoken): Sliced<Stand[]> {
  const objects = new Map<string, Set<string>>();
  let opened = 0;
  // The places are read before the first yield, because the index may change afterwards.
  for (const { part, doc } of [...allPlaces(search)]) {
    if (++opened % STEP === 0) yield;
    const view = viewAt(search, search.parts[part]!.ordinals[doc]!);
    const grain = view === undefined ? undefined : calGrain(view, 1);
    // Skip grains that are gone, and beliefs that contradict nothing.
    if (grain === undefined || pairOf(grain) === undefined) continue;
    const of = standOf(grain, pair);
    const said = objects.get(of) ?? new Set();
    if (said.size < OBJECTS_MAX) said.add(objectOf(grain));
    objects.set(of, said);
  }
  return [...objects].map(([of, said]) => ({ of, objects: [...said] }));
}
