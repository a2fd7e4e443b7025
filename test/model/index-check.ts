// Compares every answer of a memory's index parts with lists.
import assert from 'node:assert/strict';
import { hasTime, isAsking, isOfSelf, roleOf, speakerOf } from '../../src/engine/index/context/turn.ts';
import type { MemoryIndex } from '../../src/engine/index/memory-index.ts';
import {
  FACETS,
  type Facet,
  fieldKey,
  type IndexedGrain,
  type IndexPart,
  KEYED,
  type Keyed,
  NUMBERS,
  type NumberField,
} from '../../src/engine/index/parts/part.ts';
import { textOf } from '../../src/engine/index/text/term-numbers.ts';
import { LISTED_FIELDS } from '../../src/engine/store/indexed-fields.ts';
import { type ListedGrain, listsOf, positionsOf, turnsOf, valuesOf } from './lists.ts';

/** A grain as an index stores it. Its place is its ordinal. */
export interface StoredGrain extends ListedGrain, Pick<IndexedGrain, 'address' | 'identity' | 'blobBytes'> {}

interface KeyedRecord {
  readonly kind: Keyed;
  readonly key: string | number;
  readonly sequence: number;
}

/** The records that were published into an index. */
export class Published {
  readonly grains = new Map<number, StoredGrain>();
  readonly keyed: KeyedRecord[] = [];

  add(grain: IndexedGrain): void {
    const analyzed = grain.text.analyzed();
    const terms = 'pairs' in analyzed ? textOf(analyzed) : analyzed;
    this.grains.set(grain.ordinal, { ...grain, place: grain.ordinal, terms });
  }
}

const FACET_NAMES = Object.keys(FACETS) as Facet[];
const KEYED_NAMES = Object.keys(KEYED) as Keyed[];
const NUMBER_NAMES = Object.keys(NUMBERS) as NumberField[];

type IsRemoved = (sequence: number) => boolean;

/** Removed records may still be in the index. */
export function checkMemory(index: MemoryIndex, published: Published, isRemoved: IsRemoved = () => false): void {
  checkGrains(index, [...published.grains.values()], isRemoved);
  const live = (sequences: readonly number[]): number[] => sequences.filter((sequence) => !isRemoved(sequence));
  for (const kind of KEYED_NAMES) {
    const records = published.keyed.filter((record) => record.kind === kind);
    const found = index.parts.flatMap((part) => part.keyedSequences(kind));
    assert.deepEqual(live(found), live(records.map(({ sequence }) => sequence)), kind);
    for (const [key, some] of Map.groupBy(records, (record) => record.key)) {
      const underKey = index.parts.flatMap((part) => part.keyed(kind, key));
      assert.deepEqual(live(underKey), live(some.map(({ sequence }) => sequence)), `${kind} ${key}`);
    }
  }
}

export function checkGrains({ parts }: MemoryIndex, grains: readonly StoredGrain[], isRemoved: IsRemoved): void {
  const live = grains.filter(({ place }) => !isRemoved(place)).sort((a, b) => a.place - b.place);
  const compared = { parts, live, isRemoved };
  checkDocs(compared);
  for (const facet of FACET_NAMES) {
    const valuesOfFacet = (grain: StoredGrain): string[] => valuesOf(grain, facet);
    checkLists(compared, facet, valuesOfFacet, (part, value) => part.facet(facet, value));
    const entries = found(compared, (part) => [...part.facetLists(facet)].flatMap(({ docs }) => [...docs()]));
    assert.equal(entries.length, live.flatMap(valuesOfFacet).length, `entries of ${facet}`);
  }
  const identityOf = ({ identity }: StoredGrain): string[] => (identity === undefined ? [] : [identity]);
  checkLists(
    compared,
    'address',
    ({ address }) => [address],
    (part, address) => part.address(address),
  );
  checkLists(compared, 'identity', identityOf, (part, identity) => part.identity(identity));
  for (const part of parts) checkNames(part);
  checkText(compared);
  checkTurns(compared);
}

interface Compared {
  readonly parts: readonly IndexPart[];
  /** In the order of their places. */
  readonly live: readonly StoredGrain[];
  readonly isRemoved: IsRemoved;
}

/** The ordinals of docs that are not removed, part by part. */
function found({ parts, isRemoved }: Compared, ask: (part: IndexPart) => Iterable<number> | undefined): number[] {
  const ordinals = parts.flatMap((part) => [...(ask(part) ?? [])].map((doc) => part.ordinals[doc]!));
  return ordinals.filter((ordinal) => !isRemoved(ordinal));
}

const placesOf = (grains: readonly StoredGrain[]): number[] => grains.map(({ place }) => place);

function checkLists(
  compared: Compared,
  what: string,
  keysOf: (grain: StoredGrain) => readonly string[],
  ask: (part: IndexPart, key: string) => Iterable<number> | undefined,
): void {
  for (const [key, grains] of listsOf(compared.live, keysOf)) {
    const ordinals = found(compared, (part) => ask(part, key));
    assert.deepEqual(ordinals, placesOf(grains), `${what} ${key}`);
    for (const part of compared.parts) assert.equal([...(ask(part, 'f'.repeat(64)) ?? [])].length, 0, `absent ${what}`);
  }
}

