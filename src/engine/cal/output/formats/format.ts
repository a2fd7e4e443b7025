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
  /** Of the context that is assembled. */
  readonly name?: string | undefined;
  readonly intent?: string | undefined;
  /** Called between pieces of work: it throws when nobody waits any more. */
  readonly step?: (() => void) | undefined;
}

/** How one grain is to be shown. */
export interface Manner {
  readonly level: Level;
  readonly project?: Project | undefined;
}

export interface Element {
  readonly grain: CalGrain;
  readonly manner: Manner;
  /** What `element` gave, or undefined where the format leaves the grain out. */
  readonly text: string | undefined;
}

/** What stands together: a source of an assembly, a type of a recall. */
export interface Group {
  readonly label: string;
  /** Place in FROM, from 0. */
  readonly index: number;
  /** From 1, the most important first. */
  readonly rank: number;
  readonly elements: readonly Element[];
  /** What `omission` gave for grains that found no room. */
  readonly omissions: readonly string[];
  readonly tokensUsed: number;
  readonly truncated: boolean;
}

/** The budget of an assembly, with what the document takes of it. */
export interface Tally {
  readonly unit: 'tokens' | 'grains';
  readonly total: number;
  readonly used: number;
}

export interface Format {
  /** One grain with the break behind it; undefined: this format has nothing to say of it. */
  element(grain: CalGrain, manner: Manner, group: GroupHead): string | undefined;
  /** What is written for a grain that found no room, with its break; '' for nothing. */
  readonly omission?: (grain: CalGrain, group: GroupHead) => string;
  /** Everything, without a break at the end. Groups without elements and omissions are passed over. */
  document(groups: readonly Group[], tally?: Tally): string;
  /** True when the document says how much it uses. */
  readonly showsUse: boolean;
  /** True when it has a form of its own for grains that are squeezed to a summary. */
  readonly hasSummary?: boolean;
  /** The document as data, for a format that is data. */
  readonly data?: (groups: readonly Group[]) => JsonObject[];
  /** Characters of a document at most, for formats that callers write themselves. */
  readonly charactersMax?: number;
}

/** What is known of a group before it is filled. */
export type GroupHead = Pick<Group, 'label' | 'index' | 'rank'> & { readonly candidates: number };

/** Makes a format for one document. */
export type FormatMaker = (setting: Setting) => Format;

export function viewOf({ nowMs, isoTimestamps }: Setting, { level, project }: Manner): View {
  return { level, nowMs, isoTimestamps, project };
}

/** The name of the type, or `grain`: what stands in a tag or heading is never a grain's own text. */
export function tagOf(grainType: string): string {
  return typeOfSingular(grainType) ?? 'grain';
}

/** Texts of all elements, each with its break. */
export function textsOf(groups: readonly Group[]): string {
  return groups.map(({ elements }) => elements.map(({ text }) => text ?? '').join('')).join('');
}

/** Without the break at its end. */
export function unbroken(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}
