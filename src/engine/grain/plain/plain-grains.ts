// The plain grains of a request, as columns: where each text lies in the request's bytes. A blob is written from them in
// one pass. The result is the one of the general path (api/input.ts, codec/blob.ts); a property test compares both.
import { assert } from '../../base/assert.ts';
import { FUTURE_SECONDS_MAX } from '../../base/limits.ts';
import { parseJson } from '../api/json.ts';
import type { JsonObject } from '../api/json-value.ts';
import { fieldByName, TYPE_FIELD, typeByString } from '../codec/field-map.ts';
import { namespaceHash, sensitivityOfTags } from '../codec/header.ts';
import {
  startOutput,
  takeOutput,
  writeArrayHead,
  writeFloat,
  writeHeaderBytes,
  writeInteger,
  writeMapHead,
  writeRaw,
  writeUtf8,
} from '../codec/msgpack.ts';
import type { ValueMap } from '../value.ts';
import {
  CONFIDENCE,
  CREATED_AT,
  IMPORTANCE,
  NUMBER_COLUMNS,
  nextTag,
  PLAIN_TYPES,
  type PlainType,
  ROW_INTS,
  ROW_NUMBERS,
  type Row,
  scanPlain,
  TAGS_AT,
  TEXT_COLUMNS,
  tagEnd,
} from './scan.ts';

/** A plain grain as the general path would return it. */
export interface PlainGrain {
  readonly type: PlainType;
  readonly fields: ValueMap;
  readonly blob: Buffer;
}

const NAMESPACE_DEFAULT = Buffer.from('default', 'ascii');
const NAMESPACE = TEXT_COLUMNS.indexOf('namespace');
const SUBJECT = TEXT_COLUMNS.indexOf('subject');
const RELATION = TEXT_COLUMNS.indexOf('relation');
const OBJECT = TEXT_COLUMNS.indexOf('object');
const CONTENT = TEXT_COLUMNS.indexOf('content');
/** Texts that a grain may lack. */
const OPTIONAL = ['role', 'session_id', 'user_id'] as const;
const OPTIONAL_PLACES = OPTIONAL.map((name) => TEXT_COLUMNS.indexOf(name));

/** Places of the entries of a payload: texts, numbers, tags, type. */
const TAGS_PLACE = TEXT_COLUMNS.length + NUMBER_COLUMNS.length;
const TYPE_PLACE = TAGS_PLACE + 1;
const CONFIDENCE_PLACE = TEXT_COLUMNS.length + CONFIDENCE;
const CREATED_AT_PLACE = TEXT_COLUMNS.length + CREATED_AT;

interface Entry {
  readonly place: number;
  readonly key: Uint8Array;
}

/** All entries in canonical order. */
const ENTRIES: readonly Entry[] = [...TEXT_COLUMNS, ...NUMBER_COLUMNS, 'structural_tags', 'type']
  .map((name, place) => {
    const field = name === 'type' ? TYPE_FIELD : fieldByName(name);
    assert(field !== undefined, 'a column is a field of the format');
    return { place, key: field.keyBytes, rank: field.rank };
  })
  .sort((a, b) => a.rank - b.rank);

const TYPE_NAMES = PLAIN_TYPES.map((type) => Buffer.from(type, 'ascii'));
const TYPE_BYTES = PLAIN_TYPES.map((type) => typeByString(type)!.byte); // types of the format
const BELIEF = PLAIN_TYPES.indexOf('belief');

export class PlainGrains {
  readonly #bytes: Buffer;
  readonly #ints: Int32Array;
  readonly #numbers: Float64Array;
  /** The type of each row, and where its text lies. */
  readonly #types: Uint8Array;
  readonly #texts: Int32Array;
  #count = 0;
  readonly #words: ShortTexts;

  /** `bytes` must not change afterwards. `most`: the most grains. */
  constructor(bytes: Buffer, most: number) {
    this.#bytes = bytes;
    this.#ints = new Int32Array(most * ROW_INTS);
    this.#numbers = new Float64Array(most * ROW_NUMBERS);
    this.#types = new Uint8Array(most);
    this.#texts = new Int32Array(most * 2);
    this.#words = new ShortTexts(most);
  }

