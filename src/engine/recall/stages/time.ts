// Stages that change scores by time. Pure: the current time is an argument.
import type { GrainView } from '../../calls/grain.ts';
import type { RecallOptions, TimeField } from '../../calls/recall.ts';
import { changed, compareHits, numberField, type StageHit, textField } from './hit.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The gain at the target date, the gain at the near bound, and where the gain ends. */
const TARGET_GAIN = 0.15;
const TARGET_NEAR_GAIN = 0.05;
const TARGET_NEAR_DAYS = 7;
const TARGET_FAR_DAYS = 30;

/** (1 - w) x score + w / (1 + age in hours). Skips grains that state something lasting: age does not make them less true. */
export function weighRecency(hits: readonly StageHit[], weight: number, nowMs: number): StageHit[] {
  if (weight === 0) return [...hits];
  return hits
    .map((hit) => {
      if (lasts(hit.grain)) return changed(hit, 'recencyDecay', 0);
      const ageHours = Math.max(0, nowMs - hit.grain.createdAtMs) / HOUR_MS;
      return changed(hit, 'recencyDecay', weight * (1 / (1 + ageHours) - hit.score));
    })
    .sort(compareHits);
}

function lasts(grain: GrainView): boolean {
  return (textField(grain, 'temporal_type') ?? (grain.grainType === 'event' ? 'event' : 'state')) === 'state';
}

/** Adds up to 0.15 within a week of the target date, falling to 0.05 at its end and to nothing at thirty days. */
export function approachTarget(hits: readonly StageHit[], target: number, field: TimeField | undefined): StageHit[] {
  return hits
    .map((hit) => changed(hit, 'temporalDecayBoost', targetGain(hoursAway(hit.grain, target, field) / 24)))
    .sort(compareHits);
}

function targetGain(days: number): number {
  if (days <= TARGET_NEAR_DAYS) return TARGET_GAIN - ((TARGET_GAIN - TARGET_NEAR_GAIN) * days) / TARGET_NEAR_DAYS;
  if (days >= TARGET_FAR_DAYS) return 0;
  return (TARGET_NEAR_GAIN * (TARGET_FAR_DAYS - days)) / (TARGET_FAR_DAYS - TARGET_NEAR_DAYS);
}

/** (1 - w) x score + w / (1 + hours away from the target date). */
export function weighTarget(
  hits: readonly StageHit[],
  { targetDate, targetDateWeight = 0, temporalField }: RecallOptions,
): StageHit[] {
  if (targetDate === undefined || targetDateWeight === 0) return [...hits];
  return hits
    .map((hit) => {
      const near = 1 / (1 + hoursAway(hit.grain, targetDate, temporalField));
      return changed(hit, 'targetDateProximity', targetDateWeight * (near - hit.score));
    })
    .sort(compareHits);
}

function hoursAway(grain: GrainView, target: number, field: TimeField | undefined): number {
  const away = timesOf(grain, field).map((timeMs) => Math.abs(timeMs - target * 1000));
  return Math.min(...away) / HOUR_MS;
}

/** The grain's times for the request's time field, at least one. A grain without an event date uses its creation time. */
export function timesOf(grain: GrainView, field: TimeField | undefined): number[] {
  const event = numberField(grain, 'valid_from');
  if (field === undefined || field === 'created_at' || event === undefined) return [grain.createdAtMs];
  return field === 'event_date' ? [event * 1000] : [event * 1000, grain.createdAtMs];
}

const UNITS: readonly (readonly [unit: string, lengthMs: number])[] = [
  ['year', 365 * DAY_MS],
  ['month', 30 * DAY_MS],
  ['week', 7 * DAY_MS],
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', 60_000],
];

/** Fills `relativeTime`: "2 weeks ago", "in 3 days", "just now", in the largest unit that fits, rounded down. */
export function annotateTime(hits: readonly StageHit[], nowMs: number, field: TimeField | undefined): StageHit[] {
  return hits.map((hit) => ({ ...hit, relativeTime: relativeTime(timesOf(hit.grain, field)[0]!, nowMs) }));
}

export function relativeTime(timeMs: number, nowMs: number): string {
  const apart = Math.abs(nowMs - timeMs);
  for (const [unit, lengthMs] of UNITS) {
    const count = Math.floor(apart / lengthMs);
    if (count === 0) continue;
    const named = `${count} ${unit}${count === 1 ? '' : 's'}`;
    return timeMs > nowMs ? `in ${named}` : `${named} ago`;
  }
  return 'just now';
}
