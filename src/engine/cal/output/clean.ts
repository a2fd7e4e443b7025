// Text of grains on its way into a line. Whatever a grain says, it stays within the place that its format gives it: it
// starts no line, closes no element and forges no heading.

// All controls, and the two separators that many readers take for the end of a line.
const BREAKS = /[\p{Cc}\u2028\u2029]+/gu;
const BREAKS_BUT_TABS = /[[\p{Cc}\u2028\u2029]--[\t]]+/gv;

// Most texts have nothing else, and need not be looked at twice.
const USUAL = /^[ -~]*$/;

/** The text in one line: each run of line breaks and other control characters is a space. */
export function oneLine(text: string): string {
  return USUAL.test(text) ? text : text.toWellFormed().replace(BREAKS, ' ');
}

/** As `oneLine`, without blanks around it. */
export function trimmedLine(text: string): string {
  return oneLine(text).trim();
}

const MARKUP = /[&<>]/;

/** For between two tags. Tabs stay. */
export function sml(text: string): string {
  const line = USUAL.test(text) ? text : text.toWellFormed().replace(BREAKS_BUT_TABS, ' ');
  return MARKUP.test(line) ? line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') : line;
}

/** For between the quotes of an attribute, and between tags too. */
export function smlAttribute(text: string): string {
  return sml(text).replaceAll('\t', ' ').replaceAll('"', '&quot;');
}

// What opens a block of its own at the start of a list item: headings, lists, quotes, fences, tags.
const BLOCK_START = /^(?:[#\->`<]|~~~|[*+](?:\s|$))/;

/** One line that starts as text does in markdown. */
export function markdown(text: string): string {
  const line = trimmedLine(text);
  return BLOCK_START.test(line) ? `\\${line}` : line;
}
