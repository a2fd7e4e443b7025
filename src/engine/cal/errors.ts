// The errors of CAL queries by code. The specification defines the numbers. Where it gives a limit no code, the code is
// ours. Append-only: a published code keeps its meaning.
import { defined } from '../base/defined.ts';
import { CAL_MEANINGS, type CalErrorCode } from '../base/errors.ts';
import type { Span } from './ast.ts';

/** The default suggestion for each code. `base/errors.ts` has the meanings, with the other codes of the service. */
const SUGGESTIONS: Readonly<Record<CalErrorCode, string>> = {
  'CAL-E001': 'Ask for less in one query.',
  'CAL-E002': 'Compare the query with DESCRIBE grammar.',
  'CAL-E003': 'DESCRIBE grain_types lists the types.',
  'CAL-E004': 'DESCRIBE fields lists the fields.',
  'CAL-E005': 'Close the string with a double quote.',
  'CAL-E006': 'Write digits, with a sign and a decimal part at most: -1, 0.5.',
  'CAL-E007': 'Name an inner query with LET, or flatten the query.',
  'CAL-E008': 'Bind it with LET $name = RECALL … | SUBJECTS; before the statement.',
  'CAL-E009': 'Give each LET its own name.',
  'CAL-E010': 'Use a count from 1 to 1000.',
  'CAL-E011': 'Use at most 100 values, or a subquery.',
  'CAL-E012': 'Use at most 5 stages and 10 entries.',
  'CAL-E013': 'Use at most 5 operands.',
  'CAL-E014': 'Write a statement, for example: RECALL beliefs LIMIT 5.',
  'CAL-E015': 'Write sha256: and 8 to 64 hexadecimal digits, enough to name one grain.',
  'CAL-E016': 'Use at most 500 characters.',
  'CAL-E017': 'Set only the fields that this statement and type allow.',
  'CAL-E018': 'End the statement with REASON "why".',
  'CAL-E019': 'Add at least one SET field = value.',
  'CAL-E020': 'DESCRIBE fields shows the type and the operators of each field.',
  'CAL-E021': 'Check the order of the stages. DESCRIBE fields shows what can be sorted, grouped and projected.',
  'CAL-E022': 'Start with RECALL beliefs.',
  'CAL-E030': 'Narrow the query by subject, relation, time or type.',
  'CAL-E031': 'Narrow the query, or ask for fewer grains.',
  'CAL-E032': 'Use at most 8 sources.',
  'CAL-E033': 'Use 1 to 16000 tokens or 1 to 200 grains.',
  'CAL-E034': 'Give each entry its own label.',
  'CAL-E035': 'Name the labels of FROM.',
  'CAL-E036': 'Use at most 5 bindings.',
  'CAL-E037': 'Use only parameters that are bound earlier.',
  'CAL-E038': 'Bindings may use earlier ones only before ASSEMBLE, at most 3 deep.',
  'CAL-E039': 'Use at most 5 branches.',
  'CAL-E040': 'Read its HISTORY and name the newest version.',
  'CAL-E041': 'Read its HISTORY.',
  'CAL-E042': 'Name a belief.',
  'CAL-E043': 'Wait a minute.',
  'CAL-E044': 'Use a statement that reads, or see with EXPLAIN what this one would do.',
  'CAL-E045': 'Use a session of that namespace.',
  'CAL-E046': 'Check the hash.',
  'CAL-E050': 'Set subject, relation and object.',
  'CAL-E051': 'Add a belief, an observation or a goal.',
  'CAL-E052': 'Wait a minute.',
  'CAL-E060': 'Keep one of them.',
  'CAL-E061': 'Name the type after RECALL.',
  'CAL-E062': 'Use one of the valid values.',
  'CAL-E063': 'Use one of the valid values.',
  'CAL-E064': 'Use one of the valid values.',
  'CAL-E065': 'Use one of the valid values.',
  'CAL-E066': 'Use one of the valid values.',
  'CAL-E070': 'Send well-formed UTF-8.',
  'CAL-E071': 'Remove U+202A to U+202E and U+2066 to U+2069.',
  'CAL-E075': 'Use fewer or narrower sources.',
  'CAL-E076': 'Run the sources one by one to see why.',
  'CAL-E077': 'Use progress, budget, chunks, all or chunk_size = n.',
  'CAL-E078': 'Use 20 to 1000.',
  'CAL-E079': 'Leave STREAM out.',
  'CAL-E080': 'Read it by its hash.',
  'CAL-E081': 'Run the query again.',
  'CAL-E082': 'Run the query again.',
  'CAL-E085': 'DESCRIBE templates lists the templates.',
  'CAL-E086': 'Extend sml, markdown or text.',
  'CAL-E087': 'Extend a preset: DESCRIBE templates lists them.',
  'CAL-E088': 'Use another name.',
  'CAL-E089': 'Use a template inside the query instead.',
  'CAL-E090': 'DESCRIBE templates lists the variables.',
  'CAL-E091': 'Close each {{#name}} with {{/name}}.',
  'CAL-E092': 'Use at most 4096 bytes.',
  'CAL-E093': 'Nest at most 5 sections.',
  'CAL-E094': 'Use {{name}}, {{#name}}, {{^name}}, {{/name}} and {{! note }} alone.',
  'CAL-E095': 'Write each section once.',
  'CAL-E096': 'Write ELEMENT with ELEMENT_SUMMARY or ELEMENT_OMIT.',
  'CAL-E100': 'Use CAL/1.',
  'CAL-E110': 'Use at most 5 formats.',
  'CAL-E113': 'Give each its own name with AS.',
};

