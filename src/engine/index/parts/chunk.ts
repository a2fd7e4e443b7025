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
import { open, SEAL_BYTES, type SealKey, seal } from '../../crypto/envelope.ts';
import { ByteReader } from '../files/bytes.ts';
import { type ChunkSource, CorruptBlock, SECTIONS, type SectionName, type SectionSource } from '../files/section.ts';
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
export const ROOT_NUMBER = 0xffff_ffff;
export const MAP_SECTION = 0;
export const SECTION_IDS = Math.max(...Object.values(SECTIONS)) + 1;

/** The place of a chunk in its file, and its id and key. */
export interface ChunkPlace {
  readonly id: Uint8Array;
  readonly length: number;
  /** Stored bytes of the root, the chunk's last block. */
  readonly rootLength: number;
}

/** The data that a block is sealed with: the chunk's id, which `associated` begins with, and the block's number. */
export function associate(associated: Uint8Array, number: number): Uint8Array {
  new DataView(associated.buffer, associated.byteOffset).setUint32(CHUNK_ID_BYTES, number);
  return associated;
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
