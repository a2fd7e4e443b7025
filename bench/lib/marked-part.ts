// A part of a document that a command writes, between two marks.

/** The text with `part` between the marks. Throws when one of them is missing. */
export function written(text: string, marks: { readonly begin: string; readonly end: string }, part: string): string {
  const [before, rest] = halves(text, marks.begin);
  const [, after] = halves(rest, marks.end);
  return `${before}${marks.begin}\n\n${part}\n${marks.end}${after}`;
}

function halves(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`the document has no line ${mark}`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}
