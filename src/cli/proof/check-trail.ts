// Checks a proof of an erasure against the server that issued it: its list of signing keys, and the audit chain.
import { PAGE_LIMIT_MAX } from '../../engine/base/limits.ts';
import { type JsonObject, objectOf, objectsOf } from '../../engine/grain/api/json-value.ts';
import type {
  ProvenEntry,
  RemovalEntry,
  SignedProof,
  SignedRemoval,
  UnsignedProof,
} from '../../server/proofs/erasure-proof.ts';
import type { Connection } from '../connection.ts';
import { failureOf } from '../failure.ts';
import { itemsOf } from '../pages.ts';

export type TrailCheck =
  /** Every entry is there as the proof states it, and the chain is intact. `retiredAt`: of the key, in Unix seconds. */
  | { readonly is: 'in_trail'; readonly retiredAt: number | undefined }
  /** The trail has another entry for the same destroyed key: the data came back from a backup and was erased again. */
  | { readonly is: 'repeated' }
  /** The server signed it, and has no such memory. */
  | { readonly is: 'memory_deleted' }
  | { readonly is: 'unknown_key' | 'not_in_trail' | 'chain_broken'; readonly why: string };

/** Rejects with the server's error, such as MEM-E003 for a memory that was deleted since. */
export async function checkSignedInTrail(connection: Connection, proof: SignedProof): Promise<TrailCheck> {
  const key = await keyOf(connection, proof);
  if (key === undefined) return unknownKey(proof);
  const found = await entriesOf(connection, proof.memory, { event_type: 'user.erased', user: proof.user_id });
  const missing = proof.audit_entries.find((entry) => !found.some((one) => isEntry(one, entry)));
  if (missing !== undefined) {
    if (hasFingerprints(found, proof)) return { is: 'repeated' };
    return notInTrail(proof.memory, `entry ${missing.seq} of partition ${missing.partition}`);
  }
  return chainOf(connection, proof.memory, retiredAtOf(key));
}

/** A proof about a scope or a memory. */
export async function checkRemovalInTrail(connection: Connection, proof: SignedRemoval): Promise<TrailCheck> {
  const key = await keyOf(connection, proof);
  if (key === undefined) return unknownKey(proof);
  if (proof.of === 'memory') return checkDeleted(connection, proof);
  const found = await entriesOf(connection, proof.memory, { event_type: 'scope.erased', user: undefined });
  const missing = proof.audit_entries.find((entry) => !found.some((one) => isEntry(one, entry)));
  if (missing !== undefined)
    return notInTrail(proof.memory, `entry ${missing.seq} of partition ${missing.partition ?? 0}`);
  if (proof.audit_entries.length === 0 && proof.result === 'erased')
    return notInTrail(proof.memory, 'an entry, because the proof names none');
  return chainOf(connection, proof.memory, retiredAtOf(key));
}

async function checkDeleted(connection: Connection, { memory }: SignedRemoval): Promise<TrailCheck> {
  try {
    await connection.json('GET', `/memories/${encodeURIComponent(memory)}`);
  } catch (error) {
    if (failureOf(error).code === 'MEM-E003') return { is: 'memory_deleted' };
    throw error;
  }
  return {
    is: 'not_in_trail',
    why: `the server has a memory ${memory} again: it was created anew, or restored from a backup`,
  };
}

type Signed = Pick<SignedProof, 'public_key' | 'key_id'>;

async function keyOf(connection: Connection, { public_key: wanted }: Signed): Promise<JsonObject | undefined> {
  const { keys } = await connection.json('GET', '/proof-keys');
  return objectsOf(keys).find(({ public_key }) => public_key === wanted);
}

function unknownKey({ key_id }: Signed): TrailCheck {
  return { is: 'unknown_key', why: `this server never signed with the key ${key_id}: it did not issue this proof` };
}

function retiredAtOf({ retired_at: retiredAt }: JsonObject): number | undefined {
  return typeof retiredAt === 'number' ? retiredAt : undefined;
}

/** A proof of version 1 in the memory that it names, or else in `memory`. */
export async function checkUnsignedInTrail(
  connection: Connection,
  proof: UnsignedProof,
  memory: string,
): Promise<TrailCheck> {
  const id = proof.memory ?? memory;
  const { audit_entry_hash } = proof;
  if (audit_entry_hash === undefined) return notInTrail(id, 'an entry, because the proof names none');
  const found = await entriesOf(connection, id, { event_type: 'user.erased', user: proof.user_id });
  const entry = found.find(({ hash }) => hash === audit_entry_hash);
  if (entry === undefined || entry['timestamp'] === undefined) return notInTrail(id, 'the entry that the proof names');
  const isOne = found.every(({ partition }) => partition === entry['partition']);
  const { count, key_fingerprint } = detailsOf(entry);
  // A repeated erasure answers with the count 0. Over several partitions, the proof holds sums.
  if (isOne && (key_fingerprint !== proof.key_fingerprint || (proof.count !== 0 && count !== proof.count)))
    return notInTrail(id, 'an entry with the count and the fingerprint of the proof');
  return chainOf(connection, id, undefined);
}

/** The entries of one type, of one person where the proof names one. */
async function entriesOf(
  connection: Connection,
  memory: string,
  which: { readonly event_type: string; readonly user: string | undefined },
): Promise<JsonObject[]> {
  const query = { ...which, limit: PAGE_LIMIT_MAX };
  const entries: JsonObject[] = [];
  for await (const entry of itemsOf(connection, pathOf(memory), 'entries', query)) entries.push(entry);
  return entries;
}

function isEntry(
  one: JsonObject,
  { partition, seq, count, key_fingerprint, hash }: ProvenEntry | RemovalEntry,
): boolean {
  const details = detailsOf(one);
  return (
    one['hash'] === hash &&
    one['partition'] === partition &&
    one['seq'] === seq &&
    details['count'] === count &&
    details['key_fingerprint'] === key_fingerprint
  );
}

function hasFingerprints(found: readonly JsonObject[], { audit_entries }: SignedProof): boolean {
  const known = new Set(found.map((entry) => detailsOf(entry)['key_fingerprint']));
  return audit_entries.length > 0 && audit_entries.every(({ key_fingerprint }) => known.has(key_fingerprint));
}

function detailsOf(entry: JsonObject): JsonObject {
  return objectOf(entry['details']);
}

function notInTrail(memory: string, what: string): TrailCheck {
  return { is: 'not_in_trail', why: `the audit trail of the memory ${memory} does not have ${what}` };
}

async function chainOf(connection: Connection, memory: string, retiredAt: number | undefined): Promise<TrailCheck> {
  const page = await connection.json('GET', pathOf(memory), { query: { verify: true, limit: 1 } });
  if (page['chain_valid'] === true) return { is: 'in_trail', retiredAt };
  return {
    is: 'chain_broken',
    why: `the audit chain of the memory ${memory} is broken: granary audit --verify says the same`,
  };
}

function pathOf(memory: string): string {
  return `/memories/${encodeURIComponent(memory)}/audit`;
}
