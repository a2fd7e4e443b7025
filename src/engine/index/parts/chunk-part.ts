// One memory's chunk of one segment file, as a part. Data is read and decoded on demand and cached while the heap
// budget has room; an unused part costs only a few small objects.
import type { Sequence } from '../../log/log.ts';
import { PrefixChunk } from '../address/segment.ts';
import { ContextChunk } from '../context/segment.ts';
import type { TurnContext } from '../context/turn.ts';
import { DocsChunk } from '../docs/segment.ts';
import type { NamedFacet } from '../facet/layout.ts';
import { FacetChunk } from '../facet/segment.ts';
import type { CorruptBlock, Sliced } from '../files/section.ts';
import type { ChunkEntry, SegmentFile } from '../files/segment-file.ts';
import type { CacheScope, HeapBudget } from '../heap-budget.ts';
import type { IndexKeys, IndexTokens } from '../index-keys.ts';
import { KeyedChunk } from '../keyed/segment.ts';
import { NumbersChunk } from '../numbers/segment.ts';
import { TextChunk } from '../text/segment.ts';
import { SealedChunk } from './chunk.ts';
import type { Doc, Facet, FacetList, IndexPart, Keyed, NumberField } from './part.ts';

export interface ChunkPartOptions {
  readonly file: SegmentFile;
  readonly entry: ChunkEntry;
  readonly keys: Pick<IndexKeys, 'indexKeyById' | 'formerIndexKey'>;
  readonly tokens: Pick<IndexTokens, 'term' | 'facet' | 'keyed'>;
  readonly budget: HeapBudget;
  /** Called with a bad block before the error is thrown. */
  readonly onCorrupt?: ((error: CorruptBlock) => void) | undefined;
}

export class ChunkPart implements IndexPart {
  readonly file: SegmentFile;
  readonly entry: ChunkEntry;
  readonly source: SealedChunk;
  readonly text: TextChunk;
  readonly #cache: CacheScope;
  readonly #docs: DocsChunk;
  readonly #facets: FacetChunk;
  readonly #addresses: PrefixChunk;
  readonly #identities: PrefixChunk;
  readonly #numbers: NumbersChunk;
  readonly #keyed: KeyedChunk;
  readonly #context: ContextChunk;

  constructor(options: ChunkPartOptions) {
    const { file, entry, keys, tokens, budget, onCorrupt } = options;
    this.file = file;
    this.entry = entry;
    this.#cache = budget.scope();
    this.source = new SealedChunk({
      bytes: {
        file: file.name,
        offset: entry.offset,
        read: (offset, length) => file.read(entry.offset + offset, length),
      },
      place: entry,
      key: () =>
        file.isReplaced ? keys.formerIndexKey(entry.keyId, entry.memory) : keys.indexKeyById(entry.keyId, entry.memory),
      cache: this.#cache,
      onCorrupt,
    });
    this.#docs = new DocsChunk(this.source, entry.docs, this.#cache);
    this.#facets = new FacetChunk(this.source, entry.docs, (facet, value) => tokens.facet(facet, value), this.#cache);
    this.#addresses = new PrefixChunk(this.source, 'address', this.#cache);
    this.#identities = new PrefixChunk(this.source, 'identity', this.#cache);
    this.#numbers = new NumbersChunk(this.source, entry.docs, this.#cache);
    this.#context = new ContextChunk({
      source: this.source,
      docCount: entry.docs,
      facets: this.#facets,
      createdAtMs: () => this.#docs.createdAtMs,
      cache: this.#cache,
    });
    this.#keyed = new KeyedChunk(this.source, (kind, key) => tokens.keyed(kind, key), this.#cache);
    this.text = new TextChunk(this.source, entry.docs, (term) => tokens.term(term), this.#cache);
  }

  get docCount(): number {
    return this.entry.docs;
  }

  get ordinals(): Uint32Array {
    return this.#docs.ordinals;
  }

  get createdAtMs(): Float64Array {
    return this.#docs.createdAtMs;
  }

  get chronological(): boolean {
    return this.#docs.chronological;
  }

  get blobBytes(): Uint32Array {
    return this.#docs.blobBytes;
  }

  get recordBytes(): Uint32Array {
    return this.#docs.recordBytes;
  }

  facet(facet: Facet, value: string): Uint32Array | undefined {
    return this.#facets.docs(facet, value);
  }

  fieldValues(name: string): readonly string[] {
    return this.#facets.fieldValues(name);
  }

  facetLists(facet: Facet): Iterable<FacetList> {
    return this.#facets.tokenLists(facet);
  }

  facetValues(facet: NamedFacet): Iterable<readonly [value: string, count: number]> {
    return this.#facets.values(facet);
  }

  docsByValue(facet: NamedFacet): Iterable<readonly [value: string, docs: () => Uint32Array]> {
    return this.#facets.docsByValue(facet);
  }

  facetCardinality(facet: Facet): number {
    return this.#facets.cardinality(facet);
  }

  numbers(field: NumberField): Float64Array | undefined {
    return this.#numbers.column(field);
  }

  address(address: string): readonly Doc[] {
    return this.#addresses.docs(address);
  }

  get addressHeads(): Uint32Array {
    return this.#addresses.heads(this.entry.docs);
  }

  identity(identity: string): readonly Doc[] {
    return this.#identities.docs(identity);
  }

  keyed(kind: Keyed, key: string | number): readonly Sequence[] {
    return this.#keyed.sequences(kind, key);
  }

  keyedSequences(kind: Keyed): readonly Sequence[] {
    return this.#keyed.all(kind);
  }

  get context(): TurnContext | undefined {
    return this.#context.get();
  }

  *verifyContext(): Sliced<void> {
    yield* this.#context.verify();
  }

  /** Frees its heap. The next query reads again. */
  close(): void {
    this.#cache.clear();
  }

  get addresses(): PrefixChunk {
    return this.#addresses;
  }

  get identities(): PrefixChunk {
    return this.#identities;
  }

  get facets(): FacetChunk {
    return this.#facets;
  }

  get keyedEntries(): KeyedChunk {
    return this.#keyed;
  }
}
