// A grain as one readable line: who, what, and notes in brackets such as confidence, state or time. Markdown and plain text
// share it and differ only in escaping and prefix.
import { defined } from '../../../base/defined.ts';
import { formOf } from '../forms.ts';
import type { CalGrain } from '../grain.ts';
import { decimal } from '../humanize.ts';
import { project, type View } from '../projection.ts';

export interface Line {
  /** The subject of a belief or goal, the role of an event, the tool of an action. */
  readonly lead?: { readonly text: string; readonly isSentence: boolean };
  readonly text: string;
  /** The notes in brackets. A note has no name if its value is clear without one. */
  readonly notes: readonly { readonly name?: string; readonly text: string }[];
}

/** The pieces of a grain's line. `namesNumbers` gives numbers in brackets a name, so that they cannot be confused. */
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
  return defined({ text, notes, lead: lead === undefined ? undefined : { text: lead, isSentence } });
}

/** Joins the pieces of a line. `clean` makes each piece safe. */
export function written({ lead, text, notes }: Line, clean: (text: string) => string): string {
  const who = lead === undefined ? '' : clean(lead.text);
  const start = who === '' ? '' : `${who}${lead?.isSentence === true ? ' ' : ': '}`;
  const marks = notes.map(({ name, text: note }) => (name === undefined ? clean(note) : `${name}: ${clean(note)}`));
  return `${start}${clean(text)}${marks.length === 0 ? '' : ` (${marks.join(', ')})`}`;
}
