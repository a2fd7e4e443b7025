// Limits on work that a peer causes without advancing a call. Beyond: the connection ends (ENHANCE_YOUR_CALM).
import {
  GRPC_CONTROL_UNREAD_MAX,
  GRPC_IDLE_FRAMES_AT_ONCE,
  GRPC_IDLE_FRAMES_PER_ANSWER_FRAME,
  GRPC_IDLE_FRAMES_PER_SECOND,
  GRPC_RESETS_AT_ONCE,
  GRPC_RESETS_PER_SECOND,
} from '../../../engine/base/limits.ts';
import { Allowance } from './allowance.ts';
import { CODE, ConnectionError } from './frames.ts';

export class PeerLimits {
  private readonly resets = new Allowance(GRPC_RESETS_AT_ONCE, GRPC_RESETS_PER_SECOND);
  private readonly idleFrames = new Allowance(GRPC_IDLE_FRAMES_AT_ONCE, GRPC_IDLE_FRAMES_PER_SECOND);
  private unread = 0;

  /** A stream ends with a reset, by the peer or for its error. */
  reset(): void {
    if (!this.resets.spend()) throw calm('too many streams are reset');
  }

  /** A frame that advances no call. */
  idle(): void {
    if (!this.idleFrames.spend()) throw calm('too many frames advance no call');
  }

  /** The server answers a frame with a frame. */
  answer(): void {
    this.unread += 1;
    if (this.unread > GRPC_CONTROL_UNREAD_MAX) throw calm('the peer does not read');
  }

  /** The socket has taken all answers. */
  read(): void {
    this.unread = 0;
  }

  /** The peer takes a frame of an answer: pings and window updates come with it. */
  earn(): void {
    this.idleFrames.earn(GRPC_IDLE_FRAMES_PER_ANSWER_FRAME);
  }
}

function calm(message: string): ConnectionError {
  return new ConnectionError(CODE.ENHANCE_YOUR_CALM, message);
}
