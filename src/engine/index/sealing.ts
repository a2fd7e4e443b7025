// A seal in another thread: its interface for the thread that publishes, and its work.
import { BlindTokens } from '../crypto/blind-tokens.ts';
import type { Sequence } from '../log/log.ts';
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

/** A seal in another thread. */
export interface Sealing {
  take(piece: TailPiece): void;
  /**
   * Call after the last piece. Resolves to the number of chunks when the file is durable; without chunks there is no
   * file. Resolves to undefined when the other thread died: the caller then seals. Rejects with STO-E001.
   */
  end(): Promise<number | undefined>;
  /** Gives up the seal: `end` rejects with STO-E002. Resolves when nobody writes the file any more. */
  cancel(): Promise<void>;
}

/** Memories that are opened between two yields. */
const SLICE_KEYS = 32;

/** The keys of the memories. Those that are gone, or whose key is lost, are left out. */
export function* keysOf(memories: Iterable<number>, keys: IndexKeys): Sliced<MemoryKeys[]> {
  const found: MemoryKeys[] = [];
  for (const memory of memories) {
    const newest = newestKey(keys, memory);
    if (newest !== undefined) found.push({ memory, ...newest, tokenKey: keys.tokenKey(memory) });
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
