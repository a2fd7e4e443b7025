// The reference index: lists of grains that are searched linearly. Tests compare a shard's answers with it.
import assert from 'node:assert/strict';
import { speakerOf, turnCode, withSpeaker } from '../context/turn.ts';
import type { MemoryIndex } from '../memory-index.ts';
import {
  ANY_RELATION,
  FACETS,
  type Facet,
  fieldKey,
  type IndexedGrain,
  type IndexPart,
  KEYED,
  type Keyed,
  NUMBERS,
  type NumberField,
  pairKey,
} from '../parts/part.ts';
import { textOf } from '../text/term-numbers.ts';

interface KeyedRecord {
  readonly kind: Keyed;
  readonly key: string | number;
  readonly sequence: number;
}

export class ModelMemory {
  readonly grains = new Map<number, IndexedGrain>();
  readonly keyed: KeyedRecord[] = [];
}

/** The values of each facet that a grain has. */
function facetsOf(grain: IndexedGrain): Readonly<Record<Facet, readonly (string | undefined)[]>> {
  const { subject, relation } = grain;
  return {
    type: [grain.type],
    namespace: [grain.namespace],
    tag: [...new Set(grain.tags)],
    user: [grain.user],
    session: [grain.session],
    subject: [subject],
    relation: relation === undefined ? [] : [relation, ANY_RELATION],
    object: [grain.object],
    pair: [subject === undefined || relation === undefined ? undefined : pairKey(subject, relation)],
    source: [grain.source],
    field: grain.fields ?? [],
    call: grain.calls ?? [],
  };
}

/** The values of a facet that a grain has. */
export function valuesOf(grain: IndexedGrain, facet: Facet): string[] {
  return facetsOf(grain)[facet].flatMap((value) => value ?? []);
}

const FACET_NAMES = Object.keys(FACETS) as Facet[];
const KEYED_NAMES = Object.keys(KEYED) as Keyed[];
const NUMBER_NAMES = Object.keys(NUMBERS) as NumberField[];

export interface Checked {
  readonly isRemoved: (sequence: number) => boolean;
}

/** Compares every answer of a memory's parts, without removed grains, with the model's. */
export function checkMemory(index: MemoryIndex, model: ModelMemory, { isRemoved }: Checked): void {
  const { parts } = index;
  const live = [...model.grains.values()]
    .filter((grain) => !isRemoved(grain.ordinal))
    .sort((a, b) => a.ordinal - b.ordinal);
  checkDocs(parts, live, isRemoved);
  checkFacets(parts, live, isRemoved);
  checkHashes(parts, live, isRemoved);
  checkKeyed(parts, model, isRemoved);
  checkText(parts, live, isRemoved);
  checkContext(parts, live, isRemoved);
}

function checkDocs(parts: readonly IndexPart[], live: readonly IndexedGrain[], isRemoved: Checked['isRemoved']): void {
  const found: unknown[] = [];
  let before = 0;
  for (const part of parts) {
    let chronological = true;
    for (let doc = 0; doc < part.docCount; doc++) {
      const ordinal = part.ordinals[doc]!;
      assert.ok(ordinal > before, 'ordinals ascend over parts');
      before = ordinal;
      if (doc > 0 && part.createdAtMs[doc]! < part.createdAtMs[doc - 1]!) chronological = false;
      if (isRemoved(ordinal)) continue;
      const numbers: Record<string, number> = {};
      for (const field of NUMBER_NAMES) {
        const value = part.numbers(field)?.[doc];
        if (value !== undefined && !Number.isNaN(value)) numbers[field] = value;
      }
      found.push([ordinal, part.createdAtMs[doc], part.blobBytes[doc], numbers]);
    }
    assert.equal(part.chronological, chronological);
    assert.equal(part.text.docCount, part.docCount);
  }
  const expected = live.map((grain) => [grain.ordinal, grain.createdAtMs, grain.blobBytes, sortedNumbers(grain)]);
  assert.deepEqual(found, expected);
}

