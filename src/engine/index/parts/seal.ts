// Writes tails as a segment file: every memory's tail becomes a chunk.
import { randomBytes } from 'node:crypto';
import { assert } from '../../base/assert.ts';
import { KEY_BYTES } from '../../crypto/envelope.ts';
import type { Sequence } from '../../log/log.ts';
import { encodePrefixes, type PrefixEntries } from '../address/segment.ts';
import { encodeContext } from '../context/segment.ts';
import { encodeDocs } from '../docs/segment.ts';
import { FACET_TOKEN_BYTES, hasNames } from '../facet/layout.ts';
import { encodeFacets, FacetNames, type FacetValues } from '../facet/writer.ts';
import { NONE } from '../files/list-table.ts';
import type { ChunkSink, SealedIndex, Sliced } from '../files/section.ts';
import type { SegmentWriter } from '../files/segment-file.ts';
import { HeapBudget } from '../heap-budget.ts';
import { type IndexKeys, type IndexTokens, newestKey } from '../index-keys.ts';
import { encodeKeyed, type KeyedEntry, keyOf } from '../keyed/segment.ts';
import { encodeNumbers } from '../numbers/segment.ts';
import { encodeText, TextChunk } from '../text/segment.ts';
import { CHUNK_ID_BYTES, SealedChunk } from './chunk.ts';
import { ChunkWriter } from './chunk-writer.ts';
import type { FrozenTail, FrozenTails } from './frozen-tail.ts';
import { mergeChunks } from './merge.ts';
import { SLICE_STEPS } from './merge-input.ts';
import { FACETS, type Facet, KEYED, type Keyed, type NumberField } from './part.ts';
import { entryId, type TailEntries } from './tail.ts';

// Object.entries widens the keys of FACETS and KEYED to strings.
const FACET_NAMES = new Map<number, Facet>(Object.entries(FACETS).map(([name, id]) => [id, name as Facet]));
const KEYED_NAMES = new Map<number, Keyed>(Object.entries(KEYED).map(([name, id]) => [id, name as Keyed]));
/** Heap for decoded blocks of a temporary chunk in the heap. */
const SEAL_HEAP_BYTES = 4 * 1_048_576;
/** Blind tokens made between two yields. */
const SLICE_TOKENS = 128;

export interface SealOptions {
  readonly keys: Pick<IndexKeys, 'indexKey' | 'tokens'>;
  /** True for an ordinal (or another sequence number) whose record was removed: it is not written. */
  readonly isRemoved: (sequence: Sequence) => boolean;
}

/** Writes a chunk for every tail of the set, which no longer changes. */
export function* writeTails(set: FrozenTails, writer: SegmentWriter, options: SealOptions): Sliced<void> {
  const memories = [...set.tails.keys()].sort((a, b) => a - b);
  const addresses = yield* byOwner(set.addresses);
  const identities = yield* byOwner(set.identities);
  for (const memory of memories) {
    const tail = set.tails.get(memory);
    // A memory may be dropped between two slices.
    if (tail === undefined) continue;
    const newest = newestKey(options.keys, memory);
    if (newest === undefined) continue;
    // Fetched once: a memory that is dropped between two slices has no keys any more, and its chunk ends up dead.
    const tokens = options.keys.tokens(memory);
    const encode = (sink: ChunkSink): Sliced<void> =>
      encodeTail({
        tail,
        tokens,
        addresses: addresses.get(tail.number),
        identities: identities.get(tail.number),
        sink,
      });
    if (hasRemoved(tail, options.isRemoved)) {
      yield* writeWithoutRemoved({ tail, tokens, encode, writer, key: newest, isRemoved: options.isRemoved });
    } else {
      writer.beginChunk(memory, newest.id, newest.key);
      yield* encode(writer.chunk);
      writer.endChunk({ ...rangeOf(tail), docs: tail.docCount });
    }
    yield;
  }
}

function hasRemoved(tail: FrozenTail, isRemoved: SealOptions['isRemoved']): boolean {
  for (let doc = 0; doc < tail.docCount; doc++) if (isRemoved(tail.ordinals[doc]!)) return true;
  return false;
}

/**
 * A tail cannot leave docs out, but a merge can. The tail becomes a chunk in the heap, under a temporary key, and that
 * chunk is merged into the file. So a grain that was removed in time never reaches the disk, not even sealed.
 */
