// The goals of a session, in the order in which an agent looks at them.
import type { GrainView } from '../calls/grain.ts';
import type { GoalPlace } from '../calls/session.ts';
import { fieldKey } from '../index/parts/part.ts';
import type { PartFilter } from '../recall/filter/filter.ts';
import type { PartDoc } from '../recall/legs/ordered.ts';
import { PRIORITY_RANK_MEDIUM } from '../store/action-numbers.ts';
import { placesOf, type SessionPlaces, withValue } from './places.ts';

/**
 * The places of the session's goals in these states, by priority, then newest first, ties by hash, and the index of the
 * first one after a place. Opens no goal.
 */
export function goalPlaces(
  session: SessionPlaces,
  states: readonly string[],
  after?: GoalPlace,
): { readonly places: readonly PartDoc[]; readonly start: number } {
  const found = states.flatMap((state) => [...placesOf(inState(session, state))]);
  const { store, parts } = session;
  const keyed = found.map((place) => {
    const part = parts[place.part]!;
    return {
      place,
      rank: part.numbers('priority')?.[place.doc] ?? PRIORITY_RANK_MEDIUM,
      createdAtMs: part.createdAtMs[place.doc]!,
    };
  });
  const address = ({ part, doc }: PartDoc): string => store.addressOfLive(parts[part]!.ordinals[doc]!);
  keyed.sort(
    (a, b) => a.rank - b.rank || b.createdAtMs - a.createdAtMs || (address(a.place) < address(b.place) ? -1 : 1),
  );
  return {
    places: keyed.map(({ place }) => place),
    start: after === undefined ? 0 : firstAfter(keyed, after, ({ place }) => address(place)),
  };
}

type Ranked = Omit<GoalPlace, 'hash'>;

/** Index of the first of the sorted goals that comes after the place. */
function firstAfter<T extends Ranked>(goals: readonly T[], after: GoalPlace, hashOf: (goal: T) => string): number {
  let low = 0;
  let high = goals.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const goal = goals[middle]!;
    const order = goal.rank - after.rank || after.createdAtMs - goal.createdAtMs;
    if (order < 0 || (order === 0 && hashOf(goal) <= after.hash)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Only goals have a `goal_state`. */
function inState(session: SessionPlaces, state: string): readonly PartFilter[] {
  return withValue(session, 'field', fieldKey('goal_state', state));
}

const WORDS = ['critical', 'high', 'medium', 'low'];

/** The same order for opened goals, to merge those of several partitions. */
export function compareGoals(a: GrainView, b: GrainView): number {
  return rankOf(a) - rankOf(b) || b.createdAtMs - a.createdAtMs || (a.hash < b.hash ? -1 : 1);
}

/** 1 for critical to 4 for low. Any other priority counts as medium. */
export function rankOf({ fields }: GrainView): number {
  const word = fields['priority'];
  const at = typeof word === 'string' ? WORDS.indexOf(word) : -1;
  return at < 0 ? PRIORITY_RANK_MEDIUM : at + 1;
}
