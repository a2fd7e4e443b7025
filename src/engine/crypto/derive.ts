// Keys from keys: HKDF-SHA256 (RFC 5869) for the one output block that we need. Pure.
import { assert } from '../base/assert.ts';
import { KEY_BYTES } from './envelope.ts';
import { HmacSha256 } from './hmac.ts';

const GRAIN_KEY_INFO = Buffer.from('oms/v1/grain-key');
const TRAIL_KEY_INFO = Buffer.from('granary/v1/trail-key');
const TRAIL_TEXT_INFO = Buffer.from('granary/v1/trail-text');
const BLIND_INDEX_INFO = 'oms/v1/blind-index\0';
const NO_SALT = new Uint8Array(0);

/**
 * HKDF-SHA256 of 32 bytes. An empty salt is 32 zero bytes, as the RFC has it. (`crypto.hkdfSync` gives the same and
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

/** The key of a grain's blob: `ikm` is the user's key (else the memory's), `salt` the scope's key or empty. 32 bytes. */
export function deriveGrainKey(ikm: Uint8Array, salt: Uint8Array): Buffer {
  assert(ikm.length === KEY_BYTES, 'a grain key comes from a key of 32 bytes');
  assert(salt.length === 0 || salt.length === KEY_BYTES, 'a scope key has 32 bytes');
  return hkdf(ikm, salt, GRAIN_KEY_INFO);
}

/** The key of blind tokens of one `kind` (`entity`, `relation`, `user_id`, `tag`, …) in a memory. 32 bytes. */
export function deriveBlindKey(tokenKey: Uint8Array, kind: string): Buffer {
  assert(tokenKey.length === KEY_BYTES, 'a blind key comes from a key of 32 bytes');
  return hkdf(tokenKey, NO_SALT, Buffer.from(BLIND_INDEX_INFO + kind));
}

/**
 * The key under which hashes of grains are enciphered (trail-cipher.ts): `ikm` is the user's key, else the memory's own for
 * this; `salt` the scope's key or empty. So it is gone when either is. 32 bytes.
 */
export function deriveTrailKey(ikm: Uint8Array, salt: Uint8Array): Buffer {
  assert(ikm.length === KEY_BYTES, 'a trail key comes from a key of 32 bytes');
  assert(salt.length === 0 || salt.length === KEY_BYTES, 'a scope key has 32 bytes');
  return hkdf(ikm, salt, TRAIL_KEY_INFO);
}

/** The key under which the trail tells free texts apart: of a user's key, else of the memory's own. 32 bytes. */
export function deriveTrailTextKey(ikm: Uint8Array): Buffer {
  assert(ikm.length === KEY_BYTES, 'a trail key comes from a key of 32 bytes');
  return hkdf(ikm, NO_SALT, TRAIL_TEXT_INFO);
}
