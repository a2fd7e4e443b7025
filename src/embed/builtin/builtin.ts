// The built-in sentence encoder as an Embedder. Its thread starts on first use, and calls are sent to it in batches. A
// call waits here, where it can still be cancelled, while the thread has enough to do.
import { Worker } from 'node:worker_threads';
import { assert } from '../../engine/base/assert.ts';
import {
  ENCODER_BACKLOG_BATCHES_OUT_MAX,
  ENCODER_BACKLOG_TEXTS_MAX,
  ENCODER_BATCH_TEXTS_MAX,
  ENCODER_QUERY_BATCHES_OUT_MAX,
  ENCODER_QUERY_TEXTS_MAX,
  ENCODER_SILENCE_MS,
  ENCODER_TEXT_CHARS_MAX,
  RESTART_DELAY_MAX_MS,
  RESTART_DELAY_MIN_MS,
  RESTART_FORGIVEN_MS,
} from '../../engine/base/limits.ts';
import { type Embedder, EmbedError, type EmbedOptions } from '../embedder.ts';
import type { EncoderOptions } from './encoder.ts';
import { ENCODER_DIMENSIONS, type Precision } from './graph.ts';
import type { FromThread, Priority, ToThread } from './messages.ts';
import type { RuntimeName } from './runtime.ts';

/** Raise the number after the slash when vectors change, for example with the tokenizer or the weights. */
export const BUILTIN_NAME = 'use-lite-512/1';
/** The same encoder with its matrices in bytes. */
export const BUILTIN_INT8_NAME = 'use-lite-int8-512/2';

export interface BuiltinOptions {
  /** Of the matrices: `int8`, the default, or `fp32`. */
  readonly precision?: Precision | undefined;
  /** Folder for the converted model (7 MB, or 28 MB as `fp32`); created if absent. Without it every start converts (0.3 s). */
  readonly cacheFolder?: string | undefined;
  /** `auto`, the default, uses onnxruntime-node if it is installed and works, otherwise WebAssembly. */
  readonly runtime?: RuntimeName | 'auto' | undefined;
  /** Logger for events; a pino logger fits. */
  readonly log?: { warn(fields: object, message: string): void } | undefined;
  /** True for a thread that serves only queries: it keeps normal priority. */
  readonly queriesOnly?: boolean | undefined;
  /** Entry file of the thread; tests pass their own. */
  readonly thread?: URL | undefined;
  /** Share of a core that the backlog may have (`Pace`); absent: a whole one. */
  readonly share?: Int32Array | undefined;
  /** Passed to that entry with the encoder's options. */
  readonly threadData?: object | undefined;
  /** Runs its argument after this many ms; returns a function that cancels it. */
  readonly delay?: ((run: () => void, ms: number) => () => void) | undefined;
}

export interface BuiltinStatus {
  /** `cold`: not started. `down`: the thread died and will restart after a delay. `failed`: it cannot load. */
  readonly state: 'cold' | 'loading' | 'ready' | 'down' | 'failed' | 'closed';
  readonly runtime?: RuntimeName | undefined;
  /** Why the state is `down` or `failed`. */
  readonly reason?: string | undefined;
  readonly restarts: number;
  readonly waitingTexts: number;
}

/**
 * Makes the encoder without loading it. `embed` gives vectors of 512 numbers and reads the first 128 pieces of a text.
 */
export function openBuiltinEmbedder(options: BuiltinOptions = {}): BuiltinEmbedder {
  return new BuiltinEmbedder(options);
}

interface Call {
  readonly priority: Priority;
  readonly texts: readonly string[];
  readonly vectors: (Float32Array | undefined)[];
  /** Texts sent to the thread, and answered ones. */
  sent: number;
  done: number;
  readonly settle: (failure?: { readonly reason: unknown }) => void;
}

interface Batch {
  readonly call: Call;
  readonly from: number;
}

interface Lane {
  readonly calls: Set<Call>;
  readonly out: Map<number, Batch>;
  readonly outMax: number;
  readonly textsMax: number;
  texts: number;
}

