// The words of a tail's texts in the order of their addition, each linked to the previous word of its term. They lie in
// chunks, so that nothing is copied as a log grows: copies were a third of the cost of adding.

// A word: [previous word of the same term or NO_WORD, doc, position, term]. Searches follow the links. Sealing reads the
// words in storage order, because following links would cost a cache miss for each word.
const FIELDS = 4;
const PREVIOUS = 0;
const DOC = 1;
const POSITION = 2;
const TERM = 3;

export const NO_WORD = -1;

const CHUNK_SHIFT = 12;
const CHUNK_WORDS = 1 << CHUNK_SHIFT;
const CHUNK_MASK = CHUNK_WORDS - 1;
/** Words of the first chunk at first: most memories hold a handful of grains in a tail. */
const WORDS_FIRST = 64;

export class WordLog {
  /** All but the first have CHUNK_WORDS words. */
  #chunks: Int32Array<ArrayBuffer>[] = [new Int32Array(WORDS_FIRST * FIELDS)];
  /** The chunk that is being filled, and the index of its next word. */
  #chunk: Int32Array<ArrayBuffer> = this.#chunks[0]!;
  #at = 0;
  #count = 0;

  /** A log of the words in `chunks`, in the form in which `chunk` gave them. No word can be added. */
  static of(chunks: Int32Array<ArrayBuffer>[], count: number): WordLog {
    const log = new WordLog();
    log.#chunks = chunks;
    log.#count = count;
    return log;
  }

  get chunks(): number {
    return this.#chunks.length;
  }

  /** A copy of the chunk with that number. */
  chunk(number: number): Int32Array<ArrayBuffer> {
    return this.#chunks[number]!.slice();
  }

  get count(): number {
    return this.#count;
  }

  get heapBytes(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  }

  /** Adds a word and returns its number. */
  add(previous: number, doc: number, position: number, term: number): number {
    if (this.#at === this.#chunk.length) this.#extend();
    const chunk = this.#chunk;
    const at = this.#at;
    chunk[at + PREVIOUS] = previous;
    chunk[at + DOC] = doc;
    chunk[at + POSITION] = position;
    chunk[at + TERM] = term;
    this.#at = at + FIELDS;
    return this.#count++;
  }

  previous(word: number): number {
    return this.#chunks[word >>> CHUNK_SHIFT]![(word & CHUNK_MASK) * FIELDS + PREVIOUS]!;
  }

  doc(word: number): number {
    return this.#chunks[word >>> CHUNK_SHIFT]![(word & CHUNK_MASK) * FIELDS + DOC]!;
  }

  position(word: number): number {
    return this.#chunks[word >>> CHUNK_SHIFT]![(word & CHUNK_MASK) * FIELDS + POSITION]!;
  }

  /** Adds the words `from` to `to - 1` to the counts of their terms. */
  countWords(from: number, to: number, counts: Uint32Array): void {
    for (let word = from; word < to; ) {
      const chunk = this.#chunks[word >>> CHUNK_SHIFT]!;
      const end = Math.min(to, (word | CHUNK_MASK) + 1);
      for (; word < end; word++) counts[chunk[(word & CHUNK_MASK) * FIELDS + TERM]!]! += 1;
    }
  }

  /** Adds the docs of the words from `from` on to the counts of their terms: each doc once. */
  countDocs(from: number, counts: Uint32Array): void {
    for (let word = from; word < this.#count; word++) {
      const chunk = this.#chunks[word >>> CHUNK_SHIFT]!;
      const at = (word & CHUNK_MASK) * FIELDS;
      const previous = chunk[at + PREVIOUS]!;
      if (previous === NO_WORD || this.doc(previous) !== chunk[at + DOC]) counts[chunk[at + TERM]!]! += 1;
    }
  }

  /**
   * Writes (doc, position) of the words `from` to `to - 1` in order. Each goes to the index in `pairs` that `next` has
   * for its term, which is then advanced.
   */
  spread(from: number, to: number, next: Uint32Array, pairs: Uint32Array): void {
    for (let word = from; word < to; ) {
      const chunk = this.#chunks[word >>> CHUNK_SHIFT]!;
      const end = Math.min(to, (word | CHUNK_MASK) + 1);
      for (; word < end; word++) {
        const at = (word & CHUNK_MASK) * FIELDS;
        const term = chunk[at + TERM]!;
        const place = next[term]!;
        next[term] = place + 1;
        pairs[place * 2] = chunk[at + DOC]!;
        pairs[place * 2 + 1] = chunk[at + POSITION]!;
      }
    }
  }

  #extend(): void {
    const first = this.#chunks.length === 1 && this.#at < CHUNK_WORDS * FIELDS;
    this.#chunk = new Int32Array(first ? this.#at * 2 : CHUNK_WORDS * FIELDS);
    if (first) {
      this.#chunk.set(this.#chunks[0]!);
      this.#chunks[0] = this.#chunk;
    } else {
      this.#chunks.push(this.#chunk);
      this.#at = 0;
    }
  }
}
