// Issues the signed proof of a person's erasure, from the audit trail: so an erasure is proven whichever way it was asked
// for, and again whenever somebody asks.
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { mergeFingerprints } from '../../shards/gather/merge.ts';
import type { AuditView } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';
import { VERSION } from '../version.ts';
import { entriesAbout } from './entries-about.ts';
import {
  commitTo,
  PROOF_FORMAT,
  PROOF_VERSION,
  type ProofStatement,
  type ProvenEntry,
  type SignedProof,
  signedBytes,
} from './erasure-proof.ts';

/** Erasures of one person that are looked at, the newest first. */
const ENTRIES_MAX = 500;

/**
 * The proof of the last erasure of the person in the context's memory. Throws DSR-E003 when the trail has none.
 * `unknownAtMs`: when an erasure found no such person; then the proof states that, where there is no other one.
 */
export async function issueProof(context: Context, userId: string, unknownAtMs?: number): Promise<SignedProof> {
  const entries = await erasuresOf(context, userId);
  if (entries.length === 0 && unknownAtMs === undefined)
    throw new EngineError('DSR-E003', 'the audit trail has no erasure of this person');
  const { services, memory } = context;
  const { proofKeys, erasures, clock } = services;
  const { salt, commitment } = commitTo(userId);
  const proven = entries.map(provenEntry);
  const timestamp =
    entries.length === 0 ? Math.floor((unknownAtMs ?? 0) / 1000) : Math.max(...entries.map((entry) => entry.timestamp));
  const { purgePending = 0 } = await context.call('statistics', {});
  const redactionsPending = erasures.isPending(memory.number);
  const now = new Date(clock.nowMs()).toISOString();
  const signer = proofKeys.list()[0]!; // list: at least one
  const statement: ProofStatement = defined({
    format: PROOF_FORMAT,
    version: PROOF_VERSION,
    result: entries.length === 0 ? 'nothing_held' : 'erased',
    memory: memory.id,
    user_commitment: commitment,
    count: proven.reduce((sum, { count }) => sum + count, 0),
    key_fingerprint: mergeFingerprints(proven.map(({ key_fingerprint }) => key_fingerprint)),
    timestamp,
    erased_at: new Date(timestamp * 1000).toISOString(),
    audit_entries: proven,
    purge: {
      state: purgePending === 0 && !redactionsPending ? 'complete' : 'pending',
      partitions_pending: purgePending,
      redactions_pending: redactionsPending,
      as_of: now,
    },
    issued_at: now,
    issuer: `granary ${VERSION}`,
    key_id: signer.keyId,
    public_key: signer.publicKey,
    audit_entry_hash: proven[0]?.hash,
  });
  const { signature } = proofKeys.sign(signedBytes(statement));
  return { ...statement, user_id: userId, salt, signature };
}

/** The newest entry `user.erased` about the person in each partition, in the order of the partitions. */
async function erasuresOf(context: Context, userId: string): Promise<readonly AuditView[]> {
  const { entries } = await entriesAbout(context, userId, { events: ['user.erased'] }, ENTRIES_MAX);
  const newest = new Map<number, AuditView>();
  for (const entry of entries)
    if ((newest.get(entry.partition)?.seq ?? 0) < entry.seq) newest.set(entry.partition, entry);
  return [...newest.values()].sort((one, other) => one.partition - other.partition);
}

function provenEntry({ partition, seq, details, hash }: AuditView): ProvenEntry {
  return {
    partition,
    seq,
    count: Number(details['count']),
    key_fingerprint: String(details['key_fingerprint']),
    hash,
  };
}
