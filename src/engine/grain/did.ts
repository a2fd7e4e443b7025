// Decentralized identifiers that carry their key: did:key with Ed25519. Others need a network and are not resolved.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { assert } from '../base/assert.ts';
import { refuse } from './error.ts';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const PREFIX = 'did:key:z';
const ED25519_CODEC = 0xed;
/** base58 is quadratic; no key we read is anywhere near this long. */
const DID_CHARS_MAX = 128;

/** Base58 with the Bitcoin alphabet. */
export function encodeBase58(bytes: Uint8Array): string {
  let number = bytes.length > 0 ? BigInt(`0x${Buffer.from(bytes).toString('hex')}`) : 0n;
  let text = '';
  for (; number > 0n; number /= 58n) text = ALPHABET[Number(number % 58n)] + text;
  for (const byte of bytes) {
    if (byte !== 0) break;
    text = ALPHABET[0] + text;
  }
  return text;
}

/** The bytes of base58 text, or undefined when a character is not in the alphabet. */
export function decodeBase58(text: string): Buffer | undefined {
  let number = 0n;
  for (const character of text) {
    const digit = ALPHABET.indexOf(character);
    if (digit === -1) return undefined;
    number = number * 58n + BigInt(digit);
  }
  const hex = number === 0n ? '' : number.toString(16);
  const zeros = text.length - text.replace(/^1+/, '').length;
  return Buffer.concat([Buffer.alloc(zeros), Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')]);
}

/** The did:key of a public (or private) Ed25519 key. */
export function didOfKey(key: KeyObject): string {
  const jwk = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' });
  assert(jwk.crv === 'Ed25519' && jwk.x !== undefined, 'the key is an Ed25519 key');
  return PREFIX + encodeBase58(Buffer.concat([Uint8Array.of(0xed, 0x01), Buffer.from(jwk.x, 'base64url')]));
}

/**
 * The public key of a did:key. Throws ERR_UNSUPPORTED for other methods and key types, ERR_CORRUPT for text that is no
 * did:key.
 */
export function keyOfDid(did: string): KeyObject {
  if (!did.startsWith('did:')) refuse('ERR_CORRUPT', 'signer is not a DID');
  if (!did.startsWith('did:key:')) refuse('ERR_UNSUPPORTED', 'only did:key signers are resolved');
  const bytes =
    did.startsWith(PREFIX) && did.length <= DID_CHARS_MAX ? decodeBase58(did.slice(PREFIX.length)) : undefined;
  if (bytes === undefined) refuse('ERR_CORRUPT', 'did:key is not base58btc');
  const codec = readVarint(bytes);
  if (codec === undefined) refuse('ERR_CORRUPT', 'did:key has no key type');
  if (codec.value !== ED25519_CODEC) refuse('ERR_UNSUPPORTED', 'only Ed25519 keys are read');
  const raw = bytes.subarray(codec.next);
  if (raw.length !== 32) refuse('ERR_CORRUPT', 'an Ed25519 key has 32 bytes');
  const x = raw.toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

/** An unsigned varint of at most four bytes in its shortest form, or undefined. */
function readVarint(bytes: Uint8Array): { value: number; next: number } | undefined {
  let value = 0;
  for (let i = 0; i < Math.min(4, bytes.length); i++) {
    const byte = bytes[i]!;
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) return i > 0 && byte === 0 ? undefined : { value, next: i + 1 };
  }
  return undefined;
}
