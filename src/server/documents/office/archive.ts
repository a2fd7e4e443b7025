// The entries of an office file, inflated as a stream. The bytes are counted as they come out, because the sizes that
// the file declares may be wrong.
import { Unzip, type UnzipFile, UnzipInflate } from 'fflate';
import { EngineError } from '../../../engine/base/errors.ts';
import { type DocumentLimits, tooLarge, unreadable } from '../limits.ts';

/** Takes the pieces of one entry. */
export type EntrySink = (piece: Uint8Array, isLast: boolean) => void;

const PUSHED_AT_ONCE = 65_536;

export class Archive {
  readonly #bytes: Uint8Array;
  readonly #limits: DocumentLimits;
  #inflated = 0;

  /** Throws IMP-E004 for a file without its end. */
  constructor(bytes: Uint8Array, limits: DocumentLimits) {
    if (!hasDirectory(bytes)) throw damaged();
    this.#bytes = bytes;
    this.#limits = limits;
  }

  /**
   * Goes through all entries, and hands those over for which `wanted` gives a sink. Throws LIM-E003 for too many entries
   * or bytes, IMP-E004 for a damaged entry.
   */
  each(wanted: (name: string) => EntrySink | undefined): void {
    let entries = 0;
    let open = 0;
    const names = new Set<string>();
    const unzip = new Unzip((file) => {
      entries += 1;
      if (entries > this.#limits.entries) throw tooLarge(`has more than ${this.#limits.entries} entries`);
      // A second entry of the same name would be read in place of the first, or beside it.
      const sink = names.has(file.name) ? undefined : wanted(file.name);
      names.add(file.name);
      if (sink === undefined) return;
      open += 1;
      this.#start(file, (piece, isLast) => {
        if (isLast) open -= 1;
        sink(piece, isLast);
      });
    });
    unzip.register(UnzipInflate);
    try {
      for (let at = 0; at < this.#bytes.length; at += PUSHED_AT_ONCE) {
        const end = at + PUSHED_AT_ONCE;
        unzip.push(this.#bytes.subarray(at, end), end >= this.#bytes.length);
      }
    } catch (error) {
      // A refusal of a sink comes back through the library, too.
      throw error instanceof EngineError ? error : damaged();
    }
    if (open > 0) throw damaged();
  }

  #start(file: UnzipFile, sink: EntrySink): void {
    file.ondata = (error, piece, isLast) => {
      if (error !== null) throw error;
      this.#inflated += piece.length;
      if (this.#inflated > this.#limits.inflatedBytes)
        throw tooLarge(`expands to more than ${this.#limits.inflatedBytes} bytes`);
      sink(piece, isLast);
    };
    try {
      file.start();
    } catch {
      throw unreadable('the document is compressed with a method that is not supported');
    }
  }

  /** The whole entries of these names, as far as they are there. */
  read(names: ReadonlySet<string>): Map<string, Uint8Array> {
    const found = new Map<string, Uint8Array>();
    this.each((name) => {
      if (!names.has(name)) return undefined;
      const pieces: Uint8Array[] = [];
      return (piece, isLast) => {
        pieces.push(piece);
        if (isLast) found.set(name, Buffer.concat(pieces));
      };
    });
    return found;
  }
}

/** The end of a directory, which a file that was cut off lacks, and the longest comment behind it. */
const DIRECTORY_END = Buffer.from('PK\x05\x06', 'latin1');
const COMMENT_BYTES_MAX = 65_557;

function hasDirectory(bytes: Uint8Array): boolean {
  const from = Math.max(0, bytes.length - COMMENT_BYTES_MAX);
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, bytes.length - from).includes(DIRECTORY_END);
}

export function damaged(): Error {
  return unreadable('the document is damaged or cut off');
}
