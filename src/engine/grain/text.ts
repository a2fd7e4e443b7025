// Text in its canonical form: Unicode NFC, well-formed, without a byte order mark; and the order of UTF-8 bytes.
import { COMBINING_RUN_MAX } from '../base/limits.ts';
import { refuse } from './error.ts';

// Every code point below U+0300 is its own NFC and combines with nothing before it.
const MAY_COMPOSE = /[\u0300-\uffff]/;

/** Orders strings by the bytes of their UTF-8 form: negative, zero or positive. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    // Code points above U+FFFF are surrogates in UTF-16, where they would come before U+E000..U+FFFF.
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? order(x) - order(y) : x - y;
  }
  return a.length - b.length;
}

function order(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

/**
 * Refuses (ERR_TOO_LARGE) text with an absurd run of combining marks. Normalization sorts each run, and the sort is
 * quadratic: a megabyte of marks would hold a thread for minutes.
 */
function checkCombiningRuns(text: string): void {
  if (text.length <= COMBINING_RUN_MAX) return;
  for (const run of text.matchAll(/\p{M}+/gu))
    if (run[0].length > COMBINING_RUN_MAX) refuse('ERR_TOO_LARGE', 'run of combining marks');
}

/** The NFC form. Throws ERR_CORRUPT for half a surrogate pair or a leading byte order mark. */
export function canonicalText(text: string): string {
  if (!text.isWellFormed()) refuse('ERR_CORRUPT', 'unpaired surrogate');
  if (text.charCodeAt(0) === 0xfeff) refuse('ERR_CORRUPT', 'byte order mark');
  if (!MAY_COMPOSE.test(text)) return text;
  checkCombiningRuns(text);
  return text.normalize('NFC');
}

/** True when `text`, which came from valid UTF-8, is in NFC. */
export function isNormalized(text: string): boolean {
  if (!MAY_COMPOSE.test(text)) return true;
  checkCombiningRuns(text);
  return text.normalize('NFC') === text;
}
