// Compares a shard with a copy of it and lists what was destroyed and forgotten since the copy was taken, so that
// restoring the copy does not bring it back. It does not change the shard.

import { EngineError } from '../../base/errors.ts';
import { open, sealKey } from '../../crypto/envelope.ts';
import { decodeAuditBody } from '../../govern/trail/audit-codec.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { CorruptRecord, type Log, type Sequence } from '../../log/log.ts';
import type { EngineRecord, GrainRecord, KeyRecord } from '../../record/record.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import { TrailNames } from '../../store/trail-names.ts';

export interface ShardSide {
  readonly log: Log;
  readonly keys: KeyStore;
}

export interface RemovedSince {
  /** Users of the copy who were erased since. */
  readonly users: readonly { readonly memory: number; readonly userId: string }[];
  /** Scopes of the copy that were erased since. Their grains are among `forgotten`. */
  readonly scopes: readonly { readonly memory: number; readonly path: string }[];
  /** Hashes (hex) of grains of the copy that were removed since, by memory, without those of erased users. */
  readonly forgotten: ReadonlyMap<number, readonly string[]>;
  /** The first sequence number at which the shard does not continue the copy; undefined: it continues it. */
  readonly divergesAt: Sequence | undefined;
}

/**
 * Compares `copy` with `now`, either half of which may be missing. Keys are matched by fingerprint, and grains by
 * sequence number and address as long as the two logs agree. After they diverge (because an older backup was restored
 * meanwhile), users and scopes are matched by their token, which is the same in both, and grains by the forget entries
 * in the audit trail of now. A grain that was added again does not count as removed. Tombstones of keys that the copy
 * never had are written into it, for later restores.
 */
export function removedSinceCopy(copy: ShardSide, now: Partial<ShardSide>): RemovedSince {
  const erased = now.keys === undefined ? new Set<number>() : erasedKeys(copy.keys, now.keys);
  const { removed, divergesAt } = now.log === undefined ? UNKNOWN : removedSince(copy, { ...now, log: now.log });
  if (now.log !== undefined)
    for (const key of keysOfErased(copy, now.log, divergesAt ?? copy.log.nextSequence)) erased.add(key);
  const names = erased.size === 0 ? [] : namesOf(copy, erased);
  const users = names.filter(({ kind }) => kind === 'user').map(({ memory, name }) => ({ memory, userId: name }));
  const scopes = names.filter(({ kind }) => kind === 'scope').map(({ memory, name }) => ({ memory, path: name }));
  const forgotten = new Map<number, string[]>();
  for (const { memory, address, key } of removed) {
    if (erased.has(key)) continue;
    const hashes = forgotten.get(memory);
    if (hashes === undefined) forgotten.set(memory, [address]);
    else hashes.push(address);
  }
  return { users, scopes, forgotten, divergesAt };
}

/** One half of a shard may have been lost with its keys. */
type NowSide = Pick<ShardSide, 'log'> & Partial<ShardSide>;

interface Removed {
  readonly memory: number;
  readonly address: string;
  readonly key: number;
}
const UNKNOWN = { removed: [] as readonly Removed[], divergesAt: undefined };

/** Ids of keys of users and scopes that are live in the copy and destroyed now. */
function erasedKeys(copy: KeyStore, now: KeyStore): Set<number> {
  const erased = new Set<number>();
  const tombstones = [...now.tombstones()];
  copy.applyTombstones(tombstones.filter(({ id }) => copy.state(id) === 'missing'));
  // Destroying a memory's own keys is not an erasure: a purge or a re-sealing replaces them, and the copy is still
  // sealed under its own.
  for (const { id, kind, fingerprint } of tombstones)
    if (isNamed(kind) && copy.state(id) === 'live' && copy.fingerprint(id) === fingerprint) erased.add(id);
  return erased;
}

/** True for keys of users and scopes, whose destruction is an erasure. */
function isNamed(kind: string): kind is 'user' | 'scope' {
  return kind === 'user' || kind === 'scope';
}

/** Live keys in the copy of users and scopes that the log of now erased from `from` on, under another key or none. */
function keysOfErased(copy: ShardSide, now: Log, from: Sequence): number[] {
  const tokens = new Set<string>();
  for (const [sequence, record] of recordsOf(now))
    if (sequence >= from && record.kind === 'key' && isNamed(record.keyKind) && record.action === 'destroyed')
      tokens.add(tokenOf(record));
  if (tokens.size === 0) return [];
  const keys: number[] = [];
  for (const [, record] of recordsOf(copy.log))
    if (record.kind === 'key' && record.action === 'made' && tokens.has(tokenOf(record)))
      if (copy.keys.state(record.key) === 'live') keys.push(record.key);
  return keys;
}

/** Random without the memory's token key, so two logs share it only for the same name in the same memory. */
function tokenOf({ memory, keyKind, token }: KeyRecord): string {
  return `${memory} ${keyKind} ${Buffer.from(token).toString('hex')}`;
}

interface Named {
  readonly memory: number;
  readonly kind: 'user' | 'scope';
  readonly name: string;
}

function namesOf({ log, keys }: ShardSide, erased: ReadonlySet<number>): Named[] {
  const names: Named[] = [];
  for (const [, record] of recordsOf(log)) {
    if (record.kind !== 'key' || record.action !== 'made' || !erased.has(record.key)) continue;
    if (!isNamed(record.keyKind)) continue;
    const key = keys.get(record.key);
    const name = open(sealKey(key), record.sealedName, Buffer.from(`key-name:${record.key}`));
    key.fill(0);
    names.push({ memory: record.memory, kind: record.keyKind, name: name.toString('utf8') });
  }
  return names;
}

