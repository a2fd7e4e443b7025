// Progress of import jobs as server-sent events. A stream holds no queue: it sends the state of its job as it is when the
// client has taken the event before, and its last event has the whole job.
import { type Clock, steadyMs } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  EVENT_KEEP_ALIVE_MS,
  EVENT_LAST_FRAME_MS,
  IMPORT_STREAM_MS,
  IMPORT_STREAMS_MAX,
} from '../../engine/base/limits.ts';
import type { ImportJobRecord } from '../control/records.ts';
import { STREAM_HEADERS } from '../events/stream.ts';
import type { HttpRequest, ResponseHeaders } from '../http/listener.ts';
import { SseWriter } from '../http/sse-writer.ts';
import type { ImportJobs } from './import-jobs.ts';
import { hasEnded } from './job.ts';

/** A stream before it is open. */
export interface OpenedProgress {
  readonly id: string;
  /** The job as the caller may see it now; undefined when it may not, or the job is gone. */
  readonly job: () => ImportJobRecord | undefined;
  /** The data of a progress event, and of the last event. */
  readonly progress: (job: ImportJobRecord) => object;
  readonly whole: (job: ImportJobRecord) => object;
}

interface Open {
  readonly request: Pick<HttpRequest, 'cut'>;
  readonly ended: Promise<void>;
  readonly wake: () => void;
}

export class ProgressStreams {
  readonly #jobs: Pick<ImportJobs, 'watch'>;
  readonly #clock: Clock;
  readonly #open = new Set<Open>();
  #isClosed = false;

  constructor(jobs: Pick<ImportJobs, 'watch'>, clock: Clock) {
    this.#jobs = jobs;
    this.#clock = clock;
  }

  get size(): number {
    return this.#open.size;
  }

  /** LIM-E001 when no further stream may begin. */
  check(): void {
    if (this.#isClosed) throw new EngineError('STO-E002', 'the server is shutting down');
    if (this.#open.size >= IMPORT_STREAMS_MAX)
      throw new EngineError('LIM-E001', 'too many streams of progress are open');
  }

  /** Throws as `check` before anything is sent. */
  open(opened: OpenedProgress, request: HttpRequest, headers: ResponseHeaders): void {
    this.check();
    if (request.method === 'HEAD') {
      request.respond(200, [...headers, ...STREAM_HEADERS]);
      return;
    }
    const out = new SseWriter(request.stream(200, [...headers, ...STREAM_HEADERS]));
    let wake: () => void = () => undefined;
    let changed = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const next = async (): Promise<void> => {
      await changed;
      changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
    };
    const stop = this.#jobs.watch(opened.id, () => wake());
    let isAlive = false;
    const alive = setInterval(() => {
      isAlive = true;
      wake();
    }, EVENT_KEEP_ALIVE_MS);
    const late = steadyMs(this.#clock) + IMPORT_STREAM_MS;
    const gone = (): void => wake();
    request.aborted.addEventListener('abort', gone, { once: true });
    const serve = async (): Promise<void> => {
      let sent = '';
      for (;;) {
        if (request.aborted.aborted) return;
        const job = opened.job();
        if (job === undefined || this.#isClosed || steadyMs(this.#clock) >= late)
          return await this.#last(out, request, 'end', {});
        if (hasEnded(job)) return await this.#last(out, request, job.status, opened.whole(job));
        const progress = opened.progress(job);
        const text = JSON.stringify(progress);
        if (text !== sent) await out.event('progress', progress);
        else if (isAlive) await out.comment('keep-alive');
        isAlive = false;
        sent = text;
        await next();
      }
    };
    const ended = serve()
      .catch(() => undefined) // the client is gone
      .finally(() => {
        stop();
        clearInterval(alive);
        this.#open.delete(entry);
      });
    const entry: Open = { request, ended, wake: () => wake() };
    this.#open.add(entry);
  }

  /** A client that does not take its last event is cut off. */
  async #last(out: SseWriter, request: Pick<HttpRequest, 'cut'>, event: string, data: object): Promise<void> {
    const cut = setTimeout(() => request.cut(), EVENT_LAST_FRAME_MS);
    try {
      await out.event(event, data);
      out.end();
    } finally {
      clearTimeout(cut);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#open];
    for (const { wake } of all) wake();
    const cut = setTimeout(() => {
      for (const { request } of this.#open) request.cut();
    }, EVENT_LAST_FRAME_MS);
    await Promise.all(all.map(({ ended }) => ended));
    clearTimeout(cut);
  }
}
