// Converts between a grain's hash and its name in the trail, under the grain's keys (record/grain-name.ts).

import { EngineError } from '../base/errors.ts';
import { deriveBlindKey, deriveTrailKey, deriveTrailTextKey } from '../crypto/derive.ts';
import { HmacSha256 } from '../crypto/hmac.ts';
import { TrailCipher } from '../crypto/trail-cipher.ts';
import type { Address } from '../grain/grain.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { GrainHead } from '../record/grain-head.ts';
import { isPlainHash, type NameKeys, parseName } from '../record/grain-name.ts';
import { BoundedMap } from './bounded-map.ts';

/** Ciphers that a memory caches. They are cheap to create again. */
const CIPHERS_MAX = 1_024;
const TRAIL_KIND = 'trail';
const NO_SALT = Buffer.alloc(0);

/** The names of one memory in one shard. */
export class TrailNames {
  readonly #keys: KeyStore;
  /** The key of names without a user. It is derived from the token key, which no rotation changes. */
  readonly #own: Buffer;
  /**
   * The map key is the user's key id alone, a number, when there is no scope key: reads ask for one for every grain.
   */
  readonly #ciphers = new BoundedMap<number | string, TrailCipher>(CIPHERS_MAX);

  constructor(tokenKey: Uint8Array, keys: KeyStore) {
    this.#keys = keys;
    this.#own = deriveBlindKey(tokenKey, TRAIL_KIND);
  }

  /** CRY-E002 when one of the keys was destroyed, STO-E001 when it is missing. */
  cipher({ user, scope }: NameKeys): TrailCipher {
    const id = scope === 0 ? user : `${user}/${scope}`;
    const known = this.#ciphers.get(id);
    if (known !== undefined) return known;
    const salt = scope === 0 ? NO_SALT : this.#keys.get(scope);
    const cipher = new TrailCipher(deriveTrailKey(user === 0 ? this.#own : this.#keys.get(user), salt));
    this.#ciphers.set(id, cipher);
    return cipher;
  }

  /** The address in a grain's record, without opening the grain; undefined once one of its keys is gone. */
  addressIn({ userKey, scopeKey, bound }: Pick<GrainHead, 'userKey' | 'scopeKey' | 'bound'>): Address | undefined {
    if (userKey === undefined) return Buffer.from(bound).toString('hex') as Address; // as an older build wrote it
    return this.#decipher({ user: userKey, scope: scopeKey }, bound);
  }

  /** The address for a name, or for the plain hash that an older build wrote in its place. */
  addressNamed(name: string): Address | undefined {
    if (isPlainHash(name)) return name as Address; // 64 hex digits
    const parsed = parseName(name);
    if (parsed === undefined || parsed.partition !== undefined) return undefined;
    return this.#decipher(parsed.keys, parsed.enciphered);
  }

  #decipher(keys: NameKeys, enciphered: Uint8Array): Address | undefined {
    try {
      return this.cipher(keys).decipher(enciphered) as Address; // 32 bytes as hex
    } catch (error) {
      if (error instanceof EngineError) return undefined;
      throw error;
    }
  }

  /**
   * The fingerprint of a free text: 64 hex digits, keyed under the user's key with that id, or the memory's own for 0.
   * CRY-E002.
   */
  text(text: string, userKey: number): string {
    const key = deriveTrailTextKey(userKey === 0 ? this.#own : this.#keys.get(userKey));
    return new HmacSha256(key).bytes(text).toString('hex');
  }

  /** Drops the ciphers that could decipher a destroyed key's names. */
  clear(): void {
    this.#ciphers.clear();
  }
}
