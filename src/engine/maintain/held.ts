// What was destroyed and forgotten in a shard since a copy of it was taken, told by the shard and the copy side by side:
// so that a restored copy does not bring it back. Nothing here changes the shard.
import { open, sealKey } from '../crypto/envelope.ts';
import { decodeAuditBody } from '../govern/audit-codec.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { CorruptRecord, type Log, type Sequence } from '../log/log.ts';
import {
  decodeRecord,
  type EngineRecord,
  type GrainRecord,
  grainRecordAddress,
  type KeyRecord,
} from '../record/record.ts';

export interface ShardSide {
  readonly log: Log;
  readonly keys: KeyStore;
}

export interface Held {
  /** Users of the copy who were erased since. */
  readonly users: readonly { readonly memory: number; readonly userId: string }[];
  /** Scopes of the copy that were erased since. Their grains are among the forgotten. */
  readonly scopes: readonly { readonly memory: number; readonly path: string }[];
  /** Hashes (hex) of grains of the copy that were removed since, by memory; those of erased users are not among them. */
  readonly forgotten: ReadonlyMap<number, readonly string[]>;
  /** The first sequence at which the shard is no continuation of the copy; undefined: it is one. */
  readonly divergesAt: Sequence | undefined;
}

/**
 * Compares `copy` with `now`, of which either half may be missing. Keys are matched by their fingerprint, grains by
 * sequence and address as far as the two logs are the same. Where they part (an older backup was restored meanwhile),
 * users and scopes are matched by their token, which is theirs on both ways, and grains by what the audit trail of now says was
 * forgotten. A grain that was added again since is not among the removed. Tombstones of keys that the copy never had are written into it, for copies that are restored later.
 */
export function heldSince(copy: ShardSide, now: Partial<ShardSide>): Held {
  const erased = now.keys === undefined ? new Set<number>() : erasedKeys(copy.keys, now.keys);
  const { removed, divergesAt } = now.log === undefined ? UNKNOWN : removedSince(copy, now.log);
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

type Removed = Pick<GrainRecord, 'memory' | 'address' | 'key'>;
const UNKNOWN = { removed: [] as readonly Removed[], divergesAt: undefined };

/** Ids of keys of users and scopes that are live in the copy and destroyed now. */
function erasedKeys(copy: KeyStore, now: KeyStore): Set<number> {
  const erased = new Set<number>();
  const tombstones = [...now.tombstones()];
  copy.applyTombstones(tombstones.filter(({ id }) => copy.state(id) === 'missing'));
  // The memory's own keys are not erasures: a purge or a resealing replaces them, and the copy still lies under its own.
  for (const { id, kind, fingerprint } of tombstones)
    if (isNamed(kind) && copy.state(id) === 'live' && copy.fingerprint(id) === fingerprint) erased.add(id);
  return erased;
}

/** True for keys of users and scopes: their ends are erasures. */
function isNamed(kind: string): kind is 'user' | 'scope' {
  return kind === 'user' || kind === 'scope';
}

/**
 * Live keys in the copy of users and scopes that the log of now erased from `from` on, under whatever key they had
 * there, or under none.
 */
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

/** Random to whoever lacks the memory's token key, so the same in two logs only for the same name in the same memory. */
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

/** Grains of the copy at whose sequence the log of now has a gap, or that it says it forgot after the two parted. */
function removedSince(
  { log: copy }: ShardSide,
  now: Log,
): { removed: readonly Removed[]; divergesAt: Sequence | undefined } {
  const end = Math.min(copy.nextSequence, now.nextSequence);
  const removed = new Map<string, Removed>();
  const current = now.scan(1, end);
  let next = current.next();
  let divergesAt: Sequence | undefined;
  for (const item of copy.scan(1, end)) {
    while (next.done !== true && next.value.sequence < item.sequence) next = current.next();
    if (item instanceof CorruptRecord) continue;
    const there = next.done !== true && next.value.sequence === item.sequence ? next.value : undefined;
    if (there instanceof CorruptRecord) continue;
    if (there === undefined) {
      const record = decodeRecord(item.bytes);
      if (record.kind === 'grain') removed.set(nameOf(record), record);
    } else if (!isSame(item.bytes, there.bytes)) {
      divergesAt = item.sequence;
      break;
    }
  }
  if (divergesAt !== undefined)
    for (const grain of forgottenAfter(copy, now, divergesAt)) removed.set(nameOf(grain), grain);
  if (removed.size > 0)
    for (const [, record] of recordsOf(now)) if (record.kind === 'grain') removed.delete(nameOf(record));
  return { removed: [...removed.values()], divergesAt };
}

function* forgottenAfter(copy: Log, now: Log, from: Sequence): Generator<Removed> {
  const told = new Set<string>();
  for (const [sequence, record] of recordsOf(now)) {
    if (sequence < from || record.kind !== 'audit') continue;
    for (const { event, details } of decodeAuditBody(record.body))
      if (event === 'memory.forgotten') told.add(nameOf({ memory: record.memory, address: hashIn(details) }));
  }
  if (told.size === 0) return;
  for (const [, record] of recordsOf(copy)) if (record.kind === 'grain' && told.has(nameOf(record))) yield record;
}

function hashIn(details: string): string {
  const { hash } = JSON.parse(details) as { hash?: unknown }; // canonical JSON of an object, by the audit codec
  return typeof hash === 'string' ? hash : '';
}

function nameOf({ memory, address }: { readonly memory: number; readonly address: string }): string {
  return `${memory} ${address}`;
}

/** Grains by memory and address: a resealing gives a record other bytes at the same place. */
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  const address = grainRecordAddress(one);
  if (address === undefined) return Buffer.compare(one, other) === 0;
  return address === grainRecordAddress(other) && Buffer.compare(one.subarray(1, 5), other.subarray(1, 5)) === 0;
}

/** Records that can be read; what cannot is for `verify` to name. */
function* recordsOf(log: Log): Generator<readonly [Sequence, EngineRecord]> {
  for (const item of log.scan(1)) if (!(item instanceof CorruptRecord)) yield [item.sequence, decodeRecord(item.bytes)];
}
