// Corrects a refused query: SQL habits and mistakes with a single possible meaning. A correction is parsed before it is
// suggested, so that it is not refused again.
import { CalError } from '../errors.ts';
import { RULES } from './rules.ts';

/** Longer queries are not mended: they are no slips of a line. */
const CHARS_MAX = 800;
/** Slips that one query may have, and texts that are tried for them. */
const SLIPS_MAX = 7;
const TRIES_MAX = 40;
/** Characters that are read for all of them: a long query with many slips costs no more than a short one. */
const READ_CHARS_MAX = 12_000;

/** Throws CalError for a text that cannot be read. */
type Read = (text: string) => unknown;

/** The corrected query; undefined if no correction is certain. */
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
