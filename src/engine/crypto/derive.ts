// Key derivation: HKDF-SHA256 (RFC 5869) for a single output block. Pure.
import { assert } from '../base/assert.ts';
import { KEY_BYTES } from './envelope.ts';
import { HmacSha256 } from './hmac.ts';

const GRAIN_KEY_INFO = Buffer.from('oms/v1/grain-key');
const TRAIL_KEY_INFO = Buffer.from('granary/v1/trail-key');
const TRAIL_TEXT_INFO = Buffer.from('granary/v1/trail-text');
const BLIND_INDEX_INFO = 'oms/v1/blind-index\0';
const NO_SALT = new Uint8Array(0);

/**
 * HKDF-SHA256, 32 bytes. An empty salt counts as 32 zero bytes, as in the RFC. (`crypto.hkdfSync` gives the same and
 * takes three times as long.)
 */
export function hkdf(ikm: Uint8Array, salt: Uint8Array, info: Uint8Array): Buffer {
  const pseudorandomKey = new HmacSha256(salt).bytesOf(ikm);
  const block = Buffer.alloc(info.length + 1);
  block.set(info);
  block[info.length] = 1;
  const key = new HmacSha256(pseudorandomKey).bytesOf(block);
  pseudorandomKey.fill(0);
  return key;
}

/**
 * The key of a grain's blob, 32 bytes. `ikm` is the user's key, or the memory's key for a grain without a user. `salt`
 * is the scope's key or empty.
 */
export function deriveGrainKey(ikm: Uint8Array, salt: Uint8Array): Buffer {
  assert(ikm.length === KEY_BYTES, 'a grain key comes from a key of 32 bytes');
  assert(salt.length === 0 || salt.length === KEY_BYTES, 'a scope key has 32 bytes');
  return hkdf(ikm, salt, GRAIN_KEY_INFO);
}

/** The key of the blind tokens of one `kind` (`entity`, `relation`, `user_id`, `tag`, …) in a memory, 32 bytes. */
export function deriveBlindKey(tokenKey: Uint8Array, kind: string): Buffer {
  assert(tokenKey.length === KEY_BYTES, 'a blind key comes from a key of 32 bytes');
  return hkdf(tokenKey, NO_SALT, Buffer.from(BLIND_INDEX_INFO + kind));
}

/**
 * The key that enciphers the hashes of grains (trail-cipher.ts), 32 bytes. `ikm` is the user's key, or the memory's own
 * trail key. `salt` is the scope's key or empty. Destroying either key makes it unrecoverable.
 */
export function deriveTrailKey(ikm: Uint8Array, salt: Uint8Array): Buffer {
  assert(ikm.length === KEY_BYTES, 'a trail key comes from a key of 32 bytes');
  assert(salt.length === 0 || salt.length === KEY_BYTES, 'a scope key has 32 bytes');
  return hkdf(ikm, salt, TRAIL_KEY_INFO);
}

/** The key for fingerprints of free texts in the trail, 32 bytes, from the user's key or the memory's own key. */
export function deriveTrailTextKey(ikm: Uint8Array): Buffer {
  assert(ikm.length === KEY_BYTES, 'a trail key comes from a key of 32 bytes');
  return hkdf(ikm, NO_SALT, TRAIL_TEXT_INFO);
}
