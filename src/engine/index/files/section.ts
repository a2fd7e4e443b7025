// Interfaces of sections. A chunk (one memory's sealed indexes in one segment file) is a set of sections. A section is
// a byte string that is written once from front to back and read at random. The container (index/parts/chunk.ts,
// segment-file.ts) encrypts blocks, caches them and handles files; index codecs see only these two interfaces.

import { EngineError } from '../../base/errors.ts';

/** Section ids are explicit numbers because they reach the disk. */
export const SECTIONS = {
  docs: 1,
  address: 2,
  identity: 3,
  facetDictionary: 4,
  facetPostings: 5,
  facetNames: 6,
  numbers: 7,
  keyed: 8,
  textLengths: 9,
  textDictionary: 10,
  textPostings: 11,
  textPositions: 12,
  vocabulary: 13,
  vectors: 14,
  context: 15,
  tripleNames: 16,
} as const;
export type SectionName = keyof typeof SECTIONS;

/** The index that writes each section. A new section does not compile without a row. */
interface IndexOf {
  docs: 'docs';
  address: 'address';
  identity: 'identity';
  facetDictionary: 'facet';
  facetPostings: 'facet';
  facetNames: 'facet';
  numbers: 'numbers';
  keyed: 'keyed';
  textLengths: 'text';
  textDictionary: 'text';
  textPostings: 'text';
  textPositions: 'text';
  vocabulary: 'text';
  /** Written by none: vectors have files of their own. */
  vectors: never;
  context: 'context';
  tripleNames: 'facet';
}

/** The indexes of a chunk. Sealing, merging and verification each have a table with a row for every index. */
export type SealedIndex = { [S in SectionName]: IndexOf[S] }[SectionName];

export interface SectionSource {
  /** Length in bytes; 0 when the section was not written. */
  readonly length: number;
  /**
   * Bytes start..end-1: a view when they lie in one block, else a copy. Read-only, stays valid. Throws CorruptBlock.
   */
  bytes(start: number, end: number): Uint8Array;
}

export interface SectionSink {
  /** Bytes written so far. */
  readonly position: number;
  /** Appends a copy of `bytes`. */
  write(bytes: Uint8Array): void;
}

export interface ChunkSource {
  section(name: SectionName): SectionSource;
}

/** Sections may be written alternately; each has its own position. */
export interface ChunkSink {
  section(name: SectionName): SectionSink;
}

/**
 * A block whose authentication or checksum failed, or that is cut short. Names the file and offset. It is a storage
 * error for the request that needs the block, not a bug: everything else goes on.
 */
export class CorruptBlock extends EngineError {
  override name = 'CorruptBlock';
  readonly file: string;
  readonly offset: number;
  readonly reason: string;
  constructor(file: string, offset: number, reason: string) {
    super('STO-E001', `${file} at ${offset}: ${reason}`);
    this.file = file;
    this.offset = offset;
    this.reason = reason;
  }
}

/**
 * Work in slices: a generator that yields where it may be interrupted, at least every few hundred microseconds. The
 * engine runs slices between groups of requests, under a time budget. Nothing else changes the data that it reads.
 */
export type Sliced<T> = Generator<void, T, void>;
