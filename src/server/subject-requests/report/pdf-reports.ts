// Makes PDFs of reports in a thread of its own: a long one takes a second, which would delay all callers. The thread starts
// with the first report and ends when no more come.
import { Piscina } from 'piscina';
import { EngineError } from '../../../engine/base/errors.ts';
import { REPORT_HEAP_MB, REPORT_IDLE_MS, REPORT_WRITE_MS, REPORTS_WAITING_MAX } from '../../../engine/base/limits.ts';
import { threadEntry } from '../../thread-entry.ts';
import type { ReportLanguage } from './texts.ts';

export interface PdfTask {
  /** The report: its type is the thread's. */
  readonly data: unknown;
  readonly language: ReportLanguage;
}

export interface PdfReportsOptions {
  /** Entry file of the thread. Only for tests. */
  readonly entry?: URL | undefined;
  /** Time for one report, in milliseconds. */
  readonly writeMs?: number | undefined;
  /** Heap of the thread, in MiB. */
  readonly heapMb?: number | undefined;
  /** Called with the error when the thread fails over a report. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export class PdfReports {
  readonly #options: PdfReportsOptions;
  #thread: Piscina | undefined;
  #waiting = 0;
  /** Settles when the report before is done: the time of a report starts at its turn. */
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(options: PdfReportsOptions = {}) {
    this.#options = options;
  }

  /**
   * Resolves to the bytes of the file, after earlier reports. pdfkit must be installed. Rejects with LIM-E001 when too many
   * wait, LIM-E003 for one that takes too much memory, SYS-E005 for one that takes too long, SYS-E001 when the thread fails.
   */
  write(data: unknown, language: ReportLanguage): Promise<Uint8Array> {
    if (this.#isClosed) return Promise.reject(shuttingDown());
    if (this.#waiting >= REPORTS_WAITING_MAX)
      return Promise.reject(new EngineError('LIM-E001', 'too many reports are waiting: try again later'));
    this.#waiting += 1;
    const turn = this.#last.then(() => this.#run({ data, language }));
    const left = (): void => {
      this.#waiting -= 1;
    };
    this.#last = turn.then(left, left);
    return turn;
  }

  async #run(task: PdfTask): Promise<Uint8Array> {
    if (this.#isClosed) throw shuttingDown();
    this.#thread ??= new Piscina({
      filename: (this.#options.entry ?? threadEntry('write-pdf-thread', import.meta.url)).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: REPORT_IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMb ?? REPORT_HEAP_MB },
    });
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.#options.writeMs ?? REPORT_WRITE_MS);
    try {
      return (await this.#thread.run(task, { signal: late.signal })) as Uint8Array; // what the entry returns
    } catch (error) {
      if (this.#isClosed) throw shuttingDown();
      if (late.signal.aborted) throw new EngineError('SYS-E005', `the PDF took too long: ${INSTEAD}`);
      if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
        throw new EngineError('LIM-E003', `the PDF takes too much memory: ${INSTEAD}`);
      this.#options.onError?.(error);
      throw new EngineError('SYS-E001', `the PDF could not be made: ${INSTEAD}`);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the thread. The report that is being written, and those that wait, reject with SYS-E005. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.destroy();
  }
}

const INSTEAD = 'ask for HTML and print it';

function shuttingDown(): EngineError {
  return new EngineError('SYS-E005', 'the server is shutting down');
}
