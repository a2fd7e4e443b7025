// Numbers from a seed: a campaign that failed is run again with what it printed.

export interface Random {
  /** 0 <= x < 1. */
  next(): number;
  /** An integer, from <= x < to. */
  between(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T | undefined;
}

/** Mulberry32 (public domain, Tommy Ettinger): 32 bits of state are plenty for choosing what to do next. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number): number => from + Math.floor(next() * (to - from));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick: (items) => (items.length === 0 ? undefined : items[between(0, items.length)]),
  };
}
