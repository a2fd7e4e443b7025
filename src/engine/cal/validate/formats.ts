// Checks AS and FORMAT: the number of formats, their keys, and templates.
import type { FormatChoice } from '../ast.ts';
import { CalError } from '../errors.ts';
import { formatEntries } from '../output/formats/choice.ts';
import { checkTemplate } from '../output/template.ts';

/** Throws E002 for an empty list, E110 for a long one, E113 for two formats with one key, and the errors of a template. */
export function checkFormat(choice: FormatChoice): void {
  if (choice.kind === 'list' && choice.formats.length === 0)
    throw new CalError('CAL-E002', 'the list of formats is empty: name one', { at: choice.at, expected: ['a format'] });
  for (const { node } of formatEntries(choice)) {
    if (node.kind === 'template_text') checkTemplate({ text: node.text }, { at: node.at });
    if (node.kind === 'template_sections') checkTemplate({ sections: node.sections }, { at: node.at });
  }
}
