// Finds what may enter the context of a session. Actions and beliefs are ranked by columns of the index; only those that
// may fit are opened.
import { CONTEXT_OPENED_MAX } from '../base/limits.ts';
import type { ContextFound, ContextPiece, ContextQuery, ContextState } from '../calls/session.ts';
import type { Doc, Ordinal } from '../index/parts/part.ts';
import type { PartFilter } from '../recall/filter/filter.ts';
import type { PartDoc } from '../recall/legs/ordered.ts';
import { CHARS_OF_TOKEN, ContextBudget } from './compile.ts';
import { placesBetween } from './first-of.ts';
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

export function contextParts(session: SessionPlaces, asked: ContextQuery): ContextFound {
  const { tokenBudget, format, offset = 0 } = asked;
  const candidates = new Candidates(session, asked, [
    ['action', actionFilters(session)],
    ['belief', notRetracted(session, withValue(session, 'type', 'belief'))],
  ]);
  const upTo = offset + CONTEXT_OPENED_MAX;
  // The cost of goals is not known before they are compiled, so items are found as if there were no goals.
  const budget = new ContextBudget(tokenBudget, format);
  const items = openedPieces(session, candidates.ranked(offset, upTo), budget);
  const more = candidates.count > upTo && !budget.isSpent;
  const totals = { goals: 0, actions: candidates.countOf('action'), beliefs: candidates.countOf('belief') };
  if (offset > 0) return { state: null, goals: [], items, totals, more };
  const { places: goals } = goalPlaces(session, ['active']);
  const firstGoals = goals.slice(0, CONTEXT_OPENED_MAX).map(goalCandidate);
  const state = currentState(session);
  const room = { budgetChars: tokenBudget * CHARS_OF_TOKEN, left: new ContextBudget(tokenBudget, format).left, format };
  return {
    state: state === null ? null : fittingState(state, room),
    goals: openedPieces(session, firstGoals, new ContextBudget(tokenBudget, format)),
    items,
    totals: { ...totals, goals: goals.length },
    more,
  };
}

/** Leaves out retracted grains. */
function notRetracted({ store, parts }: SessionPlaces, filters: readonly PartFilter[]): readonly PartFilter[] {
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
}

const goalCandidate = (place: PartDoc): Candidate => ({ kind: 'goal', place, value: 0 });

type ItemKind = 'action' | 'belief';

/** The docs that may enter a context, with their values. There may be a hundred thousand of them for each call. */
class Candidates {
  readonly #session: SessionPlaces;
  readonly #part: Uint32Array;
  readonly #doc: Uint32Array;
  readonly #value: Float64Array;
  /** The docs of each kind follow those of the one before. */
  readonly #ends: { readonly kind: ItemKind; readonly end: number }[] = [];
  #count = 0;

  constructor(
    session: SessionPlaces,
    asked: ContextQuery,
    kinds: readonly (readonly [ItemKind, readonly PartFilter[]])[],
  ) {
    this.#session = session;
    let most = 0;
    for (const [, filters] of kinds) for (const { docs = NOTHING } of filters) most += docs.length;
    this.#part = new Uint32Array(most);
    this.#doc = new Uint32Array(most);
    this.#value = new Float64Array(most);
    const worth = valuation(session, asked);
    for (const [kind, filters] of kinds) {
      for (const [part, filter] of filters.entries()) this.#add(part, filter, worth);
      this.#ends.push({ kind, end: this.#count });
    }
  }

  #add(part: number, { docs = NOTHING, test }: PartFilter, worth: (part: number, doc: Doc) => number): void {
    let at = this.#count;
    for (let i = 0; i < docs.length; i++) {
      const doc = docs[i]!;
      if (!test(doc)) continue;
      this.#part[at] = part;
      this.#doc[at] = doc;
      this.#value[at] = worth(part, doc);
      at += 1;
    }
    this.#count = at;
  }

  get count(): number {
    return this.#count;
  }

  countOf(kind: ItemKind): number {
    const at = this.#ends.findIndex((one) => one.kind === kind);
    return this.#ends[at]!.end - (this.#ends[at - 1]?.end ?? 0);
  }

  /** The candidates with the places `from` to `to - 1`, the most valuable first. */
  ranked(from: number, to: number): readonly Candidate[] {
    return placesBetween(this.#count, from, to, (a, b) => this.#comesBefore(a, b)).map((at) => ({
      kind: this.#ends.find(({ end }) => at < end)!.kind,
      place: { part: this.#part[at]!, doc: this.#doc[at]! },
      value: this.#value[at]!,
    }));
  }

  /** By value, then the newest, then by the first 32 bits of the hash. */
  #comesBefore(a: number, b: number): boolean {
    const byValue = this.#value[b]! - this.#value[a]!;
    if (byValue !== 0) return byValue < 0;
    const { parts } = this.#session;
    const [one, other] = [parts[this.#part[a]!]!, parts[this.#part[b]!]!];
    const [docA, docB] = [this.#doc[a]!, this.#doc[b]!];
    const rest =
      other.createdAtMs[docB]! - one.createdAtMs[docA]! || one.addressHeads[docA]! - other.addressHeads[docB]!;
    return rest === 0 ? a < b : rest < 0;
  }
}

const NOTHING = new Uint32Array(0);

/** The value of a doc in a part. */
function valuation(
  { store, memory, parts }: SessionPlaces,
  { relevance = [] }: ContextQuery,
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

function stated(value: number | undefined, otherwise: number): number {
  return value === undefined || Number.isNaN(value) ? otherwise : value;
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
