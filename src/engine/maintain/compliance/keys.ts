// Evidence on the keys of a memory and its users, and on the remains of destroyed keys.

import { defined } from '../../base/defined.ts';
import { EngineError } from '../../base/errors.ts';
import type { ErasureEvidence, KeyEvidence } from '../../calls/compliance.ts';
import { KEY_BYTES } from '../../crypto/envelope.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { Ordinal } from '../../index/parts/part.ts';
import { NO_KEY } from '../../keys/key-store.ts';
import { peekedHead } from '../../record/grain-head.ts';
import type { GrainRecord, KeyRecord } from '../../record/record.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import type { ErasedEntry } from './trail.ts';

/** Keys that are unwrapped for it. Of more keys, the newest are taken. */
const KEYS_LOOKED_AT_MAX = 5_000;

/** Every record about users' keys, oldest first. */
function* userKeyRecords(store: Store, memory: Memory): Sliced<KeyRecord[]> {
  const records: KeyRecord[] = [];
  for (const sequence of store.allKeyed(memory.number, 'userKey')) {
    const bytes = store.log.read(sequence);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    if (record?.kind === 'key') records.push(record);
    yield;
  }
  return records;
}

export function* keyEvidence(store: Store, memory: Memory): Sliced<KeyEvidence> {
  const { keys } = store;
  const { blob, token, index } = memory.keyIds;
  const records = yield* userKeyRecords(store, memory);
  const liveByUser = new Map<string, Set<number>>();
  let oldestUserKeyMs: number | undefined;
  for (const { key, action, token: user, atMs } of records) {
    if (action !== 'made' || keys.state(key) !== 'live') continue;
    oldestUserKeyMs = Math.min(oldestUserKeyMs ?? Number.POSITIVE_INFINITY, atMs);
    const name = Buffer.from(user).toString('hex');
    const live = liveByUser.get(name);
    if (live === undefined) liveByUser.set(name, new Set([key]));
    else live.add(key);
    yield;
  }
  const userKeys = [...liveByUser.values()].flatMap((ids) => [...ids]);
  const looked = [blob, token, index, ...store.namedKeys.liveScopes(memory), ...userKeys.slice(-KEYS_LOOKED_AT_MAX)];
  let unwrappable = 0;
  let inClear = 0;
  const prints = new Map<number, string>();
  for (const id of looked) {
    const inspection = keys.inspect(id);
    prints.set(id, inspection?.fingerprint ?? '');
    if (inspection === undefined || !inspection.unwraps || inspection.keyBytes !== KEY_BYTES) unwrappable += 1;
    else if (inspection.inClear) inClear += 1;
    yield;
  }
  const separate = (id: number): boolean =>
    prints.get(id) !== '' && [...prints].every(([other, print]) => other === id || print !== prints.get(id));
  return defined({
    checked: looked.length,
    unwrappable,
    inClear,
    newestMadeMs: keys.inspect(blob)?.createdMs ?? 0,
    oldestUserKeyMs,
    users: liveByUser.size,
    usersWithSeveral: [...liveByUser.values()].filter((ids) => ids.size > 1).length,
    tokenKeyIsSeparate: separate(token),
    indexKeyIsSeparate: separate(index),
  });
}

/** The remains of erased users: their keys, grains, index rows, and the trail of each erasure. */
export function* erasureEvidence(
  store: Store,
  memory: Memory,
  live: readonly Ordinal[],
  entries: { readonly erased: readonly ErasedEntry[]; readonly destroyed: ReadonlySet<string> },
): Sliced<ErasureEvidence> {
  const destroyed = new Map<number, KeyRecord>();
  for (const record of yield* userKeyRecords(store, memory))
    if (record.action === 'destroyed' || store.keys.state(record.key) === 'destroyed')
      destroyed.set(record.key, record);
  let keysLeft = 0;
  let cached = 0;
  for (const key of destroyed.keys()) {
    if (store.keys.state(key) === 'live') keysLeft += 1;
    if (derives(memory, key)) cached += 1;
    yield;
  }
  // Without an erasure no record has to be searched.
  const grainsLeft = destroyed.size === 0 ? 0 : yield* grainsUnder(store, live, destroyed);
  const byPrint = new Map(
    [...destroyed.values()].map((record) => [Buffer.from(record.fingerprint).toString('hex'), record]),
  );
  const broken = entries.erased.filter((entry) => !isWholeProof(store, entry, byPrint.get(entry.fingerprint)));
  return {
    erased: destroyed.size,
    keysLeft,
    grainsLeft,
    rowsLeft: grainsLeft,
    cached,
    purgePending: store.purgePending.has(memory.number),
    proofs: entries.erased.length,
    brokenProofs: broken.length,
    withoutKeyEntry: entries.erased.filter(({ fingerprint }) => !entries.destroyed.has(fingerprint)).length,
  };
}

/** Grains under a destroyed key: one of these, or a scope's. */
function* grainsUnder(
  store: Store,
  live: readonly Ordinal[],
  destroyed: ReadonlyMap<number, KeyRecord>,
): Sliced<number> {
  const known = new Map<number, boolean>([[NO_KEY, false]]);
  const isGone = (key: number): boolean => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const gone = destroyed.has(key) || store.keys.state(key) === 'destroyed';
    known.set(key, gone);
    return gone;
  };
  let grains = 0;
  for (const ordinal of live) {
    const under = grainKeysAt(store, ordinal);
    if (under !== undefined && (isGone(under.key) || isGone(under.scopeKey))) grains += 1;
    yield;
  }
  return grains;
}

/** The keys of a grain, of its user (or the memory) and its scope; undefined when it is not a grain. */
export function grainKeysAt({ log }: Store, ordinal: Ordinal): Pick<GrainRecord, 'key' | 'scopeKey'> | undefined {
  // Unverified: all records are read, and a damaged one is no evidence either way.
  if (log.peek !== undefined) return log.peek(ordinal, peekedHead);
  const bytes = log.read(ordinal);
  return bytes === undefined ? undefined : peekedHead(Buffer.from(bytes));
}

/**
 * True when the audit entry names a user, a count and a fingerprint, and the key's own record agrees, with the same
 * time.
 */
function isWholeProof(store: Store, entry: ErasedEntry, record: KeyRecord | undefined): boolean {
  const { user, count, fingerprint, timestamp } = entry;
  if (!/^user:[0-9a-f]{32}$/.test(user) || !Number.isInteger(count) || !/^[0-9a-f]{16}$/.test(fingerprint))
    return false;
  if (record === undefined || Math.floor(record.atMs / 1000) !== timestamp) return false;
  return store.keys.tombstone(record.key)?.fingerprint === fingerprint;
}

/** True when the keys of a destroyed key's grains can still be derived in this process. */
function derives(memory: Memory, key: number): boolean {
  try {
    memory.grainKey(key, 0);
    return true;
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}
