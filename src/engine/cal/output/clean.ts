// Text of grains on its way into a line. Whatever a grain says, it stays within the place that its format gives it: it
// starts no line, closes no element and forges no heading.

// All controls, and the two separators that many readers take for the end of a line.
const BREAKS = /[\p{Cc}\u2028\u2029]+/gu;
const BREAKS_BUT_TABS = /[[\p{Cc}\u2028\u2029]--[\t]]+/gv;

/** The text in one line: each run of line breaks and other control characters is a space. */
export function oneLine(text: string): string {
  return text.toWellFormed().replace(BREAKS, ' ');
}

/** As `oneLine`, without blanks around it. */
export function trimmedLine(text: string): string {
  return oneLine(text).trim();
}

/** For between two tags. Tabs stay. */
export function sml(text: string): string {
  return text
    .toWellFormed()
    .replace(BREAKS_BUT_TABS, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
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
