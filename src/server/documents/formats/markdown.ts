// Markdown stays as it is; its headings make the sections. Headings in fenced code are code.
import { withoutAtEnd } from '../../../engine/base/without-at-end.ts';
import { cleanText, HeadingPath, type SectionWriter } from '../section-writer.ts';

const BLANKS = ' \t';
const ATX = /^ {0,3}(#{1,6})(?:[ \t]+|$)/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

interface Heading {
  readonly level: number;
  readonly text: string;
}

export function readMarkdown(source: string, out: SectionWriter): void {
  const text = cleanText(source);
  const path = new HeadingPath();
  let sectionFrom = 0;
  let fence: string | undefined;
  let previous = '';
  let previousFrom = 0;
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    const to = end === -1 ? text.length : end;
    // Only these characters begin a line that matters, and most lines begin with another.
    const line = begins(text, from) || previous !== '' ? text.slice(from, to) : '';
    const fenced = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      if (fenced?.startsWith(fence) === true) fence = undefined;
    } else if (fenced !== undefined) fence = fenced;
    else {
      const atx = atxHeading(line);
      const heading = atx ?? underlined(previous, line);
      if (heading !== undefined) {
        const begin = atx === undefined ? previousFrom : from;
        out.write(text.slice(sectionFrom, begin));
        out.begin({ headings: path.enter(heading.level, plainText(heading.text)) });
        out.heading(text.slice(begin, to + 1));
        sectionFrom = Math.min(to + 1, text.length);
      }
    }
    const mayBeUnderlined = fence === undefined && isUnderlineAhead(text, to + 1);
    previous = mayBeUnderlined ? text.slice(from, to) : '';
    previousFrom = from;
    from = to + 1;
  }
  out.write(text.slice(sectionFrom));
}

/** True when the line at `from` may be a heading or a fence. */
function begins(text: string, from: number): boolean {
  let at = from;
  while (at < from + 3 && text.charCodeAt(at) === 0x20) at++;
  const unit = text.charCodeAt(at);
  return unit === 0x23 || unit === 0x60 || unit === 0x7e;
}

function isUnderlineAhead(text: string, from: number): boolean {
  let at = from;
  while (at < from + 3 && text.charCodeAt(at) === 0x20) at++;
  const unit = text.charCodeAt(at);
  return unit === 0x3d || unit === 0x2d;
}

function atxHeading(line: string): Heading | undefined {
  const match = ATX.exec(line);
  if (match === null) return undefined;
  const text = withoutAtEnd(line.slice(match[0].length), BLANKS);
  const open = withoutAtEnd(text, '#');
  // A closing sequence of number signs follows a blank.
  const isClosed = open.length < text.length && BLANKS.includes(open.at(-1) ?? 'x');
  return { level: match[1]?.length ?? 1, text: isClosed ? withoutAtEnd(open, BLANKS) : text };
}

/** A line of text over a line of `=` or `-`. */
function underlined(above: string, line: string): Heading | undefined {
  if (above.trim() === '' || /^ {0,3}(?:[#>*+|-]|\d+[.)])/.test(above)) return undefined;
  const match = UNDERLINE.exec(line);
  return match === null ? undefined : { level: match[1]?.startsWith('=') === true ? 1 : 2, text: above };
}

/** More than any heading needs. Unclosed brackets take the square of the length. */
const HEADING_CHARS_READ = 4_096;

/** The words of a heading, without links, emphasis and code marks. */
function plainText(markdown: string): string {
  return markdown
    .slice(0, HEADING_CHARS_READ)
    .toWellFormed()
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`~]+/g, '')
    .trim();
}
