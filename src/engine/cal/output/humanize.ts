// Formats relations, times and numbers for sentences.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** The range of `Date`, on both sides of the epoch. */
const DATE_MS_MAX = 8.64e15;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Removes the prefix and the underscores: `mg:prefers` becomes `prefers`, `works_at` becomes `works at`. */
export function humanizeRelation(relation: string): string {
  return relation.slice(relation.indexOf(':') + 1).replaceAll('_', ' ');
}

/**
 * An age in whole units, `5m ago` to `3w ago`. Older times are a day or a month (UTC), future times an
 * ISO date. Undefined if out of range.
 */
export function relativeTime(timeMs: number, nowMs: number): string | undefined {
  const age = nowMs - timeMs;
  if (age < 0) return isoDate(timeMs);
  if (age < HOUR_MS) return `${Math.floor(age / MINUTE_MS)}m ago`;
  if (age < DAY_MS) return `${Math.floor(age / HOUR_MS)}h ago`;
  if (age < 2 * DAY_MS) return 'yesterday';
  if (age < WEEK_MS) return `${Math.floor(age / DAY_MS)}d ago`;
  if (age < 30 * DAY_MS) return `${Math.floor(age / WEEK_MS)}w ago`;
  if (!isDate(timeMs)) return undefined;
  const date = new Date(timeMs);
  const month = MONTHS[date.getUTCMonth()]!;
  return age < 365 * DAY_MS ? `${month} ${date.getUTCDate()}` : `${month} ${date.getUTCFullYear()}`;
}

/** `2026-03-15`, in UTC; undefined if out of range. */
export function isoDate(timeMs: number): string | undefined {
  return isDate(timeMs) ? new Date(timeMs).toISOString().split('T')[0] : undefined;
}

/** `2026-03-15T09:30:00Z`, in UTC, to the second; undefined if out of range. */
export function isoInstant(timeMs: number): string | undefined {
  return isDate(timeMs) ? `${new Date(timeMs).toISOString().slice(0, -5)}Z` : undefined;
}

function isDate(timeMs: number): boolean {
  return Math.abs(timeMs) <= DATE_MS_MAX;
}

/** The shortest decimal of a finite number, without an exponent: `0.9`, `1`, `0.0000001`. */
export function decimal(value: number): string {
  const text = String(value === 0 ? 0 : value);
  const exponent = text.indexOf('e');
  if (exponent < 0) return text;
  const sign = text.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = text.slice(sign.length, exponent).split('.');
  const digits = whole + fraction;
  const point = whole.length + Number(text.slice(exponent + 1));
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return sign + digits.padEnd(point, '0');
}
