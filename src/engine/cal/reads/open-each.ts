// Opens the grains that the indexes select, in steps.

import { steadyMs } from '../../base/clock.ts';
import type { Bounds, Selection, Stopped } from '../../calls/cal.ts';
import type { GrainView } from '../../calls/grain.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { Ordinal } from '../../index/parts/part.ts';
import type { PartDoc } from '../../recall/legs/ordered.ts';
import type { CalGrain } from '../output/grain.ts';
import { needsRivals } from '../run/contested.ts';
import { passes } from '../run/field-test.ts';
import { calGrain } from '../run/grain-of.ts';
import { type Search, viewAt } from './places.ts';
import { Rivals } from './rivals.ts';

/** Grains to open between two yields, and between two clock reads. */
export const STEP_GRAINS = 16;

/** `full` if no more grains can be held. */
type Found = (grain: CalGrain, ordinal: Ordinal, view: GrainView) => 'full' | undefined;

/** Opens the grain at every place and reports those that pass. Opens none if there are more places than allowed. */
export function* openEach(
  search: Search,
  places: Iterable<PartDoc>,
  { tests, contested, scanMax, untilMs }: Pick<Selection, 'tests' | 'contested'> & Bounds,
  found: Found,
): Sliced<Stopped> {
  const ordinals: Ordinal[] = [];
  for (const { part, doc } of places) {
    if (ordinals.length >= scanMax) return { scanned: 0, stopped: 'scan' };
    ordinals.push(search.parts[part]!.ordinals[doc]!);
  }
  const rivals = needsRivals(tests) ? new Rivals(search, scanMax - ordinals.length, contested) : undefined;
  for (const [i, ordinal] of ordinals.entries()) {
    if (i % STEP_GRAINS === 0) {
      if (i > 0) yield;
      if (steadyMs(search.store.clock) > untilMs) return { scanned: i, stopped: 'time' };
    }
    const view = viewAt(search, ordinal);
    if (view === undefined) continue;
    let grain = calGrain(view, 1);
    if (rivals !== undefined) {
      const isContested = yield* rivals.isContested(grain);
      if (isContested === undefined) return { scanned: i, stopped: 'scan' };
      // Tests only read whether the list is empty.
      if (isContested) grain = { ...grain, contestedBy: [grain.hash] };
    }
    if (tests.every((test) => passes(grain, test)) && found(grain, ordinal, view) === 'full')
      return { scanned: i + 1, stopped: 'bytes' };
  }
  return { scanned: ordinals.length + (rivals?.opened ?? 0) };
}

/** Runs all steps without pausing. */
export function drained<T>(steps: Sliced<T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}
