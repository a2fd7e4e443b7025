// Merges several text sections into one.

import type { ChunkSink, Sliced } from '../files/section.ts';
import { type MergeInput, MergeStream } from './merge-stream.ts';
import { TextWriter } from './writer.ts';

export const SLICE_POSTINGS = 8_192;

/**
 * Writes the text sections of several chunks as one. The inputs are in the order of their docs: the new docs of one lie
 * below those of the next, and each map ascends. Removed docs are left out, and so are terms that only they contained.
 */
export function* mergeText(inputs: readonly MergeInput[], newDocCount: number, sink: ChunkSink): Sliced<void> {
  const streams: MergeStream[] = [];
  for (const input of inputs) {
    const stream = new MergeStream(input);
    if (stream.next()) streams.push(stream);
  }
  const writer = new TextWriter(sink);
  let sinceYield = 0;
  while (streams.length > 0) {
    const { high, low } = lowestToken(streams);
    let name: Uint8Array | undefined;
    for (let i = 0; i < streams.length; i++) {
      const stream = streams[i]!;
      if (stream.cursor.high !== high || stream.cursor.low !== low) continue;
      name ??= stream.name();
      while (stream.left > 0) {
        sinceYield += stream.copyTo(writer, SLICE_POSTINGS) + 8;
        if (sinceYield > SLICE_POSTINGS) {
          sinceYield = 0;
          yield;
        }
      }
      if (!stream.next()) streams.splice(i--, 1);
    }
    writer.endTerm(high, low, name!);
  }
  yield* writer.end(yield* mergedLengths(inputs, newDocCount));
}

export function lowestToken(streams: readonly MergeStream[]): { high: number; low: number } {
  let { high, low } = streams[0]!.cursor;
  for (let i = 1; i < streams.length; i++) {
    const { cursor } = streams[i]!;
    if (cursor.high < high || (cursor.high === high && cursor.low < low)) ({ high, low } = cursor);
  }
  return { high, low };
}

export function* mergedLengths(inputs: readonly MergeInput[], newDocCount: number): Sliced<Uint16Array> {
  const lengths = new Uint16Array(newDocCount);
  for (const { chunk, docMap } of inputs) {
    const old = chunk.lengths;
    for (let doc = 0; doc < chunk.docCount; doc++) {
      if (docMap[doc]! >= 0) lengths[docMap[doc]!] = old[doc]!;
      if (doc % (SLICE_POSTINGS * 8) === 0) yield;
    }
  }
  return lengths;
}
