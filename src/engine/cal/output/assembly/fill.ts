// Filling a budget: each source by its share, then what is left over, by rounds, then what still fits as a summary. Knows
// costs, not texts.
import { shares } from './ranking.ts';

/** Rounds in which unused units are given out again. */
const SURPLUS_ROUNDS_MAX = 8;

export interface Filling {
  readonly weight: number;
  /** How many grains there are. */
  readonly count: number;
  /** What grain `i` costs; asked for in order, each once or more. */
  readonly cost: (i: number) => number;
  /** What grain `i` costs as a summary; undefined: nothing is squeezed. */
  readonly summaryCost: ((i: number) => number) | undefined;
}

export interface Filled {
  /** Grains taken as they are, from the first on, and as summaries after them. */
  readonly taken: number;
  readonly squeezed: number;
  readonly used: number;
  /** At least what is used; of all sources together never more than there is. */
  readonly allocated: number;
}

interface State extends Filling {
  taken: number;
  squeezed: number;
  used: number;
  allowed: number;
}

/**
 * Takes grains of sources in rank order while they fit. `total` is what is shared out; `reserve` of it cannot be spent, as
 * the frame around the grains takes it. The sum of what is used is never more than `total - reserve`.
 */
export function fill(sources: readonly Filling[], total: number, reserve: number): Filled[] {
  const given = shares(
    sources.map(({ weight }) => weight),
    total,
  );
  const states = sources.map((source, i): State => ({ ...source, taken: 0, squeezed: 0, used: 0, allowed: given[i]! }));
  let left = takeWhatFits(states, total - reserve);
  for (let round = 0; round < SURPLUS_ROUNDS_MAX && left > 0; round++) {
    const open = states.filter(({ taken, count }) => taken < count);
    if (open.length === 0) break;
    const surplus = shares(
      open.map(({ weight }) => weight),
      left,
    );
    for (const state of states) state.allowed = state.used;
    for (const [i, state] of open.entries()) state.allowed += surplus[i]!;
    const after = takeWhatFits(open, left);
    if (after === left) break;
    left = after;
  }
  squeeze(states, left);
  settle(states, total);
  return states.map(({ taken, squeezed, used, allowed }) => ({ taken, squeezed, used, allocated: allowed }));
}

/** Summaries take what others leave of their shares: theirs grow by it, and what the last ones leave shrinks. */
function settle(states: readonly State[], total: number): void {
  for (const state of states) state.allowed = Math.max(state.allowed, state.used);
  let excess = states.reduce((sum, { allowed }) => sum + allowed, 0) - total;
  for (const state of states.toReversed()) {
    const back = Math.max(0, Math.min(excess, state.allowed - state.used));
    state.allowed -= back;
    excess -= back;
  }
}

/** What is left of `left`. */
function takeWhatFits(states: readonly State[], left: number): number {
  for (const state of states) {
    while (state.taken < state.count) {
      const cost = state.cost(state.taken);
      if (state.used + cost > state.allowed || cost > left) break;
      state.taken++;
      state.used += cost;
      left -= cost;
    }
  }
  return left;
}

function squeeze(states: readonly State[], left: number): void {
  for (const state of states) {
    const { summaryCost } = state;
    if (summaryCost === undefined) continue;
    for (let i = state.taken; i < state.count; i++) {
      const cost = summaryCost(i);
      if (cost > left) break;
      state.squeezed++;
      state.used += cost;
      left -= cost;
    }
  }
}
