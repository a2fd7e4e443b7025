// A memory as one shard holds it open: settings, keys, blind tokens, analyser, the end of its audit chain.
import type { KeyObject } from 'node:crypto';
import type { MemorySettings } from '../calls/memory.ts';
import { BlindTokens } from '../crypto/blind-tokens.ts';
import { deriveBlindKey, deriveGrainKey } from '../crypto/derive.ts';
import { open, seal, sealKey } from '../crypto/envelope.ts';
import type { Governed } from '../govern/governed.ts';
import { type Analyzer, analyzer } from '../index/text/analyze.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { Log } from '../log/log.ts';
import type { SettingRecord } from '../record/record.ts';
import { BoundedMap } from './bounded-map.ts';
import { governedBy } from './rules.ts';
import { TrailNames } from './trail-names.ts';

/** Derived grain keys and user keys kept by a memory; both are cheap to find again. */
const GRAIN_KEYS_MAX = 1_024;
const USER_KEYS_MAX = 4_096;
const SCOPE_KEYS_MAX = 4_096;

export interface MemoryKeyIds {
  readonly blob: number;
  readonly token: number;
  readonly index: number;
}

export class Memory {
  readonly number: number;
  readonly settings: MemorySettings;
  /** As its setting record holds them. */
  readonly sealedSettings: Uint8Array;
  /** Prefix of identity hashes: derived from the token key, so two memories' identities cannot be compared. */
  readonly identityKey: Buffer;
  readonly analyzer: Analyzer;
  readonly tokens: BlindTokens;
  readonly trail: TrailNames;
  /** Changed by an erasure, which draws a new index key. */
  keyIds: MemoryKeyIds;
  /** user_id to key id, for users whose key is live; a user that is not here is looked up in the index. */
  readonly userKeys = new BoundedMap<string, number>(USER_KEYS_MAX);
  /** Scope path to key id, as `userKeys`. */
  readonly scopeKeys = new BoundedMap<string, number>(SCOPE_KEYS_MAX);
  readonly #userTokens = new BoundedMap<string, string>(USER_KEYS_MAX);
  readonly #keys: KeyStore;
  /** By the key alone, a number, where there is no scope's: reads ask for one for every grain. */
  readonly #grainKeys = new BoundedMap<number | string, KeyObject>(GRAIN_KEYS_MAX);
  /** For small texts of this memory: a key that no rotation changes. */
  readonly smallKey: KeyObject;
  readonly #log: Log;
  #governed: Governed | undefined;

  constructor(record: SettingRecord, keys: KeyStore, log: Log) {
    this.number = record.memory;
    this.#log = log;
    this.keyIds = { blob: record.blobKey, token: record.tokenKey, index: record.indexKey };
    this.#keys = keys;
    this.sealedSettings = record.sealed;
    const tokenKey = keys.get(record.tokenKey);
    this.settings = openSettings(tokenKey, record);
    this.tokens = new BlindTokens(tokenKey);
    this.identityKey = deriveBlindKey(tokenKey, 'identity');
    this.trail = new TrailNames(tokenKey, keys);
    this.smallKey = sealKey(deriveBlindKey(tokenKey, SMALL_KIND));
    this.analyzer = analyzer(this.settings.language);
  }

  /** The key of a grain sealed under `key` (a user's or the memory's blob key) and `scopeKey` (0: none). CRY-E002 when destroyed. */
  grainKey(key: number, scopeKey: number): KeyObject {
    const id = scopeKey === 0 ? key : `${key}/${scopeKey}`;
    const known = this.#grainKeys.get(id);
    if (known !== undefined) return known;
    const salt = scopeKey === 0 ? Buffer.alloc(0) : this.#keys.get(scopeKey);
    const derived = sealKey(deriveGrainKey(this.#keys.get(key), salt));
    this.#grainKeys.set(id, derived);
    return derived;
  }

  /** Policy, restrictions and consents, read at the first use. STO-E001, CRY-E001 when they cannot be. */
  get governed(): Governed {
    this.#governed ??= governedBy(this.#log, this);
    return this.#governed;
  }

  /** Forgets every derived key that could open what a destroyed key sealed, and whose they were. */
  dropKeys(): void {
    this.#grainKeys.clear();
    this.trail.clear();
    this.userKeys.clear();
    this.#userTokens.clear();
    this.scopeKeys.clear();
  }

  /** The token under which a user's key is indexed and the audit chain names the user: 32 hex. */
  userToken(userId: string): string {
    const known = this.#userTokens.get(userId);
    if (known !== undefined) return known;
    const token = this.tokens.user(userId).toString('hex');
    this.#userTokens.set(userId, token);
    return token;
  }

  /** The token under which a scope's key is indexed and the audit chain names the scope: 32 hex. */
  scopeToken(path: string): string {
    return this.tokens.facet('scope', `path:${path}`).toString('hex');
  }

  /** A small text of this memory (a stored reply), sealed under a key that no rotation changes. */
  sealSmall(plain: Uint8Array, purpose: string): Buffer {
    return seal(this.smallKey, plain, Buffer.from(purpose));
  }

  openSmall(sealed: Uint8Array, purpose: string): Buffer {
    return open(this.smallKey, sealed, Buffer.from(purpose));
  }
}

/** Settings are sealed under a key derived from the token key: rotating the blob key leaves them readable. */
export function sealSettings(tokenKey: Uint8Array, settings: MemorySettings): Buffer {
  return seal(
    deriveBlindKey(tokenKey, SETTINGS_KIND),
    Buffer.from(JSON.stringify(settings)),
    settingsData(settings.number),
  );
}

function openSettings(tokenKey: Uint8Array, record: SettingRecord): MemorySettings {
  const plain = open(deriveBlindKey(tokenKey, SETTINGS_KIND), record.sealed, settingsData(record.memory));
  // Sealed by sealSettings under the same key: the seal's authentication is the check of its shape.
  return JSON.parse(plain.toString()) as MemorySettings;
}

const SETTINGS_KIND = 'settings';
const SMALL_KIND = 'small';

function settingsData(memory: number): Buffer {
  return Buffer.from(`memory-settings:${memory}`);
}
