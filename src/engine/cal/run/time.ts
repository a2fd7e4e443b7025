// Evaluates a query's times: instants and time expressions, as ranges in epoch ms. Always UTC.

export interface Span {
  readonly startMs: number;
  /** The last millisecond of the range; equal to its start for an instant. */
  readonly endMs: number;
}

/** Numbers below this are seconds. */
const MILLISECONDS_FROM = 100_000_000_000;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const ISO =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?)?)?$/i;
const LAST_ONE = /^last\s+(hour|day|week|month|year)$/;
const LAST_MANY = /^last\s+(\d{1,6})\s+(minute|hour|day|week|month|year)s?$/;
const AGO = /^(\d{1,6})\s+(minute|hour|day|week|month|year)s?\s+ago$/;
const THIS = /^this\s+(week|month|year)$/;

/** The range of a value; undefined if it is no time. */
export function spanOf(value: string | number, nowMs: number): Span | undefined {
  if (typeof value === 'number') return instant(value < MILLISECONDS_FROM ? value * SECOND : value);
  const text = value.trim().toLowerCase().replace(/\s+/g, ' ');
  const today = Math.floor(nowMs / DAY) * DAY;
  if (text === 'now') return instant(nowMs);
  if (text === 'today') return { startMs: today, endMs: today + DAY - 1 };
  if (text === 'yesterday') return { startMs: today - DAY, endMs: today - 1 };
  const last = LAST_ONE.exec(text);
  if (last !== null) return { startMs: back(nowMs, 1, last[1]!), endMs: nowMs };
  const many = LAST_MANY.exec(text);
  if (many !== null) {
    const start = instant(back(nowMs, Number(many[1]), many[2]!));
    return start && { ...start, endMs: nowMs };
  }
  const ago = AGO.exec(text);
  if (ago !== null) return instant(back(nowMs, Number(ago[1]), ago[2]!));
  const current = THIS.exec(text);
  if (current !== null) return currentOf(current[1]!, today);
  return isoSpan(value.trim());
}

function instant(ms: number): Span | undefined {
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? { startMs: ms, endMs: ms } : undefined;
}

/** `count` units earlier. Months and years follow the calendar, clamped to the month's last day. */
function back(nowMs: number, count: number, unit: string): number {
  switch (unit) {
    case 'minute':
      return nowMs - count * MINUTE;
    case 'hour':
      return nowMs - count * HOUR;
    case 'day':
      return nowMs - count * DAY;
    case 'week':
      return nowMs - count * 7 * DAY;
    default:
      return monthsBack(nowMs, unit === 'year' ? count * 12 : count);
  }
}

function monthsBack(nowMs: number, months: number): number {
  const now = new Date(nowMs);
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1));
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  return first.getTime() + (Math.min(now.getUTCDate(), days) - 1) * DAY + (nowMs - Math.floor(nowMs / DAY) * DAY);
}

function currentOf(unit: string, today: number): Span {
  const date = new Date(today);
  if (unit === 'week') {
    // A week begins on Monday.
    const startMs = today - ((date.getUTCDay() + 6) % 7) * DAY;
    return { startMs, endMs: startMs + 7 * DAY - 1 };
  }
  const year = date.getUTCFullYear();
  if (unit === 'year') return { startMs: Date.UTC(year, 0), endMs: Date.UTC(year + 1, 0) - 1 };
  const month = date.getUTCMonth();
  return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) - 1 };
}

function isoSpan(text: string): Span | undefined {
  const parts = ISO.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, zone] = parts;
  const at = utc(
    Number(year),
    month === undefined ? 0 : Number(month) - 1,
    day === undefined ? 1 : Number(day),
    Number(hour ?? 0),
    Number(minute ?? 0),
    Number(second ?? 0),
    Math.floor(Number(`0.${fraction ?? '0'}`) * 1_000),
  );
  const date = new Date(at);
  // Date rolls over invalid days such as 31 February; here they are no date.
  if (month !== undefined && date.getUTCMonth() !== Number(month) - 1) return undefined;
  if (day !== undefined && date.getUTCDate() !== Number(day)) return undefined;
  if (hour !== undefined) {
    if (Number(hour) > 23 || Number(minute) > 59 || Number(second ?? 0) > 59) return undefined;
    const startMs = at - zoneMs(zone);
    return { startMs, endMs: fraction === undefined && second === undefined ? startMs + MINUTE - 1 : startMs };
  }
  if (day !== undefined) return { startMs: at, endMs: at + DAY - 1 };
  if (month !== undefined) return { startMs: at, endMs: utc(Number(year), Number(month)) - 1 };
  return { startMs: at, endMs: utc(Number(year) + 1, 0) - 1 };
}

/** Years after which the calendar repeats, and their length. */
const CYCLE_YEARS = 400;
const CYCLE = 146_097 * DAY;

type AfterMonth = [day?: number, hours?: number, minutes?: number, seconds?: number, ms?: number];

/** Like `Date.UTC`, which takes the years 0 to 99 for 1900 to 1999. */
function utc(year: number, month: number, ...rest: AfterMonth): number {
  return Date.UTC(year + CYCLE_YEARS, month, ...rest) - CYCLE;
}

function zoneMs(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const digits = zone.replace(':', '').slice(1);
  const ms = Number(digits.slice(0, 2)) * HOUR + Number(digits.slice(2, 4) || 0) * MINUTE;
  return zone.startsWith('-') ? -ms : ms;
}