function sortedNumbers(grain: IndexedGrain): Record<string, number> {
  const numbers: Record<string, number> = {};
  for (const field of NUMBER_NAMES) if (grain.numbers[field] !== undefined) numbers[field] = grain.numbers[field];
  return numbers;
}

const NAMED = ['type', 'namespace', 'tag', 'session', 'subject', 'relation', 'object'] as const;

function isNamed(facet: string): facet is (typeof NAMED)[number] {
  return (NAMED as readonly string[]).includes(facet);
}

/** Runs twice, because a part caches where the names of a facet begin. */
function checkNames(part: IndexPart, facet: (typeof NAMED)[number]): void {
  for (const _ of ['first', 'again']) {
    const lists = [...part.docsByValue(facet)];
    assert.equal(lists.length, part.facetCardinality(facet));
    for (const [value, docs] of lists) assert.deepEqual(docs(), part.facet(facet, value), `${facet} ${value}`);
  }
}

function checkFacets(
  parts: readonly IndexPart[],
  live: readonly IndexedGrain[],
  isRemoved: Checked['isRemoved'],
): void {
  for (const facet of FACET_NAMES) {
    const expected = new Map<string, number[]>();
    for (const grain of live)
      for (const value of valuesOf(grain, facet)) expected.set(value, [...(expected.get(value) ?? []), grain.ordinal]);
    for (const [value, ordinals] of expected) {
      const found: number[] = [];
      for (const part of parts)
        for (const doc of part.facet(facet, value) ?? []) {
          const ordinal = part.ordinals[doc]!;
          if (!isRemoved(ordinal)) found.push(ordinal);
        }
      assert.deepEqual(found, ordinals, `${facet} ${value}`);
    }
    for (const part of parts) {
      assert.equal(part.facet(facet, 'absent value'), undefined);
      const lists = [...part.facetLists(facet)];
      assert.equal(lists.length, part.facetCardinality(facet));
      assert.equal(
        lists.every(({ docs }) => docs().length > 0),
        true,
      );
      if (facet === 'field') checkFields(part, expected.keys());
      if (isNamed(facet)) checkNames(part, facet);
      if (facet !== 'type' && facet !== 'namespace' && facet !== 'tag') continue;
      const values = [...part.facetValues(facet)];
      assert.equal(values.length, part.facetCardinality(facet));
      for (const [value, count] of values) assert.equal(part.facet(facet, value)?.length, count);
    }
  }
}

/** Compares the names of all values by field. Names of removed grains may be among them. */
function checkFields(part: IndexPart, expected: Iterable<string>): void {
  const named = ['role', 'tool_name'].flatMap((name) => part.fieldValues(name).map((value) => fieldKey(name, value)));
  assert.equal(new Set(named).size, part.facetCardinality('field'));
  for (const key of named) assert.ok(part.facet('field', key) !== undefined, key);
  for (const key of expected) assert.equal(named.includes(key), part.facet('field', key) !== undefined, key);
  assert.deepEqual(part.fieldValues('absent'), []);
}

function checkHashes(
  parts: readonly IndexPart[],
  live: readonly IndexedGrain[],
  isRemoved: Checked['isRemoved'],
): void {
  const ordinalsOf = (ask: (part: IndexPart) => readonly number[]): number[] =>
    parts.flatMap((part) => ask(part).map((doc) => part.ordinals[doc]!)).filter((ordinal) => !isRemoved(ordinal));
  for (const { address, identity } of live) {
    const expected = live.filter((other) => other.address === address).map((other) => other.ordinal);
    assert.deepEqual(
      ordinalsOf((part) => part.address(address)),
      expected,
    );
    if (identity === undefined) continue;
    const same = live.filter((other) => other.identity === identity).map((other) => other.ordinal);
    assert.deepEqual(
      ordinalsOf((part) => part.identity(identity)),
      same,
    );
  }
  for (const part of parts) assert.deepEqual([...part.address('f'.repeat(64))], []);
}

