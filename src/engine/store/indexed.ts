// Derives the index entries of a grain. Both the write and the replay of the log use it, because their results must
// agree.
import { keyedIdentityOf } from '../crypto/blind-tokens.ts';
import { KEY_BYTES } from '../crypto/envelope.ts';
import { isSearchedByTriple, searchText, sessionOf, tripleRelation, tripleSide } from '../grain/api/text.ts';
import { passingIdentity } from '../grain/codec/identity.ts';
import type { Address, Grain } from '../grain/grain.ts';
import type { ValueMap } from '../grain/value.ts';
import type { IndexedGrain, IndexedText, NumberedText, NumberField, Ordinal } from '../index/parts/part.ts';
import type { Analyzer } from '../index/text/analyze.ts';
import { GRAIN_RECORD_OVERHEAD } from '../record/grain-head.ts';
import { actionNumbers, callKeys, priorityRank } from './action-numbers.ts';
import { type ExpiryTimes, expiryTimes } from './goal-expiry.ts';
import { fieldEntries } from './indexed-fields.ts';
import type { Memory } from './memory.ts';
import { turnOf } from './turn.ts';

/** The index entries of a grain that has no ordinal yet. */
export interface NewlyIndexed extends Omit<IndexedGrain, 'ordinal'> {
  ordinal: Ordinal;
}

export function indexedOf(
  memory: Memory,
  grain: Pick<Grain, 'type' | 'fields'>,
  blob: Buffer,
  address: Address,
): NewlyIndexed {
  const { fields } = grain;
  const subject = tripleSide(fields['subject']);
  const object = tripleSide(fields['object']);
  const identity = passingIdentity(blob, KEY_BYTES);
  return {
    ordinal: 0,
    address,
    identity: identity === undefined ? undefined : keyedIdentityOf(memory.identityKey, identity),
    createdAtMs: Number(fields['created_at']),
    type: grain.type,
    namespace: text(fields['namespace']) ?? '',
    user: text(fields['user_id']),
    session: sessionOf(grain),
    tags: texts(fields['structural_tags']),
    subject,
    relation: tripleRelation(grain.type, fields, subject ?? object),
    object,
    source: texts(fields['derived_from'])[0],
    fields: fieldEntries(grain),
    calls: callKeys(grain),
    numbers: numbersOf(memory, grain),
    blobBytes: blob.length,
    recordBytes: blob.length + GRAIN_RECORD_OVERHEAD,
    text: new GrainText(memory.analyzer, grain),
    turn: turnOf(grain),
  };
}

class GrainText implements IndexedText {
  readonly #analyzer: Analyzer;
  readonly #grain: Pick<Grain, 'type' | 'fields'>;

  constructor(analyzer: Analyzer, grain: Pick<Grain, 'type' | 'fields'>) {
    this.#analyzer = analyzer;
    this.#grain = grain;
  }

  analyzed(): NumberedText {
    const grain = this.#grain;
    if (!isSearchedByTriple(grain)) return this.#analyzer.scan(searchText(grain));
    const { subject, relation, object } = grain.fields;
    return this.#analyzer.scanThree(subject, relation, object);
  }
}

/** The numbers that a blob of any type may state. */
type StatedNumber = Exclude<NumberField, 'priority' | 'outcome' | 'tool' | 'error' | 'durationMs' | keyof ExpiryTimes>;

/** A number of the index, the blob field that states it, and the factor between them. */
interface NumberEntry {
  readonly field: StatedNumber;
  readonly name: string;
  readonly factor: number;
}

/** The blob field of each stated number, and its factor. */
const NUMBER_FIELDS: Readonly<Record<StatedNumber, readonly [name: string, factor: number]>> = {
  confidence: ['confidence', 1],
  importance: ['importance', 1],
  validFromMs: ['valid_from', 1],
  validToMs: ['valid_to', 1],
  expiresAtMs: ['expires_at', 1000], // an extra field of the blob, in seconds
  timestampMs: ['timestamp_ms', 1],
};
const NUMBER_ENTRIES: readonly NumberEntry[] = Object.entries(NUMBER_FIELDS).map(([field, [name, factor]]) => ({
  field: field as StatedNumber, // a key of the table
  name,
  factor,
}));

function numbersOf(memory: Memory, grain: Pick<Grain, 'type' | 'fields'>): IndexedGrain['numbers'] {
  const stated = statedNumbers(grain.fields);
  switch (grain.type) {
    case 'goal':
      return { ...stated, ...priorityRank(grain), ...expiryTimes(grain) };
    case 'action':
      return { ...stated, ...actionNumbers(memory, grain) };
    default:
      return stated;
  }
}

function statedNumbers(fields: ValueMap): IndexedGrain['numbers'] {
  const found: Partial<Record<StatedNumber, number>> = {};
  for (let i = 0; i < NUMBER_ENTRIES.length; i++) {
    const { field, name, factor } = NUMBER_ENTRIES[i]!;
    const value = fields[name];
    if (typeof value === 'number') found[field] = value * factor;
  }
  return found;
}

function text(value: ValueMap[string]): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function texts(value: ValueMap[string]): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : NO_TEXTS;
}

const NO_TEXTS: readonly string[] = [];