/** Grains of the copy that have a gap in the log of now, or that it recorded as forgotten after the logs diverged. */
function removedSince(
  copy: ShardSide,
  now: NowSide,
): { removed: readonly Removed[]; divergesAt: Sequence | undefined } {
  const names = { copy: new SideNames(copy), now: new SideNames(now) };
  const end = Math.min(copy.log.nextSequence, now.log.nextSequence);
  const removed = new Map<string, Removed>();
  const current = now.log.scan(1, end);
  let next = current.next();
  let divergesAt: Sequence | undefined;
  for (const item of copy.log.scan(1, end)) {
    while (next.done !== true && next.value.sequence < item.sequence) next = current.next();
    if (item instanceof CorruptRecord) continue;
    const there = next.done !== true && next.value.sequence === item.sequence ? next.value : undefined;
    if (there instanceof CorruptRecord) continue;
    if (there === undefined) {
      const gone = removedOf(names.copy, decodeRecord(item.bytes));
      if (gone !== undefined) removed.set(placeOf(gone), gone);
    } else if (!isSame(item.bytes, there.bytes, names)) {
      divergesAt = item.sequence;
      break;
    }
  }
  if (divergesAt !== undefined)
    for (const grain of forgottenAfter(copy.log, now.log, divergesAt, names)) removed.set(placeOf(grain), grain);
  if (removed.size > 0)
    for (const [, record] of recordsOf(now.log)) {
      const here = removedOf(names.now, record);
      if (here !== undefined) removed.delete(placeOf(here));
    }
  return { removed: [...removed.values()], divergesAt };
}

/**
 * A grain's record as a removed grain; undefined for another record, or when its hash cannot be deciphered any more.
 */
function removedOf(names: SideNames, record: EngineRecord): Removed | undefined {
  if (record.kind !== 'grain') return undefined;
  const address = names.addressIn(record);
  return address === undefined ? undefined : { memory: record.memory, address, key: record.key };
}

function* forgottenAfter(
  copy: Log,
  now: Log,
  from: Sequence,
  names: { readonly copy: SideNames; readonly now: SideNames },
): Generator<Removed> {
  const places = new Set<string>();
  for (const [sequence, record] of recordsOf(now)) {
    if (sequence < from || record.kind !== 'audit') continue;
    const { memory } = record;
    for (const { event, details } of decodeAuditBody(record.body)) {
      // For a person erased since, the name cannot be deciphered. The erasure is found through the key.
      const address = event === 'memory.forgotten' ? names.now.addressNamed(memory, grainIn(details)) : undefined;
      if (address !== undefined) places.add(placeOf({ memory, address }));
    }
  }
  if (places.size === 0) return;
  for (const [, record] of recordsOf(copy)) {
    const grain = removedOf(names.copy, record);
    if (grain !== undefined && places.has(placeOf(grain))) yield grain;
  }
}

/** The name of the grain in an entry's details, or its hash in an entry of an older build. */
function grainIn(details: string): string {
  const { grain, hash } = JSON.parse(details) as { grain?: unknown; hash?: unknown }; // canonical JSON of an object, by the audit codec
  const name = grain ?? hash;
  return typeof name === 'string' ? name : '';
}

function placeOf({ memory, address }: { readonly memory: number; readonly address: string }): string {
  return `${memory} ${address}`;
}

/** Grains and version links are compared by meaning: re-sealing changes the bytes of a record in place. */
function isSame(
  one: Uint8Array,
  other: Uint8Array,
  names: { readonly copy: SideNames; readonly now: SideNames },
): boolean {
  if (Buffer.compare(one, other) === 0) return true;
  const [copied, current] = [decodeRecord(one), decodeRecord(other)];
  if (copied.memory !== current.memory) return false;
  if (copied.kind === 'status' && current.kind === 'status')
    return copied.oldOrdinal === current.oldOrdinal && copied.newOrdinal === current.newOrdinal;
  if (copied.kind !== 'grain' || current.kind !== 'grain') return false;
  if (Buffer.compare(copied.bound, current.bound) === 0) return true;
  const address = names.copy.addressIn(copied);
  return address !== undefined && address === names.now.addressIn(current);
}

/** Names of grains in one log, deciphered with that log's keys. */
class SideNames {
  readonly #side: NowSide;
  readonly #memories = new Map<number, TrailNames | undefined>();

  constructor(side: NowSide) {
    this.#side = side;
  }

  addressIn(record: GrainRecord): string | undefined {
    // Records of older builds need no key.
    return record.userKey === undefined
      ? Buffer.from(record.bound).toString('hex')
      : this.#of(record.memory)?.addressIn(record);
  }

  addressNamed(memory: number, name: string): string | undefined {
    return this.#of(memory)?.addressNamed(name);
  }

  #of(memory: number): TrailNames | undefined {
    if (!this.#memories.has(memory)) this.#memories.set(memory, this.#open(memory));
    return this.#memories.get(memory);
  }

  /** Undefined when the keys are lost, or were destroyed with the memory. */
  #open(memory: number): TrailNames | undefined {
    const { log, keys } = this.#side;
    const sequence = log.getState(`memory/${memory}`);
    if (sequence === undefined || keys === undefined) return undefined;
    try {
      const bytes = log.read(Buffer.from(sequence).readUInt32BE(0));
      const record = bytes === undefined ? undefined : decodeRecord(bytes);
      return record?.kind === 'setting' ? new TrailNames(keys.get(record.tokenKey), keys) : undefined;
    } catch (error) {
      if (error instanceof EngineError) return undefined;
      throw error;
    }
  }
}

/** The readable records; `verify` lists the others. */
function* recordsOf(log: Log): Generator<readonly [Sequence, EngineRecord]> {
  for (const item of log.scan(1)) if (!(item instanceof CorruptRecord)) yield [item.sequence, decodeRecord(item.bytes)];
}
