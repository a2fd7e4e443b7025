// Reads uploaded documents in threads of their own. A document that takes too long or too much memory ends its thread;
// the next one gets a new thread. Threads start with the first document and end when no more come.
import { once } from 'node:events';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { assert } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  ANSWER_BYTES_MAX,
  DOCUMENT_HEAP_MB,
  DOCUMENT_IDLE_MS,
  DOCUMENT_LOOK_MS,
  DOCUMENT_MEMORY_BYTES_MAX,
  DOCUMENT_READ_MS,
  DOCUMENT_THREADS_MAX,
  DOCUMENT_YOUNG_HEAP_MB,
  DOCUMENTS_WAITING_MAX,
} from '../../engine/base/limits.ts';
import { handedOver } from '../long-bytes.ts';
import { threadEntry } from '../thread-entry.ts';
import type { ChunkBatch } from './chunk-batch.ts';
import { DOCUMENT_LIMITS, type DocumentLimits, unreadable } from './limits.ts';
import type { ChunksWanted, DocumentAnswer, DocumentHead, DocumentTask, TextAsJson } from './protocol.ts';

export interface DocumentText extends DocumentHead, TextAsJson {}

export interface DocumentChunks extends DocumentHead {
  readonly count: number;
  /** The chunks in order, in batches. To be read once. */
  readonly batches: AsyncIterable<ChunkBatch>;
  /** Gives the thread back. To be called when no more batches are read. */
  close(): void;
}

export interface DocumentsOptions {
  /** Entry file of the threads. Only for tests. */
  readonly entry?: URL | undefined;
  readonly threads?: number | undefined;
  readonly limits?: Partial<DocumentLimits> | undefined;
  /** Time for one document, in milliseconds. */
  readonly readMs?: number | undefined;
  /** Time without documents after which a thread ends, in milliseconds. */
  readonly idleMs?: number | undefined;
  /** Bytes of heap and buffers of a thread. */
  readonly memoryBytes?: number | undefined;
  /** Called with the error when a thread fails over a document. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Reads documents. The bytes of a large one are handed to its thread, so the caller's array is empty afterwards. */
export class Documents {
  readonly #options: DocumentsOptions;
  readonly #limits: DocumentLimits;
  readonly #readers: Reader[] = [];
  readonly #idle: Reader[] = [];
  readonly #waiting: Waiting[] = [];
  #closed = false;

  constructor(options: DocumentsOptions = {}) {
    this.#options = options;
    this.#limits = { ...DOCUMENT_LIMITS, ...options.limits };
  }

  /**
   * The text of a document. Rejects with IMP-E001 for a format that is not read, IMP-E004 for one that cannot be read,
   * LIM-E003 for one beyond its limits, LIM-E001 when too many wait.
   */
  async text(bytes: Uint8Array, fileName: string): Promise<DocumentText> {
    const reading = await this.#read({ bytes, fileName, wants: { textBytesMax: ANSWER_BYTES_MAX } });
    reading.close();
    const { first } = reading;
    assert(first.what === 'text', 'a text was asked for');
    const { what: _, ...document } = first;
    return document;
  }

  /** The chunks of a document, with the same refusals before the first one. The caller must call `close`. */
  async chunks(bytes: Uint8Array, fileName: string, wants: ChunksWanted): Promise<DocumentChunks> {
    const reading = await this.#read({ bytes, fileName, wants });
    const { first } = reading;
    assert(first.what === 'chunked', 'chunks were asked for');
    const { what: _, ...document } = first;
    return { ...document, batches: batchesOf(reading), close: () => reading.close() };
  }

