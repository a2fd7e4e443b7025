// From tails to a segment file: every memory's tail becomes a chunk.
import { randomBytes } from 'node:crypto';
import { assert } from '../assert.ts';
import { KEY_BYTES } from '../crypto/envelope.ts';
import type { Sequence } from '../log/log.ts';
import { encodePrefixes, type PrefixEntries } from './address/segment.ts';
import type { PrefixTable } from './address/tail.ts';
import { CHUNK_ID_BYTES, ChunkWriter, SealedChunk } from './chunk.ts';
import { encodeDocs } from './docs/segment.ts';
import { encodeFacets, type FacetEntry } from './facet/segment.ts';
import { HeapBudget } from './heap-budget.ts';
import { type IndexKeys, type IndexTokens, newestKey } from './index-keys.ts';
import { encodeKeyed, type KeyedEntry, keyOf } from './keyed/segment.ts';
import { mergeChunks } from './merge.ts';
import { SLICE_STEPS } from './merge-input.ts';
import { encodeNumbers } from './numbers/segment.ts';
import { FACETS, type Facet, KEYED, type Keyed, type NumberField } from './part.ts';
import type { ChunkSink, Sliced } from './section.ts';
import type { SegmentWriter } from './segment-file.ts';
import type { Generation, Tail } from './tail.ts';
import { encodeText, TextChunk } from './text/segment.ts';

// Object.entries widens the keys of FACETS and KEYED to strings.
const FACET_NAMES = new Map<number, Facet>(Object.entries(FACETS).map(([name, id]) => [id, name as Facet]));
const KEYED_NAMES = new Map<number, Keyed>(Object.entries(KEYED).map(([name, id]) => [id, name as Keyed]));
/** Decoded blocks of a chunk that only lives in the heap. */
const SEAL_HEAP_BYTES = 4 * 1_048_576;
/** Blind tokens made between two yields. */
const SLICE_TOKENS = 128;

export interface SealOptions {
  readonly keys: IndexKeys;
  /** True for an ordinal (or another sequence) whose record was removed: it does not reach the file. */
  readonly isRemoved: (sequence: Sequence) => boolean;
}

