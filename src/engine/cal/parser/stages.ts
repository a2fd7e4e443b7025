// Parses stages, which process the found grains one after the other. The `|` before a stage is optional (D-11).
import type { ProjectPart, Stage } from '../ast.ts';
import type { Cursor } from './cursor.ts';
import { parseField } from './values.ts';

export const STAGE_WORDS = [
  'select',
  'order',
  'limit',
  'offset',
  'count',
  'first',
  'subjects',
  'objects',
  'hashes',
  'group',
  'project',
] as const;
const stageWords: ReadonlySet<string> = new Set(STAGE_WORDS);
export const STAGES_EXPECTED: readonly string[] = STAGE_WORDS.map((word) => word.toUpperCase());

/** Parses a stage with or without `|`; undefined if there is none here. Throws E002 if no stage follows a `|`. */
export function parseStage(cursor: Cursor): Stage | undefined {
  const piped = cursor.takeSymbol('|');
  const first = cursor.token;
  if (first.kind !== 'word' || !stageWords.has(first.lower)) return piped ? cursor.fail(STAGES_EXPECTED) : undefined;
  cursor.advance();
  return { ...stageAfter(cursor, first.lower as (typeof STAGE_WORDS)[number]), at: cursor.spanFrom(first) }; // The set holds only stage words.
}

/** Parses all stages up to the end of the statement. */
export function parseStages(cursor: Cursor): readonly Stage[] {
  const stages: Stage[] = [];
  for (let stage = parseStage(cursor); stage !== undefined; stage = parseStage(cursor)) stages.push(stage);
  return stages;
}

function stageAfter(cursor: Cursor, word: (typeof STAGE_WORDS)[number]): Stage {
  switch (word) {
    case 'select':
      return { stage: 'select', fields: cursor.list(() => parseField(cursor)) };
    case 'order': {
      cursor.expectWord('by');
      const field = parseField(cursor);
      const key = { field, ...parseDirection(cursor) };
      if (!cursor.isSymbol(',') || !cursor.atListItem()) return { stage: 'order_by', ...key };
      cursor.advance();
      const next = { field: parseField(cursor), ...parseDirection(cursor) };
      if (cursor.isSymbol(',') && cursor.atListItem())
        cursor.fail(['the next clause'], 'Sort by two fields at most: ORDER BY confidence DESC, time DESC.');
      return { stage: 'order_by', ...key, next };
    }
    case 'limit':
      return { stage: 'limit', count: cursor.expectInteger() };
    case 'offset': {
      const { kind, text, start, end } = cursor.token;
      if (kind !== 'parameter') return { stage: 'offset', count: cursor.expectInteger() };
      cursor.advance();
      return { stage: 'offset', count: { kind: 'parameter', name: text, at: { start, end } } };
    }
    case 'group':
      cursor.expectWord('by');
      return { stage: 'group_by', field: parseField(cursor) };
    case 'project':
      return { stage: 'project', parts: cursor.list(() => parsePart(cursor)) };
    case 'count':
    case 'first':
    case 'subjects':
    case 'objects':
    case 'hashes':
      return { stage: word };
  }
}

function parseDirection(cursor: Cursor): { readonly descending?: boolean } {
  if (cursor.takeWord('desc')) return { descending: true };
  return cursor.takeWord('asc') ? { descending: false } : {};
}

function parsePart(cursor: Cursor): ProjectPart {
  const first = cursor.token;
  const { lower } = first;
  if (first.kind !== 'word' || (lower !== 'content' && lower !== 'attr')) return cursor.fail(['content(', 'attr(']);
  cursor.advance();
  const fields = cursor.bracketed('(', ')', () => cursor.list(() => parseField(cursor)));
  return { into: lower, fields, at: cursor.spanFrom(first) };
}
