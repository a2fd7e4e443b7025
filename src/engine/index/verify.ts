// Checks every live chunk of the segments: each block's checksum and seal, then order and ranges of its data.
import { EngineError } from '../base/errors.ts';
import { CorruptBlock, type SealedIndex, type Sliced } from './files/section.ts';
import type { ChunkEntry, SegmentFile } from './files/segment-file.ts';
import type { SegmentSet } from './files/segment-set.ts';
import { HeapBudget } from './heap-budget.ts';
import type { IndexKeys } from './index-keys.ts';
import { checksumFits, storedBlocks } from './parts/chunk.ts';
import { ChunkPart } from './parts/chunk-part.ts';
import { SLICE_STEPS } from './parts/merge-input.ts';
import { TokenMemo } from './token-memo.ts';

export interface SegmentFinding {
  /** File and offset, or file and memory. */
  readonly where: string;
  readonly problem: string;
}

export interface SegmentReport {
  /** Stored blocks that were read. */
  readonly blocks: number;
  readonly findings: readonly SegmentFinding[];
}

const FINDINGS_MAX = 1_000;
const VERIFY_HEAP_BYTES = 4 * 1_048_576;

/**
 * Files that are replaced meanwhile are still read to their end: the caller keeps them open. An error in such a chunk is
 * no finding, because a purge destroys the keys of the chunks that it replaces, and a drop those of its memory.
 */
export function* verifySegments(
  files: readonly SegmentFile[],
  segments: SegmentSet,
  keys: IndexKeys,
): Sliced<SegmentReport> {
  const findings: SegmentFinding[] = [];
  let blocks = 0;
  for (const file of files) {
    for (let i = 0; i < file.count; i++) {
      const entry = file.entry(i);
      if (segments.isDead(file, entry.memory)) continue;
      try {
        blocks += yield* checkBlocks(file, entry);
        if (!isGone(keys, entry.memory)) yield* checkContent(file, entry, keys);
      } catch (error) {
        if (file.isReplaced || segments.isDead(file, entry.memory) || isDropped(error)) continue;
        const where =
          error instanceof CorruptBlock && error.file === file.name
            ? `${file.name} at ${error.offset}`
            : `${file.name} memory ${entry.memory}`;
        if (findings.length < FINDINGS_MAX)
          findings.push({ where, problem: error instanceof Error ? error.message : String(error) });
      }
      yield;
    }
  }
  return { blocks, findings };
}

/** True for a dropped memory: its chunks are unreadable, and stay until the background removes them. */
function isGone(keys: IndexKeys, memory: number): boolean {
  try {
    keys.tokens(memory);
    return false;
  } catch (error) {
    if (isDropped(error)) return true;
    throw error;
  }
}

function isDropped(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'MEM-E003';
}

function* checkBlocks(file: SegmentFile, entry: ChunkEntry): Sliced<number> {
  let blocks = 0;
  for (const { offset, length } of storedBlocks(entry)) {
    if (!checksumFits(file.read(entry.offset + offset, length)))
      throw new CorruptBlock(file.name, entry.offset + offset, 'block checksum does not fit');
    blocks += 1;
    yield;
  }
  return blocks;
}

function* checkContent(file: SegmentFile, entry: ChunkEntry, keys: IndexKeys): Sliced<void> {
  const tokens = new TokenMemo(() => keys.tokens(entry.memory));
  const part = new ChunkPart({ file, entry, keys, tokens, budget: new HeapBudget(VERIFY_HEAP_BYTES) });
  for (let block = 0; block < part.source.blockCount; block++) {
    part.source.checkBlock(block);
    yield;
  }
  for (const check of CHECKS) if (check !== undefined) yield* check(part, entry);
}

type Check = (part: ChunkPart, entry: ChunkEntry) => Sliced<void>;

/** The check of each index's content, in the order in which they run. Undefined: the seals of its blocks suffice. */
const CHECK_OF: Readonly<Record<SealedIndex, Check | undefined>> = {
  docs: checkOrdinals,
  address: (part) => part.addresses.verify(part.docCount),
  identity: (part) => part.identities.verify(part.docCount),
  facet: (part) => part.facets.verify(),
  numbers: undefined,
  keyed: (part) => part.keyedEntries.verify(),
  context: (part) => part.verifyContext(),
  text: checkText,
};
const CHECKS = Object.values(CHECK_OF);

function* checkOrdinals({ ordinals, docCount }: ChunkPart, { first, last }: ChunkEntry): Sliced<void> {
  for (let doc = 0; doc < docCount; doc++) {
    if (ordinals[doc]! < first || ordinals[doc]! > last) wrong('an ordinal lies outside the chunk’s range');
    if (doc % SLICE_STEPS === SLICE_STEPS - 1) yield;
  }
}

function* checkText({ text, docCount }: ChunkPart): Sliced<void> {
  if (text.lengths.length < docCount) wrong('lengths of texts are missing');
  let terms = 0;
  for (const [, documentFrequency] of text.vocabulary()) {
    if (documentFrequency < 1 || documentFrequency > docCount) wrong('a term is in more docs than there are');
    if (++terms % SLICE_STEPS === 0) yield;
  }
  if (terms !== text.termCount) wrong('the vocabulary does not fit the dictionary');
}

function wrong(problem: string): never {
  throw new Error(problem);
}
