// One input chunk of a merge: positioned on a term, it copies the term's postings and positions into the new chunk.
// Lists lie in the order of the dictionary, so every section is read from front to back.

import { DictionaryCursor } from './dictionary.ts';
import type { TextChunk } from './segment.ts';

import { SectionReader } from './varint.ts';
import type { TextWriter } from './writer.ts';

export class MergeStream {
  readonly cursor: DictionaryCursor;
  /** Postings of the term that were not copied yet. */
  left = 0;
  readonly #docMap: Int32Array;
  readonly #names: SectionReader;
  readonly #postings: SectionReader;
  readonly #positions: SectionReader;
  #name: Uint8Array = new Uint8Array(0);
  #doc = -1;
  /** True when no doc is removed: positions are then copied without decoding. */
  readonly #whole: boolean;

  constructor({ chunk, docMap }: MergeInput) {
    this.#docMap = docMap;
    this.cursor = new DictionaryCursor(chunk.dictionary());
    this.#names = new SectionReader(chunk.source.section('vocabulary'));
    this.#postings = new SectionReader(chunk.source.section('textPostings'));
    this.#positions = new SectionReader(chunk.source.section('textPositions'));
    this.#whole = !docMap.includes(-1);
  }

  /** Moves to the next term; false after the last. The lists of the previous term must have been copied. */
  next(): boolean {
    if (!this.cursor.next()) return false;
    this.#name = this.#names.bytes(this.#names.varint());
    this.left = this.cursor.docs;
    this.#doc = -1;
    return true;
  }

  /** The term's UTF-8; valid until `next`. */
  name(): Uint8Array {
    return this.#name;
  }

  /** Copies up to `max` postings; returns how many it read. */
  copyTo(writer: TextWriter, max: number): number {
    const docMap = this.#docMap;
    const count = Math.min(max, this.left);
    for (let i = 0; i < count; i++) {
      const value = this.#postings.varint();
      const frequency = (value & 1) === 1 ? this.#postings.varint() : 1;
      this.#doc += (value >>> 1) + 1;
      const doc = docMap[this.#doc]!;
      if (doc >= 0) writer.posting(doc, frequency);
      if (!this.#whole) this.#positions.takeVarints(frequency, doc >= 0 ? writer.positions : undefined);
    }
    this.left -= count;
    if (this.left === 0 && this.#whole)
      this.#positions.copyTo(writer.positions, this.cursor.positionsEnd - this.cursor.positionsStart);
    return count;
  }
}

/** An input chunk of a merge with the new doc of each old doc, or -1 for a removed one. */
export interface MergeInput {
  readonly chunk: TextChunk;
  readonly docMap: Int32Array;
}