/** Writes a chunk for every tail of the generation, which no longer changes. */
export function* writeGeneration(generation: Generation, writer: SegmentWriter, options: SealOptions): Sliced<void> {
  const memories = [...generation.tails.keys()].sort((a, b) => a - b);
  const addresses = yield* byOwner(generation.addresses);
  const identities = yield* byOwner(generation.identities);
  for (const memory of memories) {
    const tail = generation.tails.get(memory);
    // A memory may be dropped between two slices.
    if (tail === undefined) continue;
    const newest = newestKey(options.keys, memory);
    if (newest === undefined) continue;
    // Asked for once: a memory that is dropped between two slices has no keys any more, and its chunk ends up dead.
    const tokens = options.keys.tokens(memory);
    const encode = (sink: ChunkSink): Sliced<void> =>
      encodeTail(tail, tokens, {
        sink,
        addresses: addresses.get(tail.number),
        identities: identities.get(tail.number),
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

function hasRemoved(tail: Tail, isRemoved: SealOptions['isRemoved']): boolean {
  for (let doc = 0; doc < tail.docCount; doc++) if (isRemoved(tail.ordinals[doc]!)) return true;
  return false;
}

/**
 * A tail cannot leave docs out, a merge can: the tail becomes a chunk in the heap, under a key that nobody keeps, and
 * that chunk is merged into the file. So what was removed in time never is on disk, not even sealed.
 */
function* writeWithoutRemoved(parts: {
  readonly tail: Tail;
  readonly tokens: IndexTokens;
  readonly encode: (sink: ChunkSink) => Sliced<void>;
  readonly writer: SegmentWriter;
  /** What the file's chunk is sealed under. */
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

interface TailTarget {
  readonly sink: ChunkSink;
  readonly addresses: PrefixEntries | undefined;
  readonly identities: PrefixEntries | undefined;
}

function* encodeTail(tail: Tail, tokens: IndexTokens, target: TailTarget): Sliced<void> {
  const { sink, addresses, identities } = target;
  const { docCount } = tail;
  yield* encodeDocs(
    {
      count: docCount,
      ordinals: tail.ordinals,
      createdAtMs: tail.createdAtMs,
      blobBytes: tail.blobBytes,
      recordBytes: tail.recordBytes,
    },
    sink,
  );
  if (addresses !== undefined) yield* encodePrefixes('address', addresses, docCount, sink);
  if (identities !== undefined) yield* encodePrefixes('identity', identities, docCount, sink);
  yield* encodeFacets(yield* facetsOf(tail, tokens), docCount, sink);
  yield* encodeNumbers((field) => columnOf(tail, field), docCount, sink);
  yield* encodeKeyed(yield* keyedOf(tail, tokens), sink);
  yield* encodeText(tail.text, (texts, from, to, high, low) => tokens.terms(texts, from, to, high, low), sink);
}

/** A tail has its columns at hand; a merge makes them, in slices. */
function* columnOf(tail: Tail, field: NumberField): Sliced<Float64Array | undefined> {
  yield;
  return tail.numbers(field);
}

function* facetsOf(tail: Tail, tokens: IndexTokens): Sliced<Map<number, FacetEntry[]>> {
  const byFacet = new Map<number, FacetEntry[]>();
  let made = 0;
  for (const { id, key, count, copy } of tail.facetEntries()) {
    const value = String(key);
    const entries = byFacet.get(id) ?? [];
    entries.push({ token: tokens.facet(nameOf(FACET_NAMES, id), value), count, copy, value });
    byFacet.set(id, entries);
    if (++made % SLICE_TOKENS === 0) yield;
  }
  return byFacet;
}

function* keyedOf(tail: Tail, tokens: IndexTokens): Sliced<Map<number, KeyedEntry[]>> {
  const byKind = new Map<number, KeyedEntry[]>();
  let made = 0;
  for (const { id, key, count, copy } of tail.keyedEntries()) {
    const bytes = keyOf(nameOf(KEYED_NAMES, id), key, (kind, text) => tokens.keyed(kind, text));
    const sequences = new Uint32Array(count);
    copy(sequences);
    const entries = byKind.get(id) ?? [];
    for (const sequence of sequences) entries.push({ key: bytes, sequence });
    byKind.set(id, entries);
    if (++made % SLICE_TOKENS === 0) yield;
  }
  return byKind;
}

function nameOf<T>(names: ReadonlyMap<number, T>, id: number): T {
  const name = names.get(id);
  assert(name !== undefined, 'a tail only has known ids');
  return name;
}

type Columns = { high: number[]; low: number[]; docs: number[] };

/** The entries of a shared table, by tail number. */
function* byOwner(table: PrefixTable): Sliced<Map<number, Columns>> {
  const owners = new Map<number, Columns>();
  const entries = table.entries();
  for (let at = 0; at < entries.length; at += 4) {
    const owner = entries[at]!;
    let columns = owners.get(owner);
    if (columns === undefined) {
      columns = { high: [], low: [], docs: [] };
      owners.set(owner, columns);
    }
    columns.high.push(entries[at + 1]!);
    columns.low.push(entries[at + 2]!);
    columns.docs.push(entries[at + 3]!);
    if (at % (SLICE_STEPS * 4) === 0) yield;
  }
  return owners;
}

/** Smallest and largest sequence that a tail holds. */
function rangeOf(tail: Tail): { first: Sequence; last: Sequence } {
  let first = tail.docCount > 0 ? tail.ordinals[0]! : Number.POSITIVE_INFINITY;
  let last = tail.lastOrdinal;
  for (const { count, copy } of tail.keyedEntries()) {
    const sequences = new Uint32Array(count);
    copy(sequences);
    for (const sequence of sequences) {
      first = Math.min(first, sequence);
      last = Math.max(last, sequence);
    }
  }
  return { first, last };
}
