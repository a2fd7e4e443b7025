// Signs the proof that a scope was erased or a memory deleted, when that was done. A repeated erasure of a scope signs anew;
// a deleted memory has no trail to make another proof from.
import { defined } from '../../engine/base/defined.ts';
import type { ScopeProof } from '../../engine/calls/erasure.ts';
import type { Context } from '../context.ts';
import { VERSION } from '../version.ts';
import {
  PROOF_FORMAT,
  REMOVAL_VERSION,
  type RemovalEntry,
  type RemovalStatement,
  type SignedRemoval,
  signedBytes,
} from './erasure-proof.ts';

/** Newest erasures of scopes that are looked at. */
const ENTRIES_MAX = 500;

type Erased = { readonly path: string; readonly timestamp: number; readonly proofs: readonly ScopeProof[] };

/** The proof of an erasure that `eraseScope` has just carried out, or found done before. */
export async function issueScopeProof(context: Context, { path, timestamp, proofs }: Erased): Promise<SignedRemoval> {
  const entries = await entriesOf(context, proofs);
  const { purgePending = 0 } = await context.call('statistics', {});
  const redactionsPending = context.services.erasures.isPending(context.memory.number);
  const keyFingerprints = proofs.flatMap(({ keyFingerprint }) => (keyFingerprint === '' ? [] : [keyFingerprint]));
  const isHeld = keyFingerprints.length > 0 || proofs.some(({ count }) => count > 0);
  return signed(context, {
    of: 'scope',
    result: isHeld ? 'erased' : 'nothing_held',
    scope_path: path,
    // A repeated erasure removes nothing: the trail has the count of the first one.
    count: Math.max(
      proofs.reduce((sum, { count }) => sum + count, 0),
      entries.reduce((sum, { count = 0 }) => sum + count, 0),
    ),
    key_fingerprints: keyFingerprints,
    timestamp,
    audit_entries: entries,
    purge: {
      state: purgePending === 0 && !redactionsPending ? 'complete' : 'pending',
      partitions_pending: purgePending,
      redactions_pending: redactionsPending,
      as_of: new Date(context.services.clock.nowMs()).toISOString(),
    },
  });
}

/** The proof of the deletion of the context's memory, which the deployment's trail has. */
export function issueMemoryProof(context: Context, keyFingerprint: string): SignedRemoval {
  const { control } = context.services;
  let entry: RemovalEntry | undefined;
  let timestamp = 0;
  for (const { seq, event, hash, details, timestamp: at } of control.auditEntries()) {
    if (event !== 'instance.deleted') continue;
    const { memory } = JSON.parse(details) as { readonly memory?: unknown }; // canonical JSON of a flat object
    if (memory !== context.memory.number) continue;
    entry = { seq, key_fingerprint: keyFingerprint, hash };
    timestamp = at;
  }
  return signed(context, {
    of: 'memory',
    result: 'erased',
    key_fingerprints: keyFingerprint === '' ? [] : [keyFingerprint],
    timestamp,
    audit_entries: entry === undefined ? [] : [entry],
  });
}

type Stated = Omit<
  RemovalStatement,
  'format' | 'version' | 'memory' | 'erased_at' | 'issued_at' | 'issuer' | 'key_id' | 'public_key'
>;

function signed({ services, memory }: Context, stated: Stated): SignedRemoval {
  const { proofKeys, clock } = services;
  const signer = proofKeys.list()[0]!; // list: at least one
  const statement: RemovalStatement = defined({
    format: PROOF_FORMAT,
    version: REMOVAL_VERSION,
    memory: memory.id,
    ...stated,
    erased_at: new Date(stated.timestamp * 1000).toISOString(),
    issued_at: new Date(clock.nowMs()).toISOString(),
    issuer: `granary ${VERSION}`,
    key_id: signer.keyId,
    public_key: signer.publicKey,
  });
  return { ...statement, signature: proofKeys.sign(signedBytes(statement)).signature };
}

/** The entries of these erasures. An entry names its scope by a token, so the key's fingerprint tells which path it has. */
async function entriesOf(context: Context, proofs: readonly ScopeProof[]): Promise<readonly RemovalEntry[]> {
  const filter = { events: ['scope.erased'] } as const;
  const { entries } = await context.call('auditPage', { filter, limit: ENTRIES_MAX, order: 'desc' });
  return proofs.flatMap(({ path, keyFingerprint, ofPartitions = [keyFingerprint] }) =>
    entries
      .filter(({ details }) => ofPartitions.some((one) => one !== '' && one === details['key_fingerprint']))
      .sort((one, other) => one.partition - other.partition)
      .map(({ partition, seq, details, hash }) => ({
        partition,
        seq,
        scope_path: path,
        count: Number(details['count']),
        key_fingerprint: String(details['key_fingerprint']),
        hash,
      })),
  );
}
