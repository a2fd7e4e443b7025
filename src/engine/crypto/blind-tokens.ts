// A name or a word, give me what may stand for it in a file: a keyed hash that says nothing without the memory's key.
//
// Names have the HMAC of the OMS profile. Words of texts, of which a grain has twenty, have tokens that are made many at
// a time, a hundred times faster: AES-256 of a padded word is a pseudorandom function of it, as HMAC is (no two words
// have one padded form, and a block cipher under a secret key looks random on distinct blocks up to 2^64 of them). That
// the same word gives the same bytes, which is why ECB hides no text, is what a token is for.
import { createCipheriv, hash, type KeyObject } from 'node:crypto';
import { assert } from '../base/assert.ts';
import { BLIND_KINDS_MAX } from '../base/limits.ts';
import { toNfc } from '../base/nfc.ts';
import { deriveBlindKey } from './derive.ts';
import { KEY_BYTES, sealKey } from './envelope.ts';
import { HmacSha256 } from './hmac.ts';

/** Bytes of a facet's token, of a term's. */
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
  | 'field'
  | 'scope'
  | 'term'
  | 'long-term'
  | 'identity'
  | 'reply'
  | 'purpose';

/** HMAC-SHA256 over the UTF-8 of NFC(`value`): 32 bytes. */
export function blindToken(blindKey: Uint8Array, value: string): Buffer {
  return new HmacSha256(blindKey).bytes(toNfc(value));
}

/**
 * Kinds that the profile does not name and every grain has a new one of: their token is cut from one hash,
 * SHA-256(key ‖ UTF-8 of NFC(`value`)). That is a sound keyed hash where HMAC would be, because half of it is cut off: what is
 * left cannot be extended to the hash of a longer text.
 */
const CUT_KINDS: readonly BlindKind[] = ['pair', 'long-term'];

const TERM_CIPHER = 'aes-256-ecb';
const TERM_BLOCK_BYTES = 16;
/** What ends a word in its block, before zeros: so that no padded word is another's. */
const TERM_END = 0x80;

/** The tokens of one memory, bound to its token key. */
export class BlindTokens {
  readonly #tokenKey: Buffer;
  readonly #hashes = new Map<string, HmacSha256>();
  /** Made when the first word is asked for. */
  #termKey: KeyObject | undefined;
  readonly #cutKeys = new Map<BlindKind, Buffer>();

  /** Copies `tokenKey` (32 bytes). */
  constructor(tokenKey: Uint8Array) {
    assert(tokenKey.length === KEY_BYTES, 'a token key has 32 bytes');
    this.#tokenKey = Buffer.from(tokenKey);
  }

  /** The token of a word of text, 8 bytes. The Buffer is the caller's. */
  term(text: string): Buffer {
    const high = new Uint32Array(1);
    const low = new Uint32Array(1);
    this.terms([text], 0, 1, high, low);
    const token = Buffer.allocUnsafe(TERM_BYTES);
    token.writeUInt32BE(high[0]!, 0);
    token.writeUInt32BE(low[0]!, 4);
    return token;
  }

  /**
   * The tokens of the words `texts[from]` to `texts[to - 1]`, as two big-endian halves, to the same places of `high` and
   * `low`. A word is the first 8 bytes of AES-256(its UTF-8 ‖ 80 ‖ zeros); one that does not fit a block with that, of
   * SHA-256(another key ‖ its UTF-8), which cannot be extended because it is cut.
   */
  terms(texts: readonly string[], from: number, to: number, high: Uint32Array, low: Uint32Array): void {
    const blocks = Buffer.alloc((to - from) * TERM_BLOCK_BYTES);
    const long: number[] = [];
    for (let i = from; i < to; i++) {
      const at = (i - from) * TERM_BLOCK_BYTES;
      const length = writeShort(texts[i]!, blocks, at);
      if (length < 0) long.push(i);
      else blocks[at + length] = TERM_END;
    }
    this.#termKey ??= sealKey(deriveBlindKey(this.#tokenKey, 'term'));
    const cipher = createCipheriv(TERM_CIPHER, this.#termKey, null);
    cipher.setAutoPadding(false);
    const tokens = cipher.update(blocks);
    for (let i = from; i < to; i++) {
      const at = (i - from) * TERM_BLOCK_BYTES;
      high[i] = tokens.readUInt32BE(at);
      low[i] = tokens.readUInt32BE(at + 4);
    }
    for (const i of long) this.#longTerm(texts[i]!, i, high, low);
  }

  #longTerm(text: string, i: number, high: Uint32Array, low: Uint32Array): void {
    const token = this.#cutHash('long-term', text);
    high[i] = Number.parseInt(token.slice(0, 8), 16);
    low[i] = Number.parseInt(token.slice(8, 16), 16);
  }

