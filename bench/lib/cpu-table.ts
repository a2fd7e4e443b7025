// The CPU time of a scenario's operations by class of thread. A scenario process has one table; it is printed below the
// metrics.
import { type CpuSpent, gcShareOf, ownCpu, THREAD_CLASSES, type ThreadClass, totalOf } from './thread-cpu.ts';

/** CPU time of a number of operations together. */
interface Sum {
  operations: number;
  readonly spent: Record<keyof CpuSpent, number>;
}

/** Microseconds per operation, and the share of garbage collection; `null` where the system does not report it. */
export type CpuFigures = Readonly<Record<`${ThreadClass | 'total'}_us`, number>> & {
  readonly operations: number;
  readonly gc_ratio: number | null;
};

export class CpuTable {
  readonly #sums = new Map<string, Sum>();
  readonly #whole = new Map<string, Sum>();

  /** Adds to the row of this name. Without CPU, as on a system that reports none, it does nothing. */
  add(name: string, operations: number, spent: CpuSpent | undefined): void {
    if (spent !== undefined) put(this.#sums, name, operations, spent);
  }

  /** The time of a whole process of the scenario; processes of one name are one row. */
  addWhole(name: string, spent: CpuSpent | undefined): void {
    if (spent !== undefined) put(this.#whole, name, 1, spent);
  }

  /** Does `work` and adds what this process spent on its operations. */
  async measure<T>(name: string, operations: number, work: () => T | Promise<T>): Promise<T> {
    const { result, cpu } = await ownCpu(work);
    this.add(name, operations, cpu);
    return result;
  }

  /** By name, in the order of the first `add`. */
  figures(): Record<string, CpuFigures> {
    return figuresOf(this.#sums, ({ operations }) => operations);
  }

  /** Of whole processes: one operation each, however many processes. */
  wholeFigures(): Record<string, CpuFigures> {
    return figuresOf(this.#whole, () => 1);
  }
}

export const cpuTable = new CpuTable();

function put(into: Map<string, Sum>, name: string, operations: number, spent: CpuSpent): void {
  const sum = into.get(name);
  if (sum === undefined) {
    into.set(name, { operations, spent: { ...spent } });
    return;
  }
  sum.operations += operations;
  for (const kind of [...THREAD_CLASSES, 'gc'] as const) sum.spent[kind] += spent[kind];
}

function figuresOf(sums: ReadonlyMap<string, Sum>, perOf: (sum: Sum) => number): Record<string, CpuFigures> {
  return Object.fromEntries(
    [...sums].map(([name, sum]) => {
      const { spent, operations } = sum;
      const us = Object.fromEntries(
        [['total_us', totalOf(spent)] as const, ...THREAD_CLASSES.map((of) => [`${of}_us`, spent[of]] as const)].map(
          ([key, all]) => [key, Number((all / perOf(sum)).toPrecision(4))],
        ),
      );
      const gc = gcShareOf(spent);
      // The keys of all classes were just written.
      const figures = { operations, ...us, gc_ratio: Number.isFinite(gc) ? Number(gc.toPrecision(3)) : null };
      return [name, figures as unknown as CpuFigures];
    }),
  );
}

/** Lines of text, indented; of no rows none. */
export function cpuLines(title: string, figures: Readonly<Record<string, CpuFigures>>, unitUs: number): string[] {
  const head = [title, 'total', ...THREAD_CLASSES, 'GC'];
  const rows = Object.entries(figures).map(([name, one]) => [
    name,
    ...(['total', ...THREAD_CLASSES] as const).map((of) => shown(one[`${of}_us`] / unitUs)),
    one.gc_ratio === null ? '?' : `${(one.gc_ratio * 100).toFixed(1)} %`,
  ]);
  if (rows.length === 0) return [];
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)));
  return [head, ...rows].map(
    (row) =>
      `  ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  ')}`,
  );
}

function shown(value: number): string {
  return value >= 1_000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}
