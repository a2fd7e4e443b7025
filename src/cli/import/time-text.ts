// Parses times as transcripts write them. Dates without a zone are UTC. Ambiguous dates (03/04/2024) are rejected: a
// wrong date is worse than none.

export interface TimePoint {
  /** Seconds since 1970. */
  readonly seconds: number;
  /** `day`: only a date was given, and `seconds` is its midnight in UTC. */
  readonly precision: 'day' | 'exact';
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH = '(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?';
/** Larger numbers are milliseconds; a thousand times larger, microseconds. */
const SECONDS_MAX = 9_999_999_999;
const MILLISECONDS_MAX = SECONDS_MAX * 1000;

const YEAR_FIRST = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/;
const MONTH_FIRST = new RegExp(`^${MONTH}[ -]+(\\d{1,2})(?:st|nd|rd|th)?,?[ -]+(\\d{4})$`);
const DAY_FIRST = new RegExp(`^(\\d{1,2})(?:st|nd|rd|th)?(?: of)?[ -]+${MONTH},?[ -]+(\\d{4})$`);
const CLOCK = /(?:^|[ t])(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)? ?(am|pm)? ?(z|utc|gmt|[+-]\d{2}:?\d{2})?(?= |$)/;
const WEEKDAY = /\(?\b(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b\)?,?/;

/** The time in a JSON value, or undefined when it is not recognised. */
export function readTime(value: unknown): TimePoint | undefined {
  if (typeof value === 'number') return fromNumber(value);
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^\d{9,17}(\.\d+)?$/.test(text)) return fromNumber(Number(text));
  return text.length > 64 ? undefined : fromText(text.toLowerCase());
}

function fromNumber(value: number): TimePoint | undefined {
  if (!Number.isFinite(value) || value < 0) return undefined;
  const seconds = value <= SECONDS_MAX ? value : value <= MILLISECONDS_MAX ? value / 1000 : value / 1_000_000;
  return seconds > SECONDS_MAX ? undefined : { seconds: Math.floor(seconds), precision: 'exact' };
}

/** Removes the clock time and the weekday; the rest must be a date, so no part of the text is ignored. */
function fromText(text: string): TimePoint | undefined {
  const clock = CLOCK.exec(text);
  const rest = text
    .replace(CLOCK, ' ')
    .replace(WEEKDAY, ' ')
    .replace(/\b(at|on)\b/g, ' ')
    .replace(/[\s,]+/g, ' ')
    .trim();
  const day = dayOf(rest);
  if (day === undefined) return undefined;
  if (clock === null) return { seconds: day, precision: 'day' };
  const time = secondsOfDay(clock);
  return time === undefined ? undefined : { seconds: Math.max(0, day + time), precision: 'exact' };
}

function dayOf(text: string): number | undefined {
  const yearFirst = YEAR_FIRST.exec(text);
  if (yearFirst !== null) return midnight(Number(yearFirst[1]), Number(yearFirst[2]), Number(yearFirst[3]));
  const monthFirst = MONTH_FIRST.exec(text);
  if (monthFirst !== null) return midnight(Number(monthFirst[3]), monthOf(monthFirst[1]), Number(monthFirst[2]));
  const dayFirst = DAY_FIRST.exec(text);
  if (dayFirst !== null) return midnight(Number(dayFirst[3]), monthOf(dayFirst[2]), Number(dayFirst[1]));
  return undefined;
}

function monthOf(name: string | undefined): number {
  return MONTHS.indexOf(name ?? '') + 1;
}

/** Seconds at UTC midnight of a day; undefined for a day that does not exist or is before 1970. */
function midnight(year: number, month: number, day: number): number | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  const isReal = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isReal && year >= 1970 ? date.getTime() / 1000 : undefined;
}

function secondsOfDay(clock: RegExpExecArray): number | undefined {
  const [, hourText, minuteText, secondText = '0', half, zone = 'z'] = clock;
  let hour = Number(hourText);
  const minute = Number(minuteText);
  const second = Number(secondText);
  if (minute > 59 || second > 60 || hour > 24) return undefined;
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (half === 'pm' ? 12 : 0);
  }
  const offset = /^([+-])(\d{2}):?(\d{2})$/.exec(zone);
  const zoneMinutes = offset === null ? 0 : Number(`${offset[1]}1`) * (Number(offset[2]) * 60 + Number(offset[3]));
  return (hour * 60 + minute - zoneMinutes) * 60 + second;
}
