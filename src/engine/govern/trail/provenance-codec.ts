// The bytes of a recall record, before they are sealed.
import { Packr } from 'msgpackr';
import { assert } from '../../base/assert.ts';
import { NameRun } from '../../record/name-run.ts';
import { type KeptNames, type KeptRecall, QUERY_MODES } from './provenance.ts';

const packr = new Packr({ useRecords: false });

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
  const { results, excluded } = kept;
  const counts = packr.pack(kept.excludedCounts);
  const query = packr.pack(kept.query);
  const writer = new RecordWriter(kept, counts.length + query.length);
  writer.map(15);
  writer.key('v').integer(2);
  writer.key('c').integer(kept.candidateCount);
  writer.key('e').binary(excluded.grains.bytes);
  writer.key('x').binary(excluded.reasons);
  writer.key('k').packed(counts);
  writer.key('m').integer(QUERY_MODES.indexOf(kept.mode));
  writer.key('n').text(kept.namespace);
  writer.key('o').integer(kept.nonce);
  writer.key('p').text(kept.principal);
  writer.key('q').packed(query);
  writer.key('i').text(kept.requestId);
  writer.key('r').binary(results.grains.bytes);
  writer.key('f').integer(kept.resultCount);
  writer.key('s').array(results.scores.length);
  for (const score of results.scores) {
    writer.array(score.length);
    for (let i = 0; i < score.length; i++) writer.integer(score[i]!);
  }
  writer.key('t').integer(kept.timestamp);
  return writer.end();
}

/** The most that the names of members, the numbers and the lengths of texts and lists take. */
const FRAME_BYTES = 128;
const NUMBER_BYTES = 9;
const LIST_BYTES = 5;

/** Writes a record as MessagePack, which msgpackr reads. */
class RecordWriter {
  readonly #bytes: Buffer;
  #at = 0;

  /** `given`: the bytes of the members that are encoded already. */
  constructor({ results, excluded, namespace, principal, requestId }: KeptRecall, given: number) {
    let room = given + FRAME_BYTES + 3 * (namespace.length + principal.length + requestId.length);
    room += results.grains.bytes.length + excluded.grains.bytes.length + excluded.reasons.length;
    for (const score of results.scores) room += score.length * NUMBER_BYTES + LIST_BYTES;
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

  binary(value: Uint8Array): void {
    const bytes = this.#bytes;
    bytes[this.#at] = 0xc6;
    bytes.writeUInt32BE(value.length, this.#at + 1);
    bytes.set(value, this.#at + 5);
    this.#at += 5 + value.length;
  }

  /** As msgpackr writes it: under the shortest header. */
  text(value: string): void {
    const bytes = this.#bytes;
    const length = Buffer.byteLength(value);
    if (length < 32) bytes[this.#at++] = 0xa0 | length;
    else if (length < 0x100) {
      bytes[this.#at++] = 0xd9;
      bytes[this.#at++] = length;
    } else if (length < 0x1_0000) {
      bytes[this.#at++] = 0xda;
      this.#at = bytes.writeUInt16BE(length, this.#at);
    } else {
      bytes[this.#at++] = 0xdb;
      this.#at = bytes.writeUInt32BE(length, this.#at);
    }
    this.#at += bytes.write(value, this.#at);
  }

  /** A value that is encoded already. */
  packed(value: Buffer): void {
    this.#at += value.copy(this.#bytes, this.#at);
  }

  end(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }
}

/** Decodes the result of `encodeRecall`. The authentication of the seal guarantees its shape. */
export function decodeRecall(bytes: Uint8Array): KeptRecall {
  const packed = packr.unpack(bytes) as Packed;
  const mode = QUERY_MODES[packed.m];
  assert(mode !== undefined, 'a record has a known mode');
  const isHashes = packed.v !== 2;
  return {
    candidateCount: packed.c,
    excluded: { grains: new NameRun(packed.e, isHashes), reasons: packed.x },
    excludedCounts: packed.k,
    mode,
    namespace: packed.n,
    nonce: packed.o,
    principal: packed.p,
    query: packed.q,
    requestId: packed.i,
    results: { grains: new NameRun(packed.r, isHashes), scores: packed.s },
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
