// Everything that can be wrong with a CAL query, by code. The numbers are the specification's; where it gave a limit no
// code, the code is ours. Append-only: a code that was published keeps its meaning.
import type { Span } from './ast.ts';

interface Meaning {
  /** When it is raised, for people. */
  readonly when: string;
  /** What to do about it, for who has nothing better to say. */
  readonly suggestion: string;
}

export const CAL_ERRORS = {
  'CAL-E001': { when: 'the query is longer than 8192 bytes', suggestion: 'Ask for less in one query.' },
  'CAL-E002': { when: 'unexpected token', suggestion: 'Compare the query with DESCRIBE grammar.' },
  'CAL-E003': { when: 'unknown grain type', suggestion: 'DESCRIBE grain_types lists the types.' },
  'CAL-E004': { when: 'unknown field', suggestion: 'DESCRIBE fields lists the fields.' },
  'CAL-E005': { when: 'a string is not closed', suggestion: 'Close the string with a double quote.' },
  'CAL-E006': {
    when: 'malformed number',
    suggestion: 'Write digits, with a sign and a decimal part at most: -1, 0.5.',
  },
  'CAL-E007': {
    when: 'subqueries or brackets are nested too deep',
    suggestion: 'Name an inner query with LET, or flatten the query.',
  },
  'CAL-E008': {
    when: 'a parameter is not bound',
    suggestion: 'Bind it with LET $name = RECALL … | SUBJECTS; before the statement.',
  },
  'CAL-E009': { when: 'a parameter is bound twice', suggestion: 'Give each LET its own name.' },
  'CAL-E010': { when: 'LIMIT or RECENT is out of range', suggestion: 'Use a count from 1 to 1000.' },
  'CAL-E011': { when: 'an IN list is too long', suggestion: 'Use at most 100 values, or a subquery.' },
  'CAL-E012': { when: 'too many stages or BATCH entries', suggestion: 'Use at most 5 stages and 10 entries.' },
  'CAL-E013': { when: 'too many operands of set operations', suggestion: 'Use at most 5 operands.' },
  'CAL-E014': { when: 'the query is empty', suggestion: 'Write a statement, for example: RECALL beliefs LIMIT 5.' },
  'CAL-E015': {
    when: 'bad or ambiguous hash',
    suggestion: 'Write sha256: and 8 to 64 hexadecimal digits, enough to name one grain.',
  },
  'CAL-E016': { when: 'the reason is too long', suggestion: 'Use at most 500 characters.' },
  'CAL-E017': { when: 'a field may not be set', suggestion: 'Set only the fields that this statement and type allow.' },
  'CAL-E018': { when: 'the reason is missing or blank', suggestion: 'End the statement with REASON "why".' },
  'CAL-E019': { when: 'SUPERSEDE sets nothing', suggestion: 'Add at least one SET field = value.' },
  'CAL-E020': {
    when: 'type mismatch, or an operator that the field does not take',
    suggestion: 'DESCRIBE fields shows the type and the operators of each field.',
  },
  'CAL-E021': {
    when: 'a stage cannot take what it is given',
    suggestion: 'Check the order of the stages, and with DESCRIBE fields what can be sorted, grouped and projected.',
  },
  'CAL-E022': { when: 'SUBJECTS or OBJECTS of something other than beliefs', suggestion: 'Start with RECALL beliefs.' },
  'CAL-E030': {
    when: 'the query looks at too many grains',
    suggestion: 'Narrow it, by subject, relation, time or type.',
  },
  'CAL-E031': { when: 'the query took too long', suggestion: 'Narrow it, or ask for fewer grains.' },
  'CAL-E032': { when: 'too many ASSEMBLE sources', suggestion: 'Use at most 8 sources.' },
  'CAL-E033': { when: 'BUDGET is out of range', suggestion: 'Use 1 to 16000 tokens or 1 to 200 grains.' },
  'CAL-E034': { when: 'a label is used twice', suggestion: 'Give each entry its own label.' },
  'CAL-E035': { when: 'PRIORITY names an unknown label', suggestion: 'Name the labels of FROM.' },
  'CAL-E036': { when: 'too many LET bindings', suggestion: 'Use at most 5 bindings.' },
  'CAL-E037': {
    when: 'LET bindings depend on one another in a circle',
    suggestion: 'Use only parameters that are bound earlier.',
  },
  'CAL-E038': {
    when: 'a LET uses another where it may not, or too deep',
    suggestion: 'Bindings may use earlier ones in front of ASSEMBLE alone, at most 3 deep.',
  },
  'CAL-E039': { when: 'too many COALESCE branches', suggestion: 'Use at most 5 branches.' },
  'CAL-E040': {
    when: 'the grain has been superseded already',
    suggestion: 'Read its HISTORY and name the newest version.',
  },
  'CAL-E041': { when: 'REVERT of a grain that has no previous version', suggestion: 'Read its HISTORY.' },
  'CAL-E042': { when: 'grains of this type cannot be superseded', suggestion: 'Name a belief.' },
  'CAL-E043': { when: 'too many SUPERSEDE or REVERT statements', suggestion: 'Wait a minute.' },
  'CAL-E044': {
    when: 'the statement is not enabled for this session',
    suggestion: 'Ask for reads, or look at what it would do with EXPLAIN.',
  },
  'CAL-E045': { when: 'the grain is in another namespace', suggestion: 'Use a session of that namespace.' },
  'CAL-E046': { when: 'no such grain', suggestion: 'Check the hash.' },
  'CAL-E050': { when: 'a required SET field is missing', suggestion: 'Set subject, relation and object.' },
  'CAL-E051': { when: 'grains of this type cannot be added', suggestion: 'Add a belief, an observation or a goal.' },
  'CAL-E052': { when: 'too many ADD statements', suggestion: 'Wait a minute.' },
  'CAL-E060': {
    when: 'clauses contradict each other, or the field belongs to another type',
    suggestion: 'Keep one of them.',
  },
  'CAL-E061': { when: 'a field of one type, and no type is named', suggestion: 'Name the type after RECALL.' },
  'CAL-E062': { when: 'bad action_phase', suggestion: 'Use one of the valid values.' },
  'CAL-E063': { when: 'bad goal_state', suggestion: 'Use one of the valid values.' },
  'CAL-E064': { when: 'bad consent_action', suggestion: 'Use one of the valid values.' },
  'CAL-E065': { when: 'bad recall_priority', suggestion: 'Use one of the valid values.' },
  'CAL-E066': { when: 'bad epistemic_status', suggestion: 'Use one of the valid values.' },
  'CAL-E070': { when: 'the query is not valid UTF-8', suggestion: 'Send well-formed UTF-8.' },
  'CAL-E071': {
    when: 'a string holds a control character of text direction',
    suggestion: 'Remove U+202A to U+202E and U+2066 to U+2069.',
  },
  'CAL-E075': { when: 'ASSEMBLE took too long', suggestion: 'Use fewer or narrower sources.' },
  'CAL-E076': { when: 'all sources of ASSEMBLE failed', suggestion: 'Run the sources one by one to see why.' },
  'CAL-E077': { when: 'unknown STREAM option', suggestion: 'Use progress, budget, chunks, all or chunk_size = n.' },
  'CAL-E078': { when: 'chunk_size is out of range', suggestion: 'Use 20 to 1000.' },
  'CAL-E079': { when: 'streaming is not supported here', suggestion: 'Leave STREAM out.' },
  'CAL-E080': { when: 'a grain could not be formatted', suggestion: 'Read it by its hash.' },
  'CAL-E081': { when: 'the reconnection came too late', suggestion: 'Run the query again.' },
  'CAL-E082': { when: 'the assembly was cancelled', suggestion: 'Run the query again.' },
  'CAL-E085': { when: 'no such template', suggestion: 'DESCRIBE templates lists the templates.' },
  'CAL-E086': { when: 'a template extends data', suggestion: 'Extend sml, markdown or text.' },
  'CAL-E087': {
    when: 'a template extends one that is not a preset',
    suggestion: 'Extend a preset: DESCRIBE templates lists them.',
  },
  'CAL-E088': { when: 'the name of the template is taken', suggestion: 'Use another name.' },
  'CAL-E089': { when: 'too many templates', suggestion: 'Use a template inside the query instead.' },
  'CAL-E090': { when: 'unknown template variable', suggestion: 'DESCRIBE templates lists the variables.' },
  'CAL-E091': { when: 'a section of a template is not balanced', suggestion: 'Close each {{#name}} with {{/name}}.' },
  'CAL-E092': { when: 'the template is too large', suggestion: 'Use at most 4096 bytes.' },
  'CAL-E093': { when: 'sections of a template are nested too deep', suggestion: 'Nest at most 5 sections.' },
  'CAL-E094': {
    when: 'bad template syntax',
    suggestion: 'Use {{name}}, {{#name}}, {{^name}}, {{/name}} and {{! note }} alone.',
  },
  'CAL-E095': { when: 'a template has a section twice', suggestion: 'Write each section once.' },
  'CAL-E096': {
    when: 'sections of a template do not go together',
    suggestion: 'Write ELEMENT with ELEMENT_SUMMARY or ELEMENT_OMIT.',
  },
  'CAL-E100': { when: 'CAL version not supported', suggestion: 'Use CAL/1.' },
  'CAL-E110': { when: 'too many formats', suggestion: 'Use at most 5 formats.' },
  'CAL-E113': { when: 'two formats would have the same key', suggestion: 'Give each its own name with AS.' },
} as const satisfies Readonly<Record<string, Meaning>>;

