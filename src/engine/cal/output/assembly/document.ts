// Writes the documents of an assembly within the budget. Measures whole documents, with header, headings and footer.
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

/** Attempts to give up as much as the excess, before a binary search for what fits. */
const TRIMS_MAX = 4;

/**
 * The documents of as many first choices as fit. Usually all fit, because the sum of their costs is at least the cost
 * of the whole. Headings, a tokenizer that merges across elements, and late variables of a template can make the whole
 * cost more. Undefined if not even an empty document fits.
 */
export function fitting(chosen: readonly Choice[], sources: readonly RankedSource[], page: Page): Fitting | undefined {
  let count = chosen.length;
  for (let trim = 0; trim <= TRIMS_MAX; trim++) {
    const { documents, excess } = written(chosen.slice(0, count), sources, page);
    if (excess <= 0) return { count, documents };
    if (count === 0) return undefined;
    const left = afterGivingUp(chosen, count, excess);
    // Costs that predict the document so badly, or that only count grains, are no guide.
    if (left < count / 2 || page.unit === 'grains') break;
    count = left;
  }
  return searched(chosen.slice(0, count), sources, page);
}

/** The number of first choices that remain when the last of `count` are given up until `tokens` are saved. */
function afterGivingUp(chosen: readonly Choice[], count: number, tokens: number): number {
  for (let given = 0; count > 0 && given < tokens; ) given += chosen[--count]!.cost;
  return count;
}

/** A binary search, because the cost of a document may differ much from the costs of its elements. */
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

/** A document for each format, and the largest excess of tokens among them. */
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

/** A document that states its own use is rewritten until the number is right, because its digits count too. */
const MEASURES_MAX = 4;

function measured(format: Format, groups: readonly Group[], { unit, value, counter }: Page): Omit<Written, 'groups'> {
  // The first guess usually has as many digits as the final number.
  let used = unit === 'grains' ? groups.reduce((sum, { elements }) => sum + elements.length, 0) : value;
  for (let i = 1; ; i++) {
    const text = format.document(groups, { unit, total: value, used });
    const tokens = counter.count(text);
    if (!format.showsUse || unit === 'grains' || tokens === used || i === MEASURES_MAX) return { text, tokens };
    used = tokens;
  }
}
