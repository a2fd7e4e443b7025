// After a rotation: re-seals grains under older versions of a memory's blob key, then destroys those versions. In a
// memory of an older build it also enciphers plain hashes.

import { RESEAL_BYTES_MAX, RESEAL_RECORDS_MAX } from '../../base/limits.ts';
import type { CallContext } from '../../calls/context.ts';
import { CorruptRecord, type LogRecord, type Sequence } from '../../log/log.ts';
import { isGrainRecord, isPlainRecord } from '../../record/record.ts';
import { namedState, oldBlobKeyState } from '../../store/state-names.ts';
import type { Store } from '../../store/store.ts';
import { auditPlan } from '../../write/plans.ts';
import type { WriteQueue } from '../../write/queue.ts';
import { resealPlan } from '../../write/reseal.ts';
import type { Housekeeper } from './housekeeper.ts';
import { inSlices } from './slices.ts';

/**
 * Resolves to the number of re-sealed grains. Reads and writes continue. Keys are destroyed only when no record needs
 * them, and their notes are removed last, so the next call completes what a crash or a bad record left.
 */
export async function resealBlobs(
  {
    store,
    queue,
    housekeeper,
  }: { readonly store: Store; readonly queue: WriteQueue; readonly housekeeper: Housekeeper },
  caller: CallContext,
): Promise<number> {
  const { number } = store.memory(caller.memory);
  // A rotation during this call notes its own old key, for the next call.
  const old = store.oldBlobKeys(number);
  const isNamed = store.log.getState(namedState(number)) !== undefined;
  if (old.length === 0 && isNamed) return 0;
  // Steps of a long call have no deadline and no idempotency key.
  const { deadlineMs: _, idempotency: __, ...context } = caller;
  const keys = new Set(old);
  const records = store.log.scan(1, store.log.nextSequence);
  let resealed = 0;
  let left = 0;
  for (;;) {
    const found = await inSlices(nextToSeal(records, number, keys));
    left += found.unreadable;
    if (found.sequences.length === 0) break;
    const done = await queue.push('reseal', resealPlan, context, { sequences: found.sequences, keys });
    resealed += done.resealed;
    left += done.left;
  }
  if (left > 0) return resealed;
  if (!isNamed) await queue.commitState([[namedState(number), Uint8Array.of(1)]]);
  if (old.length === 0) return resealed;
  const prints = await destroyed({ store, housekeeper }, { number, keys: old });
  for (const { fingerprint } of prints)
    await queue.push('audit', auditPlan, context, {
      event: 'key.destroyed',
      actor: context.actor,
      subject: '',
      details: { key_fingerprint: fingerprint },
    });
  await queue.commitState(old.map((id) => [oldBlobKeyState(number, id), null]));
  return resealed;
}

/** Not during a backup: the log that it copies may have grains under these keys, which it copies last. */
async function destroyed(
  { store, housekeeper }: { readonly store: Store; readonly housekeeper: Housekeeper },
  { number, keys }: { readonly number: number; readonly keys: readonly number[] },
): Promise<ReturnType<Store['keys']['destroy']>> {
  await housekeeper.pause();
  try {
    store.log.checkOwner?.();
    const prints = store.keys.destroy(keys, store.clock.nowMs());
    store.memory(number).dropKeys();
    return prints;
  } finally {
    housekeeper.resume();
  }
}

/** The next records of the memory to rewrite, as many as one group takes; none at the end of the log. */
function* nextToSeal(
  records: IterableIterator<LogRecord | CorruptRecord>,
  memory: number,
  keys: ReadonlySet<number>,
): Generator<void, { readonly sequences: Sequence[]; readonly unreadable: number }, void> {
  const sequences: Sequence[] = [];
  let unreadable = 0;
  let bytes = 0;
  while (sequences.length < RESEAL_RECORDS_MAX && bytes < RESEAL_BYTES_MAX) {
    const { value: item, done } = records.next();
    if (done === true) break;
    if (item instanceof CorruptRecord) unreadable += 1;
    else if (isToSeal(item.bytes, memory, keys)) {
      sequences.push(item.sequence);
      bytes += item.bytes.length;
    }
    yield;
  }
  return { sequences, unreadable };
}

/** Memory and key come first, so the blob after them need not be read. */
function isToSeal(bytes: Uint8Array, memory: number, keys: ReadonlySet<number>): boolean {
  const isPlain = isPlainRecord(bytes);
  if (!isPlain && !isGrainRecord(bytes)) return false;
  const head = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return head.getUint32(1) === memory && (isPlain || keys.has(head.getUint32(5)));
}
