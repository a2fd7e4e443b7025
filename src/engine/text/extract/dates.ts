// Finds the first date in a text, in UTC. chrono-node reads the phrases. This file decides what it leaves out (years
// alone, quarters, decades) or leaves open (which Monday, which reading of 5/6/2024): the past reading, or none.
import type * as Chrono from 'chrono-node/en';
import { EXTRACT_DATE_LOOKUPS_MAX, EXTRACT_TEXT_CHARS_MAX } from '../../base/limits.ts';

export type DatePrecision = 'decade' | 'year' | 'quarter' | 'month' | 'week' | 'day' | 'hour' | 'minute' | 'second';

export interface FoundDate {
  /** Start of the named period, in milliseconds since 1970, UTC: `June 2020` is its first day. */
  readonly ms: number;
  readonly precision: DatePrecision;
}

export interface DateOptions {
  /** Whether 5/6/2024 is the fifth of June. Without it, such a date and everything after it is ignored. */
  readonly dayFirst?: boolean | undefined;
}

/** Finds the first date of a text; pure. */
export type DateFinder = (text: string, nowMs: number, options?: DateOptions) => FoundDate | undefined;

interface Candidate extends FoundDate {
  readonly index: number;
  readonly length: number;
  /** True for a date with several possible readings. */
  readonly ambiguous?: boolean;
}

const DAY_MS = 86_400_000;
/**
 * A text is read in overlapping pieces. A phrase that begins late in a piece is left to the next one, which contains
 * all of it.
 */
const PIECE_CHARS = 240;
const OVERLAP_CHARS = 64;
/** Characters before a phrase that can decide its meaning ("in March"). */
const CONTEXT_CHARS = 16;
const HINT =
  /\d|today|tomorrow|yesterday|tonight|last |next |ago\b|this (?:week|month|year|morning)|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;
const MONTH = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec';
const MONTH_ONLY_BEFORE =
  /\b(?:in|since|last|during|by|until|of|early|late|mid|from|this|next|before|after|through|starting)[\s-]+$/i;

let finder: Promise<DateFinder> | undefined;

/** The finder of English dates, loaded at the first call. */
export function loadDateFinder(): Promise<DateFinder> {
  finder ??= import('chrono-node/en').then((chrono) => (text, nowMs, options) => {
    return firstDateWith(chrono.casual, text, nowMs, options);
  });
  return finder;
}

/**
 * The first date in `text`; relative dates are relative to `nowMs`, and unclear ones lie in the past. Undefined when
 * there is none.
 */
export async function firstDate(text: string, nowMs: number, options?: DateOptions): Promise<FoundDate | undefined> {
  return (await loadDateFinder())(text, nowMs, options);
}

function firstDateWith(
  chrono: Chrono.Chrono,
  text: string,
  nowMs: number,
  options: DateOptions = {},
): FoundDate | undefined {
  const end = Math.min(text.length, EXTRACT_TEXT_CHARS_MAX);
  let lookups = 0;
  for (let at = 0; at < end; at += PIECE_CHARS - OVERLAP_CHARS) {
    const piece = wholeWords(text, at, Math.min(end, at + PIECE_CHARS));
    if (!HINT.test(piece)) continue;
    if (++lookups > EXTRACT_DATE_LOOKUPS_MAX) return undefined;
    const late = at + PIECE_CHARS < end ? PIECE_CHARS - OVERLAP_CHARS + CONTEXT_CHARS : PIECE_CHARS;
    const candidates = [...ownCandidates(piece, options), ...chronoCandidates(chrono, piece, nowMs)];
    const found = earliest(candidates.filter(({ index }) => index < late));
    if (found === undefined) continue;
    if (found.ambiguous === true) return undefined;
    return { ms: found.ms, precision: found.precision };
  }
  return undefined;
}

