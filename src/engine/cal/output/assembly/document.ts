// The documents of an assembly, as long as the budget allows: measured whole, with header, headings and footer.
import type { Element, Format, Group } from '../formats/format.ts';
import type { Page } from './page.ts';
import type { RankedSource } from './ranking.ts';
import { type Choice, headOf } from './tray.ts';

interface Written {
  readonly text: string;
  readonly tokens: number;
  readonly groups: readonly Group[];
}

export interface Fitting {
  readonly count: number;
  readonly documents: readonly Written[];
}

/**
 * The documents of as many choices as fit, from the first on. Mostly all do, since costs add up to no less than the whole;
 * headings, a tokenizer that sees across elements and what a template says of the whole can make it more. undefined: not
 * even an empty document fits.
 */
export function fitting(chosen: readonly Choice[], sources: readonly RankedSource[], page: Page): Fitting | undefined {
  const whole = written(chosen, sources, page);
  if (whole !== undefined) return { count: chosen.length, documents: whole };
  let found: Fitting | undefined;
  let low = 0;
  let high = chosen.length;
  while (low < high) {
    const count = (low + high) >>> 1;
    const documents = written(chosen.slice(0, count), sources, page);
    if (documents !== undefined) found = { count, documents };
    if (documents === undefined) high = count;
    else low = count + 1;
  }
  return found;
}

/** A document for each format; undefined: one is too long. */
function written(chosen: readonly Choice[], sources: readonly RankedSource[], page: Page): Written[] | undefined {
  const documents: Written[] = [];
  for (const [i, format] of page.formats.entries()) {
    const groups = groupsOf(chosen, i, sources);
    const { text, tokens } = measured(format, groups, page);
    if (page.unit === 'tokens' && tokens > page.value) return undefined;
    if (format.charactersMax !== undefined && text.length > format.charactersMax) return undefined;
    documents.push({ text, tokens, groups });
  }
  return documents;
}

function groupsOf(chosen: readonly Choice[], format: number, sources: readonly RankedSource[]): Group[] {
  const elements = sources.map((): Element[] => []);
  const omissions = sources.map((): string[] => []);
  const used = sources.map(() => 0);
  for (const one of chosen) {
    const text = one.texts[format];
    if (one.kind === 'omission') omissions[one.source]!.push(text ?? '');
    else {
      elements[one.source]!.push({ grain: one.grain, manner: one.manner, text });
      used[one.source]! += one.cost;
    }
  }
  return sources.map((source, i) => ({
    ...headOf(source),
    elements: elements[i]!,
    omissions: omissions[i]!,
    tokensUsed: used[i]!,
    truncated: elements[i]!.length < source.grains.length,
  }));
}

/** A document that says how much it uses is written until what it says is so; the number grows with its own digits. */
const MEASURES_MAX = 8;

function measured(format: Format, groups: readonly Group[], { unit, value, counter }: Page): Omit<Written, 'groups'> {
  // The first guess has as many digits as the number mostly has.
  let used = unit === 'grains' ? groups.reduce((sum, { elements }) => sum + elements.length, 0) : value;
  for (let i = 1; ; i++) {
    const text = format.document(groups, { unit, total: value, used });
    const tokens = counter.count(text);
    if (!format.showsUse || unit === 'grains' || tokens === used || i === MEASURES_MAX) return { text, tokens };
    used = tokens;
  }
}
