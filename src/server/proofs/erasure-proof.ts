// The signed proof of an erasure: what it states, which bytes are signed, and how anybody checks it. Version 2 is about a
// person, version 3 about a scope or a memory.
//
// The signature covers `granary-erasure-proof-v` with the version, a line feed, and the canonical JSON (RFC 8785) of all members but `user_id`, `salt` and
// `signature`. `user_commitment` is the SHA-256 of the salt, a line feed and the id of the person. So the proof can be kept
// without the two members that name the person: its signature stays valid, and nobody can guess whom it is about.
import { hash, randomBytes } from 'node:crypto';
import { isSignedBy, keyIdOf } from './proof-keys.ts';

export const PROOF_FORMAT = 'granary-erasure-proof';
export const PROOF_VERSION = 2;
/** The version of a proof about a scope or a memory. */
export const REMOVAL_VERSION = 3;
const CONTEXT = 'granary-erasure-proof-v';
const SALT_BYTES = 16;

/** An entry `user.erased` of the audit trail, which the proof names. */
export interface ProvenEntry {
  readonly partition: number;
  readonly seq: number;
  /** Grains that this entry counts. */
  readonly count: number;
  readonly key_fingerprint: string;
  readonly hash: string;
}

export interface PurgeState {
  /** `complete`: indexes and write-ahead files are rewritten, and other people's grains that named the person redacted. */
  readonly state: 'pending' | 'complete';
  /** Partitions of the memory whose index is still to be rewritten without what the erasure took. */
  readonly partitions_pending: number;
  /** Whether grains of others that name an erased person are still to be redacted. */
  readonly redactions_pending: boolean;
  /** ISO 8601 in UTC. */
  readonly as_of: string;
}

/** The members that are signed. */
export interface ProofStatement {
  readonly format: typeof PROOF_FORMAT;
  readonly version: typeof PROOF_VERSION;
  /** `erased`: a key was destroyed. `nothing_held`: the memory knew no such person, and remembers that. */
  readonly result: 'erased' | 'nothing_held';
  /** Id of the memory. */
  readonly memory: string;
  readonly user_commitment: string;
  /** Grains, all versions. */
  readonly count: number;
  /** Empty with `nothing_held`. */
  readonly key_fingerprint: string;
  /** Seconds. */
  readonly timestamp: number;
  /** The same time, ISO 8601 in UTC. */
  readonly erased_at: string;
  /** Of the first entry; absent with `nothing_held`. */
  readonly audit_entry_hash?: string;
  /** One for each partition that erased something, in their order. */
  readonly audit_entries: readonly ProvenEntry[];
  readonly purge: PurgeState;
  /** ISO 8601 in UTC. */
  readonly issued_at: string;
  readonly issuer: string;
  readonly key_id: string;
  readonly public_key: string;
}

export interface SignedProof extends ProofStatement {
  /** Absent, with `salt`, once the proof was stripped of the person. */
  readonly user_id?: string;
  readonly salt?: string;
  readonly signature: string;
}

/** An entry `scope.erased` of the memory's trail, or `instance.deleted` of the deployment's. */
export interface RemovalEntry extends Omit<ProvenEntry, 'partition' | 'count'> {
  /** Absent for a memory: the deployment has one chain. */
  readonly partition?: number;
  readonly count?: number;
  readonly scope_path?: string;
}

/** The members that are signed, of a proof about a scope or a memory. */
export interface RemovalStatement
  extends Pick<ProofStatement, 'format' | 'memory' | 'timestamp' | 'erased_at' | 'issued_at' | 'issuer'> {
  readonly version: typeof REMOVAL_VERSION;
  readonly of: 'scope' | 'memory';
  readonly result: 'erased' | 'nothing_held';
  /** Only for a scope. */
  readonly scope_path?: string;
  /** Grains, all versions; only for a scope. */
  readonly count?: number;
  /** Of the destroyed keys, in the order of their scopes; empty where no key was destroyed. */
  readonly key_fingerprints: readonly string[];
  readonly audit_entries: readonly RemovalEntry[];
  /** Only for a scope. */
  readonly purge?: PurgeState;
  readonly key_id: string;
  readonly public_key: string;
}

export interface SignedRemoval extends RemovalStatement {
  readonly signature: string;
}

export function isRemoval(proof: SignedProof | SignedRemoval): proof is SignedRemoval {
  return proof.version === REMOVAL_VERSION;
}

/** Draws a salt, and commits to the person with it. */
export function commitTo(userId: string): { readonly salt: string; readonly commitment: string } {
  const salt = randomBytes(SALT_BYTES).toString('base64url');
  return { salt, commitment: commitmentOf(salt, userId) };
}

function commitmentOf(salt: string, userId: string): string {
  return hash('sha256', `${salt}\n${userId}`, 'hex');
}

/** The same proof without the members that name the person. */
export function withoutPerson({ user_id: _, salt: __, ...rest }: SignedProof): SignedProof {
  return rest;
}

/** The bytes that are signed. */
export function signedBytes(proof: ProofStatement | RemovalStatement): Buffer {
  const { user_id: _, salt: __, signature: ___, ...statement } = proof as SignedProof; // a statement has none of them
  return Buffer.from(`${CONTEXT}${proof.version}\n${canonicalJson(statement)}`, 'utf8');
}

