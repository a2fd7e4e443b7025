// The goals of a session, in the order in which an agent looks at them.
import type { GoalState } from '../calls/goals.ts';
import type { GrainView } from '../calls/grain.ts';
import type { GoalPlace } from '../calls/session.ts';
import { type Doc, fieldKey, type IndexPart } from '../index/parts/part.ts';
import { headOf, type PartFilter, placeOf } from '../recall/filter/filter.ts';
import type { PartDoc } from '../recall/legs/ordered.ts';
import { PRIORITY_RANK_MEDIUM } from '../store/action-numbers.ts';
import { EXPIRED, type ExpiryTimes, stateByNow } from '../store/goal-expiry.ts';
import { type SessionPlaces, viewPlace, withValue } from './places.ts';

/**
 * The places of the session's goals in these states, by priority, then newest first, ties by hash, and the index of the
 * first one after a place. `keyOf` is the key of one in this order. Opens no goal.
 */
export function goalPlaces(
  session: SessionPlaces,
  states: readonly string[],
  after?: GoalPlace,
): { readonly places: readonly PartDoc[]; readonly start: number; readonly keyOf: (at: number) => GoalPlace } {
  const { store, parts } = session;
  const keyed = keyedPlaces(session, states);
  const address = ({ part, doc }: PartDoc): string => store.addressOfLive(parts[part]!.ordinals[doc]!);
  // Goals of one batch have one time. The first 32 bits of the hash mostly decide, and are in the index.
  keyed.sort(
    (a, b) =>
      a.rank - b.rank ||
      b.createdAtMs - a.createdAtMs ||
      a.head - b.head ||
      (address(a.place) < address(b.place) ? -1 : 1),
  );
  return {
    places: keyed.map(({ place }) => place),
    start: after === undefined ? 0 : firstAfter(keyed, after, ({ place }) => address(place)),
    keyOf: (at) => {
      const { rank, place } = keyed[at]!;
      return { rank, ...placeOf(store, parts[place.part]!, place.doc) };
    },
  };
}

/** Index of the first of the sorted goals that comes after the place. */
function firstAfter(goals: readonly KeyedPlace[], after: GoalPlace, hashOf: (goal: KeyedPlace) => string): number {
  const head = headOf(after.hash);
  let low = 0;
  let high = goals.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const goal = goals[middle]!;
    const order = goal.rank - after.rank || after.createdAtMs - goal.createdAtMs || goal.head - head;
    if (order < 0 || (order === 0 && hashOf(goal) <= after.hash)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Stored states from which a goal may come to a state by its expiry_policy. */
const EXPIRES_FROM: Readonly<Record<string, readonly GoalState[]>> = {
  failed: ['active', 'suspended'],
  suspended: ['active'],
};

interface KeyedPlace extends Omit<GoalPlace, 'hash'> {
  readonly place: PartDoc;
  /** The first 32 bits of the hash. */
  readonly head: number;
}

/** Goals that are in these states by now. Those that have expired are noted, so that their new state is recorded. */
function keyedPlaces(session: SessionPlaces, states: readonly string[]): KeyedPlace[] {
  const { store, parts, context } = session;
  const nowMs = store.clock.nowMs();
  const stored = new Set([...states, ...states.flatMap((state) => EXPIRES_FROM[state] ?? [])]);
  const keyed: KeyedPlace[] = [];
  for (const state of stored)
    for (const [at, { docs = NOTHING, test }] of inState(session, state).entries()) {
      if (docs.length === 0) continue;
      const part = parts[at]!;
      const [fails, suspends] = [part.numbers('failsAtMs'), part.numbers('suspendsAtMs')];
      const ranks = part.numbers('priority');
      const { createdAtMs, addressHeads, ordinals } = part;
      for (const doc of docs) {
        if (!test(doc)) continue;
        const times = { failsAtMs: fails?.[doc], suspendsAtMs: suspends?.[doc] };
        const byNow = stateByNow(state as GoalState, times, nowMs); // of the caller's list
        if (byNow !== state) store.dueGoals.note(context, ordinals[doc]!);
        if (!states.includes(byNow)) continue;
        const rank = ranks?.[doc] ?? PRIORITY_RANK_MEDIUM;
        keyed.push({ place: { part: at, doc }, rank, createdAtMs: createdAtMs[doc]!, head: addressHeads[doc]! });
      }
    }
  return keyed;
}

const NOTHING = new Uint32Array(0);

function timesAt(part: IndexPart, doc: Doc): ExpiryTimes {
  return { failsAtMs: part.numbers('failsAtMs')?.[doc], suspendsAtMs: part.numbers('suspendsAtMs')?.[doc] };
}

/** The goal in the state that it has by now. Undefined for one that cannot be read. */
export function viewGoal(session: SessionPlaces, place: PartDoc): GrainView | undefined {
  const { store, parts } = session;
  const view = viewPlace(session, place);
  const { goal_state: stored } = view?.fields ?? {};
  if (view === undefined || typeof stored !== 'string') return view;
  const byNow = stateByNow(stored as GoalState, timesAt(parts[place.part]!, place.doc), store.clock.nowMs()); // the codec admits no other
  return byNow === stored ? view : { ...view, fields: { ...view.fields, goal_state: byNow, state_reason: EXPIRED } };
}

/** Only goals have a `goal_state`. */
function inState(session: SessionPlaces, state: string): readonly PartFilter[] {
  return withValue(session, 'field', fieldKey('goal_state', state));
}

const WORDS = ['critical', 'high', 'medium', 'low'];

/** The same order for opened goals, to merge those of several partitions. */
export function compareGoals(a: GrainView, b: GrainView): number {
  return compareGoalPlaces({ ...a, rank: rankOf(a) }, { ...b, rank: rankOf(b) });
}

export function compareGoalPlaces(a: GoalPlace, b: GoalPlace): number {
  return a.rank - b.rank || b.createdAtMs - a.createdAtMs || (a.hash < b.hash ? -1 : 1);
}

/** 1 for critical to 4 for low. Any other priority counts as medium. */
export function rankOf({ fields }: GrainView): number {
  const word = fields['priority'];
  const at = typeof word === 'string' ? WORDS.indexOf(word) : -1;
  return at < 0 ? PRIORITY_RANK_MEDIUM : at + 1;
}
