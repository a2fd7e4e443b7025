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
  const text = withShortRuns(source);
  if (text === undefined) return undefined;
  const seen = new Set([text]);
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
  // Of a text that was shortened, the places of the error are others.
  const refused = text === source ? error : refusalOf(text);
  return refused === undefined ? text.trim() : go(text, refused, SLIPS_MAX);
}

/** A run of more blanks than between words and in indented lines. */
const LONG_RUN = /\s{9}/;
/** Strings and comments, which stay as they are, and runs of blanks. */
const PARTS = /"(?:[^"\\]|\\[\s\S])*"|--[^\n]*|\s+/g;

/**
 * The text without long runs of blanks, which the rules read in so many ways that they would take a power of the length;
 * undefined if strings or comments have such runs.
 */
function withShortRuns(source: string): string | undefined {
  if (!LONG_RUN.test(source)) return source;
  const text = source.replace(PARTS, (part) => (/\S/.test(part) ? part : part.includes('\n') ? '\n' : ' '));
  return LONG_RUN.test(text) ? undefined : text;
}

function* candidates(text: string, error: CalError): IterableIterator<string> {
  const { start, end } = error.at ?? { start: 0, end: text.length };
  for (const rule of RULES) yield* rule({ text, error, start, end });
}
