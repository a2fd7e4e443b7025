// A chunk: the sections of one memory in one segment file, as sealed blocks. Its bytes do not depend on its place, so a
// merge can copy them to another file unchanged.
//
//   chunk := full* rest* root   Blocks are numbered from 0 in this order.
//   block := sealed (nonce 12, ciphertext, tag 16), CRC-32 of `sealed` 4 (so that a file can be checked without keys)
//   full     exactly BLOCK_BYTES of one section, in the order in which sections filled them
//   rest     the remainders of all sections, concatenated by section id and cut into pieces of BLOCK_BYTES
//   root  := number of sections, each (id, length); number of map blocks, each its block number; flag; piece
//            The flag is one byte: 1 if the last piece of the rest follows in the root, 0 if it has a block of its own.
//            The other numbers are variable-length integers.
//
// The map is a section of its own (id 0). It holds one byte for each full block: the id of the block's section. A reader
// finds the blocks of a section by it. A block is sealed with the chunk's id and the block's number as associated data,
// the root with ROOT_NUMBER as its number. So a block cannot be moved, swapped, or taken for the root.
import { crc32 } from 'node:zlib';
import { AssertionError, assert } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import { BLOCK_BYTES } from '../../base/limits.ts';
import { open, SEAL_BYTES, type SealKey, seal, sealKey } from '../../crypto/envelope.ts';
import { ByteReader, ByteWriter } from '../files/bytes.ts';
import {
  type ChunkSink,
  type ChunkSource,
  CorruptBlock,
  SECTIONS,
  type SectionName,
  type SectionSink,
  type SectionSource,
} from '../files/section.ts';
import type { DecodedCache } from '../heap-budget.ts';

/** Authenticated encryption: crypto/envelope.ts, or a replacement in tests. `open` throws if the tag is wrong. */
export interface Envelope {
  seal(key: SealKey, plain: Uint8Array, associated: Uint8Array): Uint8Array;
  open(key: SealKey, sealed: Uint8Array, associated: Uint8Array): Uint8Array;
}

export const CHUNK_ID_BYTES = 16;
/** Bytes of a stored block in addition to its plaintext: nonce, tag, CRC. */
export const BLOCK_OVERHEAD = SEAL_BYTES + 4;
const STORED_BLOCK_BYTES = BLOCK_BYTES + BLOCK_OVERHEAD;
const ROOT_NUMBER = 0xffff_ffff;
const MAP_SECTION = 0;
const SECTION_IDS = Math.max(...Object.values(SECTIONS)) + 1;
/** Bytes of the root without the rest: at most a section table and the map's blocks. */
const ROOT_HEAD_BYTES_MAX = 4_096;

/** The place of a chunk in its file, and its id and key. */
export interface ChunkPlace {
  readonly id: Uint8Array;
  readonly length: number;
  /** Stored bytes of the root, the chunk's last block. */
  readonly rootLength: number;
}

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

