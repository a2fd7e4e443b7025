// Parses RECALL. Clauses come in any order, each at most once. Stages keep their order (D-10).

import { defined } from '../../base/defined.ts';
import type { GrainType } from '../../grain/grain.ts';
import type { InClause, Recall, Span, Stage, Value, Word } from '../ast.ts';
import { CalError } from '../errors.ts';
import {
  PLURALS,
  pluralOf,
  SINGULARS,
  typeOfForeignWord,
  typeOfPlural,
  typeOfSingular,
} from '../vocabulary/grain-types.ts';
import { EXCLUDED_WORDS, KEYWORDS } from '../vocabulary/words.ts';
import { parseConditions } from './conditions.ts';
import type { Cursor } from './cursor.ts';
import { parseFormatChoice } from './formats.ts';
import { parseOptions } from './options.ts';
import { didYouMean } from './spelling.ts';
import { parseStage, STAGE_WORDS, STAGES_EXPECTED } from './stages.ts';
import { parseReference, parseValue } from './values.ts';

/** Words that start a clause of RECALL. Stages have words of their own. */
export const CLAUSE_WORDS = [
  'in',
  'about',
  'like',
  'since',
  'between',
  'thread',
  'where',
  'with',
  'recent',
  'contradictions',
  'as',
  'format',
] as const;
type ClauseWord = (typeof CLAUSE_WORDS)[number];
const clauseWords: ReadonlySet<string> = new Set(CLAUSE_WORDS);
const CLAUSES_EXPECTED = [...CLAUSE_WORDS.map((word) => word.toUpperCase()), ...STAGES_EXPECTED];
const afterType: ReadonlySet<string> = new Set([...CLAUSE_WORDS, ...STAGE_WORDS]);

/** A recall that is being parsed. */
type Draft = {
  -readonly [K in keyof Recall]?: Recall[K];
} & { stages: Stage[] };

/** Parses a whole RECALL. Stops at the first token that is not part of it. */
export function parseRecall(cursor: Cursor): Recall {
  const first = cursor.expectWord('recall');
  const draft: Draft = { stages: [] };
  if (cursor.takeWord('my')) draft.my = true;
  const grainType = parsePlural(cursor);
  if (grainType !== undefined) draft.grainType = grainType;
  const places: Partial<Record<ClauseWord, Span>> = {};
  for (;;) {
    const stage = parseStage(cursor);
    if (stage !== undefined) {
      draft.stages.push(stage);
      continue;
    }
    const { kind, lower } = cursor.token;
    if (kind !== 'word' || !clauseWords.has(lower)) break;
    const clause = lower as ClauseWord; // The set holds only clause words.
    const word = cursor.token;
    const kept = clause === 'format' ? 'as' : clause;
    if (places[kept] !== undefined) cursor.fail(['another clause'], `${word.text.toUpperCase()} occurs twice.`);
    cursor.advance();
    parseClause(cursor, clause, draft);
    places[kept] = cursor.spanFrom(word);
  }
  const { where = [], with: options = [], ...rest } = draft;
  return { ...rest, kind: 'recall', where, with: options, places, at: cursor.spanFrom(first) };
}

/** Refuses the token after a recall, and names the clauses and stages that are allowed there. */
export function failAfterRecall(cursor: Cursor, expected: readonly string[]): never {
  return cursor.fail([...expected, ...CLAUSES_EXPECTED], hintAfterRecall(cursor));
}

function hintAfterRecall(cursor: Cursor): string | undefined {
  const { kind, lower, text } = cursor.token;
  if (kind === 'symbol' && text === ',') return 'Conditions are joined by AND, clauses by nothing.';
  if (kind !== 'word') return undefined;
  if (lower === 'from') return 'RECALL takes a type after it: RECALL beliefs WHERE ….';
  if (lower === 'union' || lower === 'intersect' || lower === 'except')
    return `Put the operands in parentheses: (RECALL …) ${lower.toUpperCase()} (RECALL …).`;
  if (lower === 'and' || lower === 'include' || lower === 'exclude') return 'Conditions stand after WHERE.';
  if (lower === 'or' || lower === 'not')
    return 'Conditions are joined by AND alone; ask for alternatives with IN or UNION.';
  return undefined;
}

