// A seal in another thread: its interface for the thread that publishes, and its work.
import { BlindTokens } from '../crypto/blind-tokens.ts';
import type { Sequence } from '../log/log.ts';
import type { RemoteWork } from './elsewhere.ts';
import { type SequenceRange, writeSegment } from './files/new-segment.ts';
import type { Sliced } from './files/section.ts';
import { type IndexKeys, newestKey } from './index-keys.ts';
import { indexTokens } from './index-tokens.ts';
import type { FrozenTails, TailPiece } from './parts/frozen-tail.ts';
import { writeTails } from './parts/seal.ts';

/** The data of a seal in addition to the tails. */
export interface SealOrder {
  /** The file, which must not exist. */
  readonly path: string;
  /** The sequence numbers that the file covers. */
  readonly range: SequenceRange;
  /** The keys of each memory that is written. */
  readonly keys: readonly MemoryKeys[];
  /** The removed records of the range, which are not written. */
  readonly removed: readonly Sequence[];
}

interface MemoryKeys {
  readonly memory: number;
  readonly id: number;
  readonly key: Uint8Array;
  readonly tokenKey: Uint8Array;
}

/** Seals in another thread, one after the other. */
export interface Sealer {
  /** Begins a seal; undefined when the other thread is not to be had. */
  begin(order: SealOrder): Sealing | undefined;
}

/**
 * A seal in another thread. Call `end` after the last piece: it resolves to the number of chunks when the file is durable.
 * Without chunks there is no file.
 */
export interface Sealing extends RemoteWork<number> {
  take(piece: TailPiece): void;
}

/** Memories that are opened between two yields. */
const SLICE_KEYS = 32;

/** The keys of the memories. Those that are gone, or whose key is lost, are left out. */
export function* keysOf(memories: Iterable<number>, keys: IndexKeys): Sliced<MemoryKeys[]> {
  const found: MemoryKeys[] = [];
  for (const memory of memories) {
    const newest = newestKey(keys, memory);
    // Copies: a key may be part of a larger buffer, which would cross whole.
    if (newest !== undefined)
      found.push({
        memory,
        id: newest.id,
        key: new Uint8Array(newest.key),
        tokenKey: new Uint8Array(keys.tokenKey(memory)),
      });
    if (found.length % SLICE_KEYS === 0) yield;
  }
  return found;
}

/** Writes the file of an order. Returns its number of chunks; without any it leaves no file. STO-E001. */
export function writeOrder({ path, range, keys, removed }: SealOrder, tails: FrozenTails): Sliced<number> {
  const known = new Map(keys.map((of) => [of.memory, of]));
  const isGone = new Set(removed);
  return writeSegment(path, range, (writer) =>
    writeTails({ ...tails, tails: only(tails, known) }, writer, {
      keys: {
        indexKey: (memory) => known.get(memory)!,
        tokens: (memory) => indexTokens(new BlindTokens(known.get(memory)!.tokenKey)),
      },
      isRemoved: (sequence) => isGone.has(sequence),
    }),
  );
}

function only({ tails }: FrozenTails, known: ReadonlyMap<number, unknown>): FrozenTails['tails'] {
  return new Map([...tails].filter(([memory]) => known.has(memory)));
}
