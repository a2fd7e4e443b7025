// Renders a recall's grains in the requested formats.
import type { JsonObject } from '../../grain/api/json-value.ts';
import { SINGULARS, typeOfSingular } from '../vocabulary/grain-types.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { formatOf, type Rendering } from './formats/choice.ts';
import type { Element, Format, Group, Manner, Setting } from './formats/format.ts';
import type { CalGrain } from './grain.ts';
import type { Level, Project } from './projection.ts';
import { ESTIMATE, type TokenCounter } from './tokens.ts';

export interface RenderOptions {
  readonly nowMs: number;
  readonly level: Level;
  readonly isoTimestamps?: boolean | undefined;
  readonly project?: Project | undefined;
  /** Defaults to the estimate. */
  readonly counter?: TokenCounter | undefined;
  /** See `Setting.step`. */
  readonly step?: (() => void) | undefined;
}

export interface Rendered {
  readonly key: string;
  /** Data for the JSON format, text for the others. */
  readonly content: string | JsonObject[];
  /** Tokens of the text, or of the data as compact JSON. */
  readonly tokensUsed: number;
  /** Number of grains in the text. */
  readonly grainCount: number;
}

export interface RenderedAll {
  readonly renderings: readonly Rendered[];
  /** In plain language. */
  readonly warnings: readonly string[];
}

/**
 * The grains in each format. JSON, YAML and templates keep the given order. The other formats group the grains by type and
 * keep the order within a type. A pure function.
 */
export function renderGrains(
  grains: readonly CalGrain[],
  renderings: readonly Rendering[],
  options: RenderOptions,
): RenderedAll {
  const { nowMs, level, isoTimestamps = false, project, counter = ESTIMATE, step } = options;
  const setting: Setting = { shape: 'recall', level, nowMs, isoTimestamps, step };
  const manner: Manner = { level, project };
  const warnings: string[] = [];
  const rendered = renderings.map(({ key, format: resolved }): Rendered => {
    const format = formatOf(resolved, setting, CAL_LIMITS.budgetTokensDefault);
    const isByType = resolved.kind === 'named' && resolved.name !== 'json' && resolved.name !== 'yaml';
    const groups = isByType ? byType(grains) : [grains];
    const all = groups.map((some, i) => groupOf(some, i, { format, manner }));
    const { groups: kept, text } = withinBounds(all, format);
    const count = kept.reduce((sum, { elements }) => sum + elements.length, 0);
    const shown = kept.reduce((sum, { elements }) => sum + elements.filter(isShown).length, 0);
    if (shown < count) warnings.push(skippedWarning(count - shown));
    if (count < grains.length)
      warnings.push(`${grains.length - count} grains are left out: the template's text would be too long`);
    return { key, content: format.data?.(kept) ?? text, tokensUsed: counter.count(text), grainCount: shown };
  });
  return { renderings: rendered, warnings };
}

export function skippedWarning(count: number): string {
  return `triples: ${count} ${count === 1 ? 'grain has' : 'grains have'} no subject, relation and object`;
}

function isShown({ text }: Element): boolean {
  return text !== undefined;
}

/** Groups in the order of the type table. Keeps the grains' order within a type. */
function byType(grains: readonly CalGrain[]): CalGrain[][] {
  const types = new Map<string, CalGrain[]>();
  for (const grain of grains) {
    const same = types.get(grain.grainType);
    if (same === undefined) types.set(grain.grainType, [grain]);
    else same.push(grain);
  }
  const placeOf = (type: string): number => {
    const known = typeOfSingular(type);
    return known === undefined ? SINGULARS.length : SINGULARS.indexOf(known);
  };
  return [...types].sort(([a], [b]) => placeOf(a) - placeOf(b)).map(([, some]) => some);
}

function groupOf(
  grains: readonly CalGrain[],
  index: number,
  { format, manner }: { format: Format; manner: Manner },
): Group {
  const head = { label: '', index, rank: index + 1, candidates: grains.length };
  const elements = grains.map((grain): Element => ({ grain, manner, text: format.element(grain, manner, head) }));
  return { ...head, elements, omissions: [], tokensUsed: 0, truncated: false };
}

/** Cuts a document that is too long for its template after a complete element (D-36). */
function withinBounds(groups: readonly Group[], format: Format): { groups: readonly Group[]; text: string } {
  const whole = format.document(groups);
  const { charactersMax } = format;
  if (charactersMax === undefined || whole.length <= charactersMax) return { groups, text: whole };
  const [group] = groups;
  let fitting: { groups: readonly Group[]; text: string } = { groups: [], text: '' };
  let low = 0;
  let high = group?.elements.length ?? 0;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const some = group === undefined ? [] : [{ ...group, elements: group.elements.slice(0, middle) }];
    const text = format.document(some);
    if (text.length <= charactersMax) {
      fitting = { groups: some, text };
      low = middle + 1;
    } else high = middle;
  }
  return fitting;
}
