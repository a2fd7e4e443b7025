// A grain's hash and the keys that it lies under, give me its name in the trail (record/grain-name.ts); and back.

import { EngineError } from '../base/errors.ts';
import { deriveBlindKey, deriveTrailKey, deriveTrailTextKey } from '../crypto/derive.ts';
import { HmacSha256 } from '../crypto/hmac.ts';
import { TrailCipher } from '../crypto/trail-cipher.ts';
import type { Address } from '../grain/grain.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { isPlainHash, type NameKeys, parseName } from '../record/grain-name.ts';
import type { GrainHead } from '../record/record.ts';
import { BoundedMap } from './bounded-map.ts';

/** Ciphers kept by a memory; they are cheap to make again. */
const CIPHERS_MAX = 1_024;
const TRAIL_KIND = 'trail';
const NO_SALT = Buffer.alloc(0);

/** Of one memory in one shard. */
export class TrailNames {
  readonly #keys: KeyStore;
  /** What the memory's own names lie under; derived from its token key, which no rotation changes. */
  readonly #own: Buffer;
  /** By the user's key alone, a number, where there is no scope's: reads ask for one for every grain. */
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

  /** The address that a grain's record gives it, without opening it; undefined once one of its keys is gone. */
  addressIn({ userKey, scopeKey, bound }: Pick<GrainHead, 'userKey' | 'scopeKey' | 'bound'>): Address | undefined {
    if (userKey === undefined) return Buffer.from(bound).toString('hex') as Address; // as an older build wrote it
    return this.#decipher({ user: userKey, scope: scopeKey }, bound);
  }

  /** The same of what stands for it elsewhere: a name, or the hash itself where an older build wrote it. */
  addressNamed(name: string): Address | undefined {
    if (isPlainHash(name)) return name as Address; // 64 hex, by whoever wrote it
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

  /** What stands for a free text: 64 hex, keyed under the user's key with that id, 0 for the memory's own. CRY-E002. */
  text(text: string, userKey: number): string {
    const key = deriveTrailTextKey(userKey === 0 ? this.#own : this.#keys.get(userKey));
    return new HmacSha256(key).bytes(text).toString('hex');
  }

  /** Forgets what could open a destroyed key's names. */
  clear(): void {
    this.#ciphers.clear();
  }
}
