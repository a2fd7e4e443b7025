// Compiles the context of a session: the best grains that fit a budget of tokens. Pure. The state comes first and gets at
// most three tenths, then goals by priority, then actions and beliefs by value. Grains that do not fit are left out.
import type { CompiledContext, ContextFormat, ContextFound, ContextPiece } from '../calls/session.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import { stateLines } from './fitting-state.ts';

export const CHARS_OF_TOKEN = 4;
/** Pieces in a row that do not fit, after which none is tried: the room that is left is small. */
export const MISSES_MAX = 32;

const HEADINGS = { goal: '## Goals', action: '## Actions', belief: '## Beliefs' } as const;
const BETWEEN_SECTIONS = 2;

/** Characters around everything, once anything is shown. */
const FRAME: Readonly<Record<ContextFormat, number>> = {
  json: JSON.stringify({ state: null, goals: [], actions: [], beliefs: [] }).length,
  text: 0,
};

/** The least that a piece costs; with less room left, none is tried. */
export const PIECE_CHARS_MIN: Readonly<Record<ContextFormat, number>> = { json: 100, text: 6 };

/** Takes pieces while there is room. */
export class ContextBudget {
  readonly #format: ContextFormat;
  #left: number;
  #misses = 0;
  readonly #kinds = new Set<ContextPiece['kind']>();

  constructor(tokens: number, format: ContextFormat) {
    this.#format = format;
    this.#left = tokens * CHARS_OF_TOKEN - FRAME[format];
  }

  /** True if no further piece needs to be tried. */
  get isSpent(): boolean {
    return this.#left < PIECE_CHARS_MIN[this.#format] || this.#misses >= MISSES_MAX;
  }

  /** Pieces of the next kind get their own chance. */
  begin(): void {
    this.#misses = 0;
  }

  get left(): number {
    return this.#left;
  }

  takesState(chars: number): void {
    this.#left -= chars;
  }

  takes(piece: ContextPiece): boolean {
    const cost = piece.chars[this.#format] + (this.#format === 'text' ? this.#headingOf(piece) : 0);
    if (cost > this.#left) {
      this.#misses += 1;
      return false;
    }
    this.#misses = 0;
    this.#kinds.add(piece.kind);
    this.#left -= cost;
    return true;
  }

  /** The first piece of a kind brings its heading. */
  #headingOf({ kind }: ContextPiece): number {
    return this.#kinds.has(kind) ? 0 : HEADINGS[kind].length + BETWEEN_SECTIONS;
  }
}

export function compileContext(
  found: ContextFound,
  { tokenBudget, format }: { readonly tokenBudget: number; readonly format: ContextFormat },
): CompiledContext {
  const budget = new ContextBudget(tokenBudget, format);
  const { shown: state = null, chars: stateChars = 0, trimmedKeys = 0 } = found.state ?? {};
  budget.takesState(stateChars);
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
  const chars = isEmpty ? 0 : (text?.length ?? jsonChars(stateChars, [goals, actions, beliefs]));
  return {
    ...shown,
    text,
    dropped,
    truncated: Object.values(dropped).some((count) => count > 0),
    estimatedTokens: Math.ceil(chars / CHARS_OF_TOKEN),
  };
}

/** Characters of the JSON form. The context is not written for that: the answer writes it anyway. */
function jsonChars(state: number, kinds: readonly (readonly ContextPiece[])[]): number {
  // The frame holds `null` for the state, and the first piece of a list has no comma.
  let chars = FRAME.json + (state === 0 ? 0 : state - JSON.stringify(null).length);
  for (const pieces of kinds)
    chars += pieces.reduce((sum, { chars: { json } }) => sum + json, 0) - Math.min(pieces.length, 1);
  return chars;
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

/** A section for each kind that has something to show, with a heading. */
function pageOf(state: JsonObject | null, kinds: readonly (readonly ContextPiece[])[]): string {
  const sections = state === null ? [] : [stateLines(state)];
  for (const pieces of kinds) {
    const [first] = pieces;
    if (first !== undefined) sections.push([HEADINGS[first.kind], ...pieces.map(({ line }) => line)]);
  }
  return sections.map((lines) => lines.join('\n')).join('\n\n');
}
