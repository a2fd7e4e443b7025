// A chunk whose sections are plain byte strings in the heap, for tests and benchmarks.
import type { ChunkSink, ChunkSource, SectionName, SectionSink, SectionSource } from '../files/section.ts';
import { tokenHigh, tokenLow } from './dictionary.ts';
import type { BlindTerms, BlindToken } from './segment.ts';

/** Makes a function for the tokens of many terms from one for a single term. */
export function oneByOne(token: BlindToken): BlindTerms {
  return (terms, from, to, high, low) => {
    for (let i = from; i < to; i++) {
      const bytes = token(terms[i]!);
      high[i] = tokenHigh(bytes);
      low[i] = tokenLow(bytes);
    }
  };
}

export class MemoryChunk implements ChunkSink, ChunkSource {
  readonly #sections = new Map<SectionName, MemorySection>();

  section(name: SectionName): MemorySection {
    let section = this.#sections.get(name);
    if (section === undefined) {
      section = new MemorySection();
      this.#sections.set(name, section);
    }
    return section;
  }

  /** Bytes of each section that was written. */
  sizes(): [SectionName, number][] {
    return [...this.#sections].map(([name, section]) => [name, section.length]);
  }

  get byteLength(): number {
    return this.sizes().reduce((sum, [, bytes]) => sum + bytes, 0);
  }
}

class MemorySection implements SectionSink, SectionSource {
  #bytes = new Uint8Array(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get position(): number {
    return this.#length;
  }

  write(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(length, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
  }

  bytes(start: number, end: number): Uint8Array {
    return this.#bytes.subarray(start, end);
  }
}
