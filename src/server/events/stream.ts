// One client of a stream of server-sent events. It reads old events by itself, at the pace of the client, and joins the
// feed of its reach when it has caught up. It holds at most one chunk: nothing queues up for a client that does not read.
import { EngineError } from '../../engine/base/errors.ts';
import {
  EVENT_BLIND_BYTES_MAX,
  EVENT_CHUNK_BYTES_MAX,
  EVENT_KEEP_ALIVE_MS,
  EVENT_LAST_FRAME_MS,
} from '../../engine/base/limits.ts';
import type { HttpRequest, ResponseHeaders, ResponseStream } from '../http/listener.ts';
import { cursorJson, cursorText, type EventCursor, jsonOfText, laterText, readCursor } from './cursor.ts';
import { type Chunk, chunkOf, type Follower } from './feed.ts';
import { frame, KEEP_ALIVE, RETRY } from './payload.ts';
import type { EventEntry } from './reader.ts';
import type { EndReason, Joined, Subscription } from './subscription.ts';

/** Makes a short write long enough that the listener reports whether the peer takes it. */
const PADDING = Buffer.from(`:${' '.repeat(16_384)}\n\n`);

export class EventStream implements Follower, Subscription {
  place = 0;
  readonly opened: Joined;
  readonly #request: Pick<HttpRequest, 'cut'>;
  readonly #out: ResponseStream;
  readonly #over: () => void;
  readonly #endMs: number;
  #lastMs: number;
  /** The cursor after the last event that was sent. */
  #sent: string;
  /** Set until the feed has passed the old events: events up to here were sent. */
  #seen: number[] | undefined;
  /** The write that the client has not taken yet. */
  #writing: Promise<void> | undefined;
  #blindBytes = 0;
  /** False while it reads old events by itself. */
  #isJoined = false;
  #isOver = false;

  constructor(
    opened: Joined,
    request: Pick<HttpRequest, 'stream' | 'cut' | 'whenOver'>,
    asked: {
      readonly headers: ResponseHeaders;
      readonly nowMs: number;
      readonly timeoutMs: number;
      readonly over: () => void;
    },
  ) {
    this.opened = opened;
    this.#request = request;
    this.#over = asked.over;
    this.#endMs = asked.nowMs + asked.timeoutMs;
    this.#lastMs = asked.nowMs;
    this.#sent = cursorText(opened.cursor, opened.reach.form);
    this.#out = request.stream(200, [...asked.headers, ...STREAM_HEADERS]);
    request.whenOver(() => this.#close());
  }

  /** Sends the first frames, then old events, then joins the feed. */
  async start(): Promise<void> {
    const { cursor, newest, gap, reach } = this.opened;
    try {
      await this.#sendNext(
        Buffer.from(`${RETRY}${this.#frame('ready', { sequence: cursorJson(newest, reach.form) })}`),
      );
      if (gap !== undefined) await this.#sendNext(Buffer.from(this.#frame('gap', gap)));
      await this.#catchUp(cursor);
    } catch (error) {
      this.#failed(error);
    }
  }

  reread(): void {
    this.#isJoined = false;
    this.#catchUp(this.#sentNumbers).catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    if (error instanceof EngineError) this.refuse(error);
    else this.#close();
  }

  /** Sends the events after `from` that the feed has passed, then joins it. */
  async #catchUp(from: EventCursor): Promise<void> {
    const { feed, replays } = this.opened;
    let place = [...from];
    while (!this.#isOver && !feed.join(this, place)) {
      const { erasures } = feed;
      const { entries } = await replays.run(() => feed.reader.next(place));
      await this.#sendAll(entries, erasures);
      if (erasures !== feed.erasures) place = [...this.#sentNumbers];
    }
    if (this.#isOver) feed.leave(this);
    this.#seen = place;
    this.#isJoined = true;
  }

  /** The place after the last event that was sent. */
  get #sentNumbers(): EventCursor {
    return readCursor(this.#sent, 'id', this.opened.reach.form).numbers;
  }

  deliver(): void {
    const { feed } = this.opened;
    if (this.#isOver || !this.#isJoined || this.#writing !== undefined || this.place >= feed.end) return;
    if (!this.opened.isAllowed()) {
      this.#finish('end', { reason: 'refused' });
      return;
    }
    const chunk = this.#seen === undefined ? feed.chunk(this.place) : this.#unseen(this.#seen);
    if (chunk === undefined) return;
    const { bytes, to, id } = chunk;
    this.place = to;
    this.#sent = id;
    this.#send(bytes).then(
      () => this.deliver(),
      () => this.#close(),
    );
  }

  /**
   * The next entries that were not sent as old events; undefined when there are none. The feed may be behind the old
   * events in one partition and ahead in another, so their ids hold the later of both places.
   */
  #unseen(seen: readonly number[]): Chunk | undefined {
    const { feed, reach } = this.opened;
    const entries: EventEntry[] = [];
    const places: number[] = [];
    let bytes = 0;
    let place = this.place;
    for (; place < feed.end && bytes <= EVENT_CHUNK_BYTES_MAX; place += 1) {
      const entry = feed.entry(place);
      if (entry === undefined || entry.sequence <= seen[entry.partition]!) continue;
      entries.push({ ...entry, id: laterText(entry.id, seen, reach.form) });
      places.push(place);
      bytes += entry.json.length;
    }
    const chunk = chunkOf(entries, 0);
    const to = places[chunk.to] ?? place;
    if (to === feed.end && feed.hasPassed(seen)) this.#seen = undefined;
    this.place = to;
    return entries.length === 0 ? undefined : { ...chunk, to };
  }