/** JSON with members in the order of their names and without white space. A proof holds strings, booleans and integers. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}

/** The result of a check without a server. */
export type ProofCheck =
  /** The signature is that of `keyId`, and the named person is the one whom the proof commits to. */
  | { readonly is: 'valid'; readonly proof: SignedProof | SignedRemoval }
  /** A proof of version 1: no signature. */
  | { readonly is: 'unsigned'; readonly proof: UnsignedProof }
  | { readonly is: 'tampered' | 'wrong_key' | 'unknown_version' | 'malformed'; readonly why: string };

/** The proof as earlier versions wrote it: the answer of the erasure, without a signature. */
export interface UnsignedProof {
  readonly memory?: string;
  readonly user_id: string;
  readonly count: number;
  readonly key_fingerprint: string;
  readonly timestamp: number;
  readonly audit_entry_hash?: string;
}

/** Checks the text of a proof file. `publicKey`: 32 bytes that the caller trusts; absent: the key in the file. */
export function checkProof(text: string, publicKey?: Uint8Array): ProofCheck {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { is: 'malformed', why: 'the file is not JSON: it may be cut off, or not be a proof' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { is: 'malformed', why: 'the file holds no JSON object' };
  const proof = value as Record<string, unknown>; // an object
  if (proof['format'] === undefined && proof['version'] === undefined) return checkUnsigned(proof);
  if (proof['format'] !== PROOF_FORMAT)
    return { is: 'malformed', why: `the member format is not ${PROOF_FORMAT}: this is not a proof of an erasure` };
  const members = proof['version'] === REMOVAL_VERSION ? REMOVAL_MEMBERS : SIGNED_MEMBERS;
  if (proof['version'] !== PROOF_VERSION && proof['version'] !== REMOVAL_VERSION)
    return {
      is: 'unknown_version',
      why: `the proof has version ${JSON.stringify(proof['version'])}, and this program knows versions 1 to ${REMOVAL_VERSION}: use a newer version of granary`,
    };
  const missing = members.find(([name, type]) => typeof proof[name] !== type);
  if (missing !== undefined)
    return {
      is: 'malformed',
      why: `the member ${missing[0]} is missing or is not of type ${missing[1]}: the file may be cut off`,
    };
  return checkSigned(proof as unknown as SignedProof | SignedRemoval, publicKey); // its members were checked
}

/** Members that the check of a proof about a scope or a memory reads, with their types. */
const REMOVAL_MEMBERS = [
  ['of', 'string'],
  ['result', 'string'],
  ['memory', 'string'],
  ['key_fingerprints', 'object'],
  ['timestamp', 'number'],
  ['erased_at', 'string'],
  ['audit_entries', 'object'],
  ['issued_at', 'string'],
  ['key_id', 'string'],
  ['public_key', 'string'],
  ['signature', 'string'],
] as const;

/** Members that the check reads, with their types. */
const SIGNED_MEMBERS = [
  ['result', 'string'],
  ['memory', 'string'],
  ['user_commitment', 'string'],
  ['count', 'number'],
  ['key_fingerprint', 'string'],
  ['timestamp', 'number'],
  ['erased_at', 'string'],
  ['audit_entries', 'object'],
  ['purge', 'object'],
  ['issued_at', 'string'],
  ['key_id', 'string'],
  ['public_key', 'string'],
  ['signature', 'string'],
] as const;

function checkSigned(proof: SignedProof | SignedRemoval, publicKey: Uint8Array | undefined): ProofCheck {
  const inFile = Buffer.from(proof.public_key, 'base64url');
  const bytes = signedBytes(proof);
  const isIntact = proof.key_id === keyIdOf(inFile) && isSignedBy(proof.public_key, bytes, proof.signature);
  if (publicKey !== undefined && !inFile.equals(publicKey)) {
    const id = keyIdOf(publicKey);
    return {
      is: 'wrong_key',
      why: `the proof is signed with the key ${proof.key_id}, and the key that you gave is ${id}${isIntact ? '' : '; the proof was changed as well'}`,
    };
  }
  if (!isIntact)
    return { is: 'tampered', why: 'the signature does not match: the proof was changed after it was signed' };
  if (isRemoval(proof)) return { is: 'valid', proof };
  if (proof.user_id === undefined && proof.salt === undefined) return { is: 'valid', proof };
  if (typeof proof.user_id !== 'string' || typeof proof.salt !== 'string')
    return { is: 'tampered', why: 'the members user_id and salt belong together, and one of them is missing' };
  if (commitmentOf(proof.salt, proof.user_id) !== proof.user_commitment)
    return { is: 'tampered', why: 'user_id or salt were changed: the proof was signed for another person' };
  return { is: 'valid', proof };
}

function checkUnsigned(proof: Record<string, unknown>): ProofCheck {
  const { user_id, count, key_fingerprint, timestamp } = proof;
  const isWhole =
    typeof user_id === 'string' &&
    typeof count === 'number' &&
    typeof key_fingerprint === 'string' &&
    /^(?:[0-9a-f]{16})?$/.test(key_fingerprint) &&
    typeof timestamp === 'number';
  if (!isWhole)
    return { is: 'malformed', why: 'the file has neither a format nor the members of a proof: it may be cut off' };
  return { is: 'unsigned', proof: proof as unknown as UnsignedProof }; // its members were checked
}
