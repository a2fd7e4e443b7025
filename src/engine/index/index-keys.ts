// The key store as the index needs it: the keys that seal a memory's blocks, and its blind tokens.
import { EngineError } from '../base/errors.ts';
import type { Facet, Keyed } from './parts/part.ts';

/** Blind tokens of one memory: keyed hashes, constant for a text as long as the memory lives. */
export interface IndexTokens {
  /** 8 bytes. */
  term(text: string): Uint8Array;
  /** The tokens of `texts[from]` to `texts[to - 1]`, in two halves, written to the same places of `high` and `low`. */
  terms(texts: readonly string[], from: number, to: number, high: Uint32Array, low: Uint32Array): void;
  /** 16 bytes. */
  facet(facet: Facet, value: string): Uint8Array;
  /** The same, written to `into` at `at`. */
  writeFacet(facet: Facet, value: string, into: Buffer, at: number): void;
  /** 16 bytes. Called only for kinds whose keys are texts. */
  keyed(kind: Keyed, key: string | number): Uint8Array;
}

export interface IndexKeys {
  /** The memory's newest index key, which seals new chunks. MEM-E003 or CRY-E002 when the memory is gone, LostKey. */
  indexKey(memory: number): { readonly id: number; readonly key: Uint8Array };
  /** A key that seals a chunk of the memory. CRY-E002 when the memory and its keys are gone, LostKey. */
  indexKeyById(id: number, memory: number): Uint8Array;
  /**
   * The same for a chunk that is no longer live, which a read in slices still reads. STO-E002 when a purge has destroyed the key
   * meanwhile, which says nothing about the index.
   */
  formerIndexKey(id: number, memory: number): Uint8Array;
  tokens(memory: number): IndexTokens;
  /** The key of these tokens, 32 bytes. */
  tokenKey(memory: number): Uint8Array;
}

/**
 * A memory exists, but an index key of it is missing or cannot be read. The code that throws this has noted that the
 * memory's index must be rebuilt from the log, so its chunks may be left out, and other memories are not delayed.
 */
export class LostKey extends EngineError {
  override name = 'LostKey';
  readonly memory: number;
  constructor(memory: number, reason: string) {
    super('STO-E001', `the index of this memory lost a key and is being rebuilt: ${reason}`, { retryable: true });
    this.memory = memory;
  }
}

/** The memory's newest index key; undefined when the memory or its keys are gone, or the key is lost (see LostKey). */
export function newestKey(
  keys: Pick<IndexKeys, 'indexKey'>,
  memory: number,
): ReturnType<IndexKeys['indexKey']> | undefined {
  try {
    return keys.indexKey(memory);
  } catch (error) {
    if (error instanceof LostKey) return undefined;
    if (error instanceof EngineError && (error.code === 'MEM-E003' || error.code === 'CRY-E002')) return undefined;
    throw error;
  }
}