  overflow(): void {
    this.#finish('overflow', {});
  }

  refuse({ code }: EngineError): void {
    this.#finish('end', { reason: 'refused', code });
  }

  /** Called every second. */
  look(nowMs: number): void {
    if (this.#isOver) return;
    if (!this.opened.isAllowed()) this.#finish('end', { reason: 'refused' });
    else if (nowMs >= this.#endMs) this.#finish('end', { reason: 'timeout' });
    else if (nowMs - this.#lastMs >= EVENT_KEEP_ALIVE_MS && this.#writing === undefined) {
      this.#lastMs = nowMs;
      this.#send(KEEP_ALIVE).then(
        () => this.deliver(),
        () => this.#close(),
      );
    }
  }

  end(reason: EndReason): void {
    this.#finish('end', { reason });
  }

  /** Sends a last frame after what was sent, and closes. A client that does not take it is cut off. */
  #finish(kind: 'end' | 'overflow', data: object): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.opened.feed.leave(this);
    const last = Buffer.from(this.#frame(kind, { ...data, sequence: this.#sentJson }));
    const cut = setTimeout(() => this.#request.cut(), EVENT_LAST_FRAME_MS);
    (this.#writing ?? Promise.resolve())
      .then(() => this.#out.write(last))
      .then(() => this.#out.end())
      .catch(() => undefined) // the client is gone
      .finally(() => {
        clearTimeout(cut);
        this.#over();
      });
  }

  cut(): void {
    this.#request.cut();
    this.#close();
  }

  /** The connection is closed. */
  #close(): void {
    this.#isOver = true;
    this.opened.feed.leave(this);
    this.#over();
  }

  #frame(kind: string, data: object): string {
    return frame(this.#sent, kind, JSON.stringify(data));
  }

  get #sentJson(): string | number {
    return jsonOfText(this.#sent);
  }

  /** Sends entries that were read since that many erasures of the feed, up to the next one. */
  async #sendAll(entries: readonly EventEntry[], erasures: number): Promise<void> {
    for (let from = 0; from < entries.length && !this.#isOver; ) {
      // A write may be under way, such as a line that keeps the stream open.
      while (this.#writing !== undefined) await this.#writing;
      if (this.#isOver || erasures !== this.opened.feed.erasures) return;
      if (!this.opened.isAllowed()) return this.#finish('end', { reason: 'refused' });
      const { bytes, to, id } = chunkOf(entries.slice(from), from);
      this.#sent = id;
      await this.#send(bytes);
      from = to;
    }
  }

  /** Sends after the write that is under way. */
  async #sendNext(bytes: Uint8Array): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    await this.#send(bytes);
  }

  /** One write at a time. Rejects when the client is gone. */
  #send(bytes: Uint8Array): Promise<void> {
    const { unreportedBytes } = this.#out;
    let chunk = bytes;
    if (bytes.byteLength <= unreportedBytes) {
      this.#blindBytes += bytes.byteLength;
      if (this.#blindBytes > EVENT_BLIND_BYTES_MAX) chunk = Buffer.concat([bytes, PADDING]);
    }
    if (chunk.byteLength > unreportedBytes) this.#blindBytes = 0;
    this.#lastMs = performance.now();
    const writing = this.#out.write(chunk).finally(() => {
      if (this.#writing === writing) this.#writing = undefined;
    });
    this.#writing = writing;
    return writing;
  }
}

/** The last two keep proxies from holding frames back or changing them. */
export const STREAM_HEADERS: ResponseHeaders = [
  ['content-type', 'text/event-stream; charset=utf-8'],
  ['cache-control', 'no-cache, no-transform'],
  ['x-accel-buffering', 'no'],
];