interface Meaning {
  /** When the error occurs, in words. */
  readonly when: string;
  readonly suggestion: string;
}

// Object.entries loses the type of the keys.
const CODES = Object.entries(CAL_MEANINGS) as [CalErrorCode, string][];
export const CAL_ERRORS = Object.fromEntries(
  CODES.map(([code, when]) => [code, { when, suggestion: SUGGESTIONS[code] }]),
) as Readonly<Record<CalErrorCode, Meaning>>; // a row for each code was just made

export const CAL_WARNINGS = {
  'CAL-W001': 'unknown mg: relation',
  'CAL-W002': 'a domain field without the profile tag of its domain',
  'CAL-W003': 'unknown domain prefix',
  'CAL-W004': 'a WITH option that has no effect',
  'CAL-W005': 'the format was switched to toon',
  'CAL-W006': 'a search examined only its best matches',
  'CAL-W007': 'the answer was cut to the maximum size',
  'CAL-W008': 'an extension of this server',
  'CAL-W009': 'the grains of a statement were cut at a limit',
  'CAL-W010': 'nothing has that subject, so texts were searched for the words of ABOUT',
  'CAL-W011': 'some matches do not meet the operators of the searched text',
} as const;

export type CalWarningCode = keyof typeof CAL_WARNINGS;

/** A warning as it goes over the wire: `CAL-W001: text`. */
export function calWarning(code: CalWarningCode, text: string): string {
  return `${code}: ${text}`;
}

/** The position of an error in the query as received. */
export interface CalPosition {
  /** Byte offsets of the UTF-8 text; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** From 1; `col` counts code points. */
  readonly line: number;
  readonly col: number;
}

/** Ends the message about a text that gives no time. The rules that correct queries look for it. */
export const NOT_A_TIME = 'is not a time';

export interface CalErrorDetails {
  readonly suggestion?: string | undefined;
  /** In UTF-16 units of the source. `located` converts it to `position`. */
  readonly at?: Span | undefined;
  readonly position?: CalPosition | undefined;
  readonly expected?: readonly string[] | undefined;
  readonly example?: string | undefined;
  readonly validValues?: readonly string[] | undefined;
}

/** The refusal of a query. The message does not include the code. `toJson` is the form that callers receive. */
export class CalError extends Error {
  override readonly name = 'CalError';
  readonly code: CalErrorCode;
  readonly suggestion: string;
  readonly at: Span | undefined;
  readonly position: CalPosition | undefined;
  readonly expected: readonly string[] | undefined;
  readonly example: string | undefined;
  readonly validValues: readonly string[] | undefined;

  constructor(code: CalErrorCode, message: string, details: CalErrorDetails = {}) {
    super(message);
    this.code = code;
    this.suggestion = details.suggestion ?? CAL_ERRORS[code].suggestion;
    this.at = details.at;
    this.position = details.position;
    this.expected = details.expected;
    this.example = details.example;
    this.validValues = details.validValues;
  }

  /** The same error with `example`: the refused query, corrected. */
  withExample(example: string): CalError {
    const { suggestion, at, position, expected, validValues } = this;
    return new CalError(this.code, this.message, { suggestion, at, position, expected, example, validValues });
  }

  /** The same error with the position of `at` in `source`. Returns itself if it has a position or no `at`. */
  located(source: string): CalError {
    if (this.at === undefined || this.position !== undefined) return this;
    const { suggestion, at, expected, example, validValues } = this;
    const position = positionOf(source, at);
    return new CalError(this.code, this.message, { suggestion, at, position, expected, example, validValues });
  }

  toJson(): { readonly error: Readonly<Record<string, unknown>> } {
    const { code, message, suggestion, position, expected, example, validValues } = this;
    return { error: defined({ code, message, suggestion, position, expected, example, valid_values: validValues }) };
  }
}

/** The position of `span` in `source`. A line ends with a line feed. */
export function positionOf(source: string, span: Span): CalPosition {
  const before = source.slice(0, span.start);
  const lineStart = before.lastIndexOf('\n') + 1;
  const start = Buffer.byteLength(before);
  return {
    start,
    end: start + Buffer.byteLength(source.slice(span.start, span.end)),
    line: before.split('\n').length,
    col: [...before.slice(lineStart)].length + 1,
  };
}
