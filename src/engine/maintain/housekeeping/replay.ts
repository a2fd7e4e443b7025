// Brings the in-memory tails up to the end of the log: at open, and from the first record for a rebuild. Keys take
// precedence over the log: a blob whose key was destroyed replays as removed, and a record of a destroyed key completes
// a destruction that a crash interrupted.
import { EngineError } from '../../base/errors.ts';
import { firstSeqIn } from '../../govern/trail/audit-codec.ts';
import { openGrain } from '../../grain/codec/blob.ts';
import type { ShardIndex } from '../../index/shard-index.ts';
import type { Sequence } from '../../log/log.ts';
import { CorruptRecord } from '../../log/log.ts';
import { type EngineRecord, type GrainRecord, RECORD_KINDS, recallKey } from '../../record/record.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import { indexedOf } from '../../store/indexed.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';

export interface Replayed {
  grains: number;
  /** Records that could not be replayed. */
  errors: number;
}

/** The target of the replay. */
type ReplayTarget = Pick<
  ShardIndex,
  'publish' | 'publishKeyed' | 'markRemoved' | 'markErased' | 'markSuperseded' | 'markVerification'
>;

/** Replays one record into `index`. Returns true when it was a grain that can be found. */
export function replayRecord(store: Store, index: ReplayTarget, sequence: Sequence, record: EngineRecord): boolean {
  const { memory } = record;
  if (!store.holds(memory)) return false;
  switch (record.kind) {
    case 'grain': {
      const opened = openOrNote(store, memory);
      if (opened === undefined) return false;
      const readable = underLiveKey(store, sequence, record);
      if (readable === undefined) {
        index.markRemoved(memory, sequence);
        return false;
      }
      const { blob, address } = store.openRecord(opened, readable);
      const indexed = indexedOf(opened, openGrain(blob), blob, address);
      indexed.ordinal = sequence;
      index.publish(memory, indexed);
      return true;
    }
    case 'status':
      index.publishKeyed(memory, 'status', record.oldOrdinal, sequence);
      if (record.verification !== '') index.markVerification(record.oldOrdinal, record.verification);
      if (record.newOrdinal !== 0) {
        index.publishKeyed(memory, 'predecessor', record.newOrdinal, sequence);
        index.markSuperseded(record.oldOrdinal);
      }
      return false;
    case 'furtherSource':
      index.publishKeyed(memory, 'furtherSource', record.ordinal, sequence);
      return false;
    case 'removal':
      for (const ordinal of record.ordinals)
        if (record.cause === 'erased') index.markErased(memory, ordinal);
        else index.markRemoved(memory, ordinal);
      return false;
    case 'key':
      if (record.keyKind === 'user' || record.keyKind === 'scope') {
        const kind = record.keyKind === 'user' ? 'userKey' : 'scopeKey';
        index.publishKeyed(memory, kind, Buffer.from(record.token).toString('hex'), sequence);
      }
      if (record.action === 'destroyed' && store.keys.state(record.key) === 'live')
        store.keys.destroy([record.key], record.atMs);
      return false;
    case 'audit':
      index.publishKeyed(memory, 'audit', firstSeqIn(record.body), sequence);
      return false;
    case 'reply':
      index.publishKeyed(memory, 'reply', Buffer.from(record.token).toString('hex'), sequence);
      return false;
    case 'recall':
      index.publishKeyed(memory, 'recall', recallKey(record.id), sequence);
      return false;
    case 'setting':
    case 'rule':
      return false; // the state names the current one
  }
}

/** The memory, or undefined when it does not open. Its index then lacks its grains, and is rebuilt once it opens. */
function openOrNote(store: Store, memory: number): Memory | undefined {
  try {
    return store.memory(memory);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    store.damage.note(memory, error.message);
    return undefined;
  }
}

/**
 * The record, unless its key was destroyed. A compaction may have re-sealed the grain and destroyed the old key after
 * the page of the log was read, so the current record decides.
 */
export function underLiveKey(store: Store, sequence: Sequence, record: GrainRecord): GrainRecord | undefined {
  if (!store.isErased(record)) return record;
  const bytes = store.log.read(sequence);
  const now = bytes === undefined ? undefined : decodeRecord(bytes);
  return now?.kind === 'grain' && !store.isErased(now) ? now : undefined;
}

/**
 * Replays the records that `index` lacks, up to `to` (exclusive; default: the serving index's published end, or the
 * log's end if there is none). Yields after each record, so that a caller may interleave work or seal.
 */
export function* replayAfter(
  store: Store,
  index: ShardIndex,
  to: Sequence | undefined,
): Generator<void, Replayed, void> {
  const replayed: Replayed = { grains: 0, errors: 0 };
  const end = to ?? (store.index === index ? undefined : store.index.publishedSequence + 1);
  for (const item of store.log.scan(index.publishedSequence + 1, end)) {
    if (item instanceof CorruptRecord) {
      store.quarantineRecord(item.sequence, item.message);
      replayed.errors += 1;
      continue;
    }
    try {
      if (replayRecord(store, index, item.sequence, decodeRecord(item.bytes))) replayed.grains += 1;
    } catch (error) {
      // A key that must go and cannot be destroyed now must not be forgotten: the next open tries again.
      if (item.bytes[0] === RECORD_KINDS.key) throw error;
      // A record that cannot be opened must not keep the shard closed: health lists it.
      store.quarantineRecord(item.sequence, error instanceof Error ? error.message : String(error));
      replayed.errors += 1;
    }
    yield;
  }
  return replayed;
}