function checkKeyed(parts: readonly IndexPart[], model: ModelMemory, isRemoved: Checked['isRemoved']): void {
  const records = model.keyed.filter((record) => !isRemoved(record.sequence));
  const live = (sequences: readonly number[]): number[] => sequences.filter((sequence) => !isRemoved(sequence));
  for (const { kind, key } of records) {
    const expected = records.filter((other) => other.kind === kind && other.key === key).map((other) => other.sequence);
    assert.deepEqual(live(parts.flatMap((part) => [...part.keyed(kind, key)])), expected, `${kind} ${key}`);
  }
  for (const kind of KEYED_NAMES) {
    const expected = records.filter((record) => record.kind === kind).map((record) => record.sequence);
    assert.deepEqual(live(parts.flatMap((part) => [...part.keyedSequences(kind)])), expected, kind);
  }
}

/** Compares codes and speakers of all events, and the order of every session in each part. */
function checkContext(
  parts: readonly IndexPart[],
  live: readonly IndexedGrain[],
  isRemoved: Checked['isRemoved'],
): void {
  const found: unknown[] = [];
  const turns = live.filter(({ turn }) => turn !== undefined);
  for (const part of parts) {
    const { context } = part;
    const inPart = new Set(part.ordinals.subarray(0, part.docCount));
    if (context === undefined) {
      assert.ok(!turns.some(({ ordinal }) => inPart.has(ordinal)), 'a part without context has no event');
      continue;
    }
    for (let doc = 0; doc < part.docCount; doc++) {
      const code = context.codes[doc] ?? 0;
      if (isRemoved(part.ordinals[doc]!) || code === 0) continue;
      const speaker = speakerOf(code) === 0 ? undefined : context.speaker(speakerOf(code));
      const session = context.sessions[doc] ?? 0;
      const name = session === 0 ? undefined : context.sessionName(session);
      found.push([part.ordinals[doc], withSpeaker(code, 0), speaker, name]);
    }
    const sessions = Map.groupBy(
      turns.filter(({ ordinal, session }) => session !== undefined && inPart.has(ordinal)),
      ({ session }) => session!,
    );
    for (const [name, some] of sessions) {
      const inOrder: number[] = [...context.turns(context.sessionNumber(name))].map((doc) => part.ordinals[doc]!);
      const expected = some.toSorted((a, b) => a.createdAtMs - b.createdAtMs || a.ordinal - b.ordinal);
      assert.deepEqual(
        inOrder.filter((ordinal) => !isRemoved(ordinal)),
        expected.map(({ ordinal }) => ordinal),
        `turns of ${name}`,
      );
    }
    assert.equal(context.sessionNumber('no such session'), 0);
  }
  const expected = turns.map(({ ordinal, turn, session }) => [ordinal, turnCode(turn!, 0), turn!.speaker, session]);
  assert.deepEqual(found, expected);
}

function checkText(parts: readonly IndexPart[], live: readonly IndexedGrain[], isRemoved: Checked['isRemoved']): void {
  const expected = new Map<string, string[]>();
  for (const grain of live) {
    const analyzed = grain.text.analyzed();
    const { terms, positions } = 'pairs' in analyzed ? textOf(analyzed) : analyzed;
    for (const term of new Set(terms)) {
      const places = positions.filter((_, i) => terms[i] === term);
      expected.set(term, [...(expected.get(term) ?? []), `${grain.ordinal}: ${places.join(' ')}`]);
    }
  }
  for (const [term, places] of expected) {
    const found: string[] = [];
    for (const part of parts) {
      const postings = part.text.postings(term);
      for (let i = 0; i < (postings?.count ?? 0); i++) {
        const doc = postings!.docs[i]!;
        if (isRemoved(part.ordinals[doc]!)) continue;
        const at = part.text.positions(term, doc);
        assert.equal(postings!.frequencies[i], at.length);
        found.push(`${part.ordinals[doc]}: ${at.join(' ')}`);
      }
    }
    assert.deepEqual(found, places, term);
  }
}