function* writeWithoutRemoved(parts: {
  readonly tail: FrozenTail;
  readonly tokens: IndexTokens;
  readonly encode: (sink: ChunkSink) => Sliced<void>;
  readonly writer: SegmentWriter;
  /** The key of the file's chunk. */
  readonly key: ReturnType<IndexKeys['indexKey']>;
  readonly isRemoved: SealOptions['isRemoved'];
}): Sliced<void> {
  const { tail, tokens, writer, isRemoved } = parts;
  const key = randomBytes(KEY_BYTES);
  const id = randomBytes(CHUNK_ID_BYTES);
  const blocks: Uint8Array[] = [];
  const chunk = new ChunkWriter((bytes) => blocks.push(bytes));
  chunk.begin(key, id);
  yield* parts.encode(chunk);
  const lengths = chunk.finish();
  const bytes = Buffer.concat(blocks);
  const cache = new HeapBudget(SEAL_HEAP_BYTES).scope();
  const source = new SealedChunk({
    bytes: { file: 'tail', offset: 0, read: (offset, length) => bytes.subarray(offset, offset + length) },
    place: { id, ...lengths },
    key: () => key,
    cache,
  });
  const { memory, docCount } = tail;
  const text = new TextChunk(source, docCount, (term) => tokens.term(term), cache);
  const merged = { source, text, docCount, ...rangeOf(tail) };
  yield* mergeChunks([merged], memory, writer, { key: parts.key, isRemoved });
}

interface Encoding {
  readonly tail: FrozenTail;
  readonly tokens: IndexTokens;
  readonly addresses: PrefixEntries | undefined;
  readonly identities: PrefixEntries | undefined;
  readonly sink: ChunkSink;
}

/** The encoder of each index of a tail, in the order in which they run. */
const ENCODE_OF: Readonly<Record<SealedIndex, (encoding: Encoding) => Sliced<void>>> = {
  docs: ({ tail: { docCount: count, ordinals, createdAtMs, blobBytes, recordBytes }, sink }) =>
    encodeDocs({ count, ordinals, createdAtMs, blobBytes, recordBytes }, sink),
  *address({ tail, addresses, sink }) {
    if (addresses !== undefined) yield* encodePrefixes('address', addresses, tail.docCount, sink);
  },
  *identity({ tail, identities, sink }) {
    if (identities !== undefined) yield* encodePrefixes('identity', identities, tail.docCount, sink);
  },
  *facet({ tail, tokens, sink }) {
    const { byFacet, docsOfAll } = yield* facetsOf(tail, tokens);
    yield* encodeFacets(byFacet, docsOfAll, tail.docCount, sink);
  },
  numbers: ({ tail, sink }) => encodeNumbers((field) => columnOf(tail, field), tail.docCount, sink),
  *keyed({ tail, tokens, sink }) {
    yield* encodeKeyed(yield* keyedOf(tail, tokens), sink);
  },
  context: ({ tail, sink }) => encodeContext(tail.context, tail.docCount, sink),
  text: ({ tail, tokens, sink }) =>
    encodeText(tail.text, (texts, from, to, high, low) => tokens.terms(texts, from, to, high, low), sink),
};
const ENCODES = Object.values(ENCODE_OF);

function* encodeTail(encoding: Encoding): Sliced<void> {
  for (const encode of ENCODES) yield* encode(encoding);
}

/** A tail has its columns in memory; a merge computes them in slices. */
function* columnOf(tail: FrozenTail, field: NumberField): Sliced<Float64Array | undefined> {
  yield;
  return tail.numbers(field);
}

