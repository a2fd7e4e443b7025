// Decodes the lists of a sealed chunk (format: segment.ts).
import { countedLength } from './bm25.ts';
import { FREQUENCY_MAX, LENGTH_MAX } from './tail.ts';
import { COMMON_TERM_SHARE, type Occurrences, type Postings } from './types.ts';
import { VarintReader } from './varint.ts';

/** A term's postings, with the bounds for pruning. */
export function decodePostings(bytes: Uint8Array, count: number, lengths: Uint16Array): Postings {
  const docs = new Uint32Array(count);
  const frequencies = new Uint16Array(count);
  let maxFrequency = 1;
  let minLength = LENGTH_MAX;
  let doc = -1;
  let at = 0;
  for (let i = 0; i < count; i++) {
    // Unrolled: most lists are read here, and most values are one byte.
    let value = bytes[at++]!;
    if (value > 127) {
      let shift = 7;
      value &= 127;
      let byte: number;
      do {
        byte = bytes[at++]!;
        value |= (byte & 127) << shift;
        shift += 7;
      } while (byte > 127 && shift < 35);
    }
    doc += (value >>> 1) + 1;
    docs[i] = doc;
    let frequency = 1;
    if ((value & 1) === 1) {
      const reader = new VarintReader(bytes, at);
      frequency = Math.min(reader.varint(), FREQUENCY_MAX);
      at = reader.at;
      if (frequency > maxFrequency) maxFrequency = frequency;
    }
    frequencies[i] = frequency;
    const length = lengths[doc]!;
    if (length < minLength) minLength = length;
  }
  const byDoc =
    count * COMMON_TERM_SHARE >= lengths.length ? frequenciesByDoc(docs, frequencies, lengths.length) : undefined;
  return { count, docs, frequencies, maxFrequency, minLength: countedLength(minLength), byDoc };
}

function frequenciesByDoc(docs: Uint32Array, frequencies: Uint16Array, docCount: number): Uint8Array {
  const byDoc = new Uint8Array(docCount);
  for (let i = 0; i < docs.length; i++) byDoc[docs[i]!] = Math.min(frequencies[i]!, 255);
  return byDoc;
}

/** A term's positions in all its docs. Frequencies come from the bytes of the postings, where they are not capped. */
export function decodeOccurrences(postings: Uint8Array, positions: Uint8Array, count: number): Occurrences {
  const starts = startsOf(postings, count);
  const decoded = new Uint32Array(starts[count]!);
  let from = 0;
  for (let i = 0; i < count; i++) {
    const end = starts[i + 1]!;
    let position = 0;
    for (let at = starts[i]!; at < end; at++) {
      let delta = positions[from++]!;
      if (delta > 127) {
        const reader = new VarintReader(positions, from - 1);
        delta = reader.varint();
        from = reader.at;
      }
      position += delta;
      decoded[at] = position;
    }
  }
  return { starts, positions: decoded };
}

/** The first position of each doc, and the end of the last one's. */
function startsOf(postings: Uint8Array, count: number): Uint32Array {
  const starts = new Uint32Array(count + 1);
  let sum = 0;
  let from = 0;
  for (let i = 0; i < count; i++) {
    let byte = postings[from]!;
    const isRepeated = (byte & 1) === 1;
    while (byte > 127) byte = postings[++from]!;
    from += 1;
    if (isRepeated) {
      const reader = new VarintReader(postings, from);
      sum += reader.varint();
      from = reader.at;
    } else sum += 1;
    starts[i + 1] = sum;
  }
  return starts;
}
