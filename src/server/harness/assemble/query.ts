// Queries that assemble the context of a turn: those with a name, which the server has, and CAL text of a definition. Both
// have parameters. A parameter's value takes the place of its token as one string, so no value can become words of the
// language.
import { EngineError } from '../../../engine/base/errors.ts';
import { TOKEN_BUDGET_DEFAULT } from '../../../engine/base/limits.ts';
import { CalError } from '../../../engine/cal/errors.ts';
import { lex } from '../../../engine/cal/lexer.ts';
import { readQuery } from '../../../engine/cal/query.ts';
import { type NamedFor, namedQuery, QUERY_NAMES } from './named.ts';

export const PARAMETERS = ['user', 'def_ns', 'session_id', 'query'] as const;
export type Parameters = Readonly<Record<(typeof PARAMETERS)[number], string>>;

const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const SAMPLE: Parameters = { user: 'ann', def_ns: 'harnesses/x/def', session_id: 's', query: 'words' };
/** Bytes of a message that a query searches for. A query has at most 8,192 bytes; longer messages search by their beginning. */
const VALUE_BYTES_MAX = 1_500;

/**
 * Checks what a definition states. VAL-E001 for an unknown name, for text that is no ASSEMBLE statement, and for JSON; CAL
 * codes for text that the language refuses.
 */
export function checkAssembleQuery(assembleQuery: string): void {
  const text = textOf(assembleQuery, { forUser: true, budget: TOKEN_BUDGET_DEFAULT });
  try {
    const bound = boundText(text, SAMPLE);
    const { statement } = readQuery(bound).query;
    if (statement.kind !== 'assemble') throw bad('must be an ASSEMBLE statement, or the name of a query');
  } catch (error) {
    if (!(error instanceof CalError)) throw error;
    throw new EngineError(error.code, `\`assemble_query\`: ${error.message}`, {
      details: [{ field: 'assemble_query', issue: error.message }],
    });
  }
}

/** The CAL text of a name or of a text; a text decides about users and budget itself. VAL-E001. */
export function textOf(assembleQuery: string, asked: NamedFor): string {
  const named = namedQuery(assembleQuery, asked);
  if (named !== undefined) return named;
  if (NAME.test(assembleQuery))
    throw bad(`there is no query ${assembleQuery}: use CAL text, or one of ${QUERY_NAMES.join(', ')}`);
  if (assembleQuery.trimStart().startsWith('{')) throw bad('must be CAL in its text form');
  return assembleQuery;
}

/** The text with the values of its parameters. Other parameters stay: LET may bind them. Throws CalError. */
export function boundText(text: string, values: Parameters): string {
  let bound = '';
  let from = 0;
  for (const { kind, text: name, start, end } of lex(text)) {
    if (kind !== 'parameter' || !isParameter(name)) continue;
    bound += text.slice(from, start) + stringOf(values[name]);
    from = end;
  }
  return bound + text.slice(from);
}

function isParameter(name: string): name is keyof Parameters {
  return PARAMETERS.some((one) => one === name);
}

const BIDI = /[\u202A-\u202E\u2066-\u2069]/g;

/** A string of the language. Direction controls, which it refuses, say nothing to a search. */
function stringOf(value: string): string {
  const plain = shortened(value.toWellFormed()).replaceAll(BIDI, ' ').replaceAll('\0', ' ');
  return `"${plain.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function shortened(value: string): string {
  if (Buffer.byteLength(value) <= VALUE_BYTES_MAX) return value;
  const bytes = Buffer.from(value).subarray(0, VALUE_BYTES_MAX);
  // A character that was cut becomes a replacement character.
  return bytes.toString('utf8').replace(/\ufffd+$/, '');
}

function bad(issue: string): EngineError {
  return new EngineError('VAL-E001', `\`assemble_query\`: ${issue}`, { details: [{ field: 'assemble_query', issue }] });
}