  async #read(task: Pick<DocumentTask, 'bytes' | 'fileName' | 'wants'>): Promise<Reading> {
    const reader = await this.#reader();
    try {
      return await reader.read({ ...task, limits: this.#limits }, () => this.#free(reader));
    } catch (error) {
      this.#free(reader);
      throw error;
    }
  }

  #reader(): Reader | Promise<Reader> {
    if (this.#closed) throw shuttingDown();
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#readers.length < (this.#options.threads ?? DOCUMENT_THREADS_MAX)) {
      const reader = new Reader(this.#options);
      this.#readers.push(reader);
      return reader;
    }
    if (this.#waiting.length >= DOCUMENTS_WAITING_MAX)
      throw new EngineError('LIM-E001', 'too many documents are waiting: try again later');
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #free(reader: Reader): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(reader);
    else next.resolve(reader);
  }

  /** Threads that run now. */
  get threads(): number {
    return this.#readers.reduce((count, reader) => count + reader.threads, 0);
  }

  /** Ends the threads. Documents that are being read are refused. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(shuttingDown());
    await Promise.all(this.#readers.map((reader) => reader.close()));
  }
}

interface Waiting {
  readonly resolve: (reader: Reader) => void;
  readonly reject: (error: Error) => void;
}

function shuttingDown(): EngineError {
  return new EngineError('SYS-E005', 'the server is shutting down');
}

/** A document that a thread has read. */
interface Reading {
  readonly first: DocumentAnswer;
  /** Asks for the next batch. */
  more(): Promise<ChunkBatch>;
  close(): void;
}

async function* batchesOf(reading: Reading): AsyncGenerator<ChunkBatch> {
  // The next batch is prepared while this one is used.
  let next = reading.more();
  next.catch(() => undefined);
  for (;;) {
    const batch = await next;
    if (batch.count === 0) return;
    next = reading.more();
    next.catch(() => undefined);
    yield batch;
  }
}

/** One thread at a time, for one document at a time. */
class Reader {
  readonly #options: DocumentsOptions;
  readonly #pool: Piscina;
  #isClosed = false;

  constructor(options: DocumentsOptions) {
    this.#options = options;
    this.#pool = new Piscina({
      filename: (options.entry ?? threadEntry('read-document-thread', import.meta.url)).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: options.idleMs ?? DOCUMENT_IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: DOCUMENT_HEAP_MB, maxYoungGenerationSizeMb: DOCUMENT_YOUNG_HEAP_MB },
    });
  }

  /** Resolves when the document is read. `onFree` is called once, after `close` of the reading. */
  async read(task: Omit<DocumentTask, 'port'>, onFree: () => void): Promise<Reading> {
    const { port1: port, port2 } = new MessageChannel();
    const ending = new AbortController();
    let reason: EngineError | undefined;
    const end = (why: EngineError): void => {
      reason ??= why;
      ending.abort();
    };
    const bytes = await handedOver(task.bytes);
    const watch = this.#watch(end);
    const run = this.#pool.run(
      { ...task, bytes, port: port2 },
      { transferList: [port2, bytes.buffer], signal: ending.signal },
    );
    const failed = run.then(
      () => Promise.reject(new EngineError('SYS-E001', 'the document could not be read')),
      (error: unknown) => Promise.reject(reason ?? this.#failure(error)),
    );
    failed.catch(() => undefined);
    const over = (): void => {
      watch.stop();
      port.close();
    };
    try {
      const first = await Promise.race([nextMessage(port), failed]);
      if (first.what === 'refused') throw EngineError.fromWire(first.error);
      watch.onlyMemory();
      const close = (): void => {
        over();
        void run.then(onFree, onFree);
      };
      return { first, more: () => Promise.race([nextChunks(port), failed]), close: onceOnly(close) };
    } catch (error) {
      over();
      await run.catch(() => undefined);
      throw error;
    }
  }

  /** Ends a thread that works too long, or holds too much memory: buffers do not count towards its heap's limit. */
  #watch(end: (why: EngineError) => void): { stop(): void; onlyMemory(): void } {
    const ms = this.#options.readMs ?? DOCUMENT_READ_MS;
    const late = setTimeout(() => end(unreadable(`the document takes longer than ${ms / 1000} s to read`)), ms);
    const bytesMax = this.#options.memoryBytes ?? DOCUMENT_MEMORY_BYTES_MAX;
    const look = async (): Promise<void> => {
      const [thread] = this.#pool.threads;
      // A thread that has ended has no statistics.
      const heap = await thread?.getHeapStatistics?.().catch(() => undefined);
      if (heap !== undefined && heap.used_heap_size + heap.external_memory > bytesMax) end(tooMuchMemory());
    };
    const looks = setInterval(() => void look(), DOCUMENT_LOOK_MS);
    return {
      stop: () => {
        clearTimeout(late);
        clearInterval(looks);
      },
      onlyMemory: () => clearTimeout(late),
    };
  }

  #failure(error: unknown): EngineError {
    if (this.#isClosed) return shuttingDown();
    if (isOutOfMemory(error)) return tooMuchMemory();
    this.#options.onError?.(error);
    return unreadable('the document cannot be read');
  }

  get threads(): number {
    return this.#pool.threads.length;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.destroy();
  }
}

function tooMuchMemory(): EngineError {
  return unreadable('the document takes too much memory to read');
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

async function nextMessage(port: MessagePort): Promise<DocumentAnswer> {
  const [message] = (await once(port, 'message')) as [DocumentAnswer]; // what the thread posts
  return message;
}

async function nextChunks(port: MessagePort): Promise<ChunkBatch> {
  port.postMessage('more');
  const message = await nextMessage(port);
  assert(message.what === 'chunks', 'a request for more is answered with chunks');
  return message;
}

function onceOnly(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
