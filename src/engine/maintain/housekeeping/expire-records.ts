// Removes records with a limited lifetime: recall records and stored replies. Their values go at once, their index
// entries with the next merge.
import { EngineError } from '../../base/errors.ts';
import { IDEMPOTENCY_KEEP_MS, RECALL_RECORD_DAYS } from '../../base/limits.ts';
import type { Sliced } from '../../index/files/section.ts';
import { CorruptRecord, type Sequence } from '../../log/log.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import type { Store } from '../../store/store.ts';
import type { WriteQueue } from '../../write/queue.ts';
import { CHANGES_MAX, committed } from './committed.ts';

const DAY_MS = 86_400_000;
/**
 * Handles every memory, one transaction after the other. Removals that storage refuses are repeated in the next round.
 */
export function* expireRecords(store: Store, queue: WriteQueue): Sliced<undefined> {
  for (const number of [...store.memoryNumbers()]) {
    const days = recallDays(store, number);
    if (days === undefined) continue;
    yield* expire(store, queue, number, 'recall', days * DAY_MS);
    yield* expire(store, queue, number, 'reply', IDEMPOTENCY_KEEP_MS);
  }
  return undefined;
}

function* expire(
  store: Store,
  queue: WriteQueue,
  number: number,
  kind: 'recall' | 'reply',
  keepMs: number,
): Sliced<void> {
  const beforeMs = store.clock.nowMs() - keepMs;
  let past: Sequence[] = [];
  for (const sequence of store.allKeyed(number, kind)) {
    yield;
    if (store.index.removed.get(sequence)) continue;
    const atMs = timeOf(store, sequence, kind);
    if (atMs === undefined) continue;
    // Entries are in the order of time, so later ones are younger.
    if (atMs >= beforeMs) break;
    past.push(sequence);
    if (past.length < CHANGES_MAX) continue;
    yield* remove(store, queue, number, past);
    past = [];
  }
  if (past.length > 0) yield* remove(store, queue, number, past);
}

function* remove(store: Store, queue: WriteQueue, number: number, past: readonly Sequence[]): Sliced<void> {
  yield* committed(queue, [], past);
  if (store.holds(number)) for (const sequence of past) store.index.markRemoved(number, sequence);
}

/** Undefined for a record that is gone or cannot be read; a verification lists it. */
function timeOf(store: Store, sequence: Sequence, kind: 'recall' | 'reply'): number | undefined {
  try {
    const bytes = store.log.read(sequence);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    return record?.kind === kind ? record.atMs : undefined;
  } catch (error) {
    if (error instanceof CorruptRecord) return undefined;
    throw error;
  }
}

/** How long the memory keeps recall records; undefined when the memory or its policy does not open. */
function recallDays(store: Store, number: number): number | undefined {
  try {
    if (store.isDamaged(number) || !store.holds(number)) return undefined;
    return store.memory(number).governed.rules['retention.provenance_days'] ?? RECALL_RECORD_DAYS;
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}
