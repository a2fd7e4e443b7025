// Selects segment files to merge: size-tiered, MERGE_FANOUT neighbours of a tier at a time; or a single file more than
// half of which is dead.
import { MERGE_FANOUT, SEGMENTS_MAX } from '../../base/limits.ts';
import type { Sliced } from '../files/section.ts';
import type { ChunkEntry, SegmentFile } from '../files/segment-file.ts';

/** The properties of a file that the plan reads. */
type Planned = Pick<SegmentFile, 'first' | 'last' | 'bytes' | 'count' | 'memoryAt' | 'entry' | 'find'>;
interface PlannedSet<File> {
  /** In the order of their ranges. */
  readonly files: readonly File[];
  isDead(file: File, memory: number): boolean;
  deadIn(file: File): ReadonlySet<number>;
}

/** Files up to this size are of tier 0; each tier reaches MERGE_FANOUT times further. */
const TIER_BYTES = 131_072;
/** Memories examined between two yields. */
const SLICE_MEMORIES = 512;

/** Files worth merging now, in the order of their ranges, or undefined. `isUsable` is false for damaged ones. */
export function chooseMerge<File extends Planned>(
  segments: PlannedSet<File>,
  isUsable: (file: File) => boolean,
): readonly File[] | undefined {
  const wasteful = segments.files.find((file) => isUsable(file) && isMostlyDead(segments, file));
  if (wasteful !== undefined) return [wasteful];
  const runs = usableRuns(segments.files, isUsable);
  const tierMax = Math.max(0, ...segments.files.map(tierOf));
  for (let tier = 0; tier <= tierMax; tier++) {
    for (const run of runs) {
      const found = neighboursUpTo(run, tier);
      if (found !== undefined) return found;
    }
  }
  return segments.files.length > SEGMENTS_MAX ? cheapest(runs) : undefined;
}

/** Number of the size class of a file. */
export function tierOf(file: Pick<Planned, 'bytes'>): number {
  let tier = 0;
  for (let bytes = TIER_BYTES; bytes < file.bytes; bytes *= MERGE_FANOUT) tier += 1;
  return tier;
}

/** A stretch of neighbours, none above `tier`, with MERGE_FANOUT of exactly that tier. */
function neighboursUpTo<File extends Planned>(run: readonly File[], tier: number): readonly File[] | undefined {
  let start = 0;
  let ofTier = 0;
  for (let at = 0; at < run.length; at++) {
    const fileTier = tierOf(run[at]!);
    if (fileTier > tier) {
      start = at + 1;
      ofTier = 0;
    } else if (fileTier === tier) {
      ofTier += 1;
      if (ofTier === MERGE_FANOUT) return run.slice(start, at + 1);
    }
  }
  return undefined;
}

/** The MERGE_FANOUT neighbours with the fewest bytes in total. */
function cheapest<File extends Planned>(runs: readonly (readonly File[])[]): readonly File[] | undefined {
  let best: readonly File[] | undefined;
  let bestBytes = Number.POSITIVE_INFINITY;
  for (const run of runs) {
    for (let start = 0; start + MERGE_FANOUT <= run.length; start++) {
      const files = run.slice(start, start + MERGE_FANOUT);
      const bytes = files.reduce((total, file) => total + file.bytes, 0);
      if (bytes >= bestBytes) continue;
      best = files;
      bestBytes = bytes;
    }
  }
  return best;
}

function usableRuns<File>(files: readonly File[], isUsable: (file: File) => boolean): File[][] {
  const runs: File[][] = [[]];
  for (const file of files) {
    if (isUsable(file)) runs.at(-1)!.push(file);
    else runs.push([]);
  }
  return runs;
}

function isMostlyDead<File extends Planned>(segments: PlannedSet<File>, file: File): boolean {
  const dead = segments.deadIn(file);
  if (dead.size * 2 > file.count) return true;
  let bytes = 0;
  for (const memory of dead) bytes += file.find(memory)?.length ?? 0;
  return bytes * 2 > file.bytes;
}

/**
 * Adds the files without which a merge would break the order of a memory's parts: those with a chunk between two merged
 * ones. (Ranges of files overlap after a purge, which rewrites a memory's chunks in a file of its own.) Undefined when
 * such a file is not usable.
 */
export function* closeUnderOrder<File extends Planned>(
  segments: PlannedSet<File>,
  chosen: readonly File[],
  isUsable: (file: File) => boolean,
): Sliced<readonly File[] | undefined> {
  const set = new Set(chosen);
  for (let grew = true; grew; ) {
    grew = false;
    const first = Math.min(...[...set].map((file) => file.first));
    const last = Math.max(...[...set].map((file) => file.last));
    for (const other of segments.files) {
      if (set.has(other) || other.first > last || other.last < first) continue;
      if (!(yield* liesBetween(segments, other, set))) continue;
      if (!isUsable(other)) return undefined;
      set.add(other);
      grew = true;
    }
  }
  return segments.files.filter((file) => set.has(file));
}

/** True when a live chunk of `other` lies between chunks of the same memory in `set`. */
function* liesBetween<File extends Planned>(
  segments: PlannedSet<File>,
  other: File,
  set: ReadonlySet<File>,
): Sliced<boolean> {
  for (let i = 0; i < other.count; i++) {
    if (i % SLICE_MEMORIES === SLICE_MEMORIES - 1) yield;
    const memory = other.memoryAt(i);
    if (segments.isDead(other, memory)) continue;
    const entry = other.entry(i);
    let before = false;
    let after = false;
    for (const file of set) {
      const merged = liveEntry(segments, file, memory);
      if (merged === undefined) continue;
      if (merged.first < entry.first) before = true;
      else after = true;
    }
    if (before && after) return true;
  }
  return false;
}

/** The chunk of a memory in a file, unless it is dead there. */
export function liveEntry<File extends Planned>(
  segments: Pick<PlannedSet<File>, 'isDead'>,
  file: File,
  memory: number,
): ChunkEntry | undefined {
  return segments.isDead(file, memory) ? undefined : file.find(memory);
}
