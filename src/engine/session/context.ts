// Finds what may enter the context of a session. Actions and beliefs are ranked by columns of the index; only those that
// may fit are opened.
import type { GrainView } from '../calls/grain.ts';
import type { ContextAsked, ContextFound, ContextPiece } from '../calls/session.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { PartFilter } from '../recall/filter/filter.ts';
import type { PartDoc } from '../recall/legs/ordered.ts';
import { CHARS_OF_TOKEN, ContextBudget, MISSES_MAX, PIECE_CHARS_MIN } from './compile.ts';
import { goalPlaces } from './goals-of.ts';
import { pieceOf } from './pieces.ts';
import { countPlaces, placesOf, type SessionPlaces, viewPlace, withValue } from './places.ts';
import { actionFilters, currentState } from './view.ts';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const IMPORTANCE_DEFAULT = 0.5;
const CONFIDENCE_DEFAULT = 1;
/** Shares of a value: what the writer said of the grain, how new it is, and how well it matches the query. */
const WEIGHTS = { importance: 0.4, confidence: 0.3, newness: 0.3, relevance: 0.3 } as const;

export function contextParts(session: SessionPlaces, asked: ContextAsked): ContextFound {
  const { places: goals } = goalPlaces(session, ['active']);
  const actions = actionFilters(session);
  const beliefs = standing(session, withValue(session, 'type', 'belief'));
  const budget = new ContextBudget(asked.tokenBudget, asked.format);
  const candidates = [...ranked(session, 'action', actions, asked), ...ranked(session, 'belief', beliefs, asked)];
  return {
    state: currentState(session),
    goals: openedPieces(session, goals.map(goalCandidate), budget),
    // The cost of goals is not known before they are compiled, so items are found as if there were no goals.
    items: openedPieces(session, candidates.sort(byValue), new ContextBudget(asked.tokenBudget, asked.format)),
    totals: { goals: goals.length, actions: countPlaces(actions), beliefs: countPlaces(beliefs) },
  };
}

/** Leaves out retracted grains. */
function standing({ store, parts }: SessionPlaces, filters: readonly PartFilter[]): readonly PartFilter[] {
  const { retracted } = store.index.verification;
  if (retracted.count === 0) return filters;
  return filters.map(({ docs, test }, at) => {
    const { ordinals } = parts[at]!;
    return { docs, test: (doc) => !retracted.get(ordinals[doc]!) && test(doc) };
  });
}

interface Candidate {
  readonly kind: ContextPiece['kind'];
  readonly place: PartDoc;
  readonly value: number;
  readonly createdAtMs: number;
  /** The first 32 bits of its hash, which decides between equals. */
  readonly head: number;
}

const goalCandidate = (place: PartDoc): Candidate => ({ kind: 'goal', place, value: 0, createdAtMs: 0, head: 0 });

/** The candidates of a kind that may fit, in any order. No other candidate has a higher value. */
function ranked(
  session: SessionPlaces,
  kind: 'action' | 'belief',
  filters: readonly PartFilter[],
  { tokenBudget, format, relevance = [] }: ContextAsked,
): Candidate[] {
  const { store, memory, parts } = session;
  const nowMs = store.clock.nowMs();
  const matches = new Map<Ordinal, number>();
  for (const [hash, score] of relevance) {
    const ordinal = store.findOrdinal(memory.number, hash);
    if (ordinal !== undefined) matches.set(ordinal, score);
  }
  const places = [...placesOf(filters)];
  const columns = parts.map((part) => ({
    part,
    heads: part.addressHeads,
    importance: part.numbers('importance'),
    confidence: part.numbers('confidence'),
  }));
  const values = Float64Array.from(places, ({ part: at, doc }) => {
    const { part, importance, confidence } = columns[at]!;
    const ageHours = Math.max(0, nowMs - part.createdAtMs[doc]!) / HOUR_MS;
    return (
      WEIGHTS.importance * stated(importance?.[doc], IMPORTANCE_DEFAULT) +
      WEIGHTS.confidence * stated(confidence?.[doc], CONFIDENCE_DEFAULT) +
      WEIGHTS.newness / (1 + ageHours / DAY_HOURS) +
      WEIGHTS.relevance * (matches.get(part.ordinals[doc]!) ?? 0)
    );
  });
  const most = Math.ceil((tokenBudget * CHARS_OF_TOKEN) / PIECE_CHARS_MIN[format]) + MISSES_MAX;
  const least = values.length <= most ? Number.NEGATIVE_INFINITY : values.toSorted()[values.length - most]!;
  const candidates: Candidate[] = [];
  for (const [i, place] of places.entries()) {
    const value = values[i]!;
    if (value < least) continue;
    const { part, heads } = columns[place.part]!;
    candidates.push({ kind, place, value, createdAtMs: part.createdAtMs[place.doc]!, head: heads[place.doc]! });
  }
  return candidates;
}

function stated(value: number | undefined, otherwise: number): number {
  return value === undefined || Number.isNaN(value) ? otherwise : value;
}

function byValue(a: Candidate, b: Candidate): number {
  return b.value - a.value || b.createdAtMs - a.createdAtMs || a.head - b.head;
}

/** Opens candidates while they may fit. */
function openedPieces(
  session: SessionPlaces,
  candidates: readonly Candidate[],
  budget: ContextBudget,
): readonly ContextPiece[] {
  const pieces: ContextPiece[] = [];
  for (const { kind, place, value } of candidates) {
    if (budget.isSpent) break;
    const view = viewPlace(session, place);
    if (view === undefined) continue;
    const piece = pieceOf(kind, view, value);
    if (budget.takes(piece)) pieces.push(piece);
  }
  return pieces;
}

/** The parts of several partitions, in the order that one partition would have. */
export function mergeContexts(parts: readonly ContextFound[]): ContextFound {
  const [state = null] = parts.flatMap((part) => part.state ?? []).sort(byNewest);
  const sum = (kind: keyof ContextFound['totals']): number => parts.reduce((all, { totals }) => all + totals[kind], 0);
  return {
    state,
    goals: parts
      .flatMap(({ goals }) => goals)
      .sort((a, b) => a.rank - b.rank || b.createdAtMs - a.createdAtMs || (a.hash < b.hash ? -1 : 1)),
    items: parts
      .flatMap(({ items }) => items)
      .sort((a, b) => b.value - a.value || b.createdAtMs - a.createdAtMs || (a.hash < b.hash ? -1 : 1)),
    totals: { goals: sum('goals'), actions: sum('actions'), beliefs: sum('beliefs') },
  };
}

function byNewest(a: GrainView, b: GrainView): number {
  return b.createdAtMs - a.createdAtMs || (a.hash < b.hash ? -1 : 1);
}
