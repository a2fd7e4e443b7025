// A name or a word, give me what may stand for it in a file: a keyed hash that says nothing without the memory's key.
import { hash } from 'node:crypto';
import { assert } from '../assert.ts';
import { BLIND_KINDS_MAX, BLIND_TOKENS_CACHED_MAX } from '../limits.ts';
import { deriveBlindKey } from './derive.ts';
import { KEY_BYTES } from './envelope.ts';
import { HmacSha256 } from './hmac.ts';

/** Bytes of a full token, of a facet's, of a term's. */
export const TOKEN_BYTES = 32;
export const FACET_BYTES = 16;
export const TERM_BYTES = 8;

/**
 * What a token is made for: equal texts of different kinds have unrelated tokens. The name goes into the key
 * derivation, so it is part of the bytes on disk. `entity` is subject and object alike, so that a graph can be walked.
 */
export type BlindKind =
  | 'entity'
  | 'relation'
  | 'user_id'
  | 'tag'
  | 'namespace'
  | 'type'
  | 'session'
  | 'pair'
  | 'source'
  | 'scope'
  | 'term'
  | 'identity'
  | 'reply';

/** HMAC-SHA256 over the UTF-8 of NFC(`value`): 32 bytes. */
export function blindToken(blindKey: Uint8Array, value: string): Buffer {
  return new HmacSha256(blindKey).bytes(value.normalize('NFC'));
}

/** The tokens of one memory. Bound to its token key; hashes of common words are kept, `BLIND_TOKENS_CACHED_MAX` of them. */
export class BlindTokens {
  readonly #tokenKey: Buffer;
  readonly #hashes = new Map<string, HmacSha256>();
  readonly #terms = new Map<string, bigint>();
  readonly #termHash: HmacSha256;

  /** Copies `tokenKey` (32 bytes). */
  constructor(tokenKey: Uint8Array) {
    assert(tokenKey.length === KEY_BYTES, 'a token key has 32 bytes');
    this.#tokenKey = Buffer.from(tokenKey);
    this.#termHash = this.#hash('term');
  }

  /** The token of a word of text: the first 8 bytes of its HMAC as a big-endian number. */
  term(text: string): bigint {
    const known = this.#terms.get(text);
    if (known !== undefined) return known;
    const token = BigInt(`0x${this.#termHash.hex(text.normalize('NFC')).slice(0, TERM_BYTES * 2)}`);
    if (this.#terms.size >= BLIND_TOKENS_CACHED_MAX) {
      // A Map gives its keys in insertion order: the oldest goes, and comes back for one HMAC if it is common.
      const oldest = this.#terms.keys().next();
      if (!oldest.done) this.#terms.delete(oldest.value);
    }
    this.#terms.set(text, token);
    return token;
  }

  /** The token of a name: the first 16 bytes of its HMAC. The Buffer is the caller's. */
  facet(kind: BlindKind, value: string): Buffer {
    return this.full(kind, value).subarray(0, FACET_BYTES);
  }

  /** The whole token, 32 bytes. The Buffer is the caller's. */
  full(kind: BlindKind, value: string): Buffer {
    return this.#hash(kind).bytes(value.normalize('NFC'));
  }

  /** The facet of a user id. */
  user(userId: string): Buffer {
    return this.facet('user_id', userId);
  }

  #hash(kind: BlindKind): HmacSha256 {
    const known = this.#hashes.get(kind);
    if (known !== undefined) return known;
    assert(this.#hashes.size < BLIND_KINDS_MAX, 'kinds of blind tokens are a short fixed list');
    const made = new HmacSha256(deriveBlindKey(this.#tokenKey, kind));
    this.#hashes.set(kind, made);
    return made;
  }
}

/**
 * A grain's identity as an index may hold it: the first 8 bytes, as 16 hex digits, of SHA-256(`key` ‖ `bytes`). `key`
 * has 32 bytes. A fixed-length prefix key suffices: the hash is cut to 8 bytes, so it cannot be extended.
 */
export function keyedIdentity(key: Uint8Array, bytes: Uint8Array): string {
  assert(key.length === KEY_BYTES, 'an identity key has 32 bytes');
  const length = KEY_BYTES + bytes.length;
  const input = length <= scratch.length ? scratch.subarray(0, length) : Buffer.allocUnsafe(length);
  input.set(key, 0);
  input.set(bytes, KEY_BYTES);
  return hash('sha256', input, 'hex').slice(0, 16);
}

const scratch = Buffer.allocUnsafeSlow(4_096);
