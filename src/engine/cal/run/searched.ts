// Finds the texts that a query searches for, so that their vectors can be made before it runs.
import { fieldConditions, type Query, type Recall, type Statement } from '../ast.ts';
import { searchTextsOf } from './search-texts.ts';

export interface Searched {
  /** Texts that are always searched. */
  readonly texts: readonly string[];
  /**
   * Texts that are searched only if ABOUT finds no such subject. `withoutVector` in the answer names those that
   * lacked a vector.
   */
  readonly fallbacks: readonly string[];
}

interface Texts {
  readonly texts: Set<string>;
  readonly fallbacks: Set<string>;
}

/** Distinct texts in query order, including those of subqueries. Bounded by the query's length. */
export function searchedTexts({ lets, statement }: Query): Searched {
  const found: Texts = { texts: new Set(), fallbacks: new Set() };
  for (const { recall } of lets) collect(recall, found);
  collect(statement, found);
  return { texts: [...found.texts], fallbacks: [...found.fallbacks].filter((text) => !found.texts.has(text)) };
}

function collect(statement: Statement, texts: Texts): void {
  switch (statement.kind) {
    case 'recall': {
      const { text, fallback } = searchTextsOf(statement);
      if (text !== undefined) texts.texts.add(text);
      if (fallback !== undefined) texts.fallbacks.add(fallback);
      for (const inner of subqueries(statement)) collect(inner, texts);
      return;
    }
    case 'set_op':
      for (const operand of statement.operands) collect(operand, texts);
      return;
    case 'coalesce':
      for (const branch of statement.branches) collect(branch, texts);
      return;
    case 'assemble':
      for (const { from } of statement.sources) if (from.kind !== 'parameter') collect(from, texts);
      return;
    case 'batch':
      for (const { statement: entry } of statement.entries) collect(entry, texts);
      return;
    default:
      // Other statements do not search.
      return;
  }
}

function subqueries({ where }: Recall): Recall[] {
  return fieldConditions(where).flatMap((condition) => ('recall' in condition ? [condition.recall] : []));
}
