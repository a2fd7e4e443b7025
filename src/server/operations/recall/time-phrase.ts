// Parses time phrases (service contract 8.4) into spans of seconds, in UTC; weeks begin on Monday.

export interface TimeSpan {
  /** Unix seconds, inclusive; absent means unbounded. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

interface Closed {
  readonly from: number;
  readonly to: number;
}

const DAY = 86_400;
export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
/** Pattern source that matches a unit of time. */
export const UNIT = '(minute|hour|day|week|month|year)s?';
const LAST_N = new RegExp(`^(?:last|past) (\\d{1,5}) ${UNIT}$`);
const AGO = new RegExp(`^(\\d{1,5}) ${UNIT} ago$`);
type Unit = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year';

const DURATION = new RegExp(`\\b(?:last|past) \\d+ ${UNIT}\\b|\\b\\d+ ${UNIT} ago\\b`);

/** True for a phrase that counts units back from now, alone or inside a longer one; HTTP refuses those. */
export function isDuration(text: string): boolean {
  return DURATION.test(text.trim().toLowerCase().replace(/\s+/g, ' '));
}

/** The span of a phrase, or undefined when it is not a time phrase. */
export function readPhrase(text: string, nowSeconds: number): TimeSpan | undefined {
  const phrase = text.trim().toLowerCase().replace(/\s+/g, ' ');
  const from = /^(?:since|after|from) (.+)$/.exec(phrase);
  if (from !== null) {
    const span = spanOf(from[1]!, nowSeconds);
    if (span === undefined) return undefined;
    return { from: phrase.startsWith('after') ? span.to + 1 : span.from };
  }
  const before = /^before (.+)$/.exec(phrase);
  if (before !== null) {
    const span = spanOf(before[1]!, nowSeconds);
    return span === undefined ? undefined : { to: span.from - 1 };
  }
  const between = /^between (.+) and (.+)$/.exec(phrase) ?? /^([^/]+)\/([^/]+)$/.exec(phrase);
  if (between === null) return spanOf(phrase, nowSeconds);
  const first = spanOf(between[1]!.trim(), nowSeconds);
  const second = spanOf(between[2]!.trim(), nowSeconds);
  return first === undefined || second === undefined ? undefined : { from: first.from, to: second.to };
}

function spanOf(phrase: string, now: number): Closed | undefined {
  const today = startOf('day', now);
  switch (phrase) {
    case 'now':
      return { from: now, to: now };
    case 'today':
      return calendar('day', now, 0);
    case 'yesterday':
      return calendar('day', now, -1);
  }
  const named = /^(this|last) (week|month|year)$/.exec(phrase);
  // The pattern above matches only these units.
  if (named !== null) return calendar(named[2] as Unit, now, named[1] === 'this' ? 0 : -1);
  const rolling = LAST_N.exec(phrase);
  if (rolling !== null) return { from: shifted(rolling[2] as Unit, now, -Number(rolling[1])), to: now };
  const ago = AGO.exec(phrase);
  if (ago !== null) return calendar(ago[2] as Unit, shifted(ago[2] as Unit, now, -Number(ago[1])), 0);
  const weekday = /^last (\w+)$/.exec(phrase);
  if (weekday !== null) {
    const wanted = WEEKDAYS.indexOf(weekday[1]!);
    if (wanted < 0) return undefined;
    const back = ((weekdayOf(today) - wanted + 6) % 7) + 1;
    return calendar('day', today - back * DAY, 0);
  }
  return dated(phrase);
}

function dated(phrase: string): Closed | undefined {
  const quarter = /^q([1-4]) (\d{4})$/.exec(phrase);
  if (quarter !== null) {
    const year = Number(quarter[2]);
    const month = (Number(quarter[1]) - 1) * 3;
    return { from: utc(year, month, 1), to: utc(year, month + 3, 1) - 1 };
  }
  const date = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(phrase);
  if (date === null) return undefined;
  const year = Number(date[1]);
  if (date[2] === undefined) return { from: utc(year, 0, 1), to: utc(year + 1, 0, 1) - 1 };
  const month = Number(date[2]) - 1;
  if (month < 0 || month > 11) return undefined;
  if (date[3] === undefined) return { from: utc(year, month, 1), to: utc(year, month + 1, 1) - 1 };
  const from = utc(year, month, Number(date[3]));
  return new Date(from * 1000).getUTCMonth() === month ? { from, to: from + DAY - 1 } : undefined;
}

/** The calendar unit that contains `seconds`, moved by `step` units. */
function calendar(unit: Unit, seconds: number, step: number): Closed {
  const from = shifted(unit, startOf(unit, seconds), step);
  return { from, to: shifted(unit, from, 1) - 1 };
}

function startOf(unit: Unit, seconds: number): number {
  const date = new Date(seconds * 1000);
  switch (unit) {
    case 'minute':
      return seconds - within(seconds, 60);
    case 'hour':
      return seconds - within(seconds, 3600);
    case 'day':
      return seconds - within(seconds, DAY);
    case 'week': {
      const day = seconds - within(seconds, DAY);
      return day - weekdayOf(day) * DAY;
    }
    case 'month':
      return utc(date.getUTCFullYear(), date.getUTCMonth(), 1);
    case 'year':
      return utc(date.getUTCFullYear(), 0, 1);
  }
}

function shifted(unit: Unit, seconds: number, count: number): number {
  switch (unit) {
    case 'minute':
      return seconds + count * 60;
    case 'hour':
      return seconds + count * 3600;
    case 'day':
      return seconds + count * DAY;
    case 'week':
      return seconds + count * 7 * DAY;
    case 'month':
      return monthsLater(seconds, count);
    case 'year':
      return monthsLater(seconds, count * 12);
  }
}

/** The same day and time `count` months later, or the last day of a shorter month. */
function monthsLater(seconds: number, count: number): number {
  const date = new Date(seconds * 1000);
  const first = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + count, 1));
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  const day = Math.min(date.getUTCDate(), days);
  return first.getTime() / 1000 + (day - 1) * DAY + within(seconds, DAY);
}

function utc(year: number, month: number, day: number): number {
  return Date.UTC(year, month, day) / 1000;
}

/** Seconds since the start of the `span` that contains `seconds`; works before 1970 too. */
function within(seconds: number, span: number): number {
  return ((seconds % span) + span) % span;
}

/** 0 for Monday. */
function weekdayOf(seconds: number): number {
  return (new Date(seconds * 1000).getUTCDay() + 6) % 7;
}
