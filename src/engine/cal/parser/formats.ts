// Parses AS and FORMAT: one format, or several in brackets. Also parses the sections of templates.
import {
  FORMAT_SYNONYMS,
  FORMATS,
  type Format,
  type FormatChoice,
  SECTIONS,
  type SectionName,
  type Sections,
} from '../ast.ts';
import { CalError } from '../errors.ts';
import type { Cursor } from './cursor.ts';

/** All names of formats, synonyms included. */
export const FORMAT_WORDS: readonly string[] = [...FORMATS, ...Object.keys(FORMAT_SYNONYMS)];
const formatWords: ReadonlySet<string> = new Set(FORMAT_WORDS);
const FORMATS_EXPECTED = [...FORMAT_WORDS, 'TEMPLATE', '['];
const ALIAS = /^[a-z][a-z0-9_]*$/;

/** Parses the formats after AS or FORMAT. */
export function parseFormatChoice(cursor: Cursor): FormatChoice {
  const first = cursor.token;
  if (!cursor.isSymbol('[')) {
    const format = parseFormat(cursor);
    return { kind: 'one', format, at: cursor.spanFrom(first) };
  }
  const formats = cursor.bracketed('[', ']', () =>
    cursor.parted(() => {
      const format = parseFormat(cursor);
      if (!cursor.takeWord('as')) return { format };
      const text = cursor.token.text;
      if (cursor.token.kind === 'word' && !ALIAS.test(text)) cursor.fail(['an alias'], 'Aliases are lower case.');
      return { format, alias: cursor.expectIdentifier('an alias').text };
    }),
  );
  return { kind: 'list', formats, at: cursor.spanFrom(first) };
}

function parseFormat(cursor: Cursor): Format {
  const first = cursor.token;
  if (first.kind !== 'word') cursor.fail(FORMATS_EXPECTED);
  if (first.lower !== 'template') {
    if (!formatWords.has(first.lower)) cursor.fail(FORMATS_EXPECTED, hintFor(first.lower));
    cursor.advance();
    return { kind: 'named', name: first.lower, at: cursor.spanFrom(first) };
  }
  cursor.advance();
  const { kind, text } = cursor.token;
  if (kind === 'string') {
    cursor.advance();
    return { kind: 'template_text', text, at: cursor.spanFrom(first) };
  }
  if (cursor.isSymbol('{')) {
    const sections = cursor.bracketed('{', '}', () => parseSections(cursor));
    return { kind: 'template_sections', sections, at: cursor.spanFrom(first) };
  }
  if (kind !== 'word') cursor.fail(['the name of a template', 'a string', '{']);
  const name = cursor.expectIdentifier('the name of a template').text;
  return { kind: 'template_reference', name, at: cursor.spanFrom(first) };
}

function hintFor(word: string): string | undefined {
  return word === 'of' ? 'AS OF belongs to HISTORY … WHERE subject = … AND relation = ….' : undefined;
}

const sectionNames: ReadonlySet<string> = new Set(SECTIONS);
const SECTIONS_EXPECTED = SECTIONS.map((section) => section.toUpperCase());

/** Parses one or more sections. Throws E095 for a repeated one. */
export function parseSections(cursor: Cursor): Sections {
  const sections: Partial<Record<SectionName, string>> = {};
  for (let first = true; ; first = false) {
    const { kind, lower, start, end } = cursor.token;
    if (kind !== 'word' || !sectionNames.has(lower)) {
      if (first) cursor.fail(SECTIONS_EXPECTED);
      return sections;
    }
    const name = lower as SectionName; // The set holds only names of sections.
    if (sections[name] !== undefined)
      throw new CalError('CAL-E095', `the section ${name.toUpperCase()} occurs twice`, { at: { start, end } });
    cursor.advance();
    sections[name] = cursor.expectRaw();
  }
}