/** The piece without partial words at its ends, which the neighbouring pieces contain in full. */
function wholeWords(text: string, start: number, end: number): string {
  let piece = text.slice(start, end);
  if (start > 0 && !/\s/.test(text[start - 1]!)) piece = piece.replace(/^\S+/, (half) => ' '.repeat(half.length));
  if (end < text.length && !/\s/.test(text[end]!)) piece = piece.replace(/\S+$/, '');
  return piece;
}

/** The first candidate; the longest at the same place. A candidate within an earlier one belongs to it. */
function earliest(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.reduce<Candidate | undefined>((best, next) => {
    if (best === undefined) return next;
    // "June 14, 2020" contains "2020"; "in 2020" begins before its year does.
    const overlap = next.index < best.index + best.length && best.index < next.index + next.length;
    if (overlap) return next.length > best.length ? next : best;
    return next.index < best.index ? next : best;
  }, undefined);
}

function* ownCandidates(text: string, { dayFirst }: DateOptions): Generator<Candidate, void, void> {
  for (const match of text.matchAll(/(?<![\d./-])(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?![\d/-]|\.\d)/g)) {
    const [first, second, year] = [Number(match[1]), Number(match[3]), Number(match[4])];
    const dayIsFirst = match[2] === '.' || second > 12 ? match[2] === '.' : first > 12 || dayFirst;
    const place = { index: match.index, length: match[0].length };
    if (dayIsFirst === undefined && first !== second) yield { ...place, ms: 0, precision: 'day', ambiguous: true };
    else {
      const [day, month] = dayIsFirst === true ? [first, second] : [second, first];
      if (isDay(year, month, day)) yield { ...place, ms: Date.UTC(year, month - 1, day), precision: 'day' };
    }
  }
  for (const match of text.matchAll(/(?<![\d./-])(0?[1-9]|1[0-2])\/((?:19|20)\d\d)(?![\d/])/g))
    yield { ...at(match), ms: Date.UTC(Number(match[2]), Number(match[1]) - 1), precision: 'month' };
  for (const match of text.matchAll(/(?<![\d-])((?:19|20)\d\d)-(0[1-9]|1[0-2])(?![\d-])/g))
    yield { ...at(match), ms: Date.UTC(Number(match[1]), Number(match[2]) - 1), precision: 'month' };
  for (const match of text.matchAll(/\bQ([1-4])(?: of)?,? ((?:19|20)\d\d)\b/g))
    yield { ...at(match), ms: Date.UTC(Number(match[2]), 3 * (Number(match[1]) - 1)), precision: 'quarter' };
  for (const match of text.matchAll(/\bthe (?:early |late |mid-?)?((?:19|20)\d0)s\b/gi))
    yield { ...at(match), ms: Date.UTC(Number(match[1]), 0), precision: 'decade' };
  const year =
    /\b(?:in|since|during|before|after|until|by|from|around|of|early|late|mid|year|summer|spring|autumn|fall|winter)[ -]((?:19|20)\d\d)(?![\d:%]|[.,/-]\d| (?:people|users|times|dollars|euros|km|miles|words|items|steps|calories))\b/gi;
  for (const match of text.matchAll(year)) yield { ...at(match), ms: Date.UTC(Number(match[1]), 0), precision: 'year' };
}

function at(match: RegExpExecArray): { readonly index: number; readonly length: number } {
  return { index: match.index, length: match[0].length };
}

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && month >= 1;
}

function* chronoCandidates(chrono: Chrono.Chrono, text: string, nowMs: number): Generator<Candidate, void, void> {
  for (const result of chrono.parse(text, { instant: new Date(nowMs), timezone: 0 })) {
    const found = understood(result, text, nowMs);
    if (found !== undefined) yield { ...found, index: result.index, length: result.text.length };
  }
}

