// The restores that the deployment went through. A restored log uses the numbers of lost events again. So a cursor
// carries the epoch of its numbers: the time from one restore to the next. Before the first restore the epoch is empty.
import { randomBytes } from 'node:crypto';
import { RESTORES_NOTED_MAX } from '../../engine/base/limits.ts';
import type { Fork } from '../../engine/calls/events.ts';
import { shardOf } from '../../shards/gather/placement.ts';
import type { Change } from '../control/group.ts';
import { base32 } from '../control/ids.ts';
import type { ControlStore } from '../control/store.ts';

export interface Restore {
  /** Names the time that begins with this restore. */
  readonly epoch: string;
  /** The epoch of the backup when it was taken. */
  readonly before: string;
  /** For each shard, the last record of its log that the backup has. */
  readonly lastRecords: readonly number[];
}

const SETTING = 'restores';
/** Eight characters. */
const EPOCH_BYTES = 5;

export const EPOCH = /^[a-z2-7]{8}$/;

/** The restores of the deployment, oldest first. They do not change while a server runs. */
export function restoresOf(control: Pick<ControlStore, 'get'>): readonly Restore[] {
  return (control.get('setting', SETTING)?.value ?? []) as unknown as readonly Restore[]; // written by noteRestore
}

/** Notes that the deployment is being restored from a backup whose shards' logs end at these records. */
export function noteRestore(
  change: Pick<Change, 'put'>,
  control: Pick<ControlStore, 'get'>,
  lastRecords: readonly number[],
): void {
  const restores = restoresOf(control);
  const epoch = base32(randomBytes(EPOCH_BYTES), 0, EPOCH_BYTES);
  const all = [...restores, { epoch, before: epochOf(restores), lastRecords }].slice(-RESTORES_NOTED_MAX);
  const value = all.map((restore) => ({ ...restore, lastRecords: [...restore.lastRecords] }));
  change.put('setting', { name: SETTING, value });
}

/** The epoch of events that happen now. */
export function epochOf(restores: readonly Restore[]): string {
  return restores.at(-1)?.epoch ?? '';
}

/** The restores as the shard of a memory's partition saw them. */
export function forksOf(restores: readonly Restore[], memory: number, partition: number): readonly Fork[] {
  return restores.map(({ epoch, lastRecords }) => ({
    epoch,
    lastRecord: lastRecords[shardOf(memory, partition, lastRecords.length)]!,
  }));
}