function associate(associated: Uint8Array, number: number): Uint8Array {
  new DataView(associated.buffer, associated.byteOffset).setUint32(CHUNK_ID_BYTES, number);
  return associated;
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

/** Reads `length` stored bytes at `offset` of a chunk. Throws CorruptBlock when the file is too short. */
export interface ChunkBytes {
  readonly file: string;
  /** Offset of the chunk in the file, for messages. */
  readonly offset: number;
  read(offset: number, length: number): Uint8Array;
}

interface Root {
  /** By section id; undefined when not written. */
  readonly sections: readonly (SectionPlace | undefined)[];
  /** Number of the first block of the rest. */
  readonly restStart: number;
  /** Offset in the rest of the piece that lies in the root, and that piece; undefined if it has a block of its own. */
  readonly inlineStart: number;
  readonly inline: Uint8Array | undefined;
  readonly heapBytes: number;
}

interface SectionPlace {
  readonly length: number;
  /** Numbers of its full blocks in order. */
  readonly blocks: Uint32Array;
  /** Offset of this section's remainder in the rest. */
  readonly rest: number;
}

export interface SealedChunkOptions {
  readonly bytes: ChunkBytes;
  readonly place: ChunkPlace;
  readonly key: () => Uint8Array;
  readonly envelope?: Envelope | undefined;
  readonly cache: DecodedCache;
  /** Called with a bad block before the error is thrown. */
  readonly onCorrupt?: ((error: CorruptBlock) => void) | undefined;
}

const NO_BYTES = new Uint8Array(0);

/** An open chunk. Nothing is read before the first query. Blocks are cached under their numbers. */
export class SealedChunk implements ChunkSource {
  readonly #options: SealedChunkOptions;
  readonly #associated = new Uint8Array(CHUNK_ID_BYTES + 4);

  constructor(options: SealedChunkOptions) {
    this.#options = options;
    this.#associated.set(options.place.id);
  }

  section(name: SectionName): SectionSource {
    return new SealedSection(this, SECTIONS[name]);
  }

  /** Plaintext bytes of a section. */
  sectionLength(id: number): number {
    return this.#root().sections[id]?.length ?? 0;
  }

  sectionBytes(id: number, start: number, end: number): Uint8Array {
    if (start === end) return NO_BYTES;
    const root = this.#root();
    const place = root.sections[id];
    if (place === undefined || end > place.length || start > end)
      throw this.#corrupt(0, `section ${id} has no bytes ${start} to ${end}`);
    return readPlace(root, place, start, end, (number) => this.#block(number));
  }

  /** Number of stored blocks; the root is the last. */
  get blockCount(): number {
    const { length, rootLength } = this.#options.place;
    return Math.ceil((length - rootLength) / STORED_BLOCK_BYTES) + 1;
  }

  /** Reads and authenticates a stored block, bypassing the cache. Throws CorruptBlock. */
  checkBlock(number: number): void {
    this.#open(number === this.blockCount - 1 ? ROOT_NUMBER : number);
  }

  /** Builds the error for a bad place, and calls the listener. */
  #corrupt(offset: number, reason: string): CorruptBlock {
    const error = new CorruptBlock(this.#options.bytes.file, this.#options.bytes.offset + offset, reason);
    this.#options.onCorrupt?.(error);
    return error;
  }

  #block(number: number): Uint8Array {
    const known = this.#options.cache.get<Uint8Array>(number);
    if (known !== undefined) return known;
    const plain = this.#open(number);
    this.#options.cache.set(number, plain, plain.length);
    return plain;
  }

  #root(): Root {
    const known = this.#options.cache.get<Root>(ROOT_NUMBER);
    if (known !== undefined) return known;
    let root: Root;
    try {
      root = this.#parseRoot(this.#open(ROOT_NUMBER));
    } catch (error) {
      // A destroyed or missing key says nothing about the block.
      if (error instanceof CorruptBlock || error instanceof EngineError) throw error;
      throw this.#corrupt(this.#options.place.length - this.#options.place.rootLength, `root: ${String(error)}`);
    }
    this.#options.cache.set(ROOT_NUMBER, root, root.heapBytes);
    return root;
  }

  #parseRoot(plain: Uint8Array): Root {
    const reader = new ByteReader(plain);
    const lengths = new Array<number>(SECTION_IDS).fill(0);
    let full = 0;
    for (let left = reader.varint(); left > 0; left--) {
      const id = reader.varint();
      assert(id > MAP_SECTION && id < SECTION_IDS, 'a section id is known');
      lengths[id] = reader.varint();
      full += Math.floor(lengths[id] / BLOCK_BYTES);
    }
    const mapBlocks = Uint32Array.from({ length: reader.varint() }, () => reader.varint());
    full += mapBlocks.length;
    lengths[MAP_SECTION] = full;
    assert(Math.floor(full / BLOCK_BYTES) === mapBlocks.length, 'the map tells of every full block');
    const isInline = reader.u8() === 1;
    const inline = isInline ? reader.bytes(reader.left) : undefined;

    const sections: (SectionPlace | undefined)[] = new Array(SECTION_IDS).fill(undefined);
    let rest = 0;
    for (let id = 0; id < SECTION_IDS; id++) {
      const length = lengths[id]!;
      if (length === 0) continue;
      const blocks = id === MAP_SECTION ? mapBlocks : new Uint32Array(Math.floor(length / BLOCK_BYTES));
      sections[id] = { length, blocks, rest };
      rest += length % BLOCK_BYTES;
    }
    const inlineStart = inline === undefined ? rest : rest - inline.length;
    const root: Root = { sections, restStart: full, inlineStart, inline, heapBytes: plain.length + 4 * full + 1_000 };
    assert(inlineStart >= 0 && (!isInline || inlineStart % BLOCK_BYTES === 0), 'the rest is cut at blocks');
    if (full > 0) this.#spreadMap(root);
    return root;
  }

  /** Fills in each section's block numbers from the map. */
  #spreadMap(root: Root): void {
    const place = root.sections[MAP_SECTION]!;
    const map = readPlace(root, place, 0, place.length, (number) => this.#open(number));
    const filled = new Array<number>(SECTION_IDS).fill(0);
    for (let number = 0; number < map.length; number++) {
      const id = map[number]!;
      if (id === MAP_SECTION) continue;
      const blocks = root.sections[id]?.blocks;
      assert(blocks !== undefined && filled[id]! < blocks.length, 'the map fits the section table');
      blocks[filled[id]!++] = number;
    }
  }

  #open(number: number): Uint8Array {
    const { bytes, place, key, envelope = { seal, open } } = this.#options;
    const isRoot = number === ROOT_NUMBER;
    const before = place.length - place.rootLength;
    const offset = isRoot ? before : number * STORED_BLOCK_BYTES;
    const length = isRoot ? place.rootLength : Math.min(STORED_BLOCK_BYTES, before - offset);
    if (length <= BLOCK_OVERHEAD - 1 || offset < 0) throw this.#corrupt(offset, `block ${number} is outside its chunk`);
    let stored: Uint8Array;
    try {
      stored = bytes.read(offset, length);
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      throw this.#corrupt(offset, error instanceof Error ? error.message : String(error));
    }
    const sealed = stored.subarray(0, length - 4);
    const secret = key();
    try {
      return envelope.open(secret, sealed, associate(this.#associated, number));
    } catch {
      const intact = checksumFits(stored);
      throw this.#corrupt(offset, intact ? 'block does not authenticate' : 'block checksum does not fit');
    }
  }
}

