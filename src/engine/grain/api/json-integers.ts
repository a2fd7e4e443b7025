// Marks integers of a JSON text that a double would round, so that the runtime's parser preserves all digits. Each becomes
// a string: a prefix that no caller can guess, then the digits. A reviver sees the source text too, but takes ten seconds
// for 16 MiB of small numbers.
import { randomBytes } from 'node:crypto';
import { EngineError } from '../../base/errors.ts';
import { JSON_DIGITS_MAX } from '../../base/limits.ts';

const MARK = `integer ${randomBytes(16).toString('hex')} `;
/** Integers beyond 2^53 - 1 have at least 16 digits. */
const LONG_RUN = new RegExp(`\\d{16,${JSON_DIGITS_MAX + 1}}`, 'g');
const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;

/**
 * The JSON text with its large integers marked; undefined when it has none. Throws VAL-E001 for a number with more than
 * JSON_DIGITS_MAX digits, because conversion takes quadratic time and a pattern without a limit exhausts the stack.
 */
export function markLargeIntegers(text: string): string | undefined {
  let marked = '';
  let copied = 0;
  /** Start of the next string after the examined text; each string is searched for once. */
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

/** The integer of a marked string; undefined for any other string. */
export function unmarked(text: string): bigint | undefined {
  return text.startsWith(MARK) ? BigInt(text.slice(MARK.length)) : undefined;
}

function nextQuote(text: string, from: number): number {
  const at = text.indexOf('"', from);
  return at < 0 ? text.length : at;
}

/** Position after the closing quote of the string that begins at `quote`. */
function endOfString(text: string, quote: number): number {
  for (let at = quote + 1; ; at += 1) {
    at = text.indexOf('"', at);
    let backslashes = 0;
    while (text[at - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
}

/** True when the digits belong to a float: a fraction, an exponent, or the whole part before one. */
function isPartOfFloat(text: string, start: number, end: number): boolean {
  return /[.eE+]/.test(text[start - 1] ?? '') || /[.eE]/.test(text[end] ?? '');
}

/**
 * True for an integer that a double would change: one beyond 2^53 that fits 64 bits, or a larger one, which a later check
 * refuses. Integers in the usual notation of a double (`123456789012345680000`) stay doubles.
 */
function isLarge(digits: string): boolean {
  const number = Number(digits);
  if (Number.isSafeInteger(number) || !Number.isFinite(number)) return false;
  const integer = BigInt(digits);
  if (integer >= INT64_MIN && integer <= UINT64_MAX) return true;
  return String(number) !== digits && BigInt(number) !== integer;
}
