// The tails of a shard: published records that are not in a segment yet. A tail set is the content of one seal. Each
// memory that published into it has a Tail there, with the same interface as a sealed chunk.
import { assert } from '../../base/assert.ts';
import type { Sequence } from '../../log/log.ts';
import { PrefixTable } from '../address/tail.ts';
import { ContextTail } from '../context/tail.ts';
import { DocsTail } from '../docs/tail.ts';
import type { NamedFacet } from '../facet/layout.ts';
import { ListTable, NONE } from '../files/list-table.ts';
import { NumbersTail } from '../numbers/tail.ts';
import { TextTail } from '../text/tail.ts';
import {
  ANY_RELATION,
  type Doc,
  FACETS,
  type Facet,
  type FacetList,
  type IndexedGrain,
  type IndexPart,
  KEYED,
  type Keyed,
  type NumberField,
  type Ordinal,
  PAIR_SEPARATOR,
  pairKey,
} from './part.ts';

/** Facet and kind ids are below this. Owner numbers in the shared tables are tail * OWNER_IDS + id. */
const OWNER_IDS = 16;

/** A pair is stored as the entries of its two values, combined in one number: this saves one string for every grain. */
const PAIR_SCALE = 2 ** 26;

function pairOf(subjectEntry: number, relationEntry: number): number {
  assert(subjectEntry < PAIR_SCALE && relationEntry < PAIR_SCALE, 'a tail has fewer facet values');
  return subjectEntry * PAIR_SCALE + relationEntry;
}

/** The facet value of an entry. */
export function facetTextOf(facets: ListTable, entry: number): string {
  const key = facets.key(entry);
  if (typeof key === 'string') return key;
  return pairKey(String(facets.key(Math.floor(key / PAIR_SCALE))), String(facets.key(key % PAIR_SCALE)));
}

export class TailSet {
  /** Everything up to this sequence number is sealed elsewhere; this set begins after it. */
  readonly base: Sequence;
  readonly facets = new ListTable();
  readonly keyed = new ListTable();
  readonly addresses = new PrefixTable();
  readonly identities = new PrefixTable();
  readonly tails = new Map<number, Tail>();
  /** Grains of all tails. */
  grains = 0;
  /** Tails with grains: that of a new memory has none. */
  tailsWithGrains = 0;
  #tailCount = 0;

  constructor(base: Sequence) {
    this.base = base;
  }

  publish(memory: number, grain: IndexedGrain): void {
    assert(grain.ordinal > this.base, 'a published grain is not sealed yet');
    const tail = this.#tail(memory);
    tail.add(grain);
    this.grains += 1;
    if (tail.docCount === 1) this.tailsWithGrains += 1;
  }

  publishKeyed(memory: number, kind: Keyed, key: string | number, sequence: Sequence): void {
    assert(sequence > this.base, 'a published entry is not sealed yet');
    this.#tail(memory).addKeyed(kind, key, sequence);
  }

  /** Drops the records of a memory. */
  drop(memory: number): void {
    const { docCount } = this.tails.get(memory) ?? { docCount: 0 };
    this.grains -= docCount;
    if (docCount > 0) this.tailsWithGrains -= 1;
    this.tails.delete(memory);
  }

  #tail(memory: number): Tail {
    const known = this.tails.get(memory);
    if (known !== undefined) return known;
    const made = new Tail(this, memory, this.#tailCount++);
    this.tails.set(memory, made);
    return made;
  }
}

/** A tail's entries in a table of its set: `table.nextOfOwner` continues from the newest one. */
export interface TailEntries {
  readonly table: ListTable;
  readonly newest: number;
}

/** The facet or kind id of an entry. */
export function entryId(table: ListTable, entry: number): number {
  return table.owner(entry) % OWNER_IDS;
}

export class Tail implements IndexPart {
  readonly memory: number;
  readonly text = new TextTail();
  readonly #set: TailSet;
  readonly #number: number;
  readonly #docs = new DocsTail();
  readonly #numbers = new NumbersTail();
  #context: ContextTail | undefined;
  /** Values of each listed field in facet `field`; created with the first one. */
  #fieldValues: Map<string, string[]> | undefined;
  /** Newest entries of this tail in the shared tables, which chain the others. */
  #facetEntries = NONE;
  #keyedEntries = NONE;
  /** Computed on demand. It covers the entries of the shared table up to the number. */
  #heads: Uint32Array<ArrayBufferLike> = new Uint32Array(0);
  #headsRead = 0;

