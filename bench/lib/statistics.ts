// Medians, percentiles, and interleaved rounds: noise of a shared machine changes single figures by half, but affects
// neighbours in time alike.
import { cpuTable } from './cpu-table.ts';
import { type CpuSnapshot, type CpuSpent, ownCpu, spentBetween } from './thread-cpu.ts';

/** The middle value; of an even number the upper one. NaN for none. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The middle value; of an even number the mean of the middle two. NaN for none. */
export function middle(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const at = sorted.length / 2;
  return ((sorted[Math.ceil(at) - 1] ?? Number.NaN) + (sorted[Math.floor(at)] ?? Number.NaN)) / 2;
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

/** The operations of one round of a variant: in this process, or in a server. */
interface Counted {
  readonly operations: number;
  readonly server?: { cpu(): Promise<CpuSnapshot | undefined> };
  /** The row in the table of CPU; default: the variant's name. */
  readonly row?: string;
}

/**
 * Runs every variant once per round, in reversed order every other round; returns each variant's figures by round. The
 * CPU of those in `counted` goes into the table, of all rounds but the first; a number is of operations in this process.
 */
export async function inTurns<K extends string, T>(
  rounds: number,
  variants: Readonly<Record<K, (round: number) => T | Promise<T>>>,
  counted?: Readonly<Partial<Record<K, number | Counted>>>,
): Promise<Record<K, T[]>> {
  // Object.keys loses the type of the keys.
  const names = Object.keys(variants) as K[];
  const figures = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<K, T[]>;
  const spent = new Map<K, (CpuSpent | undefined)[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const run = (): T | Promise<T> => variants[name](round);
      const of = counted?.[name];
      if (round === 0 || of === undefined) {
        figures[name].push(await run());
        continue;
      }
      const { result, cpu } = await cpuOf(run, typeof of === 'number' ? undefined : of.server);
      figures[name].push(result);
      spent.get(name)!.push(cpu);
    }
  }
  for (const [name, turns] of spent) {
    const of = counted?.[name];
    const { operations, row = name } = typeof of === 'object' ? of : { operations: of ?? 0 };
    for (const cpu of turns) cpuTable.add(row, operations, cpu);
  }
  return figures;
}

async function cpuOf<T>(
  run: () => T | Promise<T>,
  server: Counted['server'],
): Promise<{ readonly result: T; readonly cpu: CpuSpent | undefined }> {
  if (server === undefined) return ownCpu(run);
  const before = await server.cpu();
  const result = await run();
  const after = await server.cpu();
  return { result, cpu: before && after && spentBetween(before, after) };
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
