// The possible contents of an assembled document: each grain as every format writes it, with its cost.
import type { GroupHead, Manner } from '../formats/format.ts';
import type { CalGrain } from '../grain.ts';
import type { Level } from '../projection.ts';
import type { Page } from './page.ts';
import type { RankedSource } from './ranking.ts';

/** A possible part of the document: a grain, or the note of a grain that did not fit. */
export type Choice = {
  readonly source: number;
  readonly texts: readonly (string | undefined)[];
  readonly cost: number;
} & ({ readonly kind: 'element'; readonly grain: CalGrain; readonly manner: Manner } | { readonly kind: 'omission' });

/** The grains of one source as each format writes them, each written once. */
export class Bin {
  readonly #source: RankedSource;
  readonly #place: number;
  readonly #page: Page;
  readonly #head: GroupHead;
  readonly #written: Readonly<Record<Level, (Choice & { kind: 'element' })[]>> = {
    summary: [],
    standard: [],
    full: [],
  };

  constructor(source: RankedSource, place: number, page: Page) {
    this.#source = source;
    this.#place = place;
    this.#page = page;
    this.#head = headOf(source);
  }

  element(i: number, level: Level): Choice & { kind: 'element' } {
    const known = this.#written[level][i];
    if (known !== undefined) return known;
    const grain = this.#source.grains[i]!;
    const manner: Manner = { level, project: this.#source.project };
    const texts = this.#page.formats.map((format) => format.element(grain, manner, this.#head));
    const made = { kind: 'element', source: this.#place, grain, manner, texts, cost: this.#cost(texts) } as const;
    this.#written[level][i] = made;
    return made;
  }

  /** The note of a grain that was left out; undefined if no format writes one. */
  omission(i: number): Choice | undefined {
    const texts = this.#page.formats.map((format) => format.omission?.(this.#source.grains[i]!, this.#head) ?? '');
    if (texts.every((text) => text === '')) return undefined;
    return { kind: 'omission', source: this.#place, texts, cost: this.#cost(texts) };
  }

  #cost(texts: readonly (string | undefined)[]): number {
    const { unit, counter } = this.#page;
    return unit === 'grains' ? 1 : Math.max(...texts.map((text) => (text === undefined ? 0 : counter.count(text))));
  }
}

export function headOf({ label, index, rank, grains }: RankedSource): GroupHead {
  return { label, index, rank, candidates: grains.length };
}
