// Content addresses: SHA-256 of a plaintext blob, as 64 lowercase hex characters.
import { hash, timingSafeEqual } from 'node:crypto';
import { assert } from '../base/assert.ts';
import { refuse } from './error.ts';
import type { Address } from './grain.ts';

const HEX = /^[0-9a-f]{64}$/;

/** The reason why `text` is no address, if it is none: its length is judged before its characters. */
export function addressProblem(text: string): 'ERR_HASH_LENGTH' | 'ERR_HASH_FORMAT' | undefined {
  if (text.length !== 64) return 'ERR_HASH_LENGTH';
  return HEX.test(text) ? undefined : 'ERR_HASH_FORMAT';
}

export function isAddress(text: string): text is Address {
  return addressProblem(text) === undefined;
}

/** The address that `text` is. Throws ERR_HASH_LENGTH or ERR_HASH_FORMAT. */
export function parseAddress(text: string): Address {
  if (!isAddress(text)) refuse(addressProblem(text)!);
  return text;
}

/** The address of 32 raw bytes. */
export function formatAddress(bytes: Uint8Array): Address {
  assert(bytes.length === 32, 'an address has 32 bytes');
  return Buffer.from(bytes.buffer, bytes.byteOffset, 32).toString('hex') as Address; // hex of 32 bytes is one
}

/** The 32 raw bytes of an address; the caller's own. */
export function addressBytes(address: Address): Buffer {
  return Buffer.from(address, 'hex');
}

/** The address of a plaintext blob (header and payload, without any envelope). */
export function addressOf(blob: Uint8Array): Address {
  return hash('sha256', blob, 'hex') as Address; // a SHA-256 in hex is one
}

/** True when the addresses are equal, in constant time. */
export function sameAddress(a: Address, b: Address): boolean {
  return timingSafeEqual(addressBytes(a), addressBytes(b));
}

/** Throws ERR_INTEGRITY unless `blob` has the address. */
export function verifyAddress(blob: Uint8Array, expected: Address): void {
  if (!sameAddress(addressOf(blob), expected)) refuse('ERR_INTEGRITY', 'blob has another address');
}
