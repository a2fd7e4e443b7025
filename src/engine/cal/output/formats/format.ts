// The interface of a format: how it writes one grain, and how it joins many. Budgets are filled by the first and
// checked by the second.
import type { JsonObject } from '../../../grain/api/json-value.ts';
import { typeOfSingular } from '../../vocabulary/grain-types.ts';
import type { CalGrain } from '../grain.ts';
import type { Level, Project, View } from '../projection.ts';

/** Properties of a whole document, known before grains are selected. */
export interface Setting {
  /** The grains of a recall are grouped by type, those of an assembly by source. */
  readonly shape: 'recall' | 'assemble';
  readonly level: Level;
  readonly nowMs: number;
  readonly isoTimestamps: boolean;
  /** The name of the assembled context. */
  readonly name?: string | undefined;
  readonly intent?: string | undefined;
  /** Called between pieces of work. It throws after the deadline. */
  readonly step?: (() => void) | undefined;
}

/** How one grain is shown. */
export interface Manner {
  readonly level: Level;
  readonly project?: Project | undefined;
}

export interface Element {
  readonly grain: CalGrain;
  readonly manner: Manner;
  /** The result of `element`; undefined if the format leaves the grain out. */
  readonly text: string | undefined;
}

/** Grains that are shown together: a source of an assembly, or a type of a recall. */
export interface Group {
  readonly label: string;
  /** Index in FROM, from 0. */
  readonly index: number;
  /** Importance, from 1 for the most important. */
  readonly rank: number;
  readonly elements: readonly Element[];
  /** Results of `omission` for the grains that did not fit. */
  readonly omissions: readonly string[];
  readonly tokensUsed: number;
  readonly truncated: boolean;
}

/** The budget of an assembly, and the part that the document uses. */
export interface Tally {
  readonly unit: 'tokens' | 'grains';
  readonly total: number;
  readonly used: number;
}

export interface Format {
  /** One grain with its line break; undefined if the format cannot show it. */
  element(grain: CalGrain, manner: Manner, group: GroupHead): string | undefined;
  /** The text for a grain that did not fit, with its line break; empty for none. */
  readonly omission?: ((grain: CalGrain, group: GroupHead) => string) | undefined;
  /** The whole document, without a line break at the end. Skips groups without elements and omissions. */
  document(groups: readonly Group[], tally?: Tally): string;
  /** True if the document states its use of the budget. */
  readonly showsUse: boolean;
  /** True if the format has its own form for grains that are reduced to a summary. */
  readonly hasSummary?: boolean;
  /** The document as data, for data formats. */
  readonly data?: (groups: readonly Group[]) => JsonObject[];
  /** Maximum characters of a document, for formats that callers define. */
  readonly charactersMax?: number;
}

/** The properties of a group that are known before it is filled. */
export type GroupHead = Pick<Group, 'label' | 'index' | 'rank'> & { readonly candidates: number };

/** Makes a format for one document. */
export type FormatMaker = (setting: Setting) => Format;

export function viewOf({ nowMs, isoTimestamps }: Setting, { level, project }: Manner): View {
  return { level, nowMs, isoTimestamps, project };
}

/** The name of a known type, else `grain`, so that a tag or heading never holds a grain's own text. */
export function tagOf(grainType: string): string {
  return typeOfSingular(grainType) ?? 'grain';
}

/** The texts of all elements, each with its line break. */
export function textsOf(groups: readonly Group[]): string {
  return groups.map(({ elements }) => elements.map(({ text }) => text ?? '').join('')).join('');
}

/** The text without a line break at its end. */
export function unbroken(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}
