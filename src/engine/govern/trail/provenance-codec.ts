// The bytes of a recall record, before they are sealed.
import { Packr } from 'msgpackr';
import { assert } from '../../base/assert.ts';
import { nameBytesAt } from '../../record/grain-name.ts';
import { EXCLUSION_REASONS } from './exclusions.ts';
import { type KeptNames, type KeptRecall, QUERY_MODES } from './provenance.ts';

const packr = new Packr({ useRecords: false });
const HASH_BYTES = 32;

/**
 * The form on disk; a list of names is one run of bytes. `v` is absent in records of older builds, which list hashes.
 */
interface Packed {
  readonly v?: 2;
  readonly c: number;
  readonly e: Uint8Array;
  readonly x: Uint8Array;
  readonly k: KeptRecall['excludedCounts'];
  readonly m: number;
  readonly n: string;
  readonly o: number;
  readonly p: string;
  readonly q: KeptRecall['query'];
  readonly i: string;
  readonly r: Uint8Array;
  readonly f: number;
  readonly s: readonly (readonly number[])[];
  readonly t: number;
}

export function encodeRecall(kept: KeptRecall): Buffer {
  const [counts, namespace, principal, query, requestId] = [
    packr.pack(kept.excludedCounts),
    packr.pack(kept.namespace),
    packr.pack(kept.principal),
    packr.pack(kept.query),
    packr.pack(kept.requestId),
  ];
  const given = counts.length + namespace.length + principal.length + query.length + requestId.length;
  const writer = new RecordWriter(kept, given);
  writer.map(15);
  writer.key('v').integer(2);
  writer.key('c').integer(kept.candidateCount);
  writer.key('e').names(kept.excluded);
  writer.key('x').reasons(kept.excluded);
  writer.key('k').packed(counts);
  writer.key('m').integer(QUERY_MODES.indexOf(kept.mode));
  writer.key('n').packed(namespace);
  writer.key('o').integer(kept.nonce);
  writer.key('p').packed(principal);
  writer.key('q').packed(query);
  writer.key('i').packed(requestId);
  writer.key('r').names(kept.results);
  writer.key('f').integer(kept.resultCount);
  writer.key('s').array(kept.results.length);
  for (const { score } of kept.results) {
    writer.array(score.length);
    for (const number of score) writer.integer(number);
  }
  writer.key('t').integer(kept.timestamp);
  return writer.end();
}

/** The most that the names of members, the numbers and the lengths beside the lists take. */
const FRAME_BYTES = 128;
const NUMBER_BYTES = 9;
const LIST_BYTES = 5;

/**
 * Writes a record as MessagePack, which msgpackr reads. The long members are written in place: names from hex to their
 * bytes, and the numbers of the scores.
 */
class RecordWriter {
  readonly #bytes: Buffer;
  #at = 0;

  /** `given`: the bytes of the members that are encoded already. */
  constructor({ results, excluded }: KeptRecall, given: number) {
    let room = given + FRAME_BYTES;
    for (const { grain, score } of results) room += grain.length / 2 + score.length * NUMBER_BYTES + LIST_BYTES;
    for (const { grain } of excluded) room += grain.length / 2 + 1;
    this.#bytes = Buffer.allocUnsafe(room);
  }

  map(members: number): void {
    this.#bytes[this.#at++] = 0x80 | members;
  }

  /** The name of a member: one letter. */
  key(letter: string): this {
    this.#bytes[this.#at++] = 0xa1;
    this.#bytes[this.#at++] = letter.charCodeAt(0);
    return this;
  }

  array(count: number): void {
    const bytes = this.#bytes;
    if (count < 16) {
      bytes[this.#at++] = 0x90 | count;
      return;
    }
    bytes[this.#at++] = 0xdd;
    this.#at = bytes.writeUInt32BE(count, this.#at);
  }

  /** A number beyond 32 bits takes a double, as msgpackr writes it. */
  integer(value: number): void {
    const bytes = this.#bytes;
    if (value >= 0 && value < 0x80) bytes[this.#at++] = value;
    else if (value < 0 && value >= -0x20) bytes[this.#at++] = 0x100 + value;
    else if (value >= -0x8000_0000 && value <= 0x7fff_ffff && Number.isInteger(value)) {
      bytes[this.#at++] = 0xd2;
      this.#at = bytes.writeInt32BE(value, this.#at);
    } else {
      bytes[this.#at++] = 0xcb;
      this.#at = bytes.writeDoubleBE(value, this.#at);
    }
  }

  /** The names in one run of bytes. */
  names(items: readonly { readonly grain: string }[]): void {
    const start = this.#binary();
    for (const { grain } of items) this.#at += this.#bytes.write(grain, this.#at, 'hex');
    this.#bytes.writeUInt32BE(this.#at - start, start - 4);
  }

  reasons(items: KeptRecall['excluded']): void {
    const start = this.#binary();
    for (const { reason } of items) this.#bytes[this.#at++] = EXCLUSION_REASONS.indexOf(reason);
    this.#bytes.writeUInt32BE(this.#at - start, start - 4);
  }

  /** A value that is encoded already. */
  packed(value: Buffer): void {
    this.#at += value.copy(this.#bytes, this.#at);
  }

  end(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Begins a run of bytes. Returns where it starts; its length goes before. */
  #binary(): number {
    this.#bytes[this.#at] = 0xc6;
    this.#at += 5;
    return this.#at;
  }
}

/** Decodes the result of `encodeRecall`. The authentication of the seal guarantees its shape. */
export function decodeRecall(bytes: Uint8Array): KeptRecall {
  const packed = packr.unpack(bytes) as Packed;
  const mode = QUERY_MODES[packed.m];
  assert(mode !== undefined, 'a record has a known mode');
  const namesOf = packed.v === 2 ? namesIn : hashesIn;
  return {
    candidateCount: packed.c,
    excluded: namesOf(packed.e).map((grain, i) => ({ grain, reason: EXCLUSION_REASONS[packed.x[i]!]! })),
    excludedCounts: packed.k,
    mode,
    namespace: packed.n,
    nonce: packed.o,
    principal: packed.p,
    query: packed.q,
    requestId: packed.i,
    results: namesOf(packed.r).map((grain, i) => ({ grain, score: packed.s[i] ?? [] })),
    resultCount: packed.f,
    timestamp: packed.t,
  };
}

export function encodeNames(names: KeptNames): Buffer {
  return Buffer.from(JSON.stringify(names));
}

export function decodeNames(bytes: Uint8Array): KeptNames {
  return JSON.parse(Buffer.from(bytes).toString()) as KeptNames; // as `encodeNames` made it
}

function namesIn(run: Uint8Array): string[] {
  const bytes = Buffer.from(run.buffer, run.byteOffset, run.length);
  const names: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = nameBytesAt(bytes, at);
    assert(length !== undefined, 'a run is of names');
    names.push(bytes.toString('hex', at, at + length));
    at += length;
  }
  return names;
}

function hashesIn(run: Uint8Array): string[] {
  const bytes = Buffer.from(run.buffer, run.byteOffset, run.length);
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, i) =>
    bytes.toString('hex', i * HASH_BYTES, (i + 1) * HASH_BYTES),
  );
}
