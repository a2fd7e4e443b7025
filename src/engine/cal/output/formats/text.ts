// The plain text format: one line for each grain, with its type in front.
import { trimmedLine } from '../clean.ts';
import { type Format, type Setting, tagOf, textsOf, unbroken, viewOf } from './format.ts';
import { lineOf, written } from './line.ts';

export function textFormat(setting: Setting): Format {
  return {
    showsUse: false,
    element: (grain, manner) =>
      `[${tagOf(grain.grainType)}] ${written(lineOf(grain, viewOf(setting, manner), false), trimmedLine)}\n`,
    document: (groups) => unbroken(textsOf(groups)),
  };
}
