// Finds what may enter the context of a session. Actions and beliefs are ranked by columns of the index; only those that
// may fit are opened.
import { CONTEXT_OPENED_MAX } from '../base/limits.ts';
import type { ContextAsked, ContextFound, ContextPiece, ContextState } from '../calls/session.ts';
import type { Doc, Ordinal } from '../index/parts/part.ts';
import type { PartFilter } from '../recall/filter/filter.ts';
import type { PartDoc } from '../recall/legs/ordered.ts';
import { CHARS_OF_TOKEN, ContextBudget } from './compile.ts';
import { fittingState } from './fitting-state.ts';
import { goalPlaces } from './goals-of.ts';
import { pieceOf } from './pieces.ts';
import { type SessionPlaces, viewPlace, withValue } from './places.ts';
import { actionFilters, currentState } from './view.ts';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const IMPORTANCE_DEFAULT = 0.5;
const CONFIDENCE_DEFAULT = 1;
/** Shares of a value: what the writer said of the grain, how new it is, and how well it matches the query. */
const WEIGHTS = { importance: 0.4, confidence: 0.3, newness: 0.3, relevance: 0.3 } as const;

export function contextParts(session: SessionPlaces, asked: ContextAsked): ContextFound {
  const { tokenBudget, format, offset = 0 } = asked;
  const actions = candidatesIn('action', actionFilters(session));
  const beliefs = candidatesIn('belief', standing(session, withValue(session, 'type', 'belief')));
  const { places: goals } = goalPlaces(session, ['active']);
  const upTo = offset + CONTEXT_OPENED_MAX;
  const ranked = mostValuable(session, [actions, beliefs], asked, upTo + 1);
  // The cost of goals is not known before they are compiled, so items are found as if there were no goals.
  const budget = new ContextBudget(tokenBudget, format);
  const items = openedPieces(session, ranked.slice(offset, upTo), budget);
  const firstGoals = offset > 0 ? [] : goals.slice(0, CONTEXT_OPENED_MAX).map(goalCandidate);
  const state = offset > 0 ? null : currentState(session);
  const room = { budgetChars: tokenBudget * CHARS_OF_TOKEN, left: new ContextBudget(tokenBudget, format).left, format };
  return {
    state: state === null ? null : fittingState(state, room),
    goals: openedPieces(session, firstGoals, new ContextBudget(tokenBudget, format)),
    items,
    totals: { goals: goals.length, actions: actions.docs.length, beliefs: beliefs.docs.length },
    more: ranked.length > upTo && !budget.isSpent,
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

/** The docs of one kind, with the part of each. */
interface Candidates {
  readonly kind: 'action' | 'belief';
  readonly parts: readonly number[];
  readonly docs: readonly number[];
}

function candidatesIn(kind: 'action' | 'belief', filters: readonly PartFilter[]): Candidates {
  const parts: number[] = [];
  const docs: number[] = [];
  for (const [part, { docs: listed = NOTHING, test }] of filters.entries())
    for (let i = 0; i < listed.length; i++) {
      const doc = listed[i]!;
      if (!test(doc)) continue;
      parts.push(part);
      docs.push(doc);
    }
  return { kind, parts, docs };
}

const NOTHING = new Uint32Array(0);

/** The `most` candidates with the highest values, the highest first. */
function mostValuable(
  session: SessionPlaces,
  all: readonly Candidates[],
  asked: ContextAsked,
  most: number,
): readonly Candidate[] {
  const { parts } = session;
  const worth = valuation(session, asked);
  const values = all.map(({ parts: partOf, docs }) => Float64Array.from(docs, (doc, i) => worth(partOf[i]!, doc)));
  const least = leastOf(values, most);
  const candidates: Candidate[] = [];
  for (const [k, { kind, parts: partOf, docs }] of all.entries())
    for (let i = 0; i < docs.length; i++) {
      const value = values[k]![i]!;
      if (value < least) continue;
      const [part, doc] = [partOf[i]!, docs[i]!];
      const { createdAtMs, addressHeads } = parts[part]!;
      candidates.push({ kind, place: { part, doc }, value, createdAtMs: createdAtMs[doc]!, head: addressHeads[doc]! });
    }
  return candidates.sort(byValue).slice(0, most);
}

/** The value of a doc in a part. */
function valuation(
  { store, memory, parts }: SessionPlaces,
  { relevance = [] }: ContextAsked,
): (part: number, doc: Doc) => number {
  const nowMs = store.clock.nowMs();
  const matches = new Map<Ordinal, number>();
  for (const [hash, score] of relevance) {
    const ordinal = store.findOrdinal(memory.number, hash);
    if (ordinal !== undefined) matches.set(ordinal, score);
  }
  const columns = parts.map((part) => ({
    createdAtMs: part.createdAtMs,
    ordinals: part.ordinals,
    importance: part.numbers('importance'),
    confidence: part.numbers('confidence'),
  }));
  return (part, doc) => {
    const { createdAtMs, ordinals, importance, confidence } = columns[part]!;
    const ageHours = Math.max(0, nowMs - createdAtMs[doc]!) / HOUR_MS;
    return (
      WEIGHTS.importance * stated(importance?.[doc], IMPORTANCE_DEFAULT) +
      WEIGHTS.confidence * stated(confidence?.[doc], CONFIDENCE_DEFAULT) +
      WEIGHTS.newness / (1 + ageHours / DAY_HOURS) +
      WEIGHTS.relevance * (matches.size === 0 ? 0 : (matches.get(ordinals[doc]!) ?? 0))
    );
  };
}

/** The lowest of the `most` highest values. */
function leastOf(values: readonly Float64Array[], most: number): number {
  const count = values.reduce((sum, some) => sum + some.length, 0);
  if (count <= most) return Number.NEGATIVE_INFINITY;
  const sorted = new Float64Array(count);
  let at = 0;
  for (const some of values) {
    sorted.set(some, at);
    at += some.length;
  }
  return sorted.sort()[count - most]!;
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
    more: parts.some(({ more }) => more),
  };
}

function byNewest(a: ContextState, b: ContextState): number {
  return b.createdAtMs - a.createdAtMs || (a.hash < b.hash ? -1 : 1);
}