function understood(result: Chrono.ParsedResult, text: string, nowMs: number): FoundDate | undefined {
  const { start } = result;
  const words = result.text.toLowerCase();
  const before = text.slice(Math.max(0, result.index - 12), result.index);
  if (start.tags().has('parser/SlashDateFormatParser') || words === 'now') return undefined;
  const year = start.get('year')!;
  if (year < 1000 || year > 2199) return undefined;
  const ahead = /\b(next|coming|upcoming|following)\b/.test(`${before.toLowerCase()}${words}`);
  const [month, day] = [start.get('month')!, start.get('day')!];
  if (start.isCertain('year')) {
    if (/\bweeks?\b/.test(words)) return { ms: mondayOf(Date.UTC(year, month - 1, day)), precision: 'week' };
    if (!start.isCertain('month')) return { ms: Date.UTC(year, 0), precision: 'year' };
    if (!start.isCertain('day')) return { ms: Date.UTC(year, month - 1), precision: 'month' };
    return withTime(start, words, Date.UTC(year, month - 1, day));
  }
  if (start.isCertain('month')) {
    if (start.isCertain('day')) return withTime(start, words, yearless(nowMs, month, day, ahead));
    // On their own, these are also names and verbs: June, April, may, march.
    if (!new RegExp(`^(?:${MONTH})`).test(words) || !/^\p{Lu}/u.test(result.text)) return undefined;
    if (!MONTH_ONLY_BEFORE.test(before)) return undefined;
    return { ms: yearless(nowMs, month, 1, ahead), precision: 'month' };
  }
  if (start.isCertain('weekday')) return weekday(start, words, nowMs);
  if (words === 'this week') return { ms: mondayOf(nowMs), precision: 'week' };
  if (/^this (morning|afternoon|evening)$/.test(words)) return { ms: dayOf(nowMs), precision: 'day' };
  return undefined;
}

/** A weekday without a date means the most recent one, today included, unless the words say otherwise. */
function weekday(start: Chrono.ParsedResult['start'], words: string, nowMs: number): FoundDate | undefined {
  if (!/(?:mon|tues|wednes|thurs|fri|satur|sun)day/.test(words)) return undefined;
  const wanted = start.get('weekday')!;
  const today = dayOf(nowMs);
  const since = (new Date(today).getUTCDay() - wanted + 7) % 7;
  if (/\bnext|coming/.test(words)) return withTime(start, words, today + (7 - since) * DAY_MS);
  if (/\bthis\b/.test(words)) return withTime(start, words, mondayOf(nowMs) + ((wanted + 6) % 7) * DAY_MS);
  const back = /\b(last|past)\b/.test(words) && since === 0 ? 7 : since;
  return withTime(start, words, today - back * DAY_MS);
}

/** The most recent such day, or the next one if `ahead`. The 29th of February may be several years away. */
function yearless(nowMs: number, month: number, day: number, ahead: boolean): number {
  const thisYear = new Date(nowMs).getUTCFullYear();
  for (let step = 0; step <= 8; step++) {
    const year = ahead ? thisYear + step : thisYear - step;
    const ms = Date.UTC(year, month - 1, day);
    if (isDay(year, month, day) && (ahead ? ms > nowMs : ms <= nowMs)) return ms;
  }
  return Date.UTC(thisYear, month - 1, day);
}

/** A time of day counts only when it is unambiguous: "at 5" may be morning or afternoon. */
function withTime(start: Chrono.ParsedResult['start'], words: string, dayMs: number): FoundDate {
  const hour = start.get('hour');
  if (
    !start.isCertain('hour') ||
    hour === null ||
    !/\d\s*[ap]\.?m|\d:\d|\d\s*(hours?|minutes?|seconds?)|hour/.test(words)
  )
    return { ms: dayMs, precision: 'day' };
  const offset = start.isCertain('timezoneOffset') ? (start.get('timezoneOffset') ?? 0) : 0;
  const [minute, second] = [start.get('minute') ?? 0, start.get('second') ?? 0];
  const precision = start.isCertain('second') ? 'second' : /:\d/.test(words) ? 'minute' : 'hour';
  return { ms: dayMs + ((hour * 60 + minute - offset) * 60 + second) * 1000, precision };
}

function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

/** Weeks begin on Monday. */
function mondayOf(ms: number): number {
  const day = dayOf(ms);
  return day - ((new Date(day).getUTCDay() + 6) % 7) * DAY_MS;
}
