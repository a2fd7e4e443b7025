// Enciphers the hash of a grain, so that the name is unreadable once the grain's keys are destroyed, and deciphers it
// while they exist. AES-256 over the two halves of the hash. The halves of SHA-256 never repeat, so a block cipher
// without chaining reveals nothing. One cipher object serves all hashes under its key: 0.5 µs each, where a new object
// takes 1.5 µs.
import { type Cipheriv, createCipheriv, createDecipheriv, type Decipheriv } from 'node:crypto';
import { assert } from '../base/assert.ts';
import { sealKey } from './envelope.ts';

export const HASH_BYTES = 32;
const CIPHER = 'aes-256-ecb';

export class TrailCipher {
  readonly #cipher: Cipheriv;
  readonly #decipher: Decipheriv;

  /** `key`: 32 bytes from `deriveTrailKey`. */
  constructor(key: Uint8Array) {
    const secret = sealKey(key);
    this.#cipher = createCipheriv(CIPHER, secret, null).setAutoPadding(false);
    this.#decipher = createDecipheriv(CIPHER, secret, null).setAutoPadding(false);
  }

  /** `hash`: 64 hex digits. Returns 32 bytes that the caller owns. */
  encipher(hash: string): Buffer {
    const bytes = this.#cipher.update(hash, 'hex');
    assert(bytes.length === HASH_BYTES, 'a grain is named by its whole hash');
    return bytes;
  }

  /** Like `encipher` for each: 32 bytes a hash, in order. */
  encipherAll(hashes: readonly string[]): Buffer {
    const bytes = Buffer.allocUnsafe(hashes.length * HASH_BYTES);
    for (let i = 0; i < hashes.length; i++) {
      const written = bytes.write(hashes[i]!, i * HASH_BYTES, HASH_BYTES, 'hex');
      assert(written === HASH_BYTES, 'a grain is named by its whole hash');
    }
    return this.#cipher.update(bytes);
  }

  /** The hash that was enciphered. Any other 32 bytes give a hash that belongs to no grain. */
  decipher(bytes: Uint8Array): string {
    assert(bytes.length === HASH_BYTES, 'an enciphered hash has 32 bytes');
    return this.#decipher.update(bytes, undefined, 'hex');
  }
}
