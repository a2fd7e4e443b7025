// The markdown format: a heading for each type, with a list of grains.
import { pluralOf, typeOfSingular } from '../../vocabulary/grain-types.ts';
import { markdown } from '../clean.ts';
import { type Format, type Group, type Setting, viewOf } from './format.ts';
import { lineOf, written } from './line.ts';

export function markdownFormat(setting: Setting): Format {
  return {
    showsUse: false,
    element: (grain, manner) => `- ${written(lineOf(grain, viewOf(setting, manner), true), markdown)}\n`,
    document(groups) {
      const title = setting.intent ?? setting.name;
      const blocks = setting.shape === 'recall' || title === undefined ? [] : [`## Context: ${markdown(title)}\n`];
      for (const run of runs(groups)) blocks.push(heading(run.grainType, setting) + run.text);
      return blocks.join('\n').replace(/\n$/, '');
    },
  };
}

function heading(grainType: string, { shape }: Setting): string {
  const type = typeOfSingular(grainType);
  const plural = type === undefined ? 'grains' : pluralOf(type);
  const words = plural[0]!.toUpperCase() + plural.slice(1);
  return shape === 'recall' ? `## ${words}\n` : `**${words}**\n`;
}

/** Adjacent grains of one type share a heading, across sources too. No grain is moved. */
function runs(groups: readonly Group[]): { grainType: string; text: string }[] {
  const found: { grainType: string; text: string }[] = [];
  for (const { elements } of groups) {
    for (const { grain, text = '' } of elements) {
      const last = found.at(-1);
      if (last?.grainType === grain.grainType) last.text += text;
      else found.push({ grainType: grain.grainType, text });
    }
  }
  return found;
}