  /** The number of grains. */
  get count(): number {
    return this.#count;
  }

  /**
   * Adds the grain whose fields are the JSON text from `from` to `to - 1`. Returns the number of the text's members, or -1
   * when the grain is not plain: it is not added then.
   */
  add(type: PlainType, from: number, to: number): number {
    const at = this.#count;
    const number = PLAIN_TYPES.indexOf(type);
    const members = scanPlain(this.#bytes, from, to, number, this.#row(at));
    if (members < 0) return members;
    this.#types[at] = number;
    this.#texts[at * 2] = from;
    this.#texts[at * 2 + 1] = to;
    this.#count += 1;
    return members;
  }

  typeAt(at: number): PlainType {
    return PLAIN_TYPES[this.#types[at]!]!;
  }

  /** The fields of a grain as the request has them. */
  fieldsAt(at: number): JsonObject {
    const text = this.#bytes.toString('utf8', this.#texts[at * 2], this.#texts[at * 2 + 1]);
    return parseJson(text) as JsonObject; // `add` has read an object
  }

  /** The grain, with the time `nowMs` if it has none; undefined when the general path must refuse it. */
  grainAt(at: number, nowMs: number): PlainGrain | undefined {
    const row = this.#row(at);
    const seconds = row.numbers[row.number + CREATED_AT]!;
    const createdAtMs = Number.isNaN(seconds) ? nowMs : seconds * 1000;
    if (createdAtMs > nowMs + FUTURE_SECONDS_MAX * 1000 || !Number.isSafeInteger(nowMs)) return undefined;
    const type = this.#types[at]!;
    const fields = this.#fieldsOf(row, type, createdAtMs);
    return { type: PLAIN_TYPES[type]!, fields, blob: this.#blobOf(row, type, createdAtMs, fields) };
  }

  #row(at: number): Row {
    return { ints: this.#ints, int: at * ROW_INTS, numbers: this.#numbers, number: at * ROW_NUMBERS };
  }

  #fieldsOf(row: Row, type: number, createdAtMs: number): ValueMap {
    const { ints, int, numbers, number } = row;
    const importance = numbers[number + IMPORTANCE]!;
    const namespace = this.#textAt(ints, int, NAMESPACE) ?? 'default';
    const fields: ValueMap =
      type === BELIEF
        ? {
            subject: this.#textAt(ints, int, SUBJECT)!, // `scanPlain` demands these
            relation: this.#textAt(ints, int, RELATION)!,
            object: this.#textAt(ints, int, OBJECT)!,
            confidence: confidenceOf(row),
            created_at: createdAtMs,
            namespace,
          }
        : { content: this.#textAt(ints, int, CONTENT)!, created_at: createdAtMs, namespace };
    if (type !== BELIEF && !Number.isNaN(numbers[number + CONFIDENCE]!)) fields['confidence'] = confidenceOf(row);
    if (!Number.isNaN(importance)) fields['importance'] = importance;
    for (let i = 0; i < OPTIONAL.length; i++) {
      const text = this.#textAt(ints, int, OPTIONAL_PLACES[i]!);
      if (text !== undefined) fields[OPTIONAL[i]!] = text;
    }
    const count = ints[int + TAGS_AT + 1]!;
    if (count > 0) fields['structural_tags'] = this.#tagsAt(ints[int + TAGS_AT]!, count);
    return fields;
  }

  #textAt(ints: Int32Array, int: number, place: number): string | undefined {
    const start = ints[int + place * 2]!;
    return start === 0 ? undefined : this.#words.text(this.#bytes, start, ints[int + place * 2 + 1]!);
  }

  #tagsAt(from: number, count: number): string[] {
    const tags: string[] = [];
    for (let i = 0, next = from; i < count; i++, next = tagEnd() + 1) {
      const start = nextTag(this.#bytes, next);
      tags.push(this.#words.text(this.#bytes, start, tagEnd()));
    }
    return tags;
  }

  #blobOf(row: Row, type: number, createdAtMs: number, fields: ValueMap): Buffer {
    let count = 0;
    for (let i = 0; i < ENTRIES.length; i++) if (isThere(row, type, ENTRIES[i]!.place)) count += 1;
    startOutput();
    const flags = sensitivityOfTags(fields['structural_tags']) << 6;
    writeHeaderBytes(flags, TYPE_BYTES[type]!, namespaceHash(fields['namespace']), Math.floor(createdAtMs / 1000));
    writeMapHead(count);
    for (let i = 0; i < ENTRIES.length; i++) {
      const { place, key } = ENTRIES[i]!;
      if (!isThere(row, type, place)) continue;
      writeRaw(key);
      if (place < TEXT_COLUMNS.length) this.#writeText(row, place);
      else if (place === TYPE_PLACE) writeUtf8(TYPE_NAMES[type]!, 0, TYPE_NAMES[type]!.length);
      else if (place === TAGS_PLACE) this.#writeTags(row);
      else if (place === CREATED_AT_PLACE) writeInteger(createdAtMs);
      else writeFloat(place === CONFIDENCE_PLACE ? confidenceOf(row) : row.numbers[row.number + IMPORTANCE]!);
    }
    return takeOutput();
  }

  #writeText({ ints, int }: Row, place: number): void {
    const start = ints[int + place * 2]!;
    if (start === 0) writeUtf8(NAMESPACE_DEFAULT, 0, NAMESPACE_DEFAULT.length);
    else writeUtf8(this.#bytes, start, ints[int + place * 2 + 1]!);
  }

  #writeTags({ ints, int }: Row): void {
    const count = ints[int + TAGS_AT + 1]!;
    writeArrayHead(count);
    for (let i = 0, next = ints[int + TAGS_AT]!; i < count; i++, next = tagEnd() + 1) {
      const start = nextTag(this.#bytes, next);
      writeUtf8(this.#bytes, start, tagEnd());
    }
  }
}

/** True when the payload of that row has an entry in that place. */
function isThere({ ints, int, numbers, number }: Row, type: number, place: number): boolean {
  if (place < TEXT_COLUMNS.length) return ints[int + place * 2] !== 0 || place === NAMESPACE;
  if (place === TAGS_PLACE) return ints[int + TAGS_AT + 1] !== 0;
  if (place === CREATED_AT_PLACE || place === TYPE_PLACE) return true;
  if (place === CONFIDENCE_PLACE && type === BELIEF) return true;
  return !Number.isNaN(numbers[number + place - TEXT_COLUMNS.length]!);
}

/** The confidence, which is 1 where a belief states none. */
function confidenceOf({ numbers, number }: Row): number {
  const stated = numbers[number + CONFIDENCE]!;
  return Number.isNaN(stated) ? 1 : stated;
}

/** Longer texts are not looked for. */
const SHORT_BYTES = 32;
const SHORT_SLOTS_MAX = 1_024;

/** The strings of short texts of ASCII, of which a request holds most several times: relations, users, tags. */
class ShortTexts {
  readonly #texts: string[];

  /** `grains`: the most grains of the request. */
  constructor(grains: number) {
    let slots = 8;
    while (slots < grains * 2 && slots < SHORT_SLOTS_MAX) slots *= 2;
    this.#texts = new Array<string>(slots).fill('');
  }

  /** The string of the UTF-8 from `start` to `end - 1`. */
  text(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length > SHORT_BYTES) return bytes.toString('utf8', start, end);
    let hash = length;
    let all = 0;
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!;
      hash = Math.imul(hash, 31) + byte;
      all |= byte;
    }
    // Only the units of ASCII are its bytes.
    if (all > 0x7f) return bytes.toString('utf8', start, end);
    const slot = (hash ^ (hash >>> 10)) & (this.#texts.length - 1);
    const known = this.#texts[slot]!;
    if (known.length === length && isSame(known, bytes, start)) return known;
    const made = bytes.toString('latin1', start, end);
    this.#texts[slot] = made;
    return made;
  }
}

function isSame(text: string, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}