function* facetsOf(
  tail: FrozenTail,
  tokens: IndexTokens,
): Sliced<{ byFacet: ReadonlyMap<number, FacetValues>; docsOfAll: number }> {
  const { table } = tail.facetEntries;
  const byFacet = new Map<number, FacetValues>();
  let docsOfAll = 0;
  for (const [id, entries] of yield* entriesById(tail.facetEntries)) {
    const facet = nameOf(FACET_NAMES, id);
    const bytes = Buffer.allocUnsafe(entries.length * FACET_TOKEN_BYTES);
    // Read here, in the order of the entries: in the order of the tokens, each value would miss the cache several times.
    const docs = new Uint32Array(entries.length);
    const counts = new Uint32Array(entries.length);
    const names = hasNames(id) ? new FacetNames(entries.length) : undefined;
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i]!;
      const text = tail.facetText(entry);
      tokens.writeFacet(facet, text, bytes, i * FACET_TOKEN_BYTES);
      names?.add(text);
      docs[i] = table.first(entry);
      counts[i] = table.count(entry);
      docsOfAll += counts[i]!;
      if (i % SLICE_TOKENS === SLICE_TOKENS - 1) yield;
    }
    byFacet.set(id, { tokens: bytes, counts, docs, copy: (i, into) => table.copy(entries[i]!, into), names });
  }
  return { byFacet, docsOfAll };
}

function* keyedOf(tail: FrozenTail, tokens: IndexTokens): Sliced<Map<number, KeyedEntry[]>> {
  const { table } = tail.keyedEntries;
  const byKind = new Map<number, KeyedEntry[]>();
  for (const [id, entries] of yield* entriesById(tail.keyedEntries)) {
    const keyed: KeyedEntry[] = [];
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i]!;
      const key = keyOf(nameOf(KEYED_NAMES, id), table.key(entry), (kind, text) => tokens.keyed(kind, text));
      const sequences = new Uint32Array(table.count(entry));
      table.copy(entry, sequences);
      for (const sequence of sequences) keyed.push({ key, sequence });
      if (i % SLICE_TOKENS === SLICE_TOKENS - 1) yield;
    }
    byKind.set(id, keyed);
  }
  return byKind;
}

/** A tail's entries in a table, by facet or kind id. */
function* entriesById({ table, newest }: TailEntries): Sliced<Map<number, number[]>> {
  const byId = new Map<number, number[]>();
  let steps = 0;
  for (let entry = newest; entry !== NONE; entry = table.nextOfOwner(entry)) {
    const id = entryId(table, entry);
    const entries = byId.get(id);
    if (entries === undefined) byId.set(id, [entry]);
    else entries.push(entry);
    if (++steps % SLICE_STEPS === 0) yield;
  }
  return byId;
}

function nameOf<T>(names: ReadonlyMap<number, T>, id: number): T {
  const name = names.get(id);
  assert(name !== undefined, 'a tail only has known ids');
  return name;
}

/** The entries of a shared table, by tail number. */
function* byOwner(table: FrozenTails['addresses']): Sliced<Map<number, PrefixEntries>> {
  const entries = table.entries();
  const counts = new Map<number, number>();
  for (let at = 0; at < entries.length; at += 4) {
    counts.set(entries[at]!, (counts.get(entries[at]!) ?? 0) + 1);
    if (at % (SLICE_STEPS * 4) === 0) yield;
  }
  const owners = new Map<number, PrefixEntries>();
  const filled = new Map<number, number>();
  for (let at = 0; at < entries.length; at += 4) {
    const owner = entries[at]!;
    let columns = owners.get(owner);
    if (columns === undefined) {
      const count = counts.get(owner)!;
      columns = { high: new Uint32Array(count), low: new Uint32Array(count), docs: new Uint32Array(count) };
      owners.set(owner, columns);
    }
    const i = filled.get(owner) ?? 0;
    filled.set(owner, i + 1);
    columns.high[i] = entries[at + 1]!;
    columns.low[i] = entries[at + 2]!;
    columns.docs[i] = entries[at + 3]!;
    if (at % (SLICE_STEPS * 4) === 0) yield;
  }
  return owners;
}

/** Smallest and largest sequence number in a tail. */
function rangeOf(tail: FrozenTail): { first: Sequence; last: Sequence } {
  let first = tail.docCount > 0 ? tail.ordinals[0]! : Number.POSITIVE_INFINITY;
  let last = tail.lastOrdinal;
  const { table, newest } = tail.keyedEntries;
  for (let entry = newest; entry !== NONE; entry = table.nextOfOwner(entry)) {
    const sequences = new Uint32Array(table.count(entry));
    table.copy(entry, sequences);
    for (const sequence of sequences) {
      first = Math.min(first, sequence);
      last = Math.max(last, sequence);
    }
  }
  return { first, last };
}
