// The texts that a query searches for: who has an embedder makes their vectors before the query runs.
import type { Query, Recall, Statement } from '../ast.ts';
import { searchTextsOf } from './conditions.ts';

/** Each text once, in the order of the query; those of subqueries too. Bounded by the query's own length. */
export function searchedTexts({ lets, statement }: Query): string[] {
  const texts = new Set<string>();
  for (const { recall } of lets) collect(recall, texts);
  collect(statement, texts);
  return [...texts];
}

function collect(statement: Statement, texts: Set<string>): void {
  switch (statement.kind) {
    case 'recall':
      for (const text of searchTextsOf(statement)) texts.add(text);
      for (const inner of subqueries(statement)) collect(inner, texts);
      return;
    case 'set_op':
      for (const operand of statement.operands) collect(operand, texts);
      return;
    case 'coalesce':
      for (const branch of statement.branches) collect(branch, texts);
      return;
    case 'assemble':
      for (const { from } of statement.sources) if (from.kind === 'recall') collect(from, texts);
      return;
    case 'batch':
      for (const { statement: entry } of statement.entries) collect(entry, texts);
      return;
    default:
      // The others search for nothing.
      return;
  }
}

function subqueries({ where }: Recall): Recall[] {
  return where.flatMap((condition) => (condition.op === 'in' && 'recall' in condition ? [condition.recall] : []));
}
