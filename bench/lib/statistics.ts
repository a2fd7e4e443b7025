// Medians, percentiles, and interleaved rounds: noise of a shared machine changes single figures by half, but affects
// neighbours in time alike.
import { cpuTable } from './cpu-table.ts';
import { type CpuSpent, ownCpu } from './thread-cpu.ts';

/** The middle value; of an even number the upper one. NaN for none. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** `share` from 0 to 1. NaN for none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The median of the ratios of each round, which is steadier than the ratio of medians. */
export function medianRatio(over: readonly number[], under: readonly number[]): number {
  return median(over.map((value, round) => value / under[round]!));
}

/**
 * Runs every variant once per round, in reversed order every other round; returns each variant's figures by round.
 * `operations` of a variant that works in this process: how many one round does. Their CPU goes into the table, of all
 * rounds but the first.
 */
export async function inTurns<K extends string, T>(
  rounds: number,
  variants: Readonly<Record<K, (round: number) => T | Promise<T>>>,
  operations?: Readonly<Partial<Record<K, number>>>,
): Promise<Record<K, T[]>> {
  // Object.keys loses the type of the keys.
  const names = Object.keys(variants) as K[];
  const figures = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<K, T[]>;
  const spent = new Map<K, CpuSpent[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const run = (): T | Promise<T> => variants[name](round);
      if (round === 0 || operations?.[name] === undefined) {
        figures[name].push(await run());
        continue;
      }
      const { result, cpu } = await ownCpu(run);
      figures[name].push(result);
      spent.get(name)!.push(cpu);
    }
  }
  for (const [name, turns] of spent) for (const cpu of turns) cpuTable.add(name, operations![name]!, cpu);
  return figures;
}

/** Rounds to four digits: more is noise. */
export function rounded(values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      Math.abs(value) >= 10_000 ? Math.round(value) : Number(value.toPrecision(4)),
    ]),
  );
}

/** Adds a prefix to the names of the values. */
export function named(prefix: string, values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}_${name}`, value]));
}
