// Compiles the context of a session: the best grains that fit a budget of tokens. Pure. The state comes first and gets at
// most three tenths, then goals by priority, then actions and beliefs by value. Grains that do not fit are left out.
import type { GrainView } from '../calls/grain.ts';
import type { CompiledContext, ContextFormat, ContextFound, ContextPiece } from '../calls/session.ts';
import { stringifyJson } from '../grain/api/json.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import { textOf } from './pieces.ts';

export const CHARS_OF_TOKEN = 4;
const STATE_SHARE = 0.3;
/** Pieces in a row that do not fit, after which none is tried: the room that is left is small. */
export const MISSES_MAX = 32;

/** How a format lays out the parts, and what they cost in characters. */
interface Layout {
  /** Characters around everything, once anything is shown. */
  readonly frame: number;
  readonly state: (state: JsonObject) => number;
  readonly piece: (piece: ContextPiece, isFirstOfKind: boolean) => number;
}

const JSON_LAYOUT: Layout = {
  frame: JSON.stringify({ state: null, goals: [], actions: [], beliefs: [] }).length,
  state: (state) => stringifyJson(state).length,
  piece: ({ body }) => stringifyJson(body).length + 1,
};

const HEADINGS = { state: '## State', goal: '## Goals', action: '## Actions', belief: '## Beliefs' } as const;
const BETWEEN_SECTIONS = 2;

const TEXT_LAYOUT: Layout = {
  frame: 0,
  state: (state) => HEADINGS.state.length + stateLines(state).reduce((sum, line) => sum + line.length + 1, 0),
  piece: ({ kind, line }, isFirst) => line.length + 1 + (isFirst ? HEADINGS[kind].length + BETWEEN_SECTIONS : 0),
};

const LAYOUTS: Readonly<Record<ContextFormat, Layout>> = { json: JSON_LAYOUT, text: TEXT_LAYOUT };

/** The least that a piece costs; with less room left, none is tried. */
export const PIECE_CHARS_MIN: Readonly<Record<ContextFormat, number>> = { json: 100, text: 6 };

/** Takes pieces while there is room. */
export class ContextBudget {
  readonly #layout: Layout;
  readonly #format: ContextFormat;
  #left: number;
  #misses = 0;
  readonly #kinds = new Set<ContextPiece['kind']>();

  constructor(tokens: number, format: ContextFormat) {
    this.#layout = LAYOUTS[format];
    this.#format = format;
    this.#left = tokens * CHARS_OF_TOKEN - this.#layout.frame;
  }

  /** True if no further piece needs to be tried. */
  get isSpent(): boolean {
    return this.#left < PIECE_CHARS_MIN[this.#format] || this.#misses >= MISSES_MAX;
  }

  /** Pieces of the next kind get their own chance. */
  begin(): void {
    this.#misses = 0;
  }

  /** True if the state costs no more than `charsMax`, and no more than is left. */
  hasRoomFor(state: JsonObject, charsMax: number): boolean {
    return this.#layout.state(state) <= Math.min(charsMax, this.#left);
  }

  takesState(state: JsonObject): void {
    this.#left -= this.#layout.state(state);
  }

  takes(piece: ContextPiece): boolean {
    const cost = this.#layout.piece(piece, !this.#kinds.has(piece.kind));
    if (cost > this.#left) {
      this.#misses += 1;
      return false;
    }
    this.#misses = 0;
    this.#kinds.add(piece.kind);
    this.#left -= cost;
    return true;
  }
}

export function compileContext(
  found: ContextFound,
  { tokenBudget, format }: { readonly tokenBudget: number; readonly format: ContextFormat },
): CompiledContext {
  const budget = new ContextBudget(tokenBudget, format);
  const { state, trimmedKeys } = fittingState(
    found.state,
    budget,
    Math.floor(tokenBudget * CHARS_OF_TOKEN * STATE_SHARE),
  );
  const goals = taken(found.goals, budget);
  const items = taken(found.items, budget);
  const actions = items.filter(({ kind }) => kind === 'action');
  const beliefs = items.filter(({ kind }) => kind === 'belief');
  const { totals } = found;
  const dropped = {
    states: found.state !== null && state === null ? 1 : 0,
    stateKeys: trimmedKeys,
    goals: totals.goals - goals.length,
    actions: totals.actions - actions.length,
    beliefs: totals.beliefs - beliefs.length,
  };
  const isEmpty = state === null && goals.length + items.length === 0;
  const shown = { state, goals: bodies(goals), actions: bodies(actions), beliefs: bodies(beliefs) };
  const text = format === 'text' ? pageOf(state, [goals, actions, beliefs]) : undefined;
  const chars = isEmpty ? 0 : (text ?? stringifyJson(shown)).length;
  return {
    ...shown,
    text,
    dropped,
    truncated: Object.values(dropped).some((count) => count > 0),
    estimatedTokens: Math.ceil(chars / CHARS_OF_TOKEN),
  };
}

function taken(pieces: readonly ContextPiece[], budget: ContextBudget): readonly ContextPiece[] {
  budget.begin();
  const shown: ContextPiece[] = [];
  for (const piece of pieces) {
    if (budget.isSpent) break;
    if (budget.takes(piece)) shown.push(piece);
  }
  return shown;
}

function bodies(pieces: readonly ContextPiece[]): readonly JsonObject[] {
  return pieces.map(({ body }) => body);
}

/** The state without its largest keys, until it fits; null if it does not fit with any of them. */
function fittingState(
  view: GrainView | null,
  budget: ContextBudget,
  charsMax: number,
): { readonly state: JsonObject | null; readonly trimmedKeys: number } {
  if (view === null) return { state: null, trimmedKeys: 0 };
  const data = dataOf(view);
  const bySize = Object.entries(data)
    .map(([key, value]) => ({ key, size: stringifyJson(value).length + key.length }))
    .sort((a, b) => b.size - a.size || (a.key < b.key ? -1 : 1));
  const without = (count: number): JsonObject => {
    const gone = new Set(bySize.slice(0, count).map(({ key }) => key));
    // fromEntries defines an own property for every key, including `__proto__`.
    const kept = Object.fromEntries(Object.entries(data).filter(([key]) => !gone.has(key)));
    return { hash: view.hash, fields: { data: kept }, created_at: view.createdAt };
  };
  // Fewer keys cost less, so the first count that fits is found by halving.
  let low = 0;
  let high = bySize.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (budget.hasRoomFor(without(middle), charsMax)) high = middle;
    else low = middle + 1;
  }
  const state = without(low);
  const isLeft = low < bySize.length || bySize.length === 0;
  if (!isLeft || !budget.hasRoomFor(state, charsMax)) return { state: null, trimmedKeys: 0 };
  budget.takesState(state);
  return { state, trimmedKeys: low };
}

function dataOf({ fields }: GrainView): JsonObject {
  const data = fields['data'];
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as JsonObject) : {};
}

function stateLines({ fields }: JsonObject): string[] {
  const { data } = fields as { readonly data: JsonObject }; // as `fittingState` made it
  return Object.entries(data).map(([key, value]) => `${textOf(key)}: ${textOf(value)}`);
}

/** A section for each kind that has something to show, with a heading. */
function pageOf(state: JsonObject | null, kinds: readonly (readonly ContextPiece[])[]): string {
  const sections = state === null ? [] : [[HEADINGS.state, ...stateLines(state)]];
  for (const pieces of kinds) {
    const [first] = pieces;
    if (first !== undefined) sections.push([HEADINGS[first.kind], ...pieces.map(({ line }) => line)]);
  }
  return sections.map((lines) => lines.join('\n')).join('\n\n');
}
