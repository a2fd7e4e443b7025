// API keys: created and shown once, stored only as SHA-256 and looked up by that hash. This file alone distinguishes
// bound, expired and revoked keys.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { API_KEYS_MAX, API_KEYS_REMOVED_MAX, KEY_USE_WRITE_MAX, KEY_USE_WRITE_MS } from '../../engine/base/limits.ts';
import type { Scope } from '../auth/principal.ts';
import { comparePlaces, type Place } from '../operations/page.ts';
import { type FirstChange, madeBefore, UNKEPT } from '../replies.ts';
import type { Change } from './group.ts';
import { randomId } from './ids.ts';
import type { ControlChanges } from './reading.ts';
import { hasOwnKey, type KeyRecord, type MemoryRecord, membersOf, type ReplyRecord } from './records.ts';

export type { KeyRecord } from './records.ts';

const KEY_PATTERN = /^g[rp]_[0-9a-f]{64}$/;
const PREFIX_CHARS = 10;

export interface NewKey {
  readonly name: string;
  readonly principal?: string | undefined;
  readonly scopes: readonly Scope[];
  readonly memoryId?: string | undefined;
  readonly namespace?: string | undefined;
  readonly userId?: string | undefined;
  readonly expiresAtMs?: number | undefined;
}

/** How many records of keys there may be, and how many of ended ones make room at once. */
interface KeyRoom {
  readonly max: number;
  readonly removedMax: number;
}
const ROOM: KeyRoom = { max: API_KEYS_MAX, removedMax: API_KEYS_REMOVED_MAX };

export class Keys {
  readonly #store: ControlChanges;
  readonly #clock: Clock;
  readonly #room: KeyRoom;
  readonly #byHash = new Map<string, KeyRecord>();
  /** Keys used since their records were written, with the time. Bounded by the number of keys. */
  readonly #used = new Map<string, number>();
  #sorted: readonly KeyRecord[] | undefined;

  constructor(store: ControlChanges, clock: Clock, room: KeyRoom = ROOM) {
    this.#store = store;
    this.#clock = clock;
    this.#room = room;
    for (const key of store.values('key')) this.#byHash.set(key.hash, key);
    store.watch('key', (_, value, before) => {
      this.#sorted = undefined;
      if (before !== undefined && before.hash !== value?.hash) this.#byHash.delete(before.hash);
      if (value !== undefined) this.#byHash.set(value.hash, value);
    });
  }

  /** The live key with this text; undefined when unknown, revoked or expired. */
  authenticate(raw: string): KeyRecord | undefined {
    if (!KEY_PATTERN.test(raw)) return undefined;
    const digest = hash('sha256', raw, 'buffer');
    const key = this.#byHash.get(digest.toString('hex'));
    if (key === undefined || !timingSafeEqual(Buffer.from(key.hash, 'hex'), digest)) return undefined;
    const now = this.#clock.nowMs();
    if (key.revokedAtMs !== undefined || (key.expiresAtMs !== undefined && key.expiresAtMs <= now)) return undefined;
    this.#used.set(key.keyId, now);
    return key;
  }

  /** True, and notes the use, for a record that `authenticate` returned and that is unchanged and live. */
  useAgain(key: KeyRecord): boolean {
    if (this.#byHash.get(key.hash) !== key || key.revokedAtMs !== undefined) return false;
    const now = this.#clock.nowMs();
    if (key.expiresAtMs !== undefined && key.expiresAtMs <= now) return false;
    this.#used.set(key.keyId, now);
    return true;
  }

  find(keyId: string): KeyRecord | undefined {
    return this.#store.get('key', keyId);
  }

  /** False for a key that is unknown, revoked or expired. */
  isLive(keyId: string): boolean {
    const key = this.find(keyId);
    if (key === undefined || key.revokedAtMs !== undefined) return false;
    return key.expiresAtMs === undefined || key.expiresAtMs > this.#clock.nowMs();
  }

  /** Oldest first, ties by id. */
  list(): readonly KeyRecord[] {
    this.#sorted ??= [...this.#store.values('key')].sort((one, other) =>
      comparePlaces(placeOfKey(one), placeOfKey(other)),
    );
    return this.#sorted;
  }

  /** When the key was last used, including uses that are not stored yet. */
  lastUsedMs(key: KeyRecord): number | undefined {
    return this.#used.get(key.keyId) ?? key.lastUsedAtMs;
  }

