// Grains on a socket: a length of four bytes, then that many bytes of one grain; a length of zero ends the stream.
import { BLOB_BYTES_MAX } from '../../base/limits.ts';
import { refuse } from '../error.ts';

/** The four bytes that go before a grain of this many bytes; zero for the end of the stream. */
export function frameHead(bytes: number): Buffer {
  const head = Buffer.allocUnsafe(4);
  head.writeUInt32BE(bytes);
  return head;
}

/** Takes a stream apart. Holds at most one grain's bytes besides the chunk it was given. */
export class FrameReader {
  readonly #bytesMax: number;
  #pieces: Uint8Array[] = [];
  #gathered = 0;
  /** Bytes wanted: of a length while `#frame` is undefined, else of a grain. */
  #frame: number | undefined;
  #ended = false;

  constructor(bytesMax: number = BLOB_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** True after the length of zero. */
  get ended(): boolean {
    return this.#ended;
  }

  /**
   * The grains that `chunk` completes, each its own bytes. Throws ERR_TOO_LARGE before anything is gathered for a
   * length beyond the limit, ERR_CORRUPT for bytes after the end.
   */
  *push(chunk: Uint8Array): Generator<Buffer> {
    let at = 0;
    while (at < chunk.length) {
      if (this.#ended) refuse('ERR_CORRUPT', 'bytes after the end of the stream');
      const wanted = this.#frame ?? 4;
      const taken = chunk.slice(at, at + wanted - this.#gathered);
      this.#pieces.push(taken);
      this.#gathered += taken.length;
      at += taken.length;
      if (this.#gathered < wanted) return;
      const whole = Buffer.concat(this.#pieces);
      this.#pieces = [];
      this.#gathered = 0;
      if (this.#frame !== undefined) {
        this.#frame = undefined;
        yield whole;
        continue;
      }
      const length = whole.readUInt32BE(0);
      if (length > this.#bytesMax) refuse('ERR_TOO_LARGE');
      if (length === 0) this.#ended = true;
      else this.#frame = length;
    }
  }
}
