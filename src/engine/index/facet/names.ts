// The names of a facet's values, in the order of its dictionary: frames, each with names of one facet.
//
//   frame := number of names, bytes of the names, bytes stored; stored
//   name  := length, UTF-8
//
// Numbers are variable-length integers. `stored` is the names, or their Zstandard frame (RFC 8878) where that is shorter.
// Names of triples are compressed: the object of a grain is often a sentence, so these names are as long as the grains, and they
// are read only by questions for a part of a name, and by merges.
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { ByteReader, giveWriter, takeWriter } from '../files/bytes.ts';
import { type ChunkSink, type ChunkSource, CorruptBlock } from '../files/section.ts';
import { SectionCursor } from '../files/section-cursor.ts';
import { SectionWriter } from '../files/section-writer.ts';
import type { NameSection } from './layout.ts';

/** Larger frames are little smaller in total, and a merge holds one of each input in memory. */
const FRAME_BYTES = 65_536;
/** A context of the compressor costs more than a shorter frame would save. */
const COMPRESSED_BYTES_MIN = 8_192;
/** A damaged frame may not ask for more. One name may exceed FRAME_BYTES. */
const FRAME_BYTES_MAX = 2 ** 30;
const COMPRESSED: Readonly<Record<NameSection, boolean>> = { facetNames: false, tripleNames: true };
/** The fastest level. Level 3 takes twice the time, and saves 4 % of the bytes. */
const LEVEL = { [constants.ZSTD_c_compressionLevel]: 1 };
const NO_BYTES = new Uint8Array(0);

/** Writes the names of a section. */
export class NamesWriter {
  readonly #section: SectionWriter;
  readonly #compresses: boolean;
  readonly #frame = takeWriter();
  #facetId = 0;
  #count = 0;

  constructor(sink: ChunkSink, name: NameSection) {
    this.#section = new SectionWriter(sink.section(name));
    this.#compresses = COMPRESSED[name];
  }

  /** Adds a name. Those of a facet come one after the other. */
  add(facetId: number, name: Uint8Array): void {
    if (facetId !== this.#facetId || this.#frame.length >= FRAME_BYTES) this.#endFrame();
    this.#facetId = facetId;
    this.#frame.varint(name.length);
    this.#frame.bytes(name);
    this.#count += 1;
  }

  end(): void {
    this.#endFrame();
    giveWriter(this.#frame);
    this.#section.end();
  }

  #endFrame(): void {
    if (this.#count === 0) return;
    const names = this.#frame.view();
    const stored = this.#compresses && names.length >= COMPRESSED_BYTES_MIN ? compressed(names) : names;
    const { bytes } = this.#section;
    bytes.varint(this.#count);
    bytes.varint(names.length);
    bytes.varint(stored.length);
    bytes.bytes(stored);
    this.#section.settle();
    this.#frame.clear();
    this.#count = 0;
  }
}

function compressed(names: Uint8Array): Uint8Array {
  const stored = zstdCompressSync(names, { params: LEVEL, chunkSize: names.length });
  return stored.length < names.length ? stored : names;
}

/** Reads the names of a section from front to back. */
export class NamesCursor {
  readonly #name: NameSection;
  readonly #section: SectionCursor;
  #frame = new ByteReader(NO_BYTES);
  /** Names left in the frame. */
  #left = 0;

  /** `start`: the position of a frame. */
  constructor(source: ChunkSource, name: NameSection, start = 0) {
    this.#name = name;
    this.#section = new SectionCursor(source.section(name), start);
  }

  /** The position of the next frame, to which the cursor has come. */
  get position(): number {
    return this.#section.position;
  }

  /** The next name, read-only and valid indefinitely. Throws CorruptBlock. */
  next(): Uint8Array {
    while (this.#left === 0) this.#readFrame();
    this.#left -= 1;
    return this.#frame.bytes(this.#frame.varint());
  }

  /** Passes over the frames of the next `count` names, which are all of a facet. */
  skip(count: number): void {
    for (let left = count; left > 0; ) {
      left -= this.#section.varint();
      this.#section.varint();
      this.#section.skip(this.#section.varint());
      if (left < 0) throw this.#corrupt('a frame has names of two facets');
    }
  }

  #readFrame(): void {
    const cursor = this.#section;
    this.#left = cursor.varint();
    const length = cursor.varint();
    const stored = cursor.bytes(cursor.varint());
    const names = stored.length === length ? stored : this.#decompressed(stored, length);
    this.#frame = new ByteReader(names);
  }

  #decompressed(stored: Uint8Array, length: number): Uint8Array {
    if (length > FRAME_BYTES_MAX) throw this.#corrupt('a frame is too long');
    let names: Uint8Array;
    try {
      names = zstdDecompressSync(stored, { maxOutputLength: length, chunkSize: Math.max(length, 64) });
    } catch (error) {
      throw this.#corrupt(`a frame does not decompress: ${String(error)}`);
    }
    if (names.length !== length) throw this.#corrupt('a frame has another length than it says');
    return names;
  }

  #corrupt(reason: string): CorruptBlock {
    return new CorruptBlock(this.#name, this.position, reason);
  }
}