function checkDocs({ parts, live, isRemoved }: Compared): void {
  const docs: unknown[] = [];
  let before = 0;
  for (const part of parts) {
    let chronological = true;
    for (let doc = 0; doc < part.docCount; doc++) {
      const ordinal = part.ordinals[doc]!;
      assert.ok(ordinal > before, 'ordinals ascend over parts');
      before = ordinal;
      if (doc > 0 && part.createdAtMs[doc]! < part.createdAtMs[doc - 1]!) chronological = false;
      const numbers = NUMBER_NAMES.map((field) => [field, part.numbers(field)?.[doc] ?? Number.NaN] as const);
      const present = Object.fromEntries(numbers.filter(([, value]) => !Number.isNaN(value)));
      const sizes = [part.blobBytes[doc], part.text.lengths[doc], part.addressHeads[doc]];
      if (!isRemoved(ordinal)) docs.push([ordinal, part.createdAtMs[doc], present, sizes]);
    }
    assert.equal(part.chronological, chronological);
    assert.equal(part.text.docCount, part.docCount);
  }
  const expected = live.map(({ place, createdAtMs, numbers, blobBytes, terms, address }) => {
    const sizes = [blobBytes, terms.terms.length, Number.parseInt(address.slice(0, 8), 16)];
    return [place, createdAtMs, numbers, sizes];
  });
  assert.deepEqual(docs, expected);
}

const NAMED = ['type', 'namespace', 'tag', 'session', 'subject', 'relation', 'object'] as const;
const COUNTED = ['type', 'namespace', 'tag', 'session'] as const;

/** Compares what a part answers about its values, removed grains included, with its lists. */
function checkNames(part: IndexPart): void {
  for (const facet of FACET_NAMES) {
    const lists = [...part.facetLists(facet)];
    assert.equal(lists.length, part.facetCardinality(facet));
    assert.ok(lists.every(({ docs }) => docs().length > 0));
  }
  // Twice, because a part caches where the names of a facet begin.
  for (const facet of [...NAMED, ...NAMED]) {
    const values = [...part.docsByValue(facet)];
    assert.equal(values.length, part.facetCardinality(facet));
    for (const [value, docs] of values) assert.deepEqual(docs(), part.facet(facet, value), `${facet} ${value}`);
  }
  for (const facet of COUNTED) {
    const values = [...part.docsByValue(facet)].map(([value, docs]) => [value, docs().length] as const);
    assert.deepEqual([...part.facetValues(facet)].sort(), values.sort());
  }
  const listed = [...LISTED_FIELDS].flatMap((name) => part.fieldValues(name).map((value) => fieldKey(name, value)));
  assert.equal(listed.length, part.facetCardinality('field'));
  assert.equal(new Set(listed).size, listed.length);
  for (const key of listed) assert.ok(part.facet('field', key) !== undefined, key);
  assert.deepEqual(part.fieldValues('absent'), []);
}

const NO_POSTINGS = { count: 0, docs: [], frequencies: [] };

function checkText({ parts, live, isRemoved }: Compared): void {
  const expected = listsOf(live, ({ terms }) => terms.terms);
  const vocabularies = parts.flatMap(({ text }) => [...text.vocabulary()].map(([term]) => term));
  for (const term of new Set([...expected.keys(), ...vocabularies])) {
    const places: unknown[] = [];
    for (const { text, ordinals } of parts) {
      const { count, docs, frequencies } = text.postings(term) ?? NO_POSTINGS;
      for (let i = 0; i < count; i++) {
        const positions = [...text.positions(term, docs[i]!)];
        assert.equal(frequencies[i], positions.length);
        const ordinal = ordinals[docs[i]!]!;
        if (!isRemoved(ordinal)) places.push([ordinal, positions]);
      }
    }
    const grains = expected.get(term) ?? [];
    const wanted = grains.map((grain) => [grain.place, positionsOf(grain, term)]);
    assert.deepEqual(places, wanted, term);
  }
}

/** Compares the contexts of all events, and the order of every session in each part. */
function checkTurns({ parts, live, isRemoved }: Compared): void {
  const events = live.filter(({ turn }) => turn !== undefined);
  const turns: unknown[] = [];
  for (const { context, docCount, ordinals } of parts) {
    if (context === undefined) continue;
    for (let doc = 0; doc < docCount; doc++) {
      const code = context.codes[doc] ?? 0;
      if (isRemoved(ordinals[doc]!) || code === 0) continue;
      const speaker = speakerOf(code) === 0 ? undefined : context.speaker(speakerOf(code));
      const session = context.sessions[doc] ?? 0;
      const flags = { asks: isAsking(code), holdsTime: hasTime(code), speaksOfSelf: isOfSelf(code) };
      const name = session === 0 ? undefined : context.sessionName(session);
      turns.push([ordinals[doc], { ...flags, role: roleOf(code), speaker }, name]);
    }
    const inPart = new Set(ordinals.subarray(0, docCount));
    const here = events.filter(({ place }) => inPart.has(place));
    for (const session of listsOf(here, (grain) => valuesOf(grain, 'session')).keys()) {
      const inOrder: number[] = [...context.turns(context.sessionNumber(session))].map((doc) => ordinals[doc]!);
      const inSession = inOrder.filter((ordinal) => !isRemoved(ordinal));
      assert.deepEqual(inSession, placesOf(turnsOf(here, session)), `turns of ${session}`);
    }
    assert.equal(context.sessionNumber('no such session'), 0);
  }
  const expected = events.map(({ place, turn, session }) => [place, turn, session]);
  assert.deepEqual(turns, expected);
}
