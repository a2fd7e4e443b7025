// The audit chain (service contract section 9): entries of one (memory, partition), numbered from 1 without gaps. Each
// is hashed together with the hash of the one before. An entry is written in the transaction of its act.
import { hash } from 'node:crypto';
import { NAME_BYTES_MAX } from '../../record/grain-name.ts';
import type { EventMark } from './event-kinds.ts';

/** Event types and their numbers on disk. Append-only. */
export const AUDIT_EVENTS = {
  'memory.added': 1,
  'memory.forgotten': 2,
  'memory.corrected': 3,
  'memory.recalled': 4,
  'memory.accumulated': 5,
  'memory.read': 6,
  'memory.remembered': 7,
  'memory.extracted': 8,
  'memory.searched': 9,
  'memory.exported': 10,
  'memory.imported': 11,
  'memory.flushed': 12,
  'memory.expired': 13,
  'consent.granted': 14,
  'consent.revoked': 15,
  'processing.restricted': 16,
  'processing.unrestricted': 17,
  'key.rotated': 18,
  'key.destroyed': 19,
  'key.created': 20,
  'user.erased': 21,
  'scope.erased': 22,
  'erasure.cross_user_redacted': 23,
  'user.data_exported': 24,
  'instance.created': 25,
  'instance.deleted': 26,
  'settings.changed': 27,
  'export.file': 28,
  'tier.compaction_run': 29,
  'auth.key_created': 30,
  'auth.key_revoked': 31,
  'auth.failed': 32,
  'policy.sealed': 33,
  'policy.upgraded': 34,
  'policy.downgraded': 35,
  'policy.enforced': 36,
  'policy.simulated': 37,
  'retention.enforced': 38,
  'retention.held': 39,
  'pii.detected': 40,
  'pii.blocked': 41,
  'scope.tree_changed': 42,
  'session.consolidated': 46,
  'authz.changed': 50,
  'authz.access_denied': 51,
  'agent.registered': 52,
  'agent.deactivated': 53,
  'agent.trust_changed': 54,
  'agent.write': 55,
  'agent.recall': 56,
  'hook.created': 60,
  'hook.deleted': 61,
  'hook.delivered': 62,
  'hook.dead_lettered': 63,
  'hook.paused': 64,
  'hook.resumed': 65,
  'provider.changed': 66,
  'provider.tested': 67,
  'goal.created': 70,
  'goal.state_changed': 71,
  'goal.delegated': 72,
  'harness.provisioned': 80,
  'harness.tool_bound': 81,
  'harness.turn': 82,
  'harness.paused': 83,
  'harness.resumed': 84,
  'harness.cancelled': 85,
  'chat.turn': 86,
  'chat.thread_deleted': 87,
  'verify.run': 90,
  'verify.canary': 91,
  'impact.updated': 92,
  'import.queued': 93,
  'import.completed': 94,
  'import.failed': 95,
  'import.cancelled': 96,
  'monitor.excessive_forget': 100,
  'monitor.policy_violations': 101,
  'monitor.excessive_export': 102,
  'monitor.failed_keys': 103,
  'monitor.deep_chain': 104,
  'dsr.opened': 110,
  'dsr.extended': 111,
  'dsr.reported': 112,
  'dsr.closed': 113,
} as const;
export type AuditEvent = keyof typeof AUDIT_EVENTS;

/** The actor of the server's own acts, which nobody called. */
export const SYSTEM_ACTOR = 'system';

export type AuditDetails = Readonly<Record<string, string | number | boolean>>;

/** A grain that an entry names. */
export interface NamedGrain {
  /** In hex. */
  readonly name: string;
  /** Writes the bytes of the name to `into` at `at`, and returns their end. */
  writeName(into: Buffer, at: number): number;
}

/** The details of most entries: `grain` and `grain_type`. The grain is asked for its name when the chain is extended. */
export class GrainDetails {
  readonly #grain: NamedGrain;
  readonly #type: string;

  constructor(grain: NamedGrain, type: string) {
    this.#grain = grain;
    this.#type = type;
  }

  get type(): string {
    return this.#type;
  }

  /** Canonical JSON. A name is hex and a type a word, so nothing needs escapes. */
  get canonical(): string {
    return `{"grain":"${this.#grain.name}","grain_type":"${this.#type}"}`;
  }

