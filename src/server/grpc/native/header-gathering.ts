// A header block that comes in several frames (RFC 9113, section 6.10).
import { GRPC_CONTINUATIONS_MAX, GRPC_HEADER_BLOCK_BYTES_MAX } from '../../../engine/base/limits.ts';
import { CODE, ConnectionError } from './frames.ts';

export class HeaderGathering {
  readonly stream: number;
  readonly endsStream: boolean;
  private readonly pieces: Buffer[] = [];
  private bytes = 0;

  constructor(stream: number, endsStream: boolean) {
    this.stream = stream;
    this.endsStream = endsStream;
  }

  /** Takes a piece, which is copied. Throws ConnectionError beyond the limits: an endless block has no answer. */
  add(bytes: Buffer, start: number, end: number): void {
    this.bytes += end - start;
    if (this.pieces.length > GRPC_CONTINUATIONS_MAX || this.bytes > GRPC_HEADER_BLOCK_BYTES_MAX)
      throw new ConnectionError(CODE.ENHANCE_YOUR_CALM, 'a header block does not end');
    this.pieces.push(Buffer.from(bytes.subarray(start, end)));
  }

  block(): Buffer {
    return Buffer.concat(this.pieces);
  }
}
