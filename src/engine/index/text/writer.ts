// Writes the text sections of a chunk, a term at a time, in the order of the dictionary (format: segment.ts).
import type { ChunkSink, Sliced } from '../files/section.ts';
import { countedLength } from './bm25.ts';
import { DictionaryWriter } from './dictionary.ts';
import { VarintWriter } from './varint.ts';

const SLICE_DOCS = 65_536;

/** Writes the five sections in turns, a term at a time. */
export class TextWriter {
  readonly postings: VarintWriter;
  readonly positions: VarintWriter;
  readonly #vocabulary: VarintWriter;
  readonly #dictionary: DictionaryWriter;
  readonly #sink: ChunkSink;
  #docs = 0;
  #lastDoc = -1;
  #postingsStart = 0;
  #positionsStart = 0;

  constructor(sink: ChunkSink) {
    this.#sink = sink;
    this.postings = new VarintWriter(sink.section('textPostings'));
    this.positions = new VarintWriter(sink.section('textPositions'));
    this.#vocabulary = new VarintWriter(sink.section('vocabulary'));
    this.#dictionary = new DictionaryWriter(sink.section('textDictionary'));
  }

  /** Adds a posting to the current term. Docs ascend. */
  posting(doc: number, frequency: number): void {
    const delta = doc - this.#lastDoc - 1;
    if (frequency === 1) {
      this.postings.varint((delta << 1) >>> 0);
    } else {
      this.postings.varint(((delta << 1) | 1) >>> 0);
      this.postings.varint(frequency);
    }
    this.#lastDoc = doc;
    this.#docs++;
  }

  /**
   * Adds the words from `from` of a term, given as pairs of doc and position in reading order, up to the end of the doc
   * in which `max` is reached. Returns the first remaining word, or `to`.
   */
  words(pairs: Uint32Array, from: number, to: number, max: number): number {
    const stop = Math.min(to, from + max);
    let at = from;
    while (at < stop) {
      const doc = pairs[at * 2]!;
      let end = at + 1;
      while (end < to && pairs[end * 2] === doc) end++;
      this.posting(doc, end - at);
      let before = 0;
      for (; at < end; at++) {
        const position = pairs[at * 2 + 1]!;
        this.positions.varint(position - before);
        before = position;
      }
    }
    return at;
  }

  /** Ends the current term. A term without postings is not written. */
  endTerm(high: number, low: number, name: Uint8Array): void {
    if (this.#docs === 0) return;
    this.#vocabulary.varint(name.length);
    this.#vocabulary.bytes(name);
    this.#endLists(high, low);
  }

  /** The same with the name as a text. */
  endTermNamed(high: number, low: number, name: string): void {
    if (this.#docs === 0) return;
    this.#vocabulary.text(name);
    this.#endLists(high, low);
  }

  #endLists(high: number, low: number): void {
    const postingsBytes = this.postings.position - this.#postingsStart;
    const positionsBytes = this.positions.position - this.#positionsStart;
    this.#dictionary.add(high, low, this.#docs, postingsBytes, positionsBytes);
    this.#postingsStart += postingsBytes;
    this.#positionsStart += positionsBytes;
    this.#docs = 0;
    this.#lastDoc = -1;
  }

  /** Writes the remaining data: the lengths, and the end of every section. */
  *end(lengths: Uint16Array): Sliced<void> {
    this.postings.end();
    this.positions.end();
    this.#vocabulary.end();
    let totalLength = 0;
    const bytes = new Uint8Array(lengths.length * 2);
    for (let doc = 0; doc < lengths.length; doc++) {
      const length = lengths[doc]!;
      totalLength += countedLength(length);
      bytes[doc * 2] = length & 255;
      bytes[doc * 2 + 1] = length >>> 8;
      if (doc % SLICE_DOCS === SLICE_DOCS - 1) yield;
    }
    this.#sink.section('textLengths').write(bytes);
    this.#dictionary.end(totalLength);
  }
}
