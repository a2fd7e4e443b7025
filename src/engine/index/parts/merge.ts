// Merges several chunks of a memory into one, without removed docs and the data that only they used.
import type { Sequence } from '../../log/log.ts';
import { mergePrefixes } from '../address/segment.ts';
import { mergeContext } from '../context/segment.ts';
import { mergeDocs, ordinalsOf } from '../docs/segment.ts';
import { mergeFacets } from '../facet/merge.ts';
import type { ChunkSink, ChunkSource, SealedIndex, Sliced } from '../files/section.ts';
import type { SegmentWriter } from '../files/segment-file.ts';
import type { IndexKeys } from '../index-keys.ts';
import { keyedSequencesOf, mergeKeyed } from '../keyed/segment.ts';
import { mergeNumbers } from '../numbers/segment.ts';
import { mergeText } from '../text/merge-text.ts';
import type { TextChunk } from '../text/segment.ts';
import { DROPPED, type MergeInput, SLICE_STEPS } from './merge-input.ts';

/** A chunk to merge. A chunk opened for reading can be merged too. */
export interface MergedChunk {
  readonly source: ChunkSource;
  readonly text: TextChunk;
  readonly docCount: number;
  readonly first: Sequence;
  readonly last: Sequence;
}

export interface MergeOptions {
  /** The key of the new chunk: the memory's newest index key at the start of its merge. */
  readonly key: ReturnType<IndexKeys['indexKey']>;
  /** True for an ordinal (or another sequence) whose record was removed. */
  readonly isRemoved: (sequence: Sequence) => boolean;
}

/**
 * Merges `chunks`, whose ordinals ascend from one to the next, into one chunk under `key`. Writes nothing when nothing
 * is left.
 */
export function* mergeChunks(
  chunks: readonly MergedChunk[],
  memory: number,
  writer: SegmentWriter,
  { key: { id, key }, isRemoved }: MergeOptions,
): Sliced<void> {
  let docCount = 0;
  const inputs: MergeInput[] = [];
  for (const chunk of chunks) {
    const docMap = new Int32Array(chunk.docCount);
    let doc = 0;
    for (const ordinal of ordinalsOf(chunk.source, chunk.docCount)) {
      docMap[doc++] = isRemoved(ordinal) ? DROPPED : docCount++;
      if (doc % SLICE_STEPS === 0) yield;
    }
    inputs.push({ source: chunk.source, docCount: chunk.docCount, docMap });
  }
  const sources = chunks.map((chunk) => chunk.source);
  if (docCount === 0 && !hasKeyed(sources, isRemoved)) return;
  writer.beginChunk(memory, id, key);
  for (const merge of MERGES) yield* merge({ chunks, inputs, docCount, isRemoved, sink: writer.chunk });
  writer.endChunk({
    first: Math.min(...chunks.map((chunk) => chunk.first)),
    last: Math.max(...chunks.map((chunk) => chunk.last)),
    docs: docCount,
  });
}

interface Merging extends Pick<MergeOptions, 'isRemoved'> {
  readonly chunks: readonly MergedChunk[];
  /** The chunks in the form that the codecs see. */
  readonly inputs: readonly MergeInput[];
  /** Docs of the new chunk. */
  readonly docCount: number;
  readonly sink: ChunkSink;
}

/** The merge of each index, in the order in which they run. */
const MERGE_OF: Readonly<Record<SealedIndex, (merging: Merging) => Sliced<void>>> = {
  docs: ({ inputs, sink }) => mergeDocs(inputs, sink),
  address: ({ inputs, docCount, sink }) => mergePrefixes('address', inputs, docCount, sink),
  identity: ({ inputs, docCount, sink }) => mergePrefixes('identity', inputs, docCount, sink),
  facet: ({ inputs, docCount, sink }) => mergeFacets(inputs, docCount, sink),
  numbers: ({ inputs, docCount, sink }) => mergeNumbers(inputs, docCount, sink),
  context: ({ inputs, sink }) => mergeContext(inputs, sink),
  keyed: ({ inputs, isRemoved, sink }) => {
    const sources = inputs.map(({ source }) => source);
    return mergeKeyed(sources, (sequence) => !isRemoved(sequence), sink);
  },
  text: ({ chunks, inputs, docCount, sink }) => {
    const texts = chunks.map((chunk, i) => ({ chunk: chunk.text, docMap: inputs[i]!.docMap }));
    return mergeText(texts, docCount, sink);
  },
};
const MERGES = Object.values(MERGE_OF);

/** True when a merge of this chunk alone would drop something. */
export function* wouldShrink(chunk: MergedChunk, isRemoved: MergeOptions['isRemoved']): Sliced<boolean> {
  let steps = 0;
  for (const ordinal of ordinalsOf(chunk.source, chunk.docCount)) {
    if (isRemoved(ordinal)) return true;
    if (++steps % SLICE_STEPS === 0) yield;
  }
  for (const sequence of keyedSequencesOf(chunk.source)) {
    if (isRemoved(sequence)) return true;
    if (++steps % SLICE_STEPS === 0) yield;
  }
  return false;
}

function hasKeyed(sources: readonly ChunkSource[], isRemoved: MergeOptions['isRemoved']): boolean {
  for (const source of sources) for (const sequence of keyedSequencesOf(source)) if (!isRemoved(sequence)) return true;
  return false;
}