  /** Creates a key. Only this answer has `raw`. MEM-E003 when it is bound to a memory that does not exist. */
  async create(wanted: NewKey, actor: string): Promise<{ readonly key: KeyRecord; readonly raw: string }> {
    const raw = rawKey(wanted);
    return { key: await this.#createAs(raw, { wanted, actor, first: UNKEPT }), raw };
  }

  /** The same for a call that may be repeated. The key of an earlier run has no `raw`, which nobody has. */
  async createOnce(
    wanted: NewKey,
    { actor, first }: { readonly actor: string; readonly first: FirstChange },
  ): Promise<{ readonly key: KeyRecord; readonly raw?: string }> {
    const made = madeBefore(this.#store, 'key', first);
    if (made !== undefined) return { key: made };
    const raw = rawKey(wanted);
    return { key: await this.#createAs(raw, { wanted, actor, first }), raw };
  }

  #createAs(
    raw: string,
    { wanted, actor, first }: { readonly wanted: NewKey; readonly actor: string; readonly first: FirstChange },
  ): Promise<KeyRecord> {
    return this.#store.commit((change) => {
      // The memory may have been deleted since it was looked up.
      if (wanted.memoryId !== undefined && !isThere(this.#store.get('memory', wanted.memoryId)))
        throw new EngineError('MEM-E003', `there is no memory ${JSON.stringify(wanted.memoryId)}`);
      if (this.#store.count('key') >= this.#room.max) this.#makeRoom(change);
      const record = recordOf(randomId('key'), raw, wanted, this.#clock.nowMs());
      change.put('key', record);
      first.keep(change, record.keyId);
      change.audit({ event: 'auth.key_created', actor, subject: '', details: { key_id: record.keyId } });
      return record;
    });
  }

  /**
   * Removes the records of ended keys, those that ended first; the audit entries about them stay. Throws LIM-E002 when no key has
   * ended.
   */
  #makeRoom(change: Change): void {
    const { max, removedMax } = this.#room;
    const nowMs = this.#clock.nowMs();
    const ended = [...this.#store.values('key')]
      // The first key is made again at a start that finds no record of it.
      .filter((key) => key.bootstrap !== true && endOfKey(key) <= nowMs)
      .sort((one, other) => endOfKey(one) - endOfKey(other))
      .slice(0, removedMax);
    if (ended.length === 0)
      throw new EngineError('LIM-E002', `the deployment has its maximum of ${max} API keys: revoke some first`);
    for (const { keyId } of ended) change.remove('key', keyId);
    endReplies(change, this.#store.values('reply'), ended);
  }

  /**
   * Revokes a key: the next call with it fails. Resolves to false when it is unknown, and to true when it was revoked
   * already.
   */
  async revoke(keyId: string, actor: string): Promise<boolean> {
    return this.#store.commit((change) => {
      const key = this.find(keyId);
      if (key === undefined) return false;
      revokeKey(change, key, { actor, nowMs: this.#clock.nowMs() });
      return true;
    });
  }

  /** The record of the deployment's first key, if there is one. */
  bootstrap(): KeyRecord | undefined {
    for (const key of this.#store.values('key')) if (key.bootstrap === true) return key;
    return undefined;
  }

  /** Makes `raw` the deployment's first key. An earlier one with another text stops working. */
  async setBootstrap(raw: string): Promise<void> {
    const before = this.bootstrap();
    if (before?.hash === hash('sha256', raw, 'hex')) return;
    await this.#store.commit((change) => {
      if (before !== undefined) change.remove('key', before.keyId);
      const wanted: NewKey = { name: 'bootstrap', scopes: ['read', 'write', 'admin'] };
      const record: KeyRecord = { ...recordOf(randomId('key'), raw, wanted, this.#clock.nowMs()), bootstrap: true };
      change.put('key', record);
      change.audit({ event: 'auth.key_created', actor: 'system', subject: '', details: { key_id: record.keyId } });
    });
  }

  /** The uses since the last call, at most a bounded number: another node stores them. */
  takeUses(): [keyId: string, usedMs: number][] {
    const uses = [...this.#used].slice(0, KEY_USE_WRITE_MAX);
    for (const [keyId] of uses) this.#used.delete(keyId);
    return uses;
  }

  /** Takes uses that another node has seen. */
  heardOfUses(uses: readonly (readonly [keyId: string, usedMs: number])[]): void {
    for (const [keyId, usedMs] of uses)
      if (this.find(keyId) !== undefined && usedMs > (this.#used.get(keyId) ?? 0)) this.#used.set(keyId, usedMs);
  }

  /** Stores when keys were last used, a bounded number at a time. `all`: at shutdown, also small changes. */
  async writeUses(options: { readonly all: boolean } = { all: false }): Promise<void> {
    while (this.#used.size > 0) {
      const uses: [string, number][] = [];
      for (const use of this.#used) {
        uses.push(use);
        if (uses.length === KEY_USE_WRITE_MAX) break;
      }
      for (const [keyId] of uses) this.#used.delete(keyId);
      await this.#noteUses(uses, options.all);
    }
  }

  /** Uses that the log rejects are written next time. */
  async #noteUses(uses: readonly (readonly [keyId: string, usedMs: number])[], all: boolean): Promise<void> {
    try {
      await this.#store.commit((change) => {
        for (const [keyId, usedMs] of uses) {
          const key = this.find(keyId);
          if (key === undefined) continue;
          const step = all ? 1 : KEY_USE_WRITE_MS;
          if (usedMs - (key.lastUsedAtMs ?? 0) >= step) change.put('key', { ...key, lastUsedAtMs: usedMs });
        }
      });
    } catch (error) {
      for (const [keyId, usedMs] of uses) if (!this.#used.has(keyId)) this.#used.set(keyId, usedMs);
      throw error;
    }
  }
}

/** Revokes a key within a change; a revoked one keeps its time. */
function revokeKey(
  change: Pick<Change, 'put' | 'audit'>,
  key: KeyRecord,
  { actor, nowMs }: { readonly actor: string; readonly nowMs: number },
): void {
  if (key.revokedAtMs !== undefined) return;
  change.put('key', { ...key, revokedAtMs: nowMs });
  change.audit({ event: 'auth.key_revoked', actor, subject: '', details: { key_id: key.keyId } });
}

/** Selects the keys that an erasure of a person revokes. */
export interface KeysOfPerson {
  readonly userId: string;
  readonly memoryId: string;
  /** True when the caller acts for the whole deployment: the person's keys for every memory are revoked too. */
  readonly everywhere: boolean;
}

/**
 * Revokes the keys of an erased person and removes the binding, name and principal from their records, also from keys
 * revoked earlier. The keys can still be identified by id. Returns them as they were.
 */
export function eraseKeys(
  change: Pick<Change, 'put' | 'audit'>,
  keys: Iterable<KeyRecord>,
  person: KeysOfPerson,
  by: { readonly actor: string; readonly nowMs: number },
): KeyRecord[] {
  const ended = [...keys].filter((key) => isOfPerson(key, person));
  for (const key of ended) eraseKey(change, key, by);
  return ended;
}

/** Takes the owners of these keys out of the stored answers that show the keys as they were made. */
export function endReplies(
  change: Pick<Change, 'renew'>,
  replies: Iterable<ReplyRecord>,
  keys: readonly KeyRecord[],
): void {
  if (keys.length === 0) return;
  const ids = new Set<unknown>(keys.map(({ keyId }) => keyId));
  for (const reply of [...replies]) {
    const shown = membersOf(reply.value);
    if (shown?.['principal'] === undefined || !ids.has(shown['keyId'])) continue;
    const { userId: _, namespace: __, ...kept } = shown;
    const nameless = { ...kept, name: ERASED_NAME, principal: `key:${String(shown['keyId'])}` };
    change.renew('reply', { ...reply, value: nameless });
  }
}

/** Ends a key of a deleted memory, and removes its owner from the record. */
export function endKey(
  change: Pick<Change, 'put' | 'audit'>,
  key: KeyRecord,
  by: { readonly actor: string; readonly nowMs: number },
): void {
  if (key.erased === true) return;
  if (hasOwnKey('key', key)) eraseKey(change, key, by);
  else revokeKey(change, key, by);
}

/** Revokes a key and removes its owner from the record. */
export function eraseKey(
  change: Pick<Change, 'put' | 'audit'>,
  key: KeyRecord,
  { actor, nowMs }: { readonly actor: string; readonly nowMs: number },
): void {
  const { userId: _, namespace: __, ...kept } = key;
  change.put('key', {
    ...kept,
    name: ERASED_NAME,
    principal: `key:${key.keyId}`,
    revokedAtMs: key.revokedAtMs ?? nowMs,
    erased: true,
  });
  change.audit({
    event: 'auth.key_revoked',
    actor,
    subject: '',
    details: { erased: true, key_id: key.keyId },
  });
}

/**
 * True for a key bound to the person in the erasure's memory, or given to the person there. A person's key for every
 * memory belongs to the deployment, so an admin of one memory does not revoke it.
 */
function isOfPerson(key: KeyRecord, { userId, memoryId, everywhere }: KeysOfPerson): boolean {
  if (key.erased === true) return false;
  if (key.memoryId === memoryId) return key.userId === userId || key.principal === `user:${userId}`;
  return key.memoryId === undefined && everywhere && key.userId === userId;
}

const ERASED_NAME = 'erased';

/** When a key was revoked or expires, in milliseconds since 1970; infinite for one that does neither. */
function endOfKey({
  revokedAtMs = Number.POSITIVE_INFINITY,
  expiresAtMs = Number.POSITIVE_INFINITY,
}: KeyRecord): number {
  return Math.min(revokedAtMs, expiresAtMs);
}

export function placeOfKey(key: KeyRecord): Place {
  return { timeMs: key.createdAtMs, id: key.keyId };
}

function isThere(memory: MemoryRecord | undefined): boolean {
  return memory !== undefined && memory.deleting !== true;
}

function rawKey({ memoryId }: NewKey): string {
  return `${memoryId === undefined ? 'gr' : 'gp'}_${randomBytes(32).toString('hex')}`;
}

function recordOf(keyId: string, raw: string, wanted: NewKey, nowMs: number): KeyRecord {
  return {
    keyId,
    name: wanted.name,
    principal: wanted.principal ?? `key:${keyId}`,
    scopes: wanted.scopes,
    prefix: raw.slice(0, PREFIX_CHARS),
    hash: hash('sha256', raw, 'hex'),
    createdAtMs: nowMs,
    memoryId: wanted.memoryId,
    namespace: wanted.namespace,
    userId: wanted.userId,
    expiresAtMs: wanted.expiresAtMs,
  };
}