export class BuiltinEmbedder implements Embedder {
  #name: string;
  #dimensions = ENCODER_DIMENSIONS;
  readonly #options: BuiltinOptions;
  readonly #delay: (run: () => void, ms: number) => () => void;
  readonly #lanes: Readonly<Record<Priority, Lane>> = {
    query: lane(ENCODER_QUERY_BATCHES_OUT_MAX, ENCODER_QUERY_TEXTS_MAX),
    backlog: lane(ENCODER_BACKLOG_BATCHES_OUT_MAX, ENCODER_BACKLOG_TEXTS_MAX),
  };
  #state: BuiltinStatus['state'] = 'cold';
  #reason: string | undefined;
  #runtime: RuntimeName | undefined;
  #thread: Worker | undefined;
  #batches = 0;
  #restarts = 0;
  /** Consecutive deaths. */
  #deaths = 0;
  #readySinceMs = 0;
  #loads: PromiseWithResolvers<void> | undefined;
  #cancelWatch: (() => void) | undefined;
  #cancelRestart: (() => void) | undefined;

  constructor(options: BuiltinOptions) {
    this.#options = options;
    this.#name = options.precision === 'fp32' ? BUILTIN_NAME : BUILTIN_INT8_NAME;
    this.#delay = options.delay ?? timer;
  }

  /** That of the built-in encoder; with another thread, what its encoder said when it was loaded. */
  get name(): string {
    return this.#name;
  }

  get dimensions(): number {
    return this.#dimensions;
  }

  get status(): BuiltinStatus {
    return {
      state: this.#state,
      runtime: this.#runtime,
      reason: this.#reason,
      restarts: this.#restarts,
      waitingTexts: this.#lanes.query.texts + this.#lanes.backlog.texts,
    };
  }

  /** Backlog texts that wait or are with the thread. */
  get backlogTexts(): number {
    return this.#lanes.backlog.texts;
  }

  /**
   * Loads the encoder unless it is loaded. Rejects with EmbedError: retryable when the thread died, otherwise when the
   * encoder cannot load here; then every later call rejects too.
   */
  load(): Promise<void> {
    if (this.#state === 'ready') return Promise.resolve();
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    this.#loads ??= Promise.withResolvers();
    this.#start();
    this.#keepAlive();
    return this.#loads.promise;
  }

  /** See Embedder. While the thread is down, queries reject at once (retryable) and the backlog waits. */
  async embed(
    texts: readonly string[],
    { priority = 'backlog', signal }: EmbedOptions = {},
  ): Promise<readonly (Float32Array | undefined)[]> {
    signal?.throwIfAborted();
    const lane = this.#lanes[priority];
    const refusal = this.#refusal(priority);
    if (refusal !== undefined) throw refusal;
    if (texts.length === 0) return [];
    if (lane.texts + texts.length > lane.textsMax)
      throw new EmbedError('the encoder has too many texts waiting: try again later', { retryable: true });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const call: Call = {
      priority,
      texts,
      vectors: [],
      sent: 0,
      done: 0,
      settle: (failure) => (failure === undefined ? resolve() : reject(failure.reason)),
    };
    lane.calls.add(call);
    lane.texts += texts.length;
    const abort = (): void => {
      this.#end(call, { reason: signal?.reason });
      // The thread does not answer dropped batches, so no answer would trigger the next send.
      this.#pump();
    };
    signal?.addEventListener('abort', abort);
    try {
      this.#pump();
      await promise;
      return call.vectors;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#cancelRestart?.();
    this.#endAll(this.#refusal()!);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }

  #refusal(priority?: Priority): EmbedError | undefined {
    if (this.#state === 'closed') return new EmbedError('the encoder is closed', { retryable: false });
    if (this.#state === 'failed') return new EmbedError(this.#reason!, { retryable: false });
    if (this.#state === 'down' && priority !== 'backlog') return new EmbedError(this.#reason!, { retryable: true });
    return undefined;
  }

  /** Sends batches while the thread has room, short calls first: a note does not wait for a long text. */
  #pump(): void {
    if (this.#lanes.query.calls.size + this.#lanes.backlog.calls.size > 0) this.#start();
    for (const priority of ['query', 'backlog'] as const) {
      const { calls, out, outMax } = this.#lanes[priority];
      for (const call of shortestFirst(calls)) {
        while (this.#thread !== undefined && out.size < outMax && call.sent < call.texts.length) {
          const texts = call.texts.slice(call.sent, call.sent + ENCODER_BATCH_TEXTS_MAX);
          const batch = this.#batches++;
          out.set(batch, { call, from: call.sent });
          call.sent += texts.length;
          this.#post({
            kind: 'embed',
            batch,
            priority,
            texts: texts.map((text) => text.slice(0, ENCODER_TEXT_CHARS_MAX)),
          });
        }
        if (out.size >= outMax) break;
      }
    }
    this.#keepAlive();
  }

  #post(message: ToThread): void {
    this.#thread?.postMessage(message);
    if (this.#cancelWatch === undefined) this.#watch();
  }

  /** Keeps the process alive while a caller waits, and watches the thread while it owes answers. */
  #keepAlive(): void {
    const { query, backlog } = this.#lanes;
    if (query.calls.size + backlog.calls.size > 0 || this.#loads !== undefined) this.#thread?.ref();
    else this.#thread?.unref();
  }

  get #owes(): boolean {
    return this.#state === 'loading' || this.#lanes.query.out.size + this.#lanes.backlog.out.size > 0;
  }

  /** Restarts the silence timer if the thread owes answers. */
  #watch(): void {
    this.#cancelWatch?.();
    this.#cancelWatch = undefined;
    const thread = this.#thread;
    if (thread === undefined || !this.#owes) return;
    this.#cancelWatch = this.#delay(() => {
      this.#cancelWatch = undefined;
      this.#died(thread, `the encoder did not answer for ${ENCODER_SILENCE_MS / 1_000} seconds`);
      void thread.terminate();
    }, ENCODER_SILENCE_MS);
  }

  #start(): void {
    if (this.#state !== 'cold') return;
    this.#state = 'loading';
    const { cacheFolder, precision = 'int8', runtime = 'auto', queriesOnly = false, share, threadData } = this.#options;
    const data: EncoderOptions = { ...threadData, cacheFolder, precision, runtime, queriesOnly, share };
    const thread = new Worker(this.#options.thread ?? entry(), { name: 'encoder', workerData: data });
    this.#thread = thread;
    let thrown: string | undefined;
    thread.on('message', (message: FromThread) => {
      if (thread === this.#thread) this.#heard(message);
    });
    thread.on('error', (error: unknown) => {
      thrown = error instanceof Error ? error.message : String(error);
    });
    thread.on('exit', () =>
      this.#died(thread, `the encoder's thread died${thrown === undefined ? '' : `: ${thrown}`}`),
    );
    this.#watch();
  }

  #heard(message: FromThread): void {
    switch (message.kind) {
      case 'loaded':
        this.#state = 'ready';
        this.#reason = undefined;
        this.#name = message.name ?? this.#name;
        this.#dimensions = message.dimensions ?? this.#dimensions;
        this.#runtime = message.runtime;
        this.#readySinceMs = performance.now();
        for (const notice of message.notices) this.#options.log?.warn({ runtime: message.runtime }, notice);
        this.#loads?.resolve();
        this.#loads = undefined;
        break;
      case 'failed':
        this.#state = 'failed';
        this.#reason = message.reason;
        this.#thread = undefined;
        this.#options.log?.warn({ reason: message.reason }, 'the sentence encoder cannot be loaded');
        this.#endAll(this.#refusal()!);
        return;
      case 'resting':
        break;
      case 'vectors':
        this.#answered(message);
        break;
    }
    this.#watch();
    this.#pump();
  }

  #answered({ batch: id, vectors }: FromThread & { readonly kind: 'vectors' }): void {
    const { query, backlog } = this.#lanes;
    const { out } = query.out.has(id) ? query : backlog;
    const batch = out.get(id);
    // The call was cancelled while this batch was on its way.
    if (batch === undefined) return;
    out.delete(id);
    const { call, from } = batch;
    for (const [i, vector] of vectors.entries()) call.vectors[from + i] = vector;
    call.done += vectors.length;
    assert(call.done <= call.texts.length, 'each text is answered once');
    if (call.done === call.texts.length) this.#end(call);
  }

  #end(call: Call, failure?: { readonly reason: unknown }): void {
    const lane = this.#lanes[call.priority];
    if (!lane.calls.delete(call)) return;
    lane.texts -= call.texts.length;
    for (const [id, batch] of lane.out) {
      if (batch.call !== call) continue;
      lane.out.delete(id);
      this.#post({ kind: 'drop', batch: id });
    }
    call.settle(failure);
    // Cancelling one of several calls does not give the thread more time for the others.
    if (!this.#owes) this.#watch();
    this.#keepAlive();
  }

  #endAll(error: EmbedError): void {
    this.#loads?.reject(error);
    this.#loads = undefined;
    for (const { calls, out } of Object.values(this.#lanes)) {
      out.clear();
      for (const call of calls) this.#end(call, { reason: error });
    }
    this.#watch();
  }

  #died(thread: Worker, reason: string): void {
    if (thread !== this.#thread) return;
    this.#thread = undefined;
    if (this.#state === 'ready' && performance.now() - this.#readySinceMs > RESTART_FORGIVEN_MS) this.#deaths = 0;
    this.#state = 'down';
    this.#reason = reason;
    const error = new EmbedError(reason, { retryable: true });
    this.#loads?.reject(error);
    this.#loads = undefined;
    const { query, backlog } = this.#lanes;
    const begun = new Set([...query.calls, ...[...backlog.out.values()].map(({ call }) => call)]);
    query.out.clear();
    backlog.out.clear();
    for (const call of begun) this.#end(call, { reason: error });
    this.#watch();
    const delayMs = Math.min(RESTART_DELAY_MAX_MS, RESTART_DELAY_MIN_MS * 2 ** this.#deaths++);
    this.#options.log?.warn({ reason, delayMs }, "the encoder's thread restarts");
    this.#cancelRestart = this.#delay(() => {
      this.#state = 'cold';
      this.#restarts++;
      this.#pump();
    }, delayMs);
  }
}

function lane(outMax: number, textsMax: number): Lane {
  return { calls: new Set(), out: new Map(), outMax, textsMax, texts: 0 };
}

function timer(run: () => void, ms: number): () => void {
  const handle = setTimeout(run, ms);
  return () => clearTimeout(handle);
}

/** The thread's entry file: TypeScript in the sources, JavaScript once built. */
function entry(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url);
}

/** Calls of equal length keep their order of arrival. */
function shortestFirst(calls: ReadonlySet<Call>): Iterable<Call> {
  return calls.size < 2 ? calls : [...calls].sort((one, other) => one.texts.length - other.texts.length);
}
