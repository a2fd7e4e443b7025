// Rewrites entries of vectors, without removed grains: into one file for a merge, under a memory's newest key for a
// purge.
import { EngineError } from '../../base/errors.ts';
import type { Sliced } from '../files/section.ts';
import { type IndexKeys, newestKey } from '../index-keys.ts';
import { Coverage, type Range } from './coverage.ts';
import { isGone, isSameStamp, readEntry } from './memory-vectors.ts';
import type { VectorFileWriter } from './vector-file-writer.ts';
import type { PlacedEntry } from './vector-files.ts';

export interface RewriteOptions {
  readonly writer: VectorFileWriter;
  readonly keys: Pick<IndexKeys, 'indexKey' | 'indexKeyById'>;
  readonly isRemoved: (ordinal: number) => boolean;
  /**
   * Called when an entry cannot be read; the reason is undefined when it must not be read any more. Its output is
   * discarded.
   */
  readonly lost: (placed: PlacedEntry, reason: string | undefined) => void;
}

/** Thrown by a rewrite that met a damaged entry, after calling `lost`: start again without that entry. */
export class DamagedEntry extends Error {
  override name = 'DamagedEntry';
}

/** Writes entries of any memories, oldest content first, to `writer`. Touching ranges become one entry. */
export function* rewriteEntries(entries: readonly PlacedEntry[], options: RewriteOptions): Sliced<void> {
  for (const group of groupsOf(entries)) {
    const { memory, stamp } = group[0]!.entry;
    const key = newestKey(options.keys, memory);
    if (key === undefined) {
      for (const placed of group) options.lost(placed, undefined);
      continue;
    }
    const whole = new Coverage();
    for (const { entry } of group) whole.add(entry);
    for (const range of whole.ranges) {
      options.writer.begin(memory, stamp, key);
      yield* rewriteRange(group, range, options);
      options.writer.end(range);
    }
  }
}

/** By memory and embedder, ascending by memory; the order of the entries stays. */
function groupsOf(entries: readonly PlacedEntry[]): PlacedEntry[][] {
  const groups = new Map<string, PlacedEntry[]>();
  for (const placed of entries) {
    const { memory, stamp } = placed.entry;
    const name = `${memory}/${stamp.dimensions}/${stamp.name}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [placed]);
    else if (isSameStamp(group[0]!.entry.stamp, stamp)) group.push(placed);
  }
  return [...groups.values()].sort((a, b) => a[0]!.entry.memory - b[0]!.entry.memory);
}

function* rewriteRange(group: readonly PlacedEntry[], range: Range, options: RewriteOptions): Sliced<void> {
  const { writer, isRemoved } = options;
  for (let at = 0; at < group.length; at++) {
    const placed = group[at]!;
    const { entry } = placed;
    if (entry.after < range.after || entry.upTo > range.upTo) continue;
    // For an ordinal in several entries, the newest counts.
    const newer = new Coverage();
    for (const { entry: other } of group.slice(at + 1)) newer.add(other);
    try {
      for (const block of readEntry(placed, options.keys.indexKeyById(entry.keyId, entry.memory))) {
        for (let i = 0; i < block.count; i++) {
          const ordinal = block.ordinals[i]!;
          if (isRemoved(ordinal) || newer.has(ordinal)) continue;
          writer.row(ordinal, block.chunks[i]!, block.halves, i * entry.stamp.dimensions);
        }
        yield;
      }
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      options.lost(placed, isGone(error) ? undefined : error.message);
      throw new DamagedEntry(error.message);
    }
  }
}
