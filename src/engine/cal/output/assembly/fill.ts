// Fills a budget. Each source first gets its share. Unused units are shared out again in rounds. Then grains that do
// not fit are added as summaries. Works on costs alone.
import { shares } from './ranking.ts';

/** Maximum rounds in which unused units are shared out again. */
const SURPLUS_ROUNDS_MAX = 8;

export interface Filling {
  readonly weight: number;
  /** Number of grains. */
  readonly count: number;
  /** The cost of grain `i`. Called in order, and possibly repeatedly. */
  readonly cost: (i: number) => number;
  /** The cost of grain `i` as a summary; undefined if there are no summaries. */
  readonly summaryCost: ((i: number) => number) | undefined;
}

export interface Filled {
  /** Number of first grains that are taken in full, and of those after them that are taken as summaries. */
  readonly taken: number;
  readonly squeezed: number;
  readonly used: number;
  /** At least the used units. The sum over all sources is at most the total. */
  readonly allocated: number;
}

interface State extends Filling {
  taken: number;
  squeezed: number;
  used: number;
  allowed: number;
}

/**
 * Takes grains of sources in rank order while they fit. The sources share `total`, but `reserve` of it is for the frame
 * around the grains. Together they use at most `total - reserve`.
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

/**
 * Balances the shares when summaries use units of other sources: their shares grow, and those of the last ones shrink.
 */
function settle(states: readonly State[], total: number): void {
  for (const state of states) state.allowed = Math.max(state.allowed, state.used);
  let excess = states.reduce((sum, { allowed }) => sum + allowed, 0) - total;
  for (const state of states.toReversed()) {
    const back = Math.max(0, Math.min(excess, state.allowed - state.used));
    state.allowed -= back;
    excess -= back;
  }
}

/** Takes further grains of each source while they fit its share and `left`. Returns what remains of `left`. */
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