  /**
   * The token of a name: the first 16 bytes of its HMAC, or of its keyed hash for the kinds in CUT_KINDS. The Buffer is
   * the caller's.
   */
  facet(kind: BlindKind, value: string): Buffer {
    const token = Buffer.allocUnsafe(FACET_BYTES);
    this.writeFacet(kind, value, token, 0);
    return token;
  }

  /** The same, written to `into` at `at`. */
  writeFacet(kind: BlindKind, value: string, into: Buffer, at: number): void {
    if (CUT_KINDS.includes(kind)) into.write(this.#cutHash(kind, value), at, FACET_BYTES, 'hex');
    else this.#hash(kind).writeNfc(value, into, at, FACET_BYTES);
  }

  /** The whole token, 32 bytes. The Buffer is the caller's. */
  full(kind: BlindKind, value: string): Buffer {
    return this.#hash(kind).bytes(toNfc(value));
  }

  /** The facet of a user id. */
  user(userId: string): Buffer {
    return this.facet('user_id', userId);
  }

  /** Of NFC(`text`), in hex; to be cut. */
  #cutHash(kind: BlindKind, text: string): string {
    let key = this.#cutKeys.get(kind);
    if (key === undefined) {
      key = deriveBlindKey(this.#tokenKey, kind);
      this.#cutKeys.set(kind, key);
    }
    return keyedTextHash(key, text);
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

/** Writes a word that leaves room for its end in a block; its bytes, or -1 for a longer one, of which nothing is left. */
function writeShort(text: string, blocks: Buffer, at: number): number {
  const { length } = text;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    // How long it is shows only when it is composed.
    if (code > 127) return writeShortUnicode(text, blocks, at);
    if (i < TERM_BLOCK_BYTES) blocks[at + i] = code;
  }
  if (length < TERM_BLOCK_BYTES) return length;
  blocks.fill(0, at, at + TERM_BLOCK_BYTES);
  return -1;
}

function writeShortUnicode(text: string, blocks: Buffer, at: number): number {
  const bytes = Buffer.from(toNfc(text), 'utf8');
  blocks.fill(0, at, at + TERM_BLOCK_BYTES);
  if (bytes.length >= TERM_BLOCK_BYTES) return -1;
  blocks.set(bytes, at);
  return bytes.length;
}

/**
 * A grain's identity as an index may hold it: the first 8 bytes, as 16 hex digits, of SHA-256(`key` ‖ `bytes`). `key`
 * has 32 bytes. A fixed-length prefix key suffices: the hash is cut to 8 bytes, so it cannot be extended.
 */
export function keyedIdentity(key: Uint8Array, bytes: Uint8Array): string {
  return keyedHash(key, bytes).slice(0, 16);
}

/** SHA-256(`key` ‖ `bytes`) in hex. Whoever uses it as a keyed hash cuts it. */
function keyedHash(key: Uint8Array, bytes: Uint8Array): string {
  assert(key.length === KEY_BYTES, 'a hash key has 32 bytes');
  const length = KEY_BYTES + bytes.length;
  const input = length <= scratch.length ? scratch.subarray(0, length) : Buffer.allocUnsafe(length);
  input.set(key, 0);
  input.set(bytes, KEY_BYTES);
  return hash('sha256', input, 'hex');
}

/** The same of NFC(`text`)'s UTF-8. */
function keyedTextHash(key: Uint8Array, text: string): string {
  // A UTF-16 unit takes at most 3 bytes of UTF-8.
  if (KEY_BYTES + text.length * 3 > scratch.length) return keyedHash(key, Buffer.from(toNfc(text), 'utf8'));
  scratch.set(key, 0);
  const length = scratch.write(text, KEY_BYTES, 'utf8');
  // As many bytes as characters: ASCII, which is composed already. Composing may make a text longer.
  if (length !== text.length) {
    const composed = toNfc(text);
    if (composed !== text) return keyedTextHash(key, composed);
  }
  return hash('sha256', scratch.subarray(0, KEY_BYTES + length), 'hex');
}

const scratch = Buffer.allocUnsafeSlow(4_096);