  constructor(set: TailSet, memory: number, number: number) {
    this.#set = set;
    this.memory = memory;
    this.#number = number;
  }

  get docCount(): number {
    return this.#docs.count;
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

  add(grain: IndexedGrain): void {
    const doc = this.#docs.add(grain);
    this.#set.addresses.add(this.#number, grain.address, doc);
    if (grain.identity !== undefined) this.#set.identities.add(this.#number, grain.identity, doc);
    const session = this.#addFacets(doc, grain);
    if (grain.turn !== undefined) {
      this.#context ??= this.#makeContext();
      this.#context.add(doc, grain.turn, session + 1);
    }
    this.#numbers.add(doc, grain.numbers, this.#docs.ordinals.length);
    this.text.add(doc, grain.text.analyzed());
  }

  addKeyed(kind: Keyed, key: string | number, sequence: Sequence): void {
    this.#keyedEntries = this.#set.keyed.append(this.#owner(KEYED[kind]), key, sequence, this.#keyedEntries);
  }

  facet(facet: Facet, value: string): Uint32Array | undefined {
    const entry = this.#findFacet(facet, value);
    return entry === NONE ? undefined : this.#set.facets.list(entry);
  }

  fieldValues(name: string): readonly string[] {
    return this.#fieldValues?.get(name) ?? [];
  }

  *facetLists(facet: Facet): IterableIterator<FacetList> {
    const { facets } = this.#set;
    for (const entry of this.#entriesOf(facets, this.#facetEntries, FACETS[facet]))
      yield { text: this.facetText(entry), docs: () => facets.list(entry) };
  }

  *facetValues(facet: NamedFacet): IterableIterator<readonly [value: string, count: number]> {
    const { facets } = this.#set;
    for (const entry of this.#entriesOf(facets, this.#facetEntries, FACETS[facet]))
      yield [String(facets.key(entry)), facets.count(entry)];
  }

  *docsByValue(facet: NamedFacet): IterableIterator<readonly [value: string, docs: () => Uint32Array]> {
    const { facets } = this.#set;
    for (const entry of this.#entriesOf(facets, this.#facetEntries, FACETS[facet]))
      yield [String(facets.key(entry)), () => facets.list(entry)];
  }

  facetCardinality(facet: Facet): number {
    let count = 0;
    for (const _ of this.#entriesOf(this.#set.facets, this.#facetEntries, FACETS[facet])) count += 1;
    return count;
  }

  numbers(field: NumberField): Float64Array | undefined {
    return this.#numbers.column(field, this.#docs.ordinals.length);
  }

  get context(): ContextTail | undefined {
    return this.#context;
  }

  address(address: string): readonly Doc[] {
    return this.#set.addresses.docs(this.#number, address);
  }

  get addressHeads(): Uint32Array {
    if (this.#heads.length < this.docCount) {
      const grown = new Uint32Array(this.#docs.ordinals.length);
      grown.set(this.#heads);
      this.#heads = grown;
    }
    this.#headsRead = this.#set.addresses.readHeads(this.#number, this.#heads, this.#headsRead);
    return this.#heads;
  }

  identity(identity: string): readonly Doc[] {
    return this.#set.identities.docs(this.#number, identity);
  }

  keyed(kind: Keyed, key: string | number): readonly Sequence[] {
    const entry = this.#set.keyed.find(this.#owner(KEYED[kind]), key);
    return entry === NONE ? [] : [...this.#set.keyed.list(entry)];
  }

  keyedSequences(kind: Keyed): readonly Sequence[] {
    const table = this.#set.keyed;
    const sequences: Sequence[] = [];
    for (const entry of this.#entriesOf(table, this.#keyedEntries, KEYED[kind])) {
      const list = new Uint32Array(table.count(entry));
      table.copy(entry, list);
      sequences.push(...list);
    }
    return sequences.sort((a, b) => a - b);
  }

  /** For sealing: the table with this tail's facet values, and the newest of its entries there. */
  get facetEntries(): TailEntries {
    return { table: this.#set.facets, newest: this.#facetEntries };
  }

  /** The value of an entry of `facetEntries`. */
  facetText(entry: number): string {
    return facetTextOf(this.#set.facets, entry);
  }

  /** For sealing: its keyed entries, in the same form. */
  get keyedEntries(): TailEntries {
    return { table: this.#set.keyed, newest: this.#keyedEntries };
  }

  /** The number of this tail in the set's address and identity tables. */
  get number(): number {
    return this.#number;
  }

  /** The ordinal of the last doc, 0 without docs. */
  get lastOrdinal(): Ordinal {
    return this.docCount === 0 ? 0 : this.#docs.ordinals[this.docCount - 1]!;
  }

  /** Returns the entry of the grain's session, or NONE. */
  #addFacets(doc: Doc, grain: IndexedGrain): number {
    this.#addFacet('type', grain.type, doc);
    this.#addFacet('namespace', grain.namespace, doc);
    for (const tag of grain.tags) this.#addFacet('tag', tag, doc);
    if (grain.user !== undefined) this.#addFacet('user', grain.user, doc);
    const session = grain.session === undefined ? NONE : this.#addFacet('session', grain.session, doc);
    const subject = grain.subject === undefined ? NONE : this.#addFacet('subject', grain.subject, doc);
    const relation = grain.relation === undefined ? NONE : this.#addFacet('relation', grain.relation, doc);
    if (relation !== NONE) this.#addFacet('relation', ANY_RELATION, doc);
    if (grain.object !== undefined) this.#addFacet('object', grain.object, doc);
    if (subject !== NONE && relation !== NONE) this.#addFacet('pair', pairOf(subject, relation), doc);
    if (grain.source !== undefined) this.#addFacet('source', grain.source, doc);
    for (const key of grain.fields ?? []) this.#addField(key, doc);
    for (const key of grain.calls ?? []) this.#addFacet('call', key, doc);
    return session;
  }

  #addField(key: string, doc: Doc): void {
    const { facets } = this.#set;
    const { size } = facets;
    this.#addFacet('field', key, doc);
    if (facets.size === size) return;
    const end = key.indexOf(PAIR_SEPARATOR);
    const name = key.slice(0, end);
    this.#fieldValues ??= new Map();
    const values = this.#fieldValues.get(name);
    if (values === undefined) this.#fieldValues.set(name, [key.slice(end + 1)]);
    else values.push(key.slice(end + 1));
  }

  /** A session's number is its entry + 1: NONE is -1. */
  #makeContext(): ContextTail {
    const { facets } = this.#set;
    return new ContextTail({
      docs: (session) => facets.list(session - 1),
      name: (session) => String(facets.key(session - 1)),
      number: (name) => this.#findFacet('session', name) + 1,
      createdAtMs: () => this.#docs.createdAtMs,
    });
  }

  /** Returns the value's entry. */
  #addFacet(facet: Facet, key: string | number, doc: Doc): number {
    const { facets } = this.#set;
    const { size } = facets;
    const entry = facets.enter(this.#owner(FACETS[facet]), key, this.#facetEntries);
    if (facets.size > size) this.#facetEntries = entry;
    facets.push(entry, doc);
    return entry;
  }

  #findFacet(facet: Facet, value: string): number {
    const { facets } = this.#set;
    if (facet !== 'pair') return facets.find(this.#owner(FACETS[facet]), value);
    const end = value.indexOf(PAIR_SEPARATOR);
    const subject = facets.find(this.#owner(FACETS.subject), value.slice(0, end));
    const relation = facets.find(this.#owner(FACETS.relation), value.slice(end + 1));
    if (subject === NONE || relation === NONE) return NONE;
    return facets.find(this.#owner(FACETS.pair), pairOf(subject, relation));
  }

  #owner(id: number): number {
    return this.#number * OWNER_IDS + id;
  }

  *#entriesOf(table: ListTable, newest: number, id: number): IterableIterator<number> {
    const owner = this.#owner(id);
    for (let entry = newest; entry !== NONE; entry = table.nextOfOwner(entry))
      if (table.owner(entry) === owner) yield entry;
  }
}
