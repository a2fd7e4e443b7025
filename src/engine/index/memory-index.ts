// The parts of one memory, oldest to newest. Parts are opened once and stay open until the segments change.

import type { SegmentFile } from './files/segment-file.ts';
import type { SegmentSet } from './files/segment-set.ts';
import type { IndexKeys } from './index-keys.ts';
import { ChunkPart, type ChunkPartOptions } from './parts/chunk-part.ts';
import type { IndexPart } from './parts/part.ts';
import type { Tail } from './parts/tail.ts';
import { TokenMemo } from './token-memo.ts';

/** The shard as a memory's index sees it. */
export interface ShardView extends Pick<ChunkPartOptions, 'budget'> {
  readonly keys: IndexKeys;
  readonly segments: SegmentSet;
  /** Grows whenever the set of a memory's chunks may have changed. */
  readonly version: number;
  /** The memory's tail that is being sealed, and the one that takes new records. */
  frozenTail(memory: number): Tail | undefined;
  activeTail(memory: number): Tail | undefined;
  /** Called with the number of opened chunks, negative for closed ones. */
  opened(chunks: number): void;
  isDamaged(file: SegmentFile, memory: number): boolean;
  onCorrupt(file: SegmentFile, memory: number): NonNullable<ChunkPartOptions['onCorrupt']>;
}

export class MemoryIndex {
  readonly number: number;
  readonly #shard: ShardView;
  readonly #tokens: TokenMemo;
  #version = -1;
  #frozen: Tail | undefined;
  #active: Tail | undefined;
  #counted = 0;
  #closed = false;
  #chunks = new Map<SegmentFile, ChunkPart>();
  #sealed: readonly ChunkPart[] = [];
  #parts: readonly IndexPart[] = [];

  constructor(shard: ShardView, number: number) {
    this.#shard = shard;
    this.number = number;
    this.#tokens = new TokenMemo(() => shard.keys.tokens(number));
  }

  /** Sealed chunks, then the tails; ordinals ascend from part to part. Valid until the next publish or commit. */
  get parts(): readonly IndexPart[] {
    const frozen = this.#shard.frozenTail(this.number);
    const active = this.#shard.activeTail(this.number);
    if (this.#version === this.#shard.version && frozen === this.#frozen && active === this.#active) return this.#parts;
    if (this.#version !== this.#shard.version) this.#refresh();
    this.#frozen = frozen;
    this.#active = active;
    const tails = [frozen, active].filter((tail) => tail !== undefined);
    this.#parts = [...this.#sealed, ...tails];
    return this.#parts;
  }

  /**
   * Forgets the tails, which may have been sealed or dropped: a memory that nobody reads again would keep them, and with
   * them the tables of their tail set.
   */
  forgetTails(): void {
    this.#frozen = undefined;
    this.#active = undefined;
    this.#parts = [];
    this.#version = -1;
  }

  /** Frees the heap of its chunks. */
  close(): void {
    for (const chunk of this.#chunks.values()) chunk.close();
    this.#chunks.clear();
    this.#sealed = [];
    this.forgetTails();
    this.#count(0);
    this.#closed = true;
  }

  /** A closed memory still answers its holders, but is no longer counted. */
  #count(chunks: number): void {
    if (this.#closed) return;
    this.#shard.opened(chunks - this.#counted);
    this.#counted = chunks;
  }

  #refresh(): void {
    const { segments, keys, budget } = this.#shard;
    const chunks = new Map<SegmentFile, ChunkPart>();
    for (const file of segments.files) {
      const entry = file.find(this.number);
      if (entry === undefined || segments.isDead(file, this.number)) continue;
      if (this.#shard.isDamaged(file, this.number)) continue;
      const onCorrupt = this.#shard.onCorrupt(file, this.number);
      chunks.set(
        file,
        this.#chunks.get(file) ?? new ChunkPart({ file, entry, keys, tokens: this.#tokens, budget, onCorrupt }),
      );
    }
    for (const [file, chunk] of this.#chunks) if (!chunks.has(file)) chunk.close();
    this.#chunks = chunks;
    this.#count(chunks.size);
    this.#sealed = [...chunks.values()].sort((a, b) => a.entry.first - b.entry.first);
    this.#version = this.#shard.version;
  }
}
