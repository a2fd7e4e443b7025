// Parses ASSEMBLE, which builds a context from several recalls. A clause that is out of place is refused or noted as an
// extension, never dropped.
import { defined } from '../../base/defined.ts';
import type { Assemble, AssembleSource, FormatChoice, ParameterValue, StreamOptions, Word } from '../ast.ts';
import type { Cursor } from './cursor.ts';
import { parseFormatChoice } from './formats.ts';
import { parseOptions } from './options.ts';
import { parseSetOperation } from './reads.ts';
import { parseRecall } from './recall.ts';

const ORDER = ['FOR', 'FROM', 'BUDGET', 'PRIORITY', 'FORMAT', 'STREAM', 'WITH'] as const;
const clauses: ReadonlySet<string> = new Set(ORDER.map((word) => word.toLowerCase()));

/** Parses a whole ASSEMBLE. */
export function parseAssemble(cursor: Cursor): Assemble {
  const first = cursor.expectWord('assemble');
  const { kind, lower } = cursor.token;
  const name =
    (kind === 'word' && clauses.has(lower)) || kind === 'end' ? undefined : cursor.expectIdentifier('a name').text;
  const intent = cursor.takeWord('for') ? cursor.expectString() : undefined;
  if (!cursor.isWord('from')) failOrder(cursor, ['FROM']);
  cursor.advance();
  const sources = cursor.parted(() => parseSource(cursor));
  const { budget, priority = [], format, stream, with: options = [] } = parseClauses(cursor);
  const after = cursor.token;
  if (after.kind === 'word' && (clauses.has(after.lower) || after.lower === 'as')) failOrder(cursor, [';', 'the end']);
  return defined({
    kind: 'assemble',
    name,
    for: intent,
    sources,
    budget,
    priority,
    format,
    stream,
    with: options,
    at: cursor.spanFrom(first),
  });
}

interface Clauses {
  budget?: NonNullable<Assemble['budget']>;
  priority?: readonly Word[];
  format?: FormatChoice;
  stream?: StreamOptions;
  with?: Assemble['with'];
}

/** Parses the clauses after the sources, each at most once. Any order but the standard one is an extension. */
function parseClauses(cursor: Cursor): Clauses {
  const found: Clauses = {};
  let last = -1;
  for (;;) {
    const { kind, lower, start, end } = cursor.token;
    const place = kind === 'word' ? (BEHIND_SOURCES as readonly string[]).indexOf(lower) : -1;
    const word = BEHIND_SOURCES[place];
    if (word === undefined) return found;
    if (found[word] !== undefined) return failOrder(cursor, [';', 'the end']);
    if (place < last) cursor.extensions.use('clause_order', { start, end });
    last = Math.max(last, place);
    switch (word) {
      case 'budget':
        found.budget = parseBudget(cursor);
        break;
      case 'priority':
        cursor.advance();
        found.priority = parsePriority(cursor);
        break;
      case 'format':
        cursor.advance();
        found.format = parseFormatChoice(cursor);
        break;
      case 'stream':
        found.stream = parseStream(cursor);
        break;
      case 'with':
        cursor.advance();
        found.with = parseOptions(cursor);
        break;
    }
  }
}

const BEHIND_SOURCES = ['budget', 'priority', 'format', 'stream', 'with'] as const;

function failOrder(cursor: Cursor, expected: readonly string[]): never {
  const hint = cursor.isWord('as') ? 'ASSEMBLE takes FORMAT, not AS. ' : '';
  return cursor.fail(
    expected,
    `${hint}The clauses of ASSEMBLE have this order, each at most once: ${ORDER.join(', ')}.`,
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
  const from = kind === 'parameter' ? parseParameter(cursor) : cursor.bracketed('(', ')', () => parseInside(cursor));
  return defined({ label, from, at: cursor.spanFrom(first) });
}

function parseInside(cursor: Cursor): AssembleSource['from'] {
  if (cursor.token.kind === 'parameter') return parseParameter(cursor);
  return cursor.isSymbol('(') ? parseSetOperation(cursor) : parseRecall(cursor);
}

function parseParameter(cursor: Cursor): ParameterValue {
  const { text, start, end } = cursor.advance();
  return { kind: 'parameter', name: text, at: { start, end } };
}

function parseBudget(cursor: Cursor): NonNullable<Assemble['budget']> {
  const first = cursor.expectWord('budget');
  const value = cursor.expectInteger();
  const unit = cursor.isWord('tokens') ? 'tokens' : cursor.isWord('grains') ? 'grains' : undefined;
  if (unit === undefined) {
    const { kind, lower } = cursor.token;
    const isOver = kind !== 'word' || clauses.has(lower);
    return isOver ? { value, at: cursor.spanFrom(first) } : cursor.fail(['tokens', 'grains']);
  }
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
        cursor.fail(['another option'], 'chunk_size occurs twice.');
      cursor.advance();
      if (lower !== 'chunk_size') {
        events.push({ word: lower, at: { start, end } });
        return;
      }
      cursor.expectSymbol('=');
      chunkSize = cursor.expectInteger();
    }),
  );
  return defined({ events, chunkSize, at: cursor.spanFrom(first) });
}
