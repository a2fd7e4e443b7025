// A text that somebody stores, give me the facts or the first date in it. Reading takes milliseconds, and up to a second
// for a text made to be slow: all of it runs in a thread of its own, which starts with the first text and ends when no
// more come.
import { Piscina } from 'piscina';
import { EngineError } from '../../engine/base/errors.ts';
import {
  EXTRACT_HEAP_MB,
  EXTRACT_IDLE_MS,
  EXTRACT_READ_MS,
  EXTRACT_READS_WAITING_MAX,
} from '../../engine/base/limits.ts';
import type { ExtractContext, ExtractedBelief } from '../../engine/text/extract/extraction.ts';
import type { PiiFinding } from '../../engine/text/pii/finding.ts';
import { threadEntry } from '../thread-entry.ts';

export interface TextTask extends ExtractContext {
  readonly text: string;
  /** `names`: nothing of the text, but the model of names, loaded. */
  readonly wants: 'beliefs' | 'date' | 'pii' | 'names';
}

export interface TextOutcome {
  readonly beliefs: readonly ExtractedBelief[];
  /** What of the text was not read, or not taken, for a bound. */
  readonly left?: readonly string[];
  /** Of the first date, milliseconds since 1970, where one was wanted and is there. */
  readonly dateMs?: number;
  /** Personal data, where that was wanted. */
  readonly findings?: readonly PiiFinding[];
  /** When the model of names was loaded, milliseconds since 1970, where that was wanted. */
  readonly namesLoadedMs?: number;
}

export interface TextReaderOptions {
  /** The thread's entry file, in place of the real one. Tests alone. */
  readonly entry?: URL;
  /** Milliseconds for one text. */
  readonly readMs?: number;
  /** Hears why the thread failed over a text. */
  readonly onError?: (error: unknown) => void;
}

export class TextReader {
  readonly #entry: URL;
  readonly #readMs: number;
  readonly #onError: (error: unknown) => void;
  #thread: Piscina | undefined;
  #waiting = 0;
  /** Settles when the text before is read: a text's time begins when its turn comes. */
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: TextReaderOptions = {}) {
    this.#entry = options.entry ?? threadEntry('read-text-thread', import.meta.url);
    this.#readMs = options.readMs ?? EXTRACT_READ_MS;
    this.#onError = options.onError ?? (() => undefined);
  }

  /**
   * Reads a text, after those that came before. Rejects with LIM-E001 when too many wait, SYS-E005 for one that takes
   * too long, SYS-E001 when the thread died over it; the next text has a new thread.
   */
  read(task: TextTask): Promise<TextOutcome> {
    if (this.#waiting >= EXTRACT_READS_WAITING_MAX)
      return Promise.reject(new EngineError('LIM-E001', 'too many texts wait for extraction'));
    this.#waiting += 1;
    const turn = this.#last.then(() => this.#run(task));
    this.#last = turn.then(
      () => this.#left(),
      () => this.#left(),
    );
    return turn;
  }

  #left(): void {
    this.#waiting -= 1;
  }

  async #run(task: TextTask): Promise<TextOutcome> {
    if (this.#closed) throw new EngineError('SYS-E005', 'the server ends');
    this.#thread ??= new Piscina({
      filename: this.#entry.href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: EXTRACT_IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: EXTRACT_HEAP_MB },
    });
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.#readMs);
    try {
      return (await this.#thread.run(task, { signal: late.signal })) as TextOutcome; // what the entry returns
    } catch (error) {
      if (late.signal.aborted) throw new EngineError('SYS-E005', 'extraction took too long');
      this.#onError(error);
      throw new EngineError('SYS-E001', 'extraction failed');
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the thread. What is being read rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread?.destroy();
  }
}
