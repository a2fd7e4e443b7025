// A memory that one shard has open: settings, keys, blind tokens, analyser, the head of its audit chain.
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
import { agentsIn } from './agents.ts';
import { BoundedMap } from './bounded-map.ts';
import { governedBy } from './rules.ts';
import { TrailNames } from './trail-names.ts';
import { accessOf } from './tuples.ts';

/** Cached grain keys and user keys of a memory. Both are cheap to find again. */
const GRAIN_KEYS_MAX = 1_024;
const USER_KEYS_MAX = 4_096;
const SCOPE_KEYS_MAX = 4_096;
/** Texts whose numbers are cached, and the longest of them: names of tools recur, long errors seldom do. */
const TEXT_NUMBERS_MAX = 1_024;
const TEXT_NUMBERED_CHARS_MAX = 128;

export interface MemoryKeyIds {
  readonly blob: number;
  readonly token: number;
  readonly index: number;
}

export class Memory {
  readonly number: number;
  readonly settings: MemorySettings;
  /** The settings as their record holds them. */
  readonly sealedSettings: Uint8Array;
  /**
   * Prefix of identity hashes. It is derived from the token key, so that identities of two memories cannot be compared.
   */
  readonly identityKey: Buffer;
  readonly analyzer: Analyzer;
  readonly tokens: BlindTokens;
  readonly trail: TrailNames;
  /** An erasure changes it, because it draws a new index key. */
  keyIds: MemoryKeyIds;
  /** user_id to key id, for users with a live key. Other users are looked up in the index. */
  readonly userKeys = new BoundedMap<string, number>(USER_KEYS_MAX);
  /** Scope path to key id, like `userKeys`. */
  readonly scopeKeys = new BoundedMap<string, number>(SCOPE_KEYS_MAX);
  readonly #userTokens = new BoundedMap<string, string>(USER_KEYS_MAX);
  readonly #textNumbers = new BoundedMap<string, number>(TEXT_NUMBERS_MAX);
  readonly #keys: KeyStore;
  /**
   * The map key is the user's key id alone, a number, when there is no scope key: reads ask for one for every grain.
   */
  readonly #grainKeys = new BoundedMap<number | string, KeyObject>(GRAIN_KEYS_MAX);
  /** The key for small texts of this memory. No rotation changes it. */
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

  /** Policy, restrictions, consents and access tuples, loaded at the first use. STO-E001 or CRY-E001 when they cannot be read. */
  get governed(): Governed {
    this.#governed ??= governedBy(this.#log, this, {
      access: accessOf(this.#log, this),
      agents: agentsIn(this.#log, this),
    });
    return this.#governed;
  }

  /** Drops every derived key and name that a destroyed key made readable. */
  dropKeys(): void {
    this.#grainKeys.clear();
    this.trail.clear();
    this.userKeys.clear();
    this.#userTokens.clear();
    this.#textNumbers.clear();
    this.scopeKeys.clear();
  }

  /** The token that names the user in the key index and the audit chain: 32 hex digits. */
  userToken(userId: string): string {
    const known = this.#userTokens.get(userId);
    if (known !== undefined) return known;
    const token = this.tokens.user(userId).toString('hex');
    this.#userTokens.set(userId, token);
    return token;
  }

  /**
   * A keyed hash of a text as an exact integer of 48 bits, for columns that distinguish texts without holding them.
   * Without the key nobody can make two texts with the same number.
   */
  numberOf(text: string): number {
    const known = this.#textNumbers.get(text);
    if (known !== undefined) return known;
    const number = this.tokens.facet('column', text).readUIntBE(0, 6);
    if (text.length <= TEXT_NUMBERED_CHARS_MAX) this.#textNumbers.set(text, number);
    return number;
  }

  /** The token that names the scope in the key index and the audit chain: 32 hex digits. */
  scopeToken(path: string): string {
    return this.tokens.facet('scope', `path:${path}`).toString('hex');
  }

  /** Seals a small text of this memory, such as a stored reply, under a key that no rotation changes. */
  sealSmall(plain: Uint8Array, purpose: string): Buffer {
    return seal(this.smallKey, plain, Buffer.from(purpose));
  }

  openSmall(sealed: Uint8Array, purpose: string): Buffer {
    return open(this.smallKey, sealed, Buffer.from(purpose));
  }
}

/** Settings are sealed under a key derived from the token key, so that rotating the blob key leaves them readable. */
export function sealSettings(tokenKey: Uint8Array, settings: MemorySettings): Buffer {
  return seal(
    deriveBlindKey(tokenKey, SETTINGS_KIND),
    Buffer.from(JSON.stringify(settings)),
    settingsData(settings.number),
  );
}

function openSettings(tokenKey: Uint8Array, record: SettingRecord): MemorySettings {
  const plain = open(deriveBlindKey(tokenKey, SETTINGS_KIND), record.sealed, settingsData(record.memory));
  // sealSettings sealed it under the same key. The authentication of the seal guarantees its shape.
  return JSON.parse(plain.toString()) as MemorySettings;
}

const SETTINGS_KIND = 'settings';
const SMALL_KIND = 'small';

function settingsData(memory: number): Buffer {
  return Buffer.from(`memory-settings:${memory}`);
}
