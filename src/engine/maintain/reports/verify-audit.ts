import type { AuditCheck } from '../../calls/trail.ts';
import { type AuditEntry, type AuditHead, checkChain, GENESIS } from '../../govern/trail/audit.ts';
import { decodeAuditBody } from '../../govern/trail/audit-codec.ts';
import type { Sequence } from '../../log/log.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import type { Store } from '../../store/store.ts';
import { notedHead } from '../housekeeping/audit-heads.ts';
import { inSlices } from '../housekeeping/slices.ts';

/**
 * Recomputes the audit chain of a memory's partition, oldest first. With `limit`, only the records that hold its newest
 * `limit` entries, trusting the hash before them. A record that is missing or does not decode is bad at its first seq.
 */
export function verifyAudit(store: Store, memory: number, partition: number, limit?: number): Promise<AuditCheck> {
  return inSlices(check(store, memory, partition, limit));
}

function* check(
  store: Store,
  memory: number,
  partition: number,
  limit: number | undefined,
): Generator<void, AuditCheck, void> {
  const committed = store.auditHead(memory);
  const noted = notedHead(store, store.memory(memory));
  const sequences = store.allKeyed(memory, 'audit');
  const stretch =
    limit === undefined ? { from: 0, head: GENESIS } : yield* newest(store, sequences, committed.seq - limit);
  // The head that the next record must continue.
  let { head } = stretch;
  let checked = 0;
  const bad = (seq: number): AuditCheck => ({ valid: false, checked, firstBadSeq: seq, partition });
  for (let at = stretch.from; at < sequences.length; at++) {
    const entries = entriesAt(store, sequences[at]!);
    const last = entries?.at(-1);
    if (entries === undefined || last === undefined) return bad(head.seq + 1);
    const result = checkChain(head, entries);
    if ('badSeq' in result) return bad(result.badSeq);
    head = result.head;
    checked += entries.length;
    // Its hashes are consistent, but the noted entry differs: the chain was rewritten at least up to here.
    const then = noted === undefined ? undefined : entries.find(({ seq }) => seq === noted.seq);
    if (then !== undefined && then.hash !== noted?.hash) return bad(then.seq);
    yield;
  }
  // A chain that lost its end still checks. The committed head and the noted one reveal it.
  if (head.seq < Math.max(committed.seq, noted?.seq ?? 0)) return bad(head.seq + 1);
  return { valid: true, checked, partition };
}

/** The records that hold the entries after `seq`, and the head that the record before them passes on. */
function* newest(
  store: Store,
  sequences: readonly Sequence[],
  seq: number,
): Generator<void, { readonly from: number; readonly head: AuditHead }, void> {
  for (let at = sequences.length - 1; at >= 0; at--) {
    const last = entriesAt(store, sequences[at]!)?.at(-1);
    if (last !== undefined && last.seq <= seq) return { from: at + 1, head: { seq: last.seq, hash: last.hash } };
    yield;
  }
  return { from: 0, head: GENESIS };
}

function entriesAt(store: Store, sequence: Sequence): AuditEntry[] | undefined {
  try {
    const bytes = store.log.read(sequence);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    return record?.kind === 'audit' ? decodeAuditBody(record.body) : undefined;
  } catch {
    // Wrong checksum or layout: either way the expected entries are missing.
    return undefined;
  }
}
