// The goals of a session, in the order in which an agent looks at them.
import type { GrainView } from '../calls/grain.ts';
import { fieldKey } from '../index/parts/part.ts';
import type { PartFilter } from '../recall/filter/filter.ts';
import type { PartDoc } from '../recall/legs/ordered.ts';
import { PRIORITY_RANK_MEDIUM } from '../store/action-numbers.ts';
import { placesOf, type SessionPlaces, withValue } from './places.ts';

/** The places of the session's goals in these states, by priority, then newest first, ties by hash. Opens no goal. */
export function goalPlaces(session: SessionPlaces, states: readonly string[]): readonly PartDoc[] {
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
  return keyed.map(({ place }) => place);
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