  /** Writes the bytes of the grain's name to `into` at `at`, and returns their end. */
  writeName(into: Buffer, at: number): number {
    return this.#grain.writeName(into, at);
  }
}

/** An entry that has no place in the chain yet. */
export interface AuditDraft {
  readonly event: AuditEvent;
  readonly actor: string;
  /** The pseudonym of the person concerned (`user:<token>`), or ''. */
  readonly subject: string;
  /** Codes, counts and hashes only. Its canonical JSON is hashed and stored. */
  readonly details: AuditDetails | GrainDetails;
  /** The events that the entry makes, if they are not those of its type (govern/trail/event-kinds.ts). */
  readonly mark?: EventMark | undefined;
}

export interface AuditEntry {
  readonly seq: number;
  /** Seconds. */
  readonly timestamp: number;
  readonly event: AuditEvent;
  readonly actor: string;
  readonly subject: string;
  /** Canonical JSON. */
  readonly details: string;
  /** 64 hex. */
  readonly hash: string;
}

/** The head of a chain, which the next entry continues. */
export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** The end of a memory's trail in one partition. */
export interface TrailEnd extends AuditHead {
  /** The number of its newest event; 0 before the first. */
  readonly events: number;
}

export const GENESIS: AuditHead = { seq: 0, hash: '0'.repeat(64) };

/** Flat objects only: keys sorted by code unit, no white space. */
export function canonicalDetails(details: AuditDraft['details']): string {
  if (details instanceof GrainDetails) return details.canonical;
  const keys = Object.keys(details);
  if (keys.every((key, i) => i === 0 || keys[i - 1]! < key)) return JSON.stringify(details);
  keys.sort();
  let text = '{';
  for (const key of keys) text += `${text.length > 1 ? ',' : ''}${JSON.stringify(key)}:${JSON.stringify(details[key])}`;
  return `${text}}`;
}

/**
 * SHA-256 over seq (8 bytes BE), timestamp (8 bytes BE), then event type, actor, subject, details and the previous hash
 * (as hex text), each preceded by its length (4 bytes BE).
 */
export function entryHash(entry: Omit<AuditEntry, 'hash'>, previousHash: string): string {
  const at = writeActing(entry);
  needScratch(at + BEHIND_BYTES + 3 * entry.details.length);
  return hashBehind(entry, entry.details, at, previousHash);
}

/** Writes event type, actor and subject, which entries often have in common, to `scratch`. Returns their end. */
function writeActing({ event, actor, subject }: Pick<AuditEntry, 'event' | 'actor' | 'subject'>): number {
  needScratch(ACTING_AT + 12 + 3 * (event.length + actor.length + subject.length));
  return writeText(subject, writeText(actor, writeText(event, ACTING_AT)));
}

/** The hash of the entry whose event type, actor and subject end at `at` in `scratch`. */
function hashBehind(
  { seq, timestamp }: Pick<AuditEntry, 'seq' | 'timestamp'>,
  details: string | GrainDetails,
  at: number,
  previousHash: string,
): string {
  writeU64(seq, 0);
  writeU64(timestamp, 8);
  const end = typeof details === 'string' ? writeText(details, at) : writeGrainDetails(details, at);
  return hash('sha256', scratchTo(writeText(previousHash, end)), 'hex');
}

/** The first bytes of `scratch`. Neighbours in a chain mostly have the same length, and so share a view. */
function scratchTo(end: number): Uint8Array {
  if (entryView.length !== end || entryView.buffer !== scratch.buffer) entryView = scratch.subarray(0, end);
  return entryView;
}

let entryView: Uint8Array = new Uint8Array(0);

/** Writes `details.canonical`, which is ASCII, as `writeText` does, without a string of it. */
function writeGrainDetails(details: GrainDetails, at: number): number {
  const nameEnd = details.writeName(nameBytes, 0);
  let end = writeAscii(GRAIN_OPENS, at + 4);
  for (let i = 0; i < nameEnd; i++) {
    const digits = HEX_PAIRS[nameBytes[i]!]!;
    scratch[end++] = digits >>> 8;
    scratch[end++] = digits & 0xff;
  }
  end = writeAscii(TYPE_OPENS, end);
  end = writeAscii(details.type, end);
  end = writeAscii(DETAILS_CLOSE, end);
  scratch.writeUInt32BE(end - at - 4, at);
  return end;
}

