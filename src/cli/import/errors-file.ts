// The file of `granary import --errors`: every error of an import, as JSON lines.
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { Failure, failureOf } from '../failure.ts';
import { writeOut } from '../write-out.ts';

/** An error of a line, of a grain of a .mg file, of a chunk of a document, or of a whole document. */
export interface FileError {
  readonly file: string;
  readonly line?: number;
  readonly chunk?: number;
  readonly code: string;
  readonly error: string;
}

export class ErrorsFile {
  readonly #stream: WriteStream;
  #problem: unknown;

  private constructor(stream: WriteStream) {
    this.#stream = stream;
    stream.on('error', (error) => {
      this.#problem ??= error;
    });
  }

  /** Empties the file, or creates it. Rejects with Failure FILE: an import without its errors could not be mended. */
  static async open(path: string): Promise<ErrorsFile> {
    const stream = createWriteStream(path, { mode: 0o600 });
    const file = new ErrorsFile(stream);
    try {
      await once(stream, 'open');
    } catch (error) {
      throw failed(error);
    }
    return file;
  }

  write(error: FileError): void {
    if (!this.#stream.destroyed) this.#stream.write(`${JSON.stringify(error)}\n`);
  }

  /** Resolves when the file has taken what was written, if that is much: a file of errors alone may have millions. */
  async room(): Promise<void> {
    if (this.#stream.writableNeedDrain) await writeOut(this.#stream, '');
  }

  /** Rejects with Failure FILE if the file does not have every error. */
  async close(): Promise<void> {
    if (!this.#stream.closed) {
      const closed = new Promise<void>((resolve) => this.#stream.once('close', resolve));
      this.#stream.end();
      await closed;
    }
    if (this.#problem !== undefined) throw failed(this.#problem);
  }
}

function failed(error: unknown): Failure {
  return new Failure('FILE', `--errors: ${failureOf(error).text}`);
}