export type CalErrorCode = keyof typeof CAL_ERRORS;

export const CAL_WARNINGS = {
  'CAL-W001': 'unknown mg: relation',
  'CAL-W002': 'a domain field without the profile tag of its domain',
  'CAL-W003': 'unknown domain prefix',
  'CAL-W004': 'a WITH option that has no effect',
  'CAL-W005': 'the format was switched to toon',
  'CAL-W006': 'a search looked at its best matches alone',
  'CAL-W007': 'the answer was cut to what an answer may have',
  'CAL-W008': 'an extension of this server',
  'CAL-W009': 'what a statement works on was cut at a bound',
  'CAL-W010': 'nothing has that subject, and texts were searched for the words of ABOUT',
} as const;

export type CalWarningCode = keyof typeof CAL_WARNINGS;

/** A warning as it goes over the wire: `CAL-W001: text`. */
export function calWarning(code: CalWarningCode, text: string): string {
  return `${code}: ${text}`;
}

/** Where something is wrong in the query as it was received. */
export interface CalPosition {
  /** Byte offsets of the UTF-8 text; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** From 1; `col` counts code points. */
  readonly line: number;
  readonly col: number;
}

export interface CalErrorDetails {
  readonly suggestion?: string;
  /** In UTF-16 units of the source; becomes `position` with `located`. */
  readonly at?: Span | undefined;
  readonly position?: CalPosition;
  readonly expected?: readonly string[];
  readonly example?: string;
  readonly validValues?: readonly string[];
}

