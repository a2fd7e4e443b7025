// Lists the memories and keys that were deleted or revoked since a copy of the deployment was made, so that a restored
// copy does not bring them back.
import type { JsonObject } from '../../shards/protocol.ts';
import { ERASURE_MARK, type KeyRecord, type MemoryRecord, type SettingRecord } from './records.ts';
import type { ControlStore } from './store.ts';

export interface RemovedControl {
  /** Memories of the copy that were deleted since, or whose deletion has begun. */
  readonly memories: readonly MemoryRecord[];
  /** Keys of the copy that were revoked since. */
  readonly keys: readonly KeyRecord[];
  /** Keys of the copy whose person was erased since; their current records name no one. */
  readonly erasedKeys: readonly KeyRecord[];
  /** Erasures in memories of the copy that have begun since and are not complete. Each begins anew: the copy has the keys. */
  readonly erasures: readonly SettingRecord[];
}

/** The audit chains show which memories both have in common, and the current one shows which were deleted. */
export function removedFromControl(copy: ControlStore, now: ControlStore): RemovedControl {
  const hashes = new Map<number, string>();
  const deleted = new Set<number>();
  const erasedKeys = new Set<unknown>();
  for (const { seq, hash, event, details } of now.auditEntries()) {
    hashes.set(seq, hash);
    if (event === 'instance.deleted') deleted.add(memoryIn(details));
    if (event === 'auth.key_revoked' && membersOf(details)['erased'] === true)
      erasedKeys.add(membersOf(details)['key_id']);
  }
  for (const { number, deleting } of now.values('memory')) if (deleting === true) deleted.add(number);
  const shared = new Set<number>();
  const sharedKeys = new Set<unknown>();
  for (const { seq, hash, event, details } of copy.auditEntries()) {
    // Each hash covers all entries before it, so nothing after the first difference is shared.
    if (hashes.get(seq) !== hash) break;
    if (event === 'instance.created') shared.add(memoryIn(details));
    if (event === 'auth.key_created') sharedKeys.add(membersOf(details)['key_id']);
  }
  // Records of ended keys may have been removed since, to make room for others.
  const isErased = ({ keyId, erased }: KeyRecord): boolean =>
    erased !== true && (now.get('key', keyId)?.erased === true || erasedKeys.has(keyId));
  const isRevoked = (key: KeyRecord): boolean => {
    const { keyId, revokedAtMs } = key;
    if (revokedAtMs !== undefined || isErased(key)) return false;
    const today = now.get('key', keyId);
    // A first key disappears without an entry when another one replaces it.
    return today === undefined ? sharedKeys.has(keyId) : today.revokedAtMs !== undefined;
  };
  return {
    memories: [...copy.values('memory')].filter(({ number }) => shared.has(number) && deleted.has(number)),
    keys: [...copy.values('key')].filter(isRevoked),
    erasedKeys: [...copy.values('key')].filter(isErased),
    erasures: [...now.values('setting')].flatMap((setting) =>
      copy.get('setting', setting.name) === undefined ? erasureIn(setting, shared) : [],
    ),
  };
}

function erasureIn({ name, value }: SettingRecord, shared: ReadonlySet<number>): readonly SettingRecord[] {
  if (!name.includes(ERASURE_MARK)) return [];
  const { fingerprint: _, ...begun } = value as JsonObject; // an erasure's intent
  return typeof begun['memory'] === 'number' && shared.has(begun['memory']) ? [{ name, value: begun }] : [];
}

function memoryIn(details: string): number {
  const { memory } = membersOf(details);
  return typeof memory === 'number' ? memory : 0;
}

function membersOf(details: string): Readonly<Record<string, unknown>> {
  return JSON.parse(details) as Record<string, unknown>; // entry details are an object
}
