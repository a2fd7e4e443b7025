// The logs of a deployment in a data directory, with the folders of their keys, and their leases in a store.
import { join } from 'node:path';
import { BucketFiles } from '../../engine/keys/bucket-files.ts';
import type { SlotChange } from '../../engine/keys/buckets.ts';
import { firstIdOf, SLOT_BYTES, SLOTS_PER_BUCKET, slotOffset } from '../../engine/keys/slot.ts';
import { FORMAT_VERSION, OLDEST_FORMAT } from '../../engine/log/format.ts';
import type { LogStamp } from '../../engine/log/lmdb/stamp.ts';
import type { Database } from '../../engine/log/postgres/database.ts';
import { readKeySlots } from '../../engine/log/postgres/key-slots.ts';
import type { StoredKeys } from '../../engine/log/postgres/key-store.ts';
import { Lease } from '../../engine/log/postgres/lease.ts';
import { controlStamp } from '../control/open.ts';

/** For the moves of one log at a time, which may take long. It is renewed at a third of it. */
const LEASE_MS = 60_000;

export interface MovedLog {
  readonly stamp: LogStamp;
  /** The folder of the log, and of its keys. */
  readonly log: string;
  readonly keys: string;
  /** The shard's own folder, with its segments; the control log has none. */
  readonly folder: string | undefined;
  /** Name of its key store. */
  readonly name: string;
}

/** The control log comes last: a server looks for it first. */
export function movedLogs(directory: string, shards: number): readonly MovedLog[] {
  const logs: MovedLog[] = Array.from({ length: shards }, (_, shard) => {
    const name = `shard-${shard}`;
    const folder = join(directory, name);
    const stamp = { formatVersion: FORMAT_VERSION, readsFrom: OLDEST_FORMAT, shard, shards };
    return { stamp, log: join(folder, 'log'), keys: join(directory, 'keys', name), folder, name };
  });
  return [
    ...logs,
    {
      stamp: controlStamp(shards),
      log: join(directory, 'control'),
      keys: join(directory, 'keys', 'control'),
      folder: undefined,
      name: 'control',
    },
  ];
}

/** Takes all logs in the store, or none: STO-E002 while a node holds one. */
export async function takeAll(database: Database, logs: readonly MovedLog[], node: string): Promise<Lease[]> {
  const leases: Lease[] = [];
  try {
    for (const { stamp } of logs) leases.push(await Lease.take(database, { stamp, node, leaseMs: LEASE_MS }));
    return leases;
  } catch (error) {
    await releaseAll(leases);
    throw error;
  }
}

export async function releaseAll(leases: readonly Lease[]): Promise<void> {
  for (const lease of leases) await lease.release();
}

/** The slots of a shard's keys in the store, by id. */
export async function storedSlots(
  database: Database,
  shard: number,
  keys: StoredKeys | undefined,
): Promise<SlotChange[]> {
  const slots = await (keys?.read(database) ?? readKeySlots(database, shard));
  return [...slots].sort(([one], [other]) => one - other);
}

/** The slots of a folder of keys that were ever written, by id. */
export function slotsOf(directory: string, name: string): SlotChange[] {
  const buckets = new BucketFiles(directory, name);
  const slots: SlotChange[] = [];
  for (let bucket = 0; bucket <= buckets.newest; bucket++) {
    const bytes = buckets.read(bucket);
    for (let id = firstIdOf(bucket); bytes !== undefined && id < firstIdOf(bucket) + SLOTS_PER_BUCKET; id++) {
      const slot = bytes.subarray(slotOffset(id), slotOffset(id) + SLOT_BYTES);
      if (slot.some((byte) => byte !== 0)) slots.push([id, Buffer.from(slot)]);
    }
  }
  return slots;
}
