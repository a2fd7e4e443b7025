// Merges the facets of chunks (layout.ts).
import { CALL_KEYS_MAX, FIELD_VALUES_MAX, TAGS_MAX } from '../../base/limits.ts';
import { readUint } from '../files/bytes.ts';
import type { ChunkSink, SectionSource, Sliced } from '../files/section.ts';
import { compareCursors, type SortedTable, smallest, TableCursor } from '../files/sorted-table.ts';
import { DROPPED, type MergeInput } from '../parts/merge-input.ts';
import {
  DOC_BYTES_MAX,
  FACET_IDS,
  FACET_TOKEN_BYTES,
  type Layout,
  LIST_HEAD_BYTES_MAX,
  readLayout,
  readList,
  SECTION_OF,
  SLICE_VALUES,
} from './layout.ts';
import { NamesCursor } from './names.ts';
import { FacetWriter } from './writer.ts';

/** When lists of different forms are merged, one byte of a bitmap can become eight runs of two integers. */
const MERGED_BYTES_MAX = 16;
/** A dropped doc splits at most one run in each of its lists: its facets, tags, fields, task and call id. */
const SPLIT_BYTES_MAX = (FACET_IDS.length + TAGS_MAX + FIELD_VALUES_MAX + CALL_KEYS_MAX) * 2 * DOC_BYTES_MAX;
/** Docs of one value between two yields. */
const SLICE_DOCS = 4_096;

/** The table of one facet of a merge input, with the data of its entries. */
class FacetCursor extends TableCursor {
  readonly #input: MergeInput;
  readonly #postings: SectionSource;
  readonly #referenceWidth: number;
  /** The names of the facet's values, for a facet that has them. */
  readonly #names: NamesCursor | undefined;

  constructor(input: MergeInput, table: SortedTable, referenceWidth: number, names: NamesCursor | undefined) {
    super(table);
    this.#input = input;
    this.#postings = input.source.section('facetPostings');
    this.#referenceWidth = referenceWidth;
    this.#names = names;
  }

  get reference(): number {
    return readUint(this.window, this.offset + FACET_TOKEN_BYTES, this.#referenceWidth);
  }

  /** The new doc of the current value, which has exactly one, or DROPPED. */
  get onlyDoc(): number {
    return this.#input.docMap[(this.reference - 1) / 2]!;
  }

  /** Copies the new docs of the current value to `into` from `count` on, and returns the new count. */
  copyDocs(into: Uint32Array, count: number): number {
    const { docMap, docCount } = this.#input;
    for (const doc of readList(this.#postings, this.reference, docCount)) {
      const mapped = docMap[doc]!;
      if (mapped !== DROPPED) into[count++] = mapped;
    }
    return count;
  }

  /** The name of the current value. Read it once for each value. */
  name(): Uint8Array | undefined {
    return this.#names?.next();
  }
}

/** Merges the facets of the inputs, whose docs ascend from one to the next. Values without docs are dropped. */
export function* mergeFacets(inputs: readonly MergeInput[], newDocCount: number, sink: ChunkSink): Sliced<void> {
  const layouts = inputs.map((input) => readLayout(input.source));
  const writer = new FacetWriter(sink, newDocCount, postingBytesMax(inputs, layouts, newDocCount));
  const nameCursors = inputs.map(({ source }) => ({
    facetNames: new NamesCursor(source, 'facetNames'),
    tripleNames: new NamesCursor(source, 'tripleNames'),
  }));
  const scratch = new Uint32Array(newDocCount);
  let values = 0;
  for (const id of FACET_IDS) {
    const cursors: FacetCursor[] = [];
    inputs.forEach((input, i) => {
      const layout = layouts[i];
      const section = SECTION_OF.get(id);
      const names = section === undefined ? undefined : nameCursors[i]?.[section];
      if (layout !== undefined) cursors.push(new FacetCursor(input, layout.tables[id]!, layout.referenceWidth, names));
    });
    for (let next = smallest(cursors, FACET_TOKEN_BYTES); next !== undefined; ) {
      // The window stays valid when its cursor moves on.
      const { window, offset } = next;
      let count = 0;
      let name: Uint8Array | undefined;
      if (next.reference % 2 === 1 && !isShared(next, cursors)) {
        name = next.name();
        scratch[0] = next.onlyDoc;
        count = next.onlyDoc === DROPPED ? 0 : 1;
        next.advance();
      } else {
        const { high, low } = next;
        for (const cursor of cursors) {
          if (cursor.done || cursor.high !== high || cursor.low !== low || !hasToken(cursor, window, offset)) continue;
          name = cursor.name();
          count = cursor.copyDocs(scratch, count);
          cursor.advance();
          if (count > SLICE_DOCS) yield;
        }
      }
      if (count === 1) writer.addOne(id, window, offset, scratch[0]!);
      else if (count > 1) yield* writer.add(id, window, offset, scratch, count);
      if (count > 0 && name !== undefined) writer.addName(id, name);
      if (++values % SLICE_VALUES === 0) yield;
      next = smallest(cursors, FACET_TOKEN_BYTES);
    }
  }
  writer.finish();
}

/** An upper bound for the bytes of the merged lists. */
function postingBytesMax(
  inputs: readonly MergeInput[],
  layouts: readonly (Layout | undefined)[],
  newDocCount: number,
): number {
  let lists = 0;
  let bytes = 0;
  let dropped = -newDocCount;
  for (const layout of layouts) for (const table of layout?.tables ?? []) lists += table.count;
  for (const { source, docCount } of inputs) {
    bytes += source.section('facetPostings').length;
    dropped += docCount;
  }
  return bytes * MERGED_BYTES_MAX + lists * LIST_HEAD_BYTES_MAX + dropped * SPLIT_BYTES_MAX;
}

/** True when another cursor has the same token. */
function isShared(cursor: FacetCursor, cursors: readonly FacetCursor[]): boolean {
  for (let i = 0; i < cursors.length; i++) {
    const other = cursors[i]!;
    if (other !== cursor && !other.done && compareCursors(other, cursor, FACET_TOKEN_BYTES) === 0) return true;
  }
  return false;
}

function hasToken(cursor: FacetCursor, bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < FACET_TOKEN_BYTES; i++) if (cursor.window[cursor.offset + i] !== bytes[at + i]) return false;
  return true;
}
