// The documents of an assembly, as long as the budget allows: measured whole, with header, headings and footer.
import type { Element, Format, Group } from '../formats/format.ts';
import { type Choice, headOf } from './bin.ts';
import type { Page } from './page.ts';
import type { RankedSource } from './ranking.ts';

interface Written {
  readonly text: string;
  readonly tokens: number;
  readonly groups: readonly Group[];
}

export interface Fitting {
  readonly count: number;
  readonly documents: readonly Written[];
}

/** Times that as much is given up as there is too much, before what fits is searched for. */
const TRIMS_MAX = 4;

/**
 * The documents of as many choices as fit, from the first on. Mostly all do, since costs add up to no less than the whole;
 * headings, a tokenizer that sees across elements and what a template says of the whole can make it more. undefined: not
 * even an empty document fits.
 */
export function fitting(chosen: readonly Choice[], sources: readonly RankedSource[], page: Page): Fitting | undefined {
  let count = chosen.length;
  for (let trim = 0; trim <= TRIMS_MAX; trim++) {
    const { documents, excess } = written(chosen.slice(0, count), sources, page);
    if (excess <= 0) return { count, documents };
    if (count === 0) return undefined;
    const left = afterGivingUp(chosen, count, excess);
    // Costs that say so little of the document, or are one a grain, are no guide.
    if (left < count / 2 || page.unit === 'grains') break;
    count = left;
  }
  return searched(chosen.slice(0, count), sources, page);
}

/** How many of the first `count` are left without the last ones that cost `tokens` together. */
function afterGivingUp(chosen: readonly Choice[], count: number, tokens: number): number {
  for (let given = 0; count > 0 && given < tokens; ) given += chosen[--count]!.cost;
  return count;
}

/** By halves: what a document costs may have little to do with its elements. */
function searched(chosen: readonly Choice[], sources: readonly RankedSource[], page: Page): Fitting | undefined {
  let found: Fitting | undefined;
  let low = 0;
  let high = chosen.length + 1;
  while (low < high) {
    const count = (low + high) >>> 1;
    const { documents, excess } = written(chosen.slice(0, count), sources, page);
    if (excess > 0) high = count;
    else {
      found = { count, documents };
      low = count + 1;
    }
  }
  return found;
}

/** A document for each format, and how many tokens the worst of them has too many. */
function written(
  chosen: readonly Choice[],
  sources: readonly RankedSource[],
  page: Page,
): { documents: Written[]; excess: number } {
  let excess = 0;
  const documents = page.formats.map((format, i): Written => {
    const groups = groupsOf(chosen, i, sources);
    const { text, tokens } = measured(format, groups, page);
    if (page.unit === 'tokens') excess = Math.max(excess, tokens - page.value);
    const characters = text.length - (format.charactersMax ?? Number.POSITIVE_INFINITY);
    // A token is four characters at most.
    if (characters > 0) excess = Math.max(excess, Math.ceil(characters / 4));
    return { text, tokens, groups };
  });
  return { documents, excess };
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
const MEASURES_MAX = 4;

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
