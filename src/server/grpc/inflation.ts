// Compressed messages, give me what was compressed. A few at once: each may grow to the limit while it is inflated, and
// a thousand streams of one connection would do so together.
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { GRPC_INFLATIONS_MAX } from '../../engine/base/limits.ts';
import { GRPC_STATUS } from '../status.ts';
import { tooLong } from './message-reader.ts';
import { ProtocolError } from './trailers.ts';

/** What a caller may compress with; told with a refusal of anything else. */
export const ENCODINGS = 'identity,deflate,gzip';

const WAYS = { gzip: promisify(gunzip), deflate: promisify(inflate) };

export class Inflation {
  private running = 0;
  /** Those whose turn it is not yet: at most as many as there are streams. */
  private readonly waiting: (() => void)[] = [];

  /** Rejects with ProtocolError when the bytes are not of that encoding, with LIM-E003 when they grow too large. */
  async inflate(bytes: Buffer, encoding: string | undefined, bytesMax: number): Promise<Buffer> {
    const way = encoding === 'gzip' || encoding === 'deflate' ? WAYS[encoding] : undefined;
    if (way === undefined) throw unknown(encoding);
    if (this.running === GRPC_INFLATIONS_MAX) await new Promise<void>((turn) => this.waiting.push(turn));
    else this.running += 1;
    try {
      return await way(bytes, { maxOutputLength: bytesMax });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLong(bytesMax); // all of zlib's have one
      throw new ProtocolError(GRPC_STATUS.INTERNAL, 'VAL-E002', 'Failed to decompress message');
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running -= 1;
      else next();
    }
  }
}

function unknown(encoding: string | undefined): ProtocolError {
  if (encoding === undefined || encoding === 'identity')
    return new ProtocolError(GRPC_STATUS.INTERNAL, 'VAL-E002', 'Received message compressed without an encoding');
  return new ProtocolError(
    GRPC_STATUS.UNIMPLEMENTED,
    'VAL-E006',
    `Received message compressed with unsupported encoding "${encoding}"`,
    { 'grpc-accept-encoding': ENCODINGS },
  );
}
