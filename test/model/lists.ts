// A memory as lists of grains, searched from front to back. The simulator's searches are built on them, and an index must
// hold the same.
import {
  ANY_RELATION,
  type AnalyzedText,
  type Facet,
  type IndexedGrain,
  pairKey,
} from '../../src/engine/index/parts/part.ts';

/** A grain with everything that a search can find it by. */
export interface ListedGrain
  extends Omit<IndexedGrain, 'ordinal' | 'address' | 'identity' | 'blobBytes' | 'recordBytes' | 'text'> {
  readonly terms: AnalyzedText;
  /** Order of writing within the memory. */
  readonly place: number;
}

const VALUES: Readonly<Record<Facet, (grain: ListedGrain) => readonly (string | undefined)[]>> = {
  type: ({ type }) => [type],
  namespace: ({ namespace }) => [namespace],
  tag: ({ tags }) => [...new Set(tags)],
  user: ({ user }) => [user],
  session: ({ session }) => [session],
  subject: ({ subject }) => [subject],
  relation: ({ relation }) => (relation === undefined ? [] : [relation, ANY_RELATION]),
  object: ({ object }) => [object],
  pair: ({ subject, relation }) =>
    subject === undefined || relation === undefined ? [] : [pairKey(subject, relation)],
  source: ({ source }) => [source],
  field: ({ fields = [] }) => fields,
  call: ({ calls = [] }) => calls,
};

/** The values of a facet that a grain has. */
export function valuesOf(grain: ListedGrain, facet: Facet): string[] {
  return VALUES[facet](grain).filter((value) => value !== undefined);
}

/** The places of a term in the text of a grain. */
export function positionsOf({ terms: { terms, positions } }: ListedGrain, term: string): number[] {
  return positions.filter((_, i) => terms[i] === term);
}

/** The turns of a session: by creation, then by arrival. */
export function turnsOf<G extends ListedGrain>(grains: readonly G[], session: string): G[] {
  return grains
    .filter((grain) => grain.turn !== undefined && grain.session === session)
    .sort((a, b) => a.createdAtMs - b.createdAtMs || a.place - b.place);
}

/** The grains of each key, in their order. */
export function listsOf<G>(grains: readonly G[], keysOf: (grain: G) => Iterable<string>): Map<string, G[]> {
  const lists = new Map<string, G[]>();
  for (const grain of grains)
    for (const key of new Set(keysOf(grain))) {
      const list = lists.get(key) ?? [];
      lists.set(key, list);
      list.push(grain);
    }
  return lists;
}
