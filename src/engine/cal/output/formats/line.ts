// A grain in a line for people: who, what, and in brackets how sure, in which state or when. Markdown and plain text
// differ only in how they write the pieces down.
import { formOf } from '../forms.ts';
import type { CalGrain } from '../grain.ts';
import { decimal } from '../humanize.ts';
import { project, type View } from '../projection.ts';

export interface Line {
  /** The subject of a belief or goal, the role of an event, the tool of an action. */
  readonly lead?: { readonly text: string; readonly isSentence: boolean };
  readonly text: string;
  /** What stands in brackets; without a name where the value speaks for itself. */
  readonly notes: readonly { readonly name?: string; readonly text: string }[];
}

/** `namesNumbers`: a number in brackets is named, so that it is not taken for another. */
export function lineOf(grain: CalGrain, view: View, namesNumbers: boolean): Line {
  const { text, attributes } = project(grain, view);
  const own = view.project === undefined;
  const { lead: leading, isSentence = false, note: noted } = formOf(grain.grainType).line;
  const notes: { name?: string; text: string }[] = [];
  let lead: string | undefined;
  for (const { name, value } of attributes) {
    const written = typeof value === 'number' ? decimal(value) : value;
    if (own && name === leading) lead = written;
    else if (own && name === noted && !(namesNumbers && typeof value === 'number')) notes.push({ text: written });
    else if (!own || name === noted || view.level === 'full') notes.push({ name, text: written });
  }
  return { text, notes, ...(lead !== undefined && { lead: { text: lead, isSentence } }) };
}

/** The pieces of a line put together; `clean` makes each safe. */
export function written({ lead, text, notes }: Line, clean: (text: string) => string): string {
  const who = lead === undefined ? '' : clean(lead.text);
  const start = who === '' ? '' : `${who}${lead?.isSentence === true ? ' ' : ': '}`;
  const marks = notes.map(({ name, text: note }) => (name === undefined ? clean(note) : `${name}: ${clean(note)}`));
  return `${start}${clean(text)}${marks.length === 0 ? '' : ` (${marks.join(', ')})`}`;
}
