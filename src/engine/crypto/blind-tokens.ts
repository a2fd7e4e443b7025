// Blind tokens: keyed hashes of names and words, for use in index files. Without the memory's key they reveal nothing.
// Names use the HMAC of the OMS profile. A grain holds some twenty words, whose tokens are made many at a time and a
// hundred times faster: AES-256 of the padded word. That is a pseudorandom function of the word, as HMAC is: no two
// words share a padded form, and a block cipher under a secret key looks random on distinct blocks, up to 2^64 of them.
// Equal words give equal bytes, which is why ECB cannot hide a text; a token must have exactly this property.
import { createCipheriv, hash, type KeyObject } from 'node:crypto';
import { assert } from '../base/assert.ts';
import { BLIND_KINDS_MAX } from '../base/limits.ts';
import { toNfc } from '../base/nfc.ts';
import { PassingBytes } from '../base/passing-bytes.ts';
import { deriveBlindKey } from './derive.ts';
import { KEY_BYTES, sealKey } from './envelope.ts';
import { HmacSha256 } from './hmac.ts';

/** Bytes of a facet's token and of a term's token. */
export const FACET_BYTES = 16;
export const TERM_BYTES = 8;

/**
 * The use of a token: equal texts of different kinds have unrelated tokens. The kind's name enters the key derivation
 * and so determines bytes on disk. `entity` covers both subject and object, so that a graph can be walked.
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
  | 'call'
  | 'column'
  | 'scope'
  | 'term'
  | 'long-term'
  | 'identity'
  | 'reply'
  | 'purpose'
  | 'access'
  | 'agent'
  | 'turn';

/** HMAC-SHA256 over the UTF-8 of NFC(`value`): 32 bytes. */
export function blindToken(blindKey: Uint8Array, value: string): Buffer {
  return new HmacSha256(blindKey).bytes(toNfc(value));
}

/**
 * Kinds outside the profile, of which every grain has new values. Their token is a truncated single hash, SHA-256(key ‖
 * UTF-8 of NFC(`value`)). This is as sound a keyed hash as HMAC, because only half of it is kept: it cannot be extended
 * to the hash of a longer text.
 */
const CUT_KINDS: readonly BlindKind[] = ['pair', 'long-term', 'call'];

const TERM_CIPHER = 'aes-256-ecb';
const TERM_BLOCK_BYTES = 16;
/** Ends a word in its block, before zeros, so that no two words share a padded form. */
const TERM_END = 0x80;

/** The tokens of one memory, bound to its token key. */
export class BlindTokens {
  readonly #tokenKey: Buffer;
  readonly #hashes = new Map<string, HmacSha256>();
  /** Created when the first word is asked for. */
  #termKey: KeyObject | undefined;
  readonly #cutKeys = new Map<BlindKind, Buffer>();

  /** Copies `tokenKey` (32 bytes). */
  constructor(tokenKey: Uint8Array) {
    assert(tokenKey.length === KEY_BYTES, 'a token key has 32 bytes');
    this.#tokenKey = Buffer.from(tokenKey);
  }

  /** The token of a word, 8 bytes. The caller owns the Buffer. */
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
   * Writes the tokens of the words `texts[from]` to `texts[to - 1]`, as two big-endian halves, to the same places of
   * `high` and `low`. A token is the first 8 bytes of AES-256(UTF-8 of the word ‖ 80 ‖ zeros). For a word that does not
   * fit a block, it is the first 8 bytes of SHA-256(another key ‖ UTF-8 of the word), which cannot be extended because
   * it is truncated.
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
   * The token of a name: the first 16 bytes of its HMAC, or of its keyed hash for CUT_KINDS. The caller owns the
   * Buffer.
   */
  facet(kind: BlindKind, value: string): Buffer {
    const token = Buffer.allocUnsafe(FACET_BYTES);
    this.writeFacet(kind, value, token, 0);
    return token;
  }

  /** Writes the same token to `into` at `at`. */
  writeFacet(kind: BlindKind, value: string, into: Buffer, at: number): void {
    if (CUT_KINDS.includes(kind)) into.write(this.#cutHash(kind, value), at, FACET_BYTES, 'hex');
    else this.#hash(kind).writeNfc(value, into, at, FACET_BYTES);
  }

  /** The whole token, 32 bytes. The caller owns the Buffer. */
  full(kind: BlindKind, value: string): Buffer {
    return this.#hash(kind).bytes(toNfc(value));
  }

  /** The facet token of a user id. */
  user(userId: string): Buffer {
    return this.facet('user_id', userId);
  }

  /** The hash of NFC(`text`) in hex. Callers must truncate it. */
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

/**
 * Writes a word and its end mark into a block. Returns the word's bytes, or -1 for a word that is too long, which
 * leaves the block cleared.
 */
function writeShort(text: string, blocks: Buffer, at: number): number {
  const { length } = text;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    // Only the composed form shows its length.
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
 * has 32 bytes. A key of fixed length in front is enough: the hash is truncated to 8 bytes and cannot be extended.
 */
export function keyedIdentity(key: Uint8Array, bytes: Uint8Array): string {
  return keyedHash(key, bytes).slice(0, 16);
}

/** The same for `input`, which has `KEY_BYTES` bytes of room before the bytes. The key is written there. */
export function keyedIdentityOf(key: Uint8Array, input: Uint8Array): string {
  assert(key.length === KEY_BYTES, 'a hash key has 32 bytes');
  input.set(key, 0);
  return hash('sha256', input, 'hex').slice(0, 16);
}

/** SHA-256(`key` ‖ `bytes`) in hex. Callers that use it as a keyed hash must truncate it. */
function keyedHash(key: Uint8Array, bytes: Uint8Array): string {
  assert(key.length === KEY_BYTES, 'a hash key has 32 bytes');
  const length = KEY_BYTES + bytes.length;
  const input = length <= scratch.length ? passing.view(length) : Buffer.allocUnsafe(length);
  input.set(key, 0);
  input.set(bytes, KEY_BYTES);
  return hash('sha256', input, 'hex');
}

/** The same for the UTF-8 of NFC(`text`). */
function keyedTextHash(key: Uint8Array, text: string): string {
  // A UTF-16 unit takes at most 3 bytes of UTF-8.
  if (KEY_BYTES + text.length * 3 > scratch.length) return keyedHash(key, Buffer.from(toNfc(text), 'utf8'));
  scratch.set(key, 0);
  const length = scratch.write(text, KEY_BYTES, 'utf8');
  // One byte a character means ASCII, which is composed already. Other text is composed, which may lengthen it.
  if (length !== text.length) {
    const composed = toNfc(text);
    if (composed !== text) return keyedTextHash(key, composed);
  }
  return hash('sha256', passing.view(KEY_BYTES + length), 'hex');
}

const passing = new PassingBytes(4_096);
const scratch = passing.bytes;
