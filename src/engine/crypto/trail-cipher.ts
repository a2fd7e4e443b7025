// The hash of a grain, give me what stands for it where the grain's keys may be destroyed one day; and back, while they
// are there. AES-256 over the two halves of the hash. The halves of SHA-256 never repeat, so a block cipher without chaining
// shows nothing, and one cipher object serves for all hashes under its key: 0.5 µs each, where a new object takes 1.5 µs.
import { type Cipheriv, createCipheriv, createDecipheriv, type Decipheriv } from 'node:crypto';
import { assert } from '../base/assert.ts';
import { sealKey } from './envelope.ts';

export const HASH_BYTES = 32;
const CIPHER = 'aes-256-ecb';

export class TrailCipher {
  readonly #cipher: Cipheriv;
  readonly #decipher: Decipheriv;

  /** `key`: 32 bytes, as `deriveTrailKey` makes them. */
  constructor(key: Uint8Array) {
    const secret = sealKey(key);
    this.#cipher = createCipheriv(CIPHER, secret, null).setAutoPadding(false);
    this.#decipher = createDecipheriv(CIPHER, secret, null).setAutoPadding(false);
  }

  /** `hash`: 64 hex. 32 bytes, the caller's. */
  encipher(hash: string): Buffer {
    const bytes = this.#cipher.update(hash, 'hex');
    assert(bytes.length === HASH_BYTES, 'a grain is named by its whole hash');
    return bytes;
  }

  /** What `encipher` was given; for any other 32 bytes a hash of nothing. */
  decipher(bytes: Uint8Array): string {
    assert(bytes.length === HASH_BYTES, 'an enciphered hash has 32 bytes');
    return this.#decipher.update(bytes, undefined, 'hex');
  }
}
