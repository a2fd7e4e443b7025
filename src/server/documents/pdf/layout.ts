// Lines of a PDF as sections: a page each, divided at headings. A PDF has no headings of its own. Those of its outline are
// sure. Without one, lines of a larger size count, unless so many are large that size says nothing.
import { cleanText, HeadingPath, type SectionWriter } from '../section-writer.ts';
import type { OutlineEntry, PdfLine, PdfText } from './page-lines.ts';

/** Returns false for a file without any text. */
export function writePdf({ pages, outline }: PdfText, out: SectionWriter): boolean {
  const headings = outline.length > 0 ? outlineHeadings(outline) : sizeHeadings(pages);
  const path = new HeadingPath();
  let hasText = false;
  for (const [at, lines] of pages.entries()) {
    const page = at + 1;
    out.begin({ headings: path.path, page });
    const awaited = headings.ofPage(page);
    for (const entry of awaited.unseen(lines)) out.begin({ headings: path.enter(entry.level, entry.title), page });
    for (const [index, line] of lines.entries()) {
      const text = cleanText(line.text).trim();
      if (text === '') continue;
      hasText = true;
      const level = awaited.levelOf(line, text);
      if (level !== undefined) {
        out.begin({ headings: path.enter(level, text), page });
        out.heading(`${text}\n\n`);
      } else out.write(joined(text, line, lines[index + 1]));
    }
  }
  return hasText;
}

/** The headings that a page may have. */
interface PageHeadings {
  /** Headings that no line of the page shows: they hold from its top. */
  unseen(lines: readonly PdfLine[]): readonly OutlineEntry[];
  levelOf(line: PdfLine, text: string): number | undefined;
}

interface Headings {
  ofPage(page: number): PageHeadings;
}

/** A text for comparing: letters and digits alone. */
function bare(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

function outlineHeadings(outline: readonly OutlineEntry[]): Headings {
  const byPage = new Map<number, OutlineEntry[]>();
  for (const entry of outline) byPage.set(entry.page, [...(byPage.get(entry.page) ?? []), entry]);
  return {
    ofPage(page) {
      const entries = byPage.get(page) ?? [];
      const levels = new Map(entries.map(({ title, level }) => [bare(title), level]));
      return {
        unseen: (lines) => {
          if (entries.length === 0) return entries;
          const shown = new Set(lines.map(({ text }) => bare(text)));
          return entries.filter(({ title }) => !shown.has(bare(title)));
        },
        levelOf: (_, text) => (levels.size === 0 ? undefined : levels.get(bare(text))),
      };
    },
  };
}

/** How much larger than the text a heading is, at least. */
const HEADING_RATIO = 1.15;
const HEADING_CHARS_MAX = 120;
/** More text of heading size than this share, or more sizes of it, are a design and no structure. */
const HEADING_SHARE_MAX = 0.1;
const HEADING_SIZES_MAX = 4;

function sizeHeadings(pages: PdfText['pages']): Headings {
  const chars = new Map<number, number>();
  for (const lines of pages)
    for (const { text, size } of lines) chars.set(rounded(size), (chars.get(rounded(size)) ?? 0) + text.length);
  const total = [...chars.values()].reduce((sum, count) => sum + count, 0);
  const [body] = [...chars].reduce((most, one) => (one[1] > most[1] ? one : most), [0, 0]);
  const sizes = [...chars.keys()].filter((size) => size >= body * HEADING_RATIO).sort((a, b) => b - a);
  const share = sizes.reduce((sum, size) => sum + (chars.get(size) ?? 0), 0) / Math.max(1, total);
  const isStructure = sizes.length <= HEADING_SIZES_MAX && share <= HEADING_SHARE_MAX;
  const levels = new Map(isStructure ? sizes.map((size, at) => [size, at + 1] as const) : []);
  const page: PageHeadings = {
    unseen: () => [],
    levelOf: ({ size }, text) =>
      text.length <= HEADING_CHARS_MAX && /\p{L}/u.test(text) ? levels.get(rounded(size)) : undefined,
  };
  return { ofPage: () => page };
}

/** Sizes differ by rounding errors. */
function rounded(size: number): number {
  return Math.round(size * 2) / 2;
}

/** Baselines further apart than this, in sizes of the text, are paragraphs. */
const PARAGRAPH_GAP = 1.75;

/** A line with what separates it from the next one. A word that is divided between two lines becomes whole. */
function joined(text: string, line: PdfLine, next: PdfLine | undefined): string {
  if (next === undefined) return `${text}\n`;
  const gap = line.y - next.y;
  if (gap < 0 || gap > PARAGRAPH_GAP * Math.max(line.size, next.size, 1)) return `${text}\n\n`;
  if (/\p{Ll}[-\u2010]$/u.test(text) && /^\s*\p{Ll}/u.test(next.text)) return text.slice(0, -1);
  return `${text}\n`;
}
