// The docs of each facet value, in four sections.
//
//   facetDictionary  for each facet, by id: an entry for each value, sorted by token.
//                      entry    token 16, reference (all references have the same width). A reference is doc * 2 + 1
//                               for a value with one doc, otherwise twice the offset of its list in facetPostings.
//                      trailer  width of a reference in bytes; number of values of facet 1, 2, …
//   facetPostings    the lists, without gaps (postings.ts)
//   facetNames       the plain values of type, namespace, tag, session and field, in dictionary order (names.ts)
//   tripleNames      the plain values of subject, relation and object. They are apart because they are many and are
//                    rarely read.
import type { ChunkSource, SectionName, SectionSource } from '../files/section.ts';
import { SectionCursor } from '../files/section-cursor.ts';
import { readTrailer } from '../files/section-writer.ts';
import type { SortedTable } from '../files/sorted-table.ts';
import { FACETS, type Facet } from '../parts/part.ts';
import { readPostings } from './postings.ts';

export const FACET_TOKEN_BYTES = 16;
export const FACET_IDS: readonly number[] = Object.values(FACETS);
export const FACET_IDS_MAX = Math.max(...FACET_IDS);
/** Facets whose values can be listed, by the section that holds their names, in the order of their ids. */
export const NAMED_FACETS = {
  facetNames: ['type', 'namespace', 'tag', 'session', 'field'],
  tripleNames: ['subject', 'relation', 'object'],
} as const satisfies Partial<Record<SectionName, readonly Facet[]>>;
export type NameSection = keyof typeof NAMED_FACETS;
export type NamedFacet = (typeof NAMED_FACETS)[NameSection][number];
export const NAME_SECTIONS = Object.keys(NAMED_FACETS) as NameSection[]; // its keys
/** The section that holds a facet's names, by the facet's id. */
export const SECTION_OF: ReadonlyMap<number, NameSection> = new Map(
  NAME_SECTIONS.flatMap((section) => NAMED_FACETS[section].map((facet) => [FACETS[facet], section] as const)),
);

/** True when a chunk holds the values of the facet themselves. */
export function hasNames(facetId: number): boolean {
  return SECTION_OF.has(facetId);
}

/** Maximum bytes of a list in addition to its docs (head, number of runs, bitmap head), and of one doc. */
export const LIST_HEAD_BYTES_MAX = 16;
export const DOC_BYTES_MAX = 5;
/** Values between two yields. */
export const SLICE_VALUES = 512;

export interface Layout {
  readonly referenceWidth: number;
  /** By facet id; index 0 unused. */
  readonly tables: readonly SortedTable[];
}

export function readLayout(source: ChunkSource): Layout | undefined {
  const section = source.section('facetDictionary');
  if (section.length === 0) return undefined;
  const [referenceWidth = 1, ...counts] = readTrailer(section).numbers;
  const width = FACET_TOKEN_BYTES + referenceWidth;
  const tables: SortedTable[] = [];
  let start = 0;
  for (let id = 0; id <= FACET_IDS_MAX; id++) {
    const count = id === 0 ? 0 : (counts[id - 1] ?? 0);
    tables.push({ section, start, count, width, keyBytes: FACET_TOKEN_BYTES });
    start += count * width;
  }
  return { referenceWidth, tables };
}

export function readList(postings: SectionSource, reference: number, docCount: number): Uint32Array {
  if (reference % 2 === 1) return Uint32Array.of((reference - 1) / 2);
  return readPostings(new SectionCursor(postings, reference / 2), docCount);
}
