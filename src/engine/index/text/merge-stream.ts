// One chunk's side of a merge: stands on a term, and copies its postings and positions into the new chunk.
import { DictionaryCursor } from './dictionary.ts';
import type { MergeInput } from './segment.ts';
import { SectionReader, VarintReader } from './varint.ts';
import type { TextWriter } from './writer.ts';

const NOTHING = new VarintReader(new Uint8Array(0));

export class MergeStream {
  readonly cursor: DictionaryCursor;
  /** Postings of the term that were not copied yet. */
  left = 0;
  readonly #input: MergeInput;
  readonly #names: SectionReader;
  #name: Uint8Array = new Uint8Array(0);
  #postings = NOTHING;
  #positions = NOTHING;
  #doc = -1;
  /** True when no doc is removed: then positions are copied without being looked at. */
  readonly #whole: boolean;

  constructor(input: MergeInput) {
    this.#input = input;
    this.cursor = new DictionaryCursor(input.chunk.dictionary());
    this.#names = new SectionReader(input.chunk.source.section('vocabulary'));
    this.#whole = !input.docMap.includes(-1);
  }

  /** Moves to the next term; false after the last. */
  next(): boolean {
    if (!this.cursor.next()) return false;
    this.#name = this.#names.bytes(this.#names.varint());
    return true;
  }

  /** The term's UTF-8; valid until `next`. */
  name(): Uint8Array {
    return this.#name;
  }

  /** Opens the term's lists. */
  begin(): void {
    const { cursor } = this;
    const { source } = this.#input.chunk;
    this.left = cursor.docs;
    this.#doc = -1;
    this.#postings = new VarintReader(source.section('textPostings').bytes(cursor.postingsStart, cursor.postingsEnd));
    const positions = source.section('textPositions').bytes(cursor.positionsStart, cursor.positionsEnd);
    this.#positions = new VarintReader(positions);
  }

  /** Copies up to `max` postings; returns how many it read. */
  copyTo(writer: TextWriter, max: number): number {
    const { docMap } = this.#input;
    const count = Math.min(max, this.left);
    for (let i = 0; i < count; i++) {
      const value = this.#postings.varint();
      const frequency = (value & 1) === 1 ? this.#postings.varint() : 1;
      this.#doc += (value >>> 1) + 1;
      const doc = docMap[this.#doc]!;
      if (doc >= 0) writer.posting(doc, frequency);
      if (this.#whole) continue;
      const start = this.#positions.at;
      this.#positions.skip(frequency);
      if (doc >= 0) writer.positions.bytes(this.#positions.since(start));
    }
    this.left -= count;
    if (this.left === 0 && this.#whole) writer.positions.bytes(this.#positions.rest());
    return count;
  }
}
