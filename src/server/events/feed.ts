// The new events of one reach, read once and handed to all its followers. It holds only the events that a follower has not
// taken yet, and not more than a bounded number: a follower that is further behind is notified and leaves.
import { EngineError } from '../../engine/base/errors.ts';
import {
  EVENT_CHUNK_BYTES_MAX,
  EVENT_STREAMS_TURN,
  EVENTS_QUEUED_BYTES_MAX,
  EVENTS_QUEUED_MAX,
  EVENTS_RETRY_MS,
} from '../../engine/base/limits.ts';
import type { EventBells } from './bells.ts';
import type { EventCursor } from './cursor.ts';
import { frame } from './payload.ts';
import type { EventEntry, EventReader } from './reader.ts';

export interface Follower {
  /** The place in the feed of the next entry to take. The feed sets it when the follower joins. */
  place: number;
  /** Takes what is there, unless it is still busy with what it took. */
  deliver(): void;
  /** Entries that it did not take are gone. */
  overflow(): void;
  /** Entries that it did not take have to be read again: it has left the feed, and reads what follows its last one. */
  reread(): void;
  /** The reach ended: the memory was deleted, or the caller may not read any more. */
  refuse(error: EngineError): void;
}

/** Frames of some entries. */
export interface Chunk {
  readonly bytes: Uint8Array;
  /** The place after its last entry. */
  readonly to: number;
  /** The cursor after its last entry. */
  readonly id: string;
}

export class Feed {
  readonly reader: EventReader;
  /** The cursor after the newest entry. */
  #position: EventCursor;
  readonly #followers = new Set<Follower>();
  readonly #leave: () => void;
  #entries: EventEntry[] = [];
  #bytes = 0;
  /** The place of the first entry. */
  #base = 0;
  #lastChunk: (Chunk & { readonly from: number }) | undefined;
  #isReading = false;
  #isDue = false;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Erasures so far. Events read before the last one must not be sent any more. */
  erasures = 0;

  /** `position`: a place that was read just now. */
  constructor(reader: EventReader, position: EventCursor, bells: Pick<EventBells, 'watch'>) {
    this.reader = reader;
    this.#position = position;
    const { context, partitions } = reader.reach;
    this.#leave = bells.watch({ number: context.memory, partitions }, () => void this.#read());
    // For events that were committed between the two.
    void this.#read();
  }

  get size(): number {
    return this.#followers.size;
  }

  /** The place after the newest entry. */
  get end(): number {
    return this.#base + this.#entries.length;
  }

  /** The place of the oldest entry that is held. */
  get base(): number {
    return this.#base;
  }

  /** The entry at a place from `base` on. */
  entry(place: number): EventEntry | undefined {
    return this.#entries[place - this.#base];
  }

  /** False when the feed is already ahead of `cursor`: read up to it first, then ask again. */
  join(follower: Follower, cursor: EventCursor): boolean {
    if (this.#position.some((number, partition) => number > cursor[partition]!)) return false;
    follower.place = this.end;
    this.#followers.add(follower);
    return true;
  }

  /** True when later entries all lie after `cursor`. */
  hasPassed(cursor: EventCursor): boolean {
    return this.#position.every((number, partition) => number >= cursor[partition]!);
  }

  /** Drops what was read before an erasure: it may name the erased person. */
  reread(): void {
    this.erasures += 1;
    const behind = [...this.#followers].filter(({ place }) => place < this.end);
    this.#base = this.end;
    this.#entries = [];
    this.#bytes = 0;
    this.#lastChunk = undefined;
    for (const follower of behind) {
      this.#followers.delete(follower);
      follower.reread();
    }
  }

  leave(follower: Follower): void {
    this.#followers.delete(follower);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#leave();
  }

  /** The frames of the entries from `from` on, as many as one write should carry. Most followers ask for the same. */
  chunk(from: number): Chunk {
    const known = this.#lastChunk;
    if (known?.from === from && known.to === this.end) return known;
    const made = chunkOf(this.#entries.slice(from - this.#base), from);
    this.#lastChunk = { ...made, from };
    return made;
  }

  async #read(): Promise<void> {
    this.#isDue = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#isDue && !this.#isClosed) {
        this.#isDue = false;
        const position = [...this.#position];
        const { erasures } = this;
        const { entries, isAtEnd } = await this.reader.next(position);
        if (erasures !== this.erasures) {
          this.#isDue = true;
          continue;
        }
        if (!isAtEnd) this.#isDue = true;
        // Together with its entries: a follower that joins in between would miss them.
        this.#position = position;
        if (entries.length > 0) await this.#hand(entries);
      }
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#isReading = false;
    }
  }

  #failed(error: unknown): void {
    if (!(error instanceof EngineError)) throw error;
    if (!error.retryable && !error.code.startsWith('S')) {
      for (const follower of [...this.#followers]) follower.refuse(error);
      return;
    }
    // The shard is starting again, or has too much to do.
    clearTimeout(this.#retry);
    if (!this.#isClosed) this.#retry = setTimeout(() => void this.#read(), EVENTS_RETRY_MS).unref();
  }

  /** Followers take turns of the event loop in groups, so that thousands of them hold up no request. */
  async #hand(entries: readonly EventEntry[]): Promise<void> {
    for (const entry of entries) {
      this.#entries.push(entry);
      this.#bytes += entry.json.length;
    }
    let served = 0;
    for (const follower of [...this.#followers]) {
      if (!this.#followers.has(follower)) continue;
      follower.deliver();
      served += 1;
      if (served % EVENT_STREAMS_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    this.#trim();
  }

  /** Drops what all followers have taken, and what is too much to hold for the slow ones. */
  #trim(): void {
    let keep = this.end;
    for (const { place } of this.#followers) keep = Math.min(keep, place);
    let drop = Math.max(keep - this.#base, this.#entries.length - EVENTS_QUEUED_MAX, 0);
    let bytes = this.#bytes;
    for (let i = 0; i < drop; i++) bytes -= this.#entries[i]!.json.length;
    for (; bytes > EVENTS_QUEUED_BYTES_MAX; drop++) bytes -= this.#entries[drop]!.json.length;
    if (drop === 0) return;
    this.#entries = this.#entries.slice(drop);
    this.#bytes = bytes;
    this.#base += drop;
    this.#lastChunk = undefined;
    for (const follower of [...this.#followers]) if (follower.place < this.#base) follower.overflow();
  }
}

/** Frames of the first entries, up to the size of one write; at least one. `from`: the place of the first. */
export function chunkOf(entries: readonly EventEntry[], from: number): Chunk {
  let text = '';
  let to = from;
  let id = '';
  for (const entry of entries) {
    if (text !== '' && text.length + entry.json.length > EVENT_CHUNK_BYTES_MAX) break;
    text += frame(entry.id, entry.kind, entry.json);
    id = entry.id;
    to += 1;
  }
  return { bytes: Buffer.from(text), to, id };
}
