// Frames after the handshake: AES-256-GCM under the keys of the connection. The nonce counts the frames of one direction, so a
// frame that was changed, repeated, left out or moved does not open.
import {
  type CipherGCM,
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type DecipherGCM,
  type KeyObject,
} from 'node:crypto';
import { EngineError } from '../../../engine/base/errors.ts';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
/** Parts of fewer bytes are joined: a call of the cipher costs more than the copy. */
const JOINED_BYTES_MAX = 16_384;
export const TAG_BYTES = 16;

/**
 * The ciphers of one direction, each for one frame. Making one is a third of the time that a short frame takes in a thread that has slept,
 * so the next one is made while nothing waits for it.
 */
class Ciphers<C> {
  /** A key object: with bytes, a cipher takes several times as long to make. */
  readonly #key: KeyObject;
  readonly #make: (algorithm: typeof ALGORITHM, key: KeyObject, nonce: Buffer) => C;
  readonly #nonce = Buffer.alloc(NONCE_BYTES);
  #count = 0n;
  #ahead: C | undefined;
  #isDue = false;

  constructor(key: Buffer, make: (algorithm: typeof ALGORITHM, key: KeyObject, nonce: Buffer) => C) {
    this.#key = createSecretKey(key);
    this.#make = make;
  }

  /** Of the next frame. */
  take(): C {
    const cipher = this.#ahead ?? this.#made();
    this.#ahead = undefined;
    if (!this.#isDue) {
      this.#isDue = true;
      // After what this turn of the event loop sends, of which a part leaves in its own immediates.
      setImmediate(() => setImmediate(() => this.#makeAhead()));
    }
    return cipher;
  }

  #makeAhead(): void {
    this.#isDue = false;
    this.#ahead ??= this.#made();
  }

  #made(): C {
    this.#nonce.writeBigUInt64LE(this.#count++, 0);
    return this.#make(ALGORITHM, this.#key, this.#nonce);
  }
}

export class FrameSealer {
  readonly #ciphers: Ciphers<CipherGCM>;

  constructor(key: Buffer) {
    this.#ciphers = new Ciphers<CipherGCM>(key, createCipheriv);
  }

  /** The pieces of the sealed frame, in order. */
  seal(...parts: readonly Uint8Array[]): readonly Buffer[] {
    const cipher = this.#ciphers.take();
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const plain = length <= JOINED_BYTES_MAX ? [Buffer.concat(parts, length)] : parts;
    const pieces = plain.map((part) => cipher.update(part));
    cipher.final();
    return [...pieces, cipher.getAuthTag()];
  }
}

export class FrameOpener {
  readonly #ciphers: Ciphers<DecipherGCM>;

  constructor(key: Buffer) {
    this.#ciphers = new Ciphers<DecipherGCM>(key, createDecipheriv);
  }

  /** Throws CRY-E001 for a frame that the other side did not seal as its next one. */
  open(frame: Buffer): Buffer {
    if (frame.length < TAG_BYTES) throw new EngineError('CRY-E001', 'a frame between nodes is cut off');
    const end = frame.length - TAG_BYTES;
    const decipher = this.#ciphers.take();
    decipher.setAuthTag(frame.subarray(end));
    const plain = decipher.update(frame.subarray(0, end));
    try {
      decipher.final();
    } catch {
      throw new EngineError('CRY-E001', 'a frame between nodes was changed in transit');
    }
    return plain;
  }
}
