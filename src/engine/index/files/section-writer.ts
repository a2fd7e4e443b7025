// Helps index codecs to write a section: small writes are gathered, and a section may end in a trailer that says where
// its pieces are, so that it can be written from front to back without knowing them before.
//
//   trailer := variable-length integers, then the length of these in one byte
import { ByteReader, giveWriter, takeWriter } from './bytes.ts';
import type { SectionSink, SectionSource } from './section.ts';

const GATHER_BYTES = 4_096;

export class SectionWriter {
  readonly #sink: SectionSink;
  /**
   * Write here, then call `settle` at a point where the section may be passed on. Do not use after `end` or `finish`.
   */
  readonly bytes = takeWriter();

  constructor(sink: SectionSink) {
    this.#sink = sink;
  }

  /** Bytes of the section so far. */
  get position(): number {
    return this.#sink.position + this.bytes.length;
  }

  settle(): void {
    if (this.bytes.length >= GATHER_BYTES) this.#flush();
  }

  /** Ends the section without a trailer. */
  end(): void {
    this.#flush();
    giveWriter(this.bytes);
  }

  /** Ends the section with a trailer of `numbers`, none of them negative. */
  finish(numbers: readonly number[]): void {
    const before = this.bytes.length;
    for (const number of numbers) this.bytes.varint(number);
    this.bytes.u8(this.bytes.length - before);
    this.end();
  }

  #flush(): void {
    this.#sink.write(this.bytes.view());
    this.bytes.clear();
  }
}

export interface Trailer {
  readonly numbers: readonly number[];
  /** Bytes of the section before the trailer. */
  readonly end: number;
}

/** Reads the trailer of a section that was written. */
export function readTrailer(section: SectionSource): Trailer {
  const end = section.length - 1;
  const length = section.bytes(end, end + 1)[0]!;
  const reader = new ByteReader(section.bytes(end - length, end));
  const numbers: number[] = [];
  while (reader.left > 0) numbers.push(reader.varint());
  return { numbers, end: end - length };
}
