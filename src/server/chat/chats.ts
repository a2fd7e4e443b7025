// The chat turns that are under way: serves each as a stream of server-sent events, bounds their number, ends the model's
// work when its client goes away, and ends them all when the server does.
import { EngineError } from '../../engine/base/errors.ts';
import { CHAT_TURN_MS, CHAT_TURNS_MAX } from '../../engine/base/limits.ts';
import { STREAM_HEADERS } from '../events/stream.ts';
import { type HttpRequest, RequestAborted, type ResponseHeaders } from '../http/listener.ts';
import { SseWriter } from '../http/sse-writer.ts';
import type { Person } from '../imports/holds.ts';
import type { Logger } from '../log.ts';
import type { ChatEvent, OpenedChat } from './event.ts';
import { Pace } from './pace.ts';

interface Running {
  readonly abort: AbortController;
  readonly request: Pick<HttpRequest, 'cut'>;
  readonly erased: OpenedChat['erased'];
  readonly ended: Promise<void>;
}

/** Tells of the end of a turn whose model was shown texts that were erased since. */
export const TEXTS_ERASED = 'texts that the model was shown were erased meanwhile';
/** Time for streams to end at a shutdown. */
const END_MS = 2_000;
/** Longer than any request and its turn. */
const CLAIM_MS = 2 * CHAT_TURN_MS;

export class Chats {
  /** For what a turn does before a model begins to answer, and after it. */
  readonly pace = new Pace();
  readonly #log: Pick<Logger, 'error'>;
  readonly #running = new Set<Running>();
  readonly #keys = new Set<string>();
  /** Threads with a turn under way, and when a claim is void. */
  readonly #claims = new Map<string, { readonly untilMs: number }>();
  #isClosed = false;

  constructor(log: Pick<Logger, 'error'>) {
    this.#log = log;
  }

  get size(): number {
    return this.#running.size;
  }

  /** LIM-E001 when no further turn may begin, VAL-E005 while a turn with this key is under way. */
  check(key: string | undefined): void {
    if (this.#isClosed) throw new EngineError('STO-E002', 'the server is shutting down');
    if (this.#running.size >= CHAT_TURNS_MAX)
      throw new EngineError('LIM-E001', 'too many chat turns are running: try again later');
    if (key !== undefined && this.#keys.has(key))
      throw new EngineError('VAL-E005', 'a request with this idempotency key is running: wait for its answer');
  }

  /**
   * Makes the thread the turn's own, so that each turn sees the answers of those before it: HRN-E010 while another turn of
   * the thread is under way. Returns what gives it back. A claim that nobody gives back ends by itself.
   */
  claim(thread: string): () => void {
    const now = performance.now();
    if (now < (this.#claims.get(thread)?.untilMs ?? 0))
      throw new EngineError('HRN-E010', 'another turn of the thread is running: wait for its end', {
        details: [{ field: 'thread_id', issue: 'busy' }],
      });
    const claim = { untilMs: now + CLAIM_MS };
    this.#claims.set(thread, claim);
    return () => {
      if (this.#claims.get(thread) === claim) this.#claims.delete(thread);
    };
  }

  /** Serves the turn. Throws as `check` before anything is sent, and then gives the thread back. */
  open(opened: OpenedChat, request: HttpRequest, headers: ResponseHeaders): void {
    try {
      this.#open(opened, request, headers);
    } catch (error) {
      opened.release?.();
      throw error;
    }
  }

  #open({ key, release, erased, events }: OpenedChat, request: HttpRequest, headers: ResponseHeaders): void {
    this.check(key);
    const abort = new AbortController();
    const stop = (): void => abort.abort(new RequestAborted());
    if (request.aborted.aborted) stop();
    else request.aborted.addEventListener('abort', stop, { once: true });
    const late = setTimeout(
      () => abort.abort(new EngineError('SYS-E005', `the turn took longer than ${CHAT_TURN_MS / 1_000} s`)),
      CHAT_TURN_MS,
    );
    const out = new SseWriter(request.stream(200, [...headers, ...STREAM_HEADERS]));
    if (key !== undefined) this.#keys.add(key);
    const ended = this.#serve(events(abort.signal), out, { signal: abort.signal, release }).finally(() => {
      clearTimeout(late);
      if (key !== undefined) this.#keys.delete(key);
      this.#running.delete(running);
    });
    const running: Running = { abort, request, erased, ended };
    this.#running.add(running);
  }

  /** Never rejects. Gives the thread back before the last event: whoever has read that may go on at once. */
  async #serve(
    events: AsyncIterable<ChatEvent>,
    out: SseWriter,
    { signal, release }: Pick<OpenedChat, 'release'> & { readonly signal: AbortSignal },
  ): Promise<void> {
    try {
      for await (const { event, data } of events) {
        if (event === 'done') release?.();
        await out.event(event, data);
      }
      release?.();
      out.end();
    } catch (error) {
      release?.();
      const shown = this.#errorFor(error, signal);
      if (shown === undefined) return;
      await out
        .event('error', { code: shown.code, message: shown.message })
        .then(() => out.end())
        .catch(() => undefined); // the client is gone
    }
  }

  /** The error that the client gets; undefined when it is gone. */
  #errorFor(error: unknown, signal: AbortSignal): EngineError | undefined {
    const reason: unknown = signal.aborted ? signal.reason : error;
    if (reason instanceof RequestAborted || error instanceof RequestAborted) return undefined;
    if (reason instanceof EngineError) return reason;
    this.#log.error({ err: error }, 'internal error in a chat turn');
    return new EngineError('SYS-E001', 'internal error');
  }

  /** Ends the turns whose models were shown texts of an erased person or scope. */
  erased(whose: Person): void {
    for (const { abort, erased } of this.#running)
      if (erased?.(whose) === true) abort.abort(new EngineError('MEM-E001', TEXTS_ERASED));
  }

  /** Ends all turns with an error event. Clients that do not take it are cut off. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#running];
    for (const { abort } of all) abort.abort(new EngineError('SYS-E005', 'the server is shutting down'));
    const cut = setTimeout(() => {
      for (const { request } of this.#running) request.cut();
    }, END_MS);
    await Promise.all(all.map(({ ended }) => ended));
    clearTimeout(cut);
  }
}