function parseClause(cursor: Cursor, clause: ClauseWord, draft: Draft): void {
  switch (clause) {
    case 'in':
      draft.in = parseInClause(cursor);
      return;
    case 'about':
      draft.about = cursor.expectString();
      return;
    case 'like':
      draft.like = cursor.expectString();
      return;
    case 'since':
      if (cursor.token.kind !== 'string') cursor.fail(['a string'], 'Write a date or a time: SINCE "last week".');
      draft.since = parseValue(cursor);
      return;
    case 'between': {
      const low: Value = parseValue(cursor);
      cursor.expectWord('and');
      draft.between = [low, parseValue(cursor)];
      return;
    }
    case 'thread':
      if (cursor.takeWord('from')) draft.thread = { from: parseReference(cursor) };
      else draft.thread = { session: cursor.expectString() };
      return;
    case 'where':
      draft.where = parseConditions(cursor, parseRecall);
      return;
    case 'with':
      draft.with = parseOptions(cursor);
      return;
    case 'recent':
      draft.recent = cursor.expectInteger();
      return;
    case 'contradictions':
      draft.contradictions = true;
      return;
    case 'as':
    case 'format':
      draft.format = parseFormatChoice(cursor);
      return;
  }
}

/** Parses the IN clause: a namespace or a scope. */
export function parseInClause(cursor: Cursor): InClause {
  const first = cursor.token;
  const scope = cursor.takeWord('scope') || undefined;
  const name = cursor.expectString();
  return defined({ name, scope, at: cursor.spanFrom(first) });
}

/** Parses the type after RECALL; undefined if a clause follows instead. Throws E003 for a word that is no plural. */
function parsePlural(cursor: Cursor): Word | undefined {
  const { kind, lower, start, end } = cursor.token;
  if (kind !== 'word' || afterType.has(lower)) return undefined;
  const at = { start, end };
  if (typeOfPlural(lower) === undefined) {
    if (cannotBeType(cursor)) return undefined;
    throw unknownType(lower, { plural: true, at });
  }
  cursor.advance();
  return { word: lower, at };
}

/** True if the token is a keyword, so that no type was meant. Throws E002 for an excluded word. */
function cannotBeType(cursor: Cursor): boolean {
  const { lower } = cursor.token;
  if (typeOfSingular(lower) !== undefined) return false;
  if (EXCLUDED_WORDS.has(lower)) cursor.fail(['the plural of a grain type', ...CLAUSES_EXPECTED]);
  return KEYWORDS.has(lower);
}

/** The E003 error for a word that is no type in the expected number. It suggests the type that was probably meant. */
export function unknownType(
  word: string,
  { plural, at }: { readonly plural: boolean; readonly at?: Span | undefined },
): CalError {
  const valid = plural ? PLURALS : SINGULARS;
  const name = (type: GrainType): string => (plural ? pluralOf(type) : type);
  const other = plural ? typeOfSingular(word) : typeOfPlural(word);
  const foreign = typeOfForeignWord(word);
  const meant = other ?? foreign ?? undefined;
  const suggestion =
    meant !== undefined
      ? `Did you mean ${name(meant)}?`
      : foreign === null
        ? undefined
        : didYouMean(word, plural ? [...valid, ...CLAUSE_WORDS.map((clause) => clause.toUpperCase())] : valid);
  return new CalError('CAL-E003', `unknown grain type ${word}`, {
    at,
    suggestion,
    example: plural ? 'RECALL beliefs WHERE subject = "alice"' : 'DESCRIBE fields belief',
    validValues: valid,
  });
}
