// Bytes and a key, give me sealed bytes: nonce (12) ‖ ciphertext ‖ tag (16), AES-256-GCM.
//
// Measured, 250 bytes on Node 24: 4.0 µs with a KeyObject, 15 µs with the same key as a Buffer. So a Buffer is wrapped
// in a KeyObject on the way in (0.8 µs); whoever seals often under one key keeps the KeyObject.
import {
  type CipherGCM,
  type CipherGCMTypes,
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  KeyObject,
  randomFillSync,
} from 'node:crypto';
import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';

export const KEY_BYTES = 32;
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;
/** Bytes that a seal adds. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES;

const CIPHER: CipherGCMTypes = 'aes-256-gcm';
/** A fixed tag length: without it a decipher would take a shortened, easily forged tag. */
const OPTIONS = { authTagLength: TAG_BYTES };

/** A 32-byte key, raw or as a secret KeyObject. */
export type SealKey = Uint8Array | KeyObject;

// Random bytes are drawn 64 KiB at a time: a call of randomBytes for each nonce costs half as much as the seal itself.
// A nonce is cut off once and never given again; a forked process does not exist here (threads have their own pool).
const pool = Buffer.allocUnsafeSlow(65_536);
let poolOffset = pool.length;

function nextNonce(): Buffer {
  if (poolOffset + NONCE_BYTES > pool.length) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  const nonce = pool.subarray(poolOffset, poolOffset + NONCE_BYTES);
  poolOffset += NONCE_BYTES;
  return nonce;
}

/** A 32-byte key as a KeyObject, the form in which sealing is fast. */
export function sealKey(key: SealKey): KeyObject {
  if (key instanceof KeyObject) return key;
  assert(key.length === KEY_BYTES, 'a key has 32 bytes');
  return createSecretKey(key);
}

/** `plaintext` under `key` with a fresh random nonce, bound to `aad`. The result is the caller's: 28 bytes longer. */
export function seal(key: SealKey, plaintext: Uint8Array, aad: Uint8Array): Buffer {
  return sealWith(nextNonce(), key, plaintext, aad);
}

/** As `seal`, into `into` at `at`, where SEAL_BYTES more than the plaintext has must fit. */
export function sealInto(into: Buffer, at: number, key: SealKey, plaintext: Uint8Array, aad: Uint8Array): void {
  writeSeal(into, at, nextNonce(), key, plaintext, aad);
}

/** As `seal`, with a nonce of the caller's choice. Only for fixed examples: a nonce used twice under a key breaks it. */
export function sealWith(nonce: Uint8Array, key: SealKey, plaintext: Uint8Array, aad: Uint8Array): Buffer {
  assert(nonce.length === NONCE_BYTES, 'a nonce has 12 bytes');
  const sealed = Buffer.allocUnsafe(plaintext.length + SEAL_BYTES);
  writeSeal(sealed, 0, nonce, key, plaintext, aad);
  return sealed;
}

function writeSeal(
  into: Buffer,
  at: number,
  nonce: Uint8Array,
  key: SealKey,
  plaintext: Uint8Array,
  aad: Uint8Array,
): void {
  const cipher: CipherGCM = createCipheriv(CIPHER, sealKey(key), nonce, OPTIONS);
  cipher.setAAD(aad);
  const body = cipher.update(plaintext);
  // GCM has no padding: final() only closes the tag.
  cipher.final();
  into.set(nonce, at);
  into.set(body, at + NONCE_BYTES);
  into.set(cipher.getAuthTag(), at + NONCE_BYTES + body.length);
}

/** The plaintext of what `seal` made, the caller's to keep. CRY-E001 when key, `aad` or any byte is not the same. */
export function open(key: SealKey, sealed: Uint8Array, aad: Uint8Array): Buffer {
  if (sealed.length < SEAL_BYTES) throw new EngineError('CRY-E001', 'sealed bytes are too short');
  const tagAt = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, sealKey(key), sealed.subarray(0, NONCE_BYTES), OPTIONS);
  decipher.setAAD(aad);
  decipher.setAuthTag(sealed.subarray(tagAt));
  const plaintext = decipher.update(sealed.subarray(NONCE_BYTES, tagAt));
  try {
    decipher.final();
  } catch {
    // The cause says nothing more ("unable to authenticate data"), and unauthenticated plaintext goes to nobody.
    plaintext.fill(0);
    throw new EngineError('CRY-E001', 'sealed bytes do not open: another key, another place, or changed');
  }
  return plaintext;
}
