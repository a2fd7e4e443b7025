// Callers of a log who each wait for their record.
import { percentile } from './statistics.ts';
import { type CpuSpent, ownCpu, totalOf } from './thread-cpu.ts';

export interface Loop {
  readonly perSecond: number;
  readonly commitP50Ms: number;
  /** Per record. */
  readonly cpuUs: number;
  readonly records: number;
  readonly cpu: CpuSpent;
}

/** `inFlight` callers with one such record each; those that arrive during a commit share the next one. */
export async function closedLoop(
  record: Buffer,
  commit: (group: Uint8Array[]) => Promise<unknown>,
  inFlight: number,
  milliseconds: number,
): Promise<Loop> {
  const commits: number[] = [];
  let records = 0;
  let elapsedMs = 0;
  const { cpu } = await ownCpu(async () => {
    const start = performance.now();
    let now = start;
    // Callers continue at once: every caller of a committed group is in the next one.
    while (now - start < milliseconds) {
      const group = Array.from({ length: inFlight }, () => Buffer.from(record));
      await commit(group);
      const end = performance.now();
      commits.push(end - now);
      records += inFlight;
      now = end;
    }
    elapsedMs = now - start;
  });
  return {
    perSecond: (records / elapsedMs) * 1_000,
    commitP50Ms: percentile(commits, 0.5),
    cpuUs: totalOf(cpu) / records,
    records,
    cpu,
  };
}
