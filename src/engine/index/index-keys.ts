// What the index asks of the key store: under which key a memory's blocks are sealed, and what stands for its names.
import { EngineError } from '../base/errors.ts';
import type { Facet, Keyed } from './parts/part.ts';

/** Blind tokens of one memory: keyed hashes, the same for the same text as long as the memory lives. */
export interface IndexTokens {
  /** 8 bytes. */
  term(text: string): Uint8Array;
  /** The same for `texts[from]` to `texts[to - 1]`, in two halves, at the same places of `high` and `low`. */
  terms(texts: readonly string[], from: number, to: number, high: Uint32Array, low: Uint32Array): void;
  /** 16 bytes. */
  facet(facet: Facet, value: string): Uint8Array;
  /** The same, written to `into` at `at`. */
  writeFacet(facet: Facet, value: string, into: Buffer, at: number): void;
  /** 16 bytes. Only asked for kinds whose keys are texts. */
  keyed(kind: Keyed, key: string | number): Uint8Array;
}

export interface IndexKeys {
  /** The memory's newest index key: new chunks are sealed under it. MEM-E003 or CRY-E002 when the memory is gone, LostKey. */
  indexKey(memory: number): { readonly id: number; readonly key: Uint8Array };
  /** A key that a chunk of the memory was sealed under. CRY-E002 when the memory is gone and its keys with it, LostKey. */
  indexKeyById(id: number, memory: number): Uint8Array;
  tokens(memory: number): IndexTokens;
}

/**
 * A memory is there, and a key of it that its index takes is not, or cannot be read. Whoever throws this has noted that
 * the memory's index is to be built again from the log, so its chunks may be left out: no other memory is held up.
 */
export class LostKey extends EngineError {
  override name = 'LostKey';
  readonly memory: number;
  constructor(memory: number, reason: string) {
    super('STO-E001', `the index of this memory lost a key and is to be built again: ${reason}`, { retryable: true });
    this.memory = memory;
  }
}

/** The memory's newest index key; undefined when the memory or its keys are gone, and so is what would be sealed; or lost, see LostKey. */
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
