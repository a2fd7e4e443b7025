// Statistics over time: one point an hour for each memory that changed, stored for 90 days; the last point of a day for
// 2 years.
import type { MemoryCalls } from '../../calls/calls.ts';
import type { HistoryPoint } from '../../calls/memory.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { SegmentChange } from '../../index/shard-index.ts';
import type { Store } from '../../store/store.ts';
import type { WriteQueue } from '../../write/queue.ts';
import { memoryStatistics } from '../reports/statistics.ts';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const HOURLY_KEEP = 90 * DAY_HOURS;
const DAILY_KEEP = 2 * 365 * DAY_HOURS;

/** Records the points of the past hour, and drops expired ones. */
export function* recordPoints(store: Store, queue: WriteQueue): Sliced<SegmentChange | undefined> {
  const hour = Math.floor(store.clock.nowMs() / HOUR_MS);
  for (const memory of [...store.changedSincePoint]) {
    store.changedSincePoint.delete(memory);
    if (!store.holds(memory)) continue;
    const state: [string, Uint8Array | null][] = [
      [pointKey(memory, hour), Buffer.from(JSON.stringify(pointNow(store, memory)))],
      ...pointsPast(store, memory, hour).map((key): [string, null] => [key, null]),
    ];
    queue.commitState(state).catch(() => store.changedSincePoint.add(memory));
    yield;
  }
  return undefined;
}

/** Keys of expired points. Of a day older than the hourly limit, its last point stays, at whatever hour. */
function pointsPast(store: Store, memory: number, now: number): string[] {
  const past: string[] = [];
  const hours = [...store.log.scanState(pointsState(memory))].map(([key]) =>
    Number(key.slice(key.lastIndexOf('/') + 1)),
  );
  hours.forEach((hour, at) => {
    const next = hours[at + 1] ?? now;
    const lastOfDay = Math.floor(next / DAY_HOURS) > Math.floor(hour / DAY_HOURS);
    const age = now - hour;
    if (age > DAILY_KEEP || (age > HOURLY_KEEP && !lastOfDay)) past.push(pointKey(memory, hour));
  });
  return past;
}

/**
 * Points between two times, oldest first, ending with the current state; `day` selects the last of each day. Times in
 * seconds.
 */
export function statisticsHistory(
  store: Store,
  memory: number,
  input: MemoryCalls['statisticsHistory']['input'],
): MemoryCalls['statisticsHistory']['output'] {
  const points: HistoryPoint[] = [];
  for (const [, value] of store.log.scanState(pointsState(memory)))
    points.push(JSON.parse(Buffer.from(value).toString()) as HistoryPoint);
  const nowMs = store.clock.nowMs();
  if (input.toMs >= nowMs) points.push(pointNow(store, memory));
  const within = points.filter(
    (point) => point.timestamp * 1000 >= input.fromMs && point.timestamp * 1000 <= input.toMs,
  );
  const before = points.findLast((point) => point.timestamp * 1000 < input.fromMs);
  if (input.interval === 'hour') return { points: within, before };
  const byDay = new Map(within.map((point) => [Math.floor(point.timestamp / 86_400), point]));
  return { points: [...byDay.values()], before, isByDay: true };
}

function pointNow(store: Store, memory: number): HistoryPoint {
  const { totalGrains, diskSpaceBytes, typeCounts } = memoryStatistics(store, memory);
  return { timestamp: Math.floor(store.clock.nowMs() / 1000), totalGrains, diskSpaceBytes, typeCounts };
}

/** Prefix of the state entries of all points of a memory. */
export function pointsState(memory: number): string {
  return `point/${memory}/`;
}

/** Zero-padded, so that key order is time order. */
function pointKey(memory: number, hour: number): string {
  return `${pointsState(memory)}${String(hour).padStart(8, '0')}`;
}
