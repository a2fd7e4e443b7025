// Inflates compressed messages, a few at a time: each may grow to the limit, and a thousand streams of one connection
// could do so together.
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { GRPC_INFLATIONS_MAX } from '../../engine/base/limits.ts';
import { RequestAborted } from '../http/listener.ts';
import { GRPC_STATUS } from '../status.ts';
import { tooLong } from './message-reader.ts';
import { ProtocolError } from './trailers.ts';

/** Encodings that callers may use; sent when another one is rejected. */
export const ENCODINGS = 'identity,deflate,gzip';

const INFLATERS = { gzip: promisify(gunzip), deflate: promisify(inflate) };

export class Inflation {
  private running = 0;
  /** Waiting messages. Those of calls that are over wait until their turn, and then take no time. */
  private readonly waiting: (() => void)[] = [];

  /**
   * Rejects with ProtocolError for bytes that are not in that encoding, with LIM-E003 when they inflate beyond the limit,
   * and with RequestAborted when `isOver` says, at the message's turn, that nobody waits for it.
   */
  async inflate(bytes: Buffer, encoding: string | undefined, bytesMax: number, isOver: () => boolean): Promise<Buffer> {
    const inflater = encoding === 'gzip' || encoding === 'deflate' ? INFLATERS[encoding] : undefined;
    if (inflater === undefined) throw unknown(encoding);
    if (this.running === GRPC_INFLATIONS_MAX) await new Promise<void>((turn) => this.waiting.push(turn));
    else this.running += 1;
    try {
      if (isOver()) throw new RequestAborted();
      return await inflater(bytes, { maxOutputLength: bytesMax });
    } catch (error) {
      if (error instanceof RequestAborted) throw error;
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLong(bytesMax); // all zlib errors have a code
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
