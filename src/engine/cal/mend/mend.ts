// Corrects a refused query: SQL habits and common slips. A correction is a guess. It is parsed before it is suggested, so
// that it is not refused again.
import { CalError } from '../errors.ts';
import { RULES } from './rules.ts';

/** Longer queries are not corrected. */
const CHARS_MAX = 800;
/** Slips corrected in one query, and corrections tried for them. */
const SLIPS_MAX = 7;
const TRIES_MAX = 40;
/** Characters parsed for all tries together, so that a long query with many slips stays cheap. */
const READ_CHARS_MAX = 12_000;

/** Reads a query. Throws CalError if it refuses the text. */
type Read = (text: string) => unknown;

/** The first correction that `read` accepts; undefined if none is found within the limits. */
export function mended(source: string, error: CalError, read: Read): string | undefined {
  if (source.length > CHARS_MAX || source.trimStart().startsWith('{')) return undefined;
  const seen = new Set([source]);
  let tries = TRIES_MAX;
  let chars = READ_CHARS_MAX;
  const refusalOf = (text: string): CalError | undefined => {
    try {
      read(text);
      return undefined;
    } catch (thrown) {
      if (thrown instanceof CalError) return thrown;
      throw thrown;
    }
  };
  const go = (text: string, refused: CalError, slips: number): string | undefined => {
    if (slips === 0) return undefined;
    for (const candidate of candidates(text, refused)) {
      if (seen.has(candidate) || candidate.length > 2 * CHARS_MAX) continue;
      seen.add(candidate);
      chars -= candidate.length;
      if (tries-- <= 0 || chars < 0) return undefined;
      const next = refusalOf(candidate);
      const found = next === undefined ? candidate : go(candidate, next, slips - 1);
      if (found !== undefined) return found.trim();
    }
    return undefined;
  };
  return go(source, error, SLIPS_MAX);
}

function* candidates(text: string, error: CalError): IterableIterator<string> {
  const { start, end } = error.at ?? { start: 0, end: text.length };
  for (const rule of RULES) yield* rule({ text, error, start, end });
}
