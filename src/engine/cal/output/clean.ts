// Cleans a grain's text before it is written. Hostile text must not start a line, close an element or forge a heading.

// All control characters, and the two separators that many readers treat as the end of a line.
const BREAKS = /[\p{Cc}\u2028\u2029]+/gu;
const BREAKS_BUT_TABS = /[[\p{Cc}\u2028\u2029]--[\t]]+/gv;

// A fast path: most texts are printable ASCII.
const USUAL = /^[ -~]*$/;

/** The text in one line: each run of line breaks and other control characters becomes a space. */
export function oneLine(text: string): string {
  return USUAL.test(text) ? text : text.toWellFormed().replace(BREAKS, ' ');
}

/** Like `oneLine`, without white space at the ends. */
export function trimmedLine(text: string): string {
  return oneLine(text).trim();
}

const MARKUP = /[&<>]/;

/** Text between two tags, escaped. Keeps tabs. */
export function sml(text: string): string {
  const line = USUAL.test(text) ? text : text.toWellFormed().replace(BREAKS_BUT_TABS, ' ');
  return MARKUP.test(line) ? line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') : line;
}

/** Text of an attribute between double quotes, escaped. It is safe between tags too. */
export function smlAttribute(text: string): string {
  return sml(text).replaceAll('\t', ' ').replaceAll('"', '&quot;');
}

// Starts a block at the beginning of a list item: headings, lists, quotes, fences, tags.
const BLOCK_START = /^(?:[#\->`<]|~~~|[*+](?:\s|$))/;

/** One line that markdown reads as plain text. A block marker at its start is escaped. */
export function markdown(text: string): string {
  const line = trimmedLine(text);
  return BLOCK_START.test(line) ? `\\${line}` : line;
}
