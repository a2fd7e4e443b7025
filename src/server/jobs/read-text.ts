// Extracts facts or the first date from a text. That takes milliseconds, and up to a second for a hostile text: all of
// it runs in a separate thread, which starts with the first text and ends when no more come.
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
  /** `names`: only load the model of names. */
  readonly wants: 'beliefs' | 'date' | 'pii' | 'names';
}

export interface TextOutcome {
  readonly beliefs: readonly ExtractedBelief[];
  /** Parts of the text that were skipped because of a limit. */
  readonly left?: readonly string[] | undefined;
  /** The first date in milliseconds since 1970, if requested and found. */
  readonly dateMs?: number | undefined;
  /** Personal data, if requested. */
  readonly findings?: readonly PiiFinding[] | undefined;
  /** When the model of names was loaded, in milliseconds since 1970, if requested. */
  readonly namesLoadedMs?: number | undefined;
}

export interface TextReaderOptions {
  /** Entry file of the thread. Only for tests. */
  readonly entry?: URL | undefined;
  /** Time limit for one text, in milliseconds. */
  readonly readMs?: number | undefined;
  /** Called with the error when the thread fails over a text. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export class TextReader {
  readonly #entry: URL;
  readonly #readMs: number;
  readonly #onError: (error: unknown) => void;
  #thread: Piscina | undefined;
  #waiting = 0;
  /** Settles when the previous text is done: a text's time limit starts at its turn. */
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: TextReaderOptions = {}) {
    this.#entry = options.entry ?? threadEntry('read-text-thread', import.meta.url);
    this.#readMs = options.readMs ?? EXTRACT_READ_MS;
    this.#onError = options.onError ?? (() => undefined);
  }

  /**
   * Reads a text after earlier ones. Rejects with LIM-E001 when too many wait, SYS-E005 for one that takes too long,
   * SYS-E001 when the thread died over it; the next text gets a new thread.
   */
  read(task: TextTask): Promise<TextOutcome> {
    if (this.#waiting >= EXTRACT_READS_WAITING_MAX)
      return Promise.reject(new EngineError('LIM-E001', 'too many texts are waiting for extraction: try again later'));
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
    if (this.#closed) throw new EngineError('SYS-E005', 'the server is shutting down');
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

  /** Ends the thread. The current text rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread?.destroy();
  }
}
