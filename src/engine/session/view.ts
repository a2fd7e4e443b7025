// Finds the grains that an agent sees of its session when it wakes up: the current state, its goals, its last actions.
import type { GrainView } from '../calls/grain.ts';
import {
  type ActionsQuery,
  type GoalPlace,
  type SessionQuery,
  type SessionView,
  THREAD_TAG,
} from '../calls/session.ts';
import { AnswerRoom, partOfGrain } from '../grain/api/answer-room.ts';
import type { Doc, IndexPart } from '../index/parts/part.ts';
import { type PartFilter, placeOf } from '../recall/filter/filter.ts';
import { inOrder, type PartDoc } from '../recall/legs/ordered.ts';
import { isFailure } from '../store/action-numbers.ts';
import { goalPlaces, viewGoal } from './goals-of.ts';
import { countPlaces, passing, placesOf, type SessionPlaces, viewPlace, without, withValue } from './places.ts';

export function sessionView(session: SessionPlaces, asked: SessionQuery): SessionView {
  if (asked.placesOnly === true) return { ...NOTHING_SHOWN, places: listPlaces(session, asked) };
  const room = new AnswerRoom(asked.bytesMax);
  const state = asked.state === true ? currentState(session) : null;
  if (state !== null) room.takes(partOfGrain(state));
  const { goals = { states: [], limit: 0 } } = asked;
  const { places, start } = goalPlaces(session, goals.states, goals.after);
  const from = start + (goals.offset ?? 0);
  const shown = opened(session, places.slice(from, from + goals.limit), room, viewGoal);
  const actions = asked.actions === undefined ? NO_ACTIONS : lastActions(session, asked.actions, room);
  const seen = asked.seen === true ? seenTimes(session) : null;
  const moreGoals = asked.goals !== undefined && places.length > from + shown.end;
  return { state, seen, goals: shown.grains, goalsTotal: places.length, moreGoals, ...actions };
}

/** The keys of the goals or of the actions that a page would show. */
function listPlaces(session: SessionPlaces, { goals, actions }: SessionQuery): GoalPlace[] {
  if (goals !== undefined) {
    const { places, start, keyOf } = goalPlaces(session, goals.states, goals.after);
    const end = Math.min(places.length, start + goals.limit);
    return Array.from({ length: Math.max(0, end - start) }, (_, at) => keyOf(start + at));
  }
  if (actions === undefined) return [];
  const { store, parts } = session;
  const { limit, order = 'desc', after } = actions;
  return inOrder(store, parts, actionFilters(session, actions), { limit, order, after }).map(({ part, doc }) => ({
    rank: 0,
    ...placeOf(store, parts[part]!, doc),
  }));
}

function seenTimes({ parts, filters }: SessionPlaces): SessionView['seen'] {
  let firstMs = Number.POSITIVE_INFINITY;
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const { part, doc } of placesOf(filters)) {
    const atMs = parts[part]!.createdAtMs[doc]!;
    if (atMs < firstMs) firstMs = atMs;
    if (atMs > lastMs) lastMs = atMs;
  }
  return firstMs > lastMs ? null : { firstMs, lastMs };
}

const NO_ACTIONS = { actions: [], actionsTotal: 0, moreActions: false };
const NOTHING_SHOWN = { state: null, seen: null, goals: [], goalsTotal: 0, moreGoals: false, ...NO_ACTIONS };

/** The newest state that can be read. The state of a chat thread is about the thread, and not about what is done in it. */
export function currentState(session: SessionPlaces): GrainView | null {
  const { store, parts } = session;
  const filters = without(session, withValue(session, 'type', 'state'), 'tag', THREAD_TAG);
  for (const place of inOrder(store, parts, filters, { limit: STATES_TRIED, order: 'desc' })) {
    const view = viewPlace(session, place);
    if (view !== undefined) return view;
  }
  return null;
}

/** States that are tried, newest first, until one can be read. */
const STATES_TRIED = 3;

function lastActions(
  session: SessionPlaces,
  { limit, order = 'desc', after, offset = 0, toolName, failed }: ActionsQuery,
  room: AnswerRoom,
): Pick<SessionView, 'actions' | 'actionsTotal' | 'moreActions'> {
  const { store, parts } = session;
  const filters = actionFilters(session, { toolName, failed });
  // One more than asked for, to know whether there are more.
  const places = inOrder(store, parts, filters, { limit: offset + limit + 1, order, after }).slice(offset);
  const { grains, end } = opened(session, places.slice(0, limit), room);
  return { actions: grains, actionsTotal: countPlaces(filters), moreActions: places.length > end };
}

/** The session's actions, without definitions of tools. */
export function actionFilters(
  session: SessionPlaces,
  { toolName, failed }: { readonly toolName?: string | undefined; readonly failed?: true | undefined } = {},
): readonly PartFilter[] {
  const tool = toolName === undefined ? undefined : session.memory.numberOf(toolName);
  return passing(session, (part) => actionTest(part, tool, failed === true));
}

/** Undefined for a part without actions. */
function actionTest(part: IndexPart, tool: number | undefined, failed: boolean): ((doc: Doc) => boolean) | undefined {
  const outcomes = part.numbers('outcome');
  if (outcomes === undefined) return undefined;
  const tools = tool === undefined ? undefined : part.numbers('tool');
  return (doc) => {
    const outcome = outcomes[doc]!;
    if (Number.isNaN(outcome) || (failed && !isFailure(outcome))) return false;
    return tools === undefined || tools[doc] === tool;
  };
}

/** The grains at the places while there is room; `end` is the number of places that were used. */
function opened(
  session: SessionPlaces,
  places: readonly PartDoc[],
  room: AnswerRoom,
  viewAt = viewPlace,
): { readonly grains: readonly GrainView[]; readonly end: number } {
  const grains: GrainView[] = [];
  for (const [end, place] of places.entries()) {
    const view = viewAt(session, place);
    if (view === undefined) continue;
    if (!room.takes(partOfGrain(view))) return { grains, end };
    grains.push(view);
  }
  return { grains, end: places.length };
}
