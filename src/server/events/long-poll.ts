// One request that waits for events and is answered with JSON.
import { EngineError } from '../../engine/base/errors.ts';
import { EVENTS_PAGE_MAX } from '../../engine/base/limits.ts';
import { respondError } from '../http/errors.ts';
import type { HttpRequest, ResponseHeaders } from '../http/listener.ts';
import { cursorText, jsonOfText, laterText } from './cursor.ts';
import type { Follower } from './feed.ts';
import type { EventEntry } from './reader.ts';
import type { Joined, Subscription } from './subscription.ts';

export class LongPoll implements Follower, Subscription {
  place = 0;
  readonly opened: Joined;
  readonly #request: HttpRequest;
  readonly #headers: ResponseHeaders;
  readonly #requestId: string;
  readonly #over: () => void;
  readonly #endMs: number;
  /** The place after the events that were examined. */
  readonly #cursor: number[];
  #isOver = false;

  constructor(
    opened: Joined,
    request: HttpRequest,
    asked: {
      readonly headers: ResponseHeaders;
      readonly requestId: string;
      readonly nowMs: number;
      readonly timeoutMs: number;
      readonly over: () => void;
    },
  ) {
    this.opened = opened;
    this.#request = request;
    this.#headers = asked.headers;
    this.#requestId = asked.requestId;
    this.#over = asked.over;
    this.#endMs = asked.nowMs + asked.timeoutMs;
    this.#cursor = [...opened.cursor];
    request.whenOver(() => this.#close());
  }

  /** Answers with old events if there are any, else joins the feed. */
  async start(): Promise<void> {
    const { feed, replays } = this.opened;
    try {
      while (!this.#isOver && !feed.join(this, this.#cursor)) {
        const { erasures } = feed;
        const place = [...this.#cursor];
        const { entries } = await replays.run(() => feed.reader.next(place));
        if (erasures !== feed.erasures) continue;
        this.#cursor.splice(0, this.#cursor.length, ...place);
        if (!this.opened.isAllowed()) this.refuse(notAllowed());
        else if (entries.length > 0) this.#answer(entries, this.#text);
      }
      if (this.#isOver) feed.leave(this);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.refuse(error);
    }
  }

  deliver(): void {
    const { feed } = this.opened;
    if (this.#isOver) return;
    if (!this.opened.isAllowed()) {
      this.refuse(notAllowed());
      return;
    }
    const entries: EventEntry[] = [];
    for (; this.place < feed.end && entries.length < EVENTS_PAGE_MAX; this.place += 1) {
      const entry = feed.entry(this.place);
      if (entry !== undefined && entry.sequence > this.#cursor[entry.partition]!) entries.push(entry);
    }
    const last = entries.at(-1);
    // The feed may be behind the place where the poll began, in some partitions.
    if (last !== undefined) this.#answer(entries, laterText(last.id, this.#cursor, this.opened.reach.form));
  }

  /** It never waits with entries that it could take. */
  overflow(): void {
    this.#answer([], this.#text);
  }

  /** It is answered with what it reads itself. */
  reread(): void {
    void this.start();
  }

  refuse(error: EngineError): void {
    if (!this.#finished()) return;
    respondError(this.#request, error, this.#requestId, this.#headers);
  }

  look(nowMs: number): void {
    if (!this.opened.isAllowed()) this.refuse(notAllowed());
    else if (nowMs >= this.#endMs) this.#answer([], this.#text);
  }

  end(): void {
    this.#answer([], this.#text);
  }

  cut(): void {
    this.#request.cut();
    this.#close();
  }

  get #text(): string {
    return cursorText(this.#cursor, this.opened.reach.form);
  }

  #answer(entries: readonly EventEntry[], next: string): void {
    if (!this.#finished()) return;
    const { gap } = this.opened;
    const gapMember = gap === undefined ? '' : `,"gap":${JSON.stringify(gap)}`;
    const body = `{"events":[${entries.map(({ json }) => json).join(',')}],"next":${JSON.stringify(jsonOfText(next))}${gapMember}}`;
    this.#request.respond(
      200,
      [['content-type', 'application/json'], ['cache-control', 'no-store'], ...this.#headers],
      body,
    );
  }

  /** False when it was answered before. */
  #finished(): boolean {
    if (this.#isOver) return false;
    this.#close();
    return true;
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.opened.feed.leave(this);
    this.#over();
  }
}

function notAllowed(): EngineError {
  return new EngineError('AUT-E004', 'the key was revoked or has expired');
}
