// Integers of a JSON text that a double would round, marked so that the runtime's own parser carries them whole: each
// becomes a string of a prefix that no caller can guess and its digits. (A reviver sees the source text too, but takes
// ten seconds for 16 MiB of small numbers.)
import { randomBytes } from 'node:crypto';
import { EngineError } from '../../base/errors.ts';
import { JSON_DIGITS_MAX } from '../../base/limits.ts';

const MARK = `integer ${randomBytes(16).toString('hex')} `;
/** Only such a run of digits can be an integer past 2^53 - 1. */
const LONG_RUN = new RegExp(`\\d{16,${JSON_DIGITS_MAX + 1}}`, 'g');
const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;

/**
 * The text, which is JSON, with its large integers marked; undefined when it has none. Throws VAL-E001 for a number of too many
 * digits: to convert one takes quadratic time, and a pattern that takes all of them a stack.
 */
export function markLargeIntegers(text: string): string | undefined {
  let marked = '';
  let copied = 0;
  /** The next string that begins behind all that was looked at; it is searched for once. */
  let quote = nextQuote(text, 0);
  LONG_RUN.lastIndex = 0;
  for (let match = LONG_RUN.exec(text); match !== null; match = LONG_RUN.exec(text)) {
    const { index } = match;
    let outside = 0;
    while (quote < index) {
      outside = endOfString(text, quote);
      quote = nextQuote(text, outside);
    }
    if (outside > index) {
      LONG_RUN.lastIndex = outside;
      continue;
    }
    if (match[0].length > JSON_DIGITS_MAX)
      throw new EngineError('VAL-E001', `a number has more than ${JSON_DIGITS_MAX} digits`);
    const end = index + match[0].length;
    const start = text[index - 1] === '-' ? index - 1 : index;
    if (isPartOfFloat(text, start, end) || !isLarge(text.slice(start, end))) continue;
    marked += `${text.slice(copied, start)}"${MARK}${text.slice(start, end)}"`;
    copied = end;
  }
  return copied === 0 ? undefined : marked + text.slice(copied);
}

/** The integer of a marked string; undefined for any other. */
export function unmarked(text: string): bigint | undefined {
  return text.startsWith(MARK) ? BigInt(text.slice(MARK.length)) : undefined;
}

function nextQuote(text: string, from: number): number {
  const at = text.indexOf('"', from);
  return at < 0 ? text.length : at;
}

/** Past the closing quote of the string that begins at `quote`. */
function endOfString(text: string, quote: number): number {
  for (let at = quote + 1; ; at += 1) {
    at = text.indexOf('"', at);
    let backslashes = 0;
    while (text[at - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
}

/** A fraction's digits, an exponent's, or a whole part that one of these follows. */
function isPartOfFloat(text: string, start: number, end: number): boolean {
  return /[.eE+]/.test(text[start - 1] ?? '') || /[.eE]/.test(text[end] ?? '');
}

/**
 * True for what a double would change: integers past 2^53 that 64 bits hold, and larger ones, which nothing holds and
 * which are there to be refused. Doubles as they are usually written out (`123456789012345680000`) stay doubles.
 */
function isLarge(digits: string): boolean {
  const number = Number(digits);
  if (Number.isSafeInteger(number) || !Number.isFinite(number)) return false;
  const integer = BigInt(digits);
  if (integer >= INT64_MIN && integer <= UINT64_MAX) return true;
  return String(number) !== digits && BigInt(number) !== integer;
}
