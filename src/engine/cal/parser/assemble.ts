// ASSEMBLE: context from several recalls. Its clauses stand in one order, and one out of place is named, never dropped.
import type { Assemble, AssembleSource, FormatChoice, ParameterValue, StreamOptions, Word } from '../ast.ts';
import type { Cursor } from './cursor.ts';
import { parseFormatChoice } from './formats.ts';
import { parseOptions } from './options.ts';
import { parseRecall } from './recall.ts';

const ORDER = ['FOR', 'FROM', 'BUDGET', 'PRIORITY', 'FORMAT', 'STREAM', 'WITH'] as const;
const clauses: ReadonlySet<string> = new Set(ORDER.map((word) => word.toLowerCase()));

/** A whole ASSEMBLE, from its first word. */
export function parseAssemble(cursor: Cursor): Assemble {
  const first = cursor.expectWord('assemble');
  const { kind, lower } = cursor.token;
  const name =
    (kind === 'word' && clauses.has(lower)) || kind === 'end' ? undefined : cursor.expectIdentifier('a name').text;
  const intent = cursor.takeWord('for') ? cursor.expectString() : undefined;
  if (!cursor.isWord('from')) failOrder(cursor, ['FROM']);
  cursor.advance();
  const sources = cursor.parted(() => parseSource(cursor));
  const budget = cursor.isWord('budget') ? parseBudget(cursor) : undefined;
  const priority = cursor.takeWord('priority') ? parsePriority(cursor) : [];
  const format: FormatChoice | undefined = cursor.takeWord('format') ? parseFormatChoice(cursor) : undefined;
  const stream = cursor.isWord('stream') ? parseStream(cursor) : undefined;
  const options = cursor.takeWord('with') ? parseOptions(cursor) : [];
  const after = cursor.token;
  if (after.kind === 'word' && (clauses.has(after.lower) || after.lower === 'as')) failOrder(cursor, [';', 'the end']);
  return {
    kind: 'assemble',
    ...(name !== undefined && { name }),
    ...(intent !== undefined && { for: intent }),
    sources,
    ...(budget && { budget }),
    priority,
    ...(format && { format }),
    ...(stream && { stream }),
    with: options,
    at: cursor.spanFrom(first),
  };
}

function failOrder(cursor: Cursor, expected: readonly string[]): never {
  const hint = cursor.isWord('as') ? 'ASSEMBLE takes FORMAT, not AS. ' : '';
  return cursor.fail(
    expected,
    `${hint}The clauses of ASSEMBLE stand in this order, each at most once: ${ORDER.join(', ')}.`,
  );
}

function parseSource(cursor: Cursor): AssembleSource {
  const first = cursor.token;
  let label: Word | undefined;
  if (cursor.isSymbol(':', 1)) {
    label = cursor.expectLabel();
    cursor.expectSymbol(':');
  }
  const { kind } = cursor.token;
  if (kind !== 'parameter' && !cursor.isSymbol('('))
    cursor.fail(
      ['(', 'a parameter'],
      'Sources are recalls in parentheses: FROM prefs: (RECALL beliefs ABOUT "alice").',
    );
  const from =
    kind === 'parameter'
      ? parseParameter(cursor)
      : cursor.bracketed('(', ')', () =>
          cursor.token.kind === 'parameter' ? parseParameter(cursor) : parseRecall(cursor),
        );
  return { ...(label && { label }), from, at: cursor.spanFrom(first) };
}

function parseParameter(cursor: Cursor): ParameterValue {
  const { text, start, end } = cursor.advance();
  return { kind: 'parameter', name: text, at: { start, end } };
}

function parseBudget(cursor: Cursor): NonNullable<Assemble['budget']> {
  const first = cursor.expectWord('budget');
  const value = cursor.expectInteger();
  const unit = cursor.isWord('tokens') ? 'tokens' : cursor.isWord('grains') ? 'grains' : undefined;
  if (unit === undefined) return cursor.fail(['tokens', 'grains']);
  cursor.advance();
  return { value, unit, at: cursor.spanFrom(first) };
}

function parsePriority(cursor: Cursor): readonly Word[] {
  const labels = [cursor.expectLabel()];
  while (cursor.takeSymbol('>')) labels.push(cursor.expectLabel());
  return labels;
}

function parseStream(cursor: Cursor): StreamOptions {
  const first = cursor.expectWord('stream');
  const events: Word[] = [];
  if (!cursor.isSymbol('{')) return { events, at: cursor.spanFrom(first) };
  let chunkSize: number | undefined;
  cursor.bracketed('{', '}', () =>
    cursor.parted(() => {
      const { kind, lower, start, end } = cursor.token;
      if (kind !== 'word') cursor.fail(['progress', 'budget', 'chunks', 'all', 'chunk_size =']);
      if (lower === 'chunk_size' && chunkSize !== undefined)
        cursor.fail(['another option'], 'chunk_size stands twice.');
      cursor.advance();
      if (lower !== 'chunk_size') {
        events.push({ word: lower, at: { start, end } });
        return;
      }
      cursor.expectSymbol('=');
      chunkSize = cursor.expectInteger();
    }),
  );
  return { events, ...(chunkSize !== undefined && { chunkSize }), at: cursor.spanFrom(first) };
}