/** A query that was refused. Its message has no code in front; `toJson` is what callers get to see. */
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

  /** The same error with a query that works: the one that was refused, mended. */
  withExample(example: string): CalError {
    const { suggestion, at, position, expected, validValues } = this;
    return new CalError(this.code, this.message, {
      suggestion,
      at,
      ...(position && { position }),
      ...(expected && { expected }),
      example,
      ...(validValues && { validValues }),
    });
  }

  /** The same error with the position of `at` in `source`; itself when it has a position already or none at all. */
  located(source: string): CalError {
    if (this.at === undefined || this.position !== undefined) return this;
    const { suggestion, at, expected, example, validValues } = this;
    return new CalError(this.code, this.message, {
      suggestion,
      at,
      position: positionOf(source, at),
      ...(expected && { expected }),
      ...(example !== undefined && { example }),
      ...(validValues && { validValues }),
    });
  }

  toJson(): { readonly error: Readonly<Record<string, unknown>> } {
    const { code, message, suggestion, position, expected, example, validValues } = this;
    return {
      error: {
        code,
        message,
        suggestion,
        ...(position && { position }),
        ...(expected && { expected }),
        ...(example !== undefined && { example }),
        ...(validValues && { valid_values: validValues }),
      },
    };
  }
}

/** Where `span` stands in `source`. A line ends with a line feed. */
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
