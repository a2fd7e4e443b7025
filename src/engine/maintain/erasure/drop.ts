// Removes the records of a dropped memory from the log. Its keys are gone, so they are unreadable, but they take room.

import type { Sliced } from '../../index/files/section.ts';
import { type SegmentChange, withState } from '../../index/files/segment-change.ts';
import { CorruptRecord, type Sequence } from '../../log/log.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import { governingStates, policyState } from '../../store/rules.ts';
import { damageState, namedState } from '../../store/state-names.ts';
import type { Store } from '../../store/store.ts';
import type { WriteQueue } from '../../write/queue.ts';
import { auditHeadState } from '../housekeeping/audit-heads.ts';
import { CHANGES_MAX, committed } from '../housekeeping/committed.ts';
import { pointsState } from '../housekeeping/points.ts';
import { enforcedState } from './retention.ts';

/** Walks the log once. Keys that a crash left alive are destroyed first. If storage refuses, the walk starts again. */
export function* removeDropped(store: Store, queue: WriteQueue, memory: number): Sliced<SegmentChange | undefined> {
  const key = `drop/${memory}`;
  const ids = Buffer.from(store.log.getState(key) ?? []);
  const doomed: number[] = [];
  for (let at = 0; at + 4 <= ids.length; at += 4) doomed.push(ids.readUInt32BE(at));
  if (doomed.length > 0) store.log.checkOwner?.();
  store.keys.destroy(doomed, store.clock.nowMs());
  let sequences: Sequence[] = [];
  for (const item of store.log.scan(store.momentary.get(memory) ?? 1)) {
    if (!(item instanceof CorruptRecord) && memoryOf(item.bytes) === memory) sequences.push(item.sequence);
    yield;
    if (sequences.length < CHANGES_MAX) continue;
    yield* committed(queue, [], sequences);
    sequences = [];
  }
  yield* committed(queue, [], sequences);
  // From here on only the state names its rules.
  let entries: [string, null][] = [
    [policyState(memory), null],
    [auditHeadState(memory), null],
    [enforcedState(memory), null],
    [damageState(memory), null],
    [namedState(memory), null],
  ];
  for (const prefix of [...governingStates(memory), pointsState(memory)])
    for (const [name] of store.log.scanState(prefix)) {
      entries.push([name, null]);
      yield;
      if (entries.length < CHANGES_MAX) continue;
      yield* committed(queue, entries);
      entries = [];
    }
  yield* committed(queue, entries);
  return withState(yield* store.index.dropMemory(memory), [[key, null]]);
}

/** Live keys of users and scopes of a memory, from the log alone: for a memory whose index cannot be read. */
export function* namedKeys(store: Store, memory: number): Sliced<number[]> {
  const keys = new Set<number>();
  for (const item of store.log.scan(1)) {
    if (!(item instanceof CorruptRecord) && memoryOf(item.bytes) === memory) {
      const record = decodeRecord(item.bytes);
      if (record.kind === 'key' && store.keys.state(record.key) === 'live') keys.add(record.key);
    }
    yield;
  }
  return [...keys];
}

/** The memory follows the kind byte in every record. */
function memoryOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(1);
}
