// Writes chunks (chunk.ts).
import { crc32 } from 'node:zlib';
import { assert } from '../../base/assert.ts';
import { BLOCK_BYTES } from '../../base/limits.ts';
import { open, type SealKey, seal, sealKey } from '../../crypto/envelope.ts';
import { ByteWriter } from '../files/bytes.ts';
import { type ChunkSink, SECTIONS, type SectionName, type SectionSink } from '../files/section.ts';
import {
  associate,
  BLOCK_OVERHEAD,
  CHUNK_ID_BYTES,
  type Envelope,
  MAP_SECTION,
  ROOT_NUMBER,
  SECTION_IDS,
} from './chunk.ts';

/** Bytes of the root without the rest: at most a section table and the map's blocks. */
const ROOT_HEAD_BYTES_MAX = 4_096;

/** Writes chunks one after the other to `out`. Buffers are reused. */
export class ChunkWriter implements ChunkSink {
  readonly #envelope: Envelope;
  readonly #out: (bytes: Uint8Array) => void;
  readonly #sections: (SectionBuffer | undefined)[] = new Array(SECTION_IDS).fill(undefined);
  #key: SealKey | undefined;
  #associated = new Uint8Array(CHUNK_ID_BYTES + 4);
  #blocks = 0;
  #length = 0;
  #mapBlocks: number[] = [];

  constructor(out: (bytes: Uint8Array) => void, envelope: Envelope = { seal, open }) {
    this.#out = out;
    this.#envelope = envelope;
  }

  /** Begins a chunk. `id` must never have been used with this key. */
  begin(key: Uint8Array, id: Uint8Array): void {
    assert(this.#key === undefined, 'a chunk ends before the next begins');
    assert(id.length === CHUNK_ID_BYTES, 'a chunk id has its width');
    this.#key = sealKey(key);
    this.#associated.set(id);
    this.#blocks = 0;
    this.#length = 0;
    this.#mapBlocks = [];
    for (const section of this.#sections) section?.reset();
  }

  section(name: SectionName): SectionSink {
    assert(this.#key !== undefined, 'a section belongs to a chunk');
    return this.#buffer(SECTIONS[name]);
  }

  /** Seals the remaining data and the root. Returns the lengths of the chunk and its root. */
  finish(): { length: number; rootLength: number } {
    const map = this.#buffer(MAP_SECTION);
    const head = new ByteWriter();
    const used = this.#sections.filter((section) => section !== undefined && section.position > 0) as SectionBuffer[];
    const listed = used.filter((section) => section !== map);
    head.varint(listed.length);
    for (const section of listed) {
      head.varint(section.id);
      head.varint(section.position);
    }
    head.varint(this.#mapBlocks.length);
    for (const number of this.#mapBlocks) head.varint(number);
    assert(head.length < ROOT_HEAD_BYTES_MAX, 'the head of a root is short');

    const rest = new RestCutter((piece) => this.#writeBlock(piece, this.#blocks++));
    for (const section of used) rest.write(section.residue());
    const last = rest.last();
    const inline = head.length + 1 + last.length <= BLOCK_BYTES;
    if (!inline) this.#writeBlock(last, this.#blocks++);
    head.u8(inline ? 1 : 0);
    if (inline) head.bytes(last);
    const before = this.#length;
    this.#writeBlock(head.view(), ROOT_NUMBER);
    this.#key = undefined;
    return { length: this.#length, rootLength: this.#length - before };
  }

  /** Discards a chunk that was begun and will not be finished. */
  abandon(): void {
    this.#key = undefined;
  }

  #buffer(id: number): SectionBuffer {
    const known = this.#sections[id];
    if (known !== undefined) return known;
    const made = new SectionBuffer(id, (block) => this.#full(id, block));
    this.#sections[id] = made;
    return made;
  }

  /** Called when a section has filled a block. The map lists every full block, its own included. */
  #full(id: number, block: Uint8Array): void {
    const number = this.#blocks++;
    if (id === MAP_SECTION) this.#mapBlocks.push(number);
    this.#writeBlock(block, number);
    this.#buffer(MAP_SECTION).write(Uint8Array.of(id));
  }

  #writeBlock(plain: Uint8Array, number: number): void {
    assert(this.#key !== undefined, 'a block belongs to a chunk');
    const sealed = this.#envelope.seal(this.#key, plain, associate(this.#associated, number));
    assert(sealed.length + 4 === plain.length + BLOCK_OVERHEAD, 'a sealed block has the envelope’s overhead');
    // `out` may keep the buffer.
    this.#out(sealed);
    const check = new Uint8Array(4);
    new DataView(check.buffer).setUint32(0, crc32(sealed));
    this.#out(check);
    this.#length += sealed.length + 4;
  }
}

/** Collects a section up to one block. Grows by doubling: most chunks are small. */
class SectionBuffer implements SectionSink {
  readonly id: number;
  readonly #full: (block: Uint8Array) => void;
  #bytes = new Uint8Array(1_024);
  #used = 0;
  position = 0;

  constructor(id: number, full: (block: Uint8Array) => void) {
    this.id = id;
    this.#full = full;
  }

  reset(): void {
    this.#used = 0;
    this.position = 0;
  }

  residue(): Uint8Array {
    return this.#bytes.subarray(0, this.#used);
  }

  write(bytes: Uint8Array): void {
    this.position += bytes.length;
    let from = 0;
    while (from < bytes.length) {
      const taken = Math.min(bytes.length - from, BLOCK_BYTES - this.#used);
      if (this.#used + taken > this.#bytes.length) this.#grow(this.#used + taken);
      this.#bytes.set(taken === bytes.length ? bytes : bytes.subarray(from, from + taken), this.#used);
      this.#used += taken;
      from += taken;
      if (this.#used < BLOCK_BYTES) continue;
      this.#used = 0;
      this.#full(this.#bytes);
    }
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.min(BLOCK_BYTES, Math.max(needed, this.#bytes.length * 2)));
    grown.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = grown;
  }
}

/** Cuts the rest into pieces of BLOCK_BYTES. `last` is the remaining, shorter piece. */
class RestCutter {
  readonly #full: (block: Uint8Array) => void;
  readonly #bytes = new ByteWriter();

  constructor(full: (block: Uint8Array) => void) {
    this.#full = full;
  }

  write(bytes: Uint8Array): void {
    let from = 0;
    while (bytes.length - from >= BLOCK_BYTES - this.#bytes.length) {
      const to = from + BLOCK_BYTES - this.#bytes.length;
      this.#bytes.bytes(bytes.subarray(from, to));
      from = to;
      this.#full(this.#bytes.view());
      this.#bytes.clear();
    }
    this.#bytes.bytes(bytes.subarray(from));
  }

  last(): Uint8Array {
    return this.#bytes.view();
  }
}
