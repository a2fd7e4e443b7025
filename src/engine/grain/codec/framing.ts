// Frames grains on a byte stream: each grain follows its length (u32, big-endian); a length of zero ends the stream.
import { BLOB_BYTES_MAX } from '../../base/limits.ts';
import { refuse } from '../error.ts';

/** The four bytes that precede a grain of `bytes` bytes; pass 0 to end the stream. */
export function frameHead(bytes: number): Buffer {
  const head = Buffer.allocUnsafe(4);
  head.writeUInt32BE(bytes);
  return head;
}

/** Splits a stream into grains. Buffers at most one grain besides the current chunk. */
export class FrameReader {
  readonly #bytesMax: number;
  #pieces: Uint8Array[] = [];
  #gathered = 0;
  /** Size of the current grain; undefined while its length is being read. */
  #frame: number | undefined;
  #ended = false;

  constructor(bytesMax: number = BLOB_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** True after the zero length that ends the stream. */
  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Yields the grains that `chunk` completes, each a copy. Throws ERR_TOO_LARGE for a length beyond the limit, before it
   * buffers any byte of the grain, and ERR_CORRUPT for bytes after the end.
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