/** For short texts: a loop is faster than the call. */
function writeAscii(text: string, at: number): number {
  for (let i = 0; i < text.length; i++) scratch[at + i] = text.charCodeAt(i);
  return at + text.length;
}

const GRAIN_OPENS = '{"grain":"';
const TYPE_OPENS = '","grain_type":"';
const DETAILS_CLOSE = '"}';
const nameBytes = Buffer.allocUnsafeSlow(NAME_BYTES_MAX);
/** The character codes of the two hex digits of each byte. */
const HEX_PAIRS = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = byte.toString(16).padStart(2, '0');
  return (digits.charCodeAt(0) << 8) | digits.charCodeAt(1);
});

/** Event type, actor and subject follow seq and timestamp. */
const ACTING_AT = 16;

/** Room for two lengths, a hash as text, and the details of a grain. */
const BEHIND_BYTES = 512;

/** Grows to the largest entry so far. */
let scratch = Buffer.allocUnsafeSlow(64 * 1024);

function needScratch(bytes: number): void {
  if (bytes <= scratch.length) return;
  const larger = Buffer.allocUnsafeSlow(2 * bytes);
  scratch.copy(larger);
  scratch = larger;
}

function writeU64(value: number, at: number): void {
  scratch.writeUInt32BE(Math.floor(value / 0x1_0000_0000), at);
  scratch.writeUInt32BE(value >>> 0, at + 4);
}

function writeText(text: string, at: number): number {
  const length = text === '' ? 0 : scratch.write(text, at + 4);
  scratch.writeUInt32BE(length, at);
  return at + 4 + length;
}

/** Entries in order, each as what its draft lacks: its canonical details and its hash. */
export interface ChainedDrafts {
  readonly details: readonly (string | GrainDetails)[];
  /** 64 hex digits each. */
  readonly hashes: readonly string[];
  /** The new end of the chain. */
  readonly head: AuditHead;
}

/** Continues the chain at `head` with `drafts`, in order. */
export function chainDrafts(head: AuditHead, drafts: readonly AuditDraft[], timestamp: number): ChainedDrafts {
  const allDetails: (string | GrainDetails)[] = [];
  const hashes: string[] = [];
  const place = { seq: head.seq, timestamp };
  let previous = head.hash;
  let before: AuditDraft | undefined;
  let actingEnd = 0;
  for (let i = 0; i < drafts.length; i++) {
    const draft = drafts[i]!;
    const details = draft.details instanceof GrainDetails ? draft.details : canonicalDetails(draft.details);
    if (
      before === undefined ||
      before.event !== draft.event ||
      before.actor !== draft.actor ||
      before.subject !== draft.subject
    )
      actingEnd = writeActing(draft);
    before = draft;
    place.seq += 1;
    needScratch(actingEnd + BEHIND_BYTES + (typeof details === 'string' ? 3 * details.length : 0));
    previous = hashBehind(place, details, actingEnd, previous);
    allDetails.push(details);
    hashes.push(previous);
  }
  return { details: allDetails, hashes, head: { seq: place.seq, hash: previous } };
}

/** The same, as whole entries. */
export function extendChain(
  head: AuditHead,
  drafts: readonly AuditDraft[],
  timestamp: number,
): { readonly entries: readonly AuditEntry[]; readonly head: AuditHead } {
  const chained = chainDrafts(head, drafts, timestamp);
  const entries = drafts.map(({ event, actor, subject, details }, i) => ({
    ...{ seq: head.seq + 1 + i, timestamp, event, actor, subject },
    ...{ details: canonicalDetails(details), hash: chained.hashes[i]! },
  }));
  return { entries, head: chained.head };
}

/** Recomputes a stretch of the chain that begins after `head`. Returns its end, or the seq of the first bad entry. */
export function checkChain(
  head: AuditHead,
  entries: Iterable<AuditEntry>,
): { readonly head: AuditHead } | { readonly badSeq: number } {
  let { seq, hash: previous } = head;
  for (const entry of entries) {
    if (entry.seq !== seq + 1 || entryHash(entry, previous) !== entry.hash) return { badSeq: seq + 1 };
    seq = entry.seq;
    previous = entry.hash;
  }
  return { head: { seq, hash: previous } };
}
