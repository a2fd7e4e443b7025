// The bytes of a body in one direction: cut into pieces by the sender, one on its way at a time, and put together by the receiver.
import { PASSED_PIECE_BYTES } from '../../../engine/base/limits.ts';
import { RequestAborted } from '../../http/listener.ts';

export class PieceSender {
  readonly #send: (kind: 'piece' | 'last', bytes: Uint8Array) => void;
  #taken: { readonly resolve: () => void; readonly reject: (reason: Error) => void } | undefined;
  #isEnded = false;

  constructor(send: (kind: 'piece' | 'last', bytes: Uint8Array) => void) {
    this.#send = send;
  }

  /** Resolves when the other side has taken the bytes. Rejects with RequestAborted after `end`. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += PASSED_PIECE_BYTES) {
      if (this.#isEnded) throw new RequestAborted();
      const taken = new Promise<void>((resolve, reject) => {
        this.#taken = { resolve, reject };
      });
      this.#send('piece', bytes.subarray(at, at + PASSED_PIECE_BYTES));
      await taken;
    }
  }

  /** Sends what is left and the end. Resolves when the pieces before the last one are taken. */
  async finish(bytes: Uint8Array = NO_BYTES): Promise<void> {
    const rest = Math.max(0, Math.ceil(bytes.length / PASSED_PIECE_BYTES) - 1) * PASSED_PIECE_BYTES;
    await this.write(bytes.subarray(0, rest));
    if (!this.#isEnded) this.#send('last', bytes.subarray(rest));
  }

  /** The other side has taken a piece. */
  more(): void {
    this.#taken?.resolve();
    this.#taken = undefined;
  }

  /** Nothing more is sent. */
  end(): void {
    this.#isEnded = true;
    this.#taken?.reject(new RequestAborted());
    this.#taken = undefined;
  }
}

const NO_BYTES = new Uint8Array(0);