/** True when a stored block's CRC fits its bytes. */
export function checksumFits(stored: Uint8Array): boolean {
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength);
  return crc32(stored.subarray(0, stored.length - 4)) === view.getUint32(stored.length - 4);
}

/** Stored lengths of a chunk's blocks in order, for checks that have no key. */
export function* storedBlocks(place: ChunkPlace): IterableIterator<{ offset: number; length: number }> {
  const before = place.length - place.rootLength;
  for (let offset = 0; offset < before; offset += STORED_BLOCK_BYTES)
    yield { offset, length: Math.min(STORED_BLOCK_BYTES, before - offset) };
  yield { offset: before, length: place.rootLength };
}

/**
 * Bytes start..end-1 of a section: full blocks first, then its piece of the rest. A view when one block contains them.
 */
function readPlace(
  root: Root,
  place: SectionPlace,
  start: number,
  end: number,
  block: (number: number) => Uint8Array,
): Uint8Array {
  const fullBytes = place.blocks.length * BLOCK_BYTES;
  let assembled: Uint8Array | undefined;
  for (let at = start; at < end; ) {
    let piece: Uint8Array;
    if (at < fullBytes) {
      const plain = block(place.blocks[Math.floor(at / BLOCK_BYTES)]!);
      const from = at % BLOCK_BYTES;
      piece = plain.subarray(from, Math.min(BLOCK_BYTES, from + end - at));
    } else {
      const rest = place.rest + at - fullBytes;
      const inline = root.inline !== undefined && rest >= root.inlineStart;
      const plain = inline ? root.inline : block(root.restStart + Math.floor(rest / BLOCK_BYTES));
      const from = inline ? rest - root.inlineStart : rest % BLOCK_BYTES;
      piece = plain.subarray(from, Math.min(plain.length, from + end - at));
    }
    if (at === start && piece.length === end - start) return piece;
    assert(piece.length > 0, 'a section lies in its blocks');
    assembled ??= new Uint8Array(end - start);
    assembled.set(piece, at - start);
    at += piece.length;
  }
  assert(assembled !== undefined, 'a piece was read');
  return assembled;
}

class SealedSection implements SectionSource {
  readonly #chunk: SealedChunk;
  readonly #id: number;

  constructor(chunk: SealedChunk, id: number) {
    this.#chunk = chunk;
    this.#id = id;
  }

  get length(): number {
    return this.#chunk.sectionLength(this.#id);
  }

  bytes(start: number, end: number): Uint8Array {
    return this.#chunk.sectionBytes(this.#id, start, end);
  }
}
