// Evidence on the audit chain of a partition, from one walk from its beginning: whether it is intact, and which actors
// and acts it records.

import { defined } from '../../base/defined.ts';
import type { TrailEvidence } from '../../calls/compliance.ts';
import { type AuditEntry, type AuditHead, checkChain, entryHash, GENESIS } from '../../govern/trail/audit.ts';
import { decodeAuditBody } from '../../govern/trail/audit-codec.ts';
import type { Sliced } from '../../index/files/section.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import type { Store } from '../../store/store.ts';
import { notedHead } from '../housekeeping/audit-heads.ts';
import { actingAfter, deactivatedCount, unregistered } from './agents.ts';

/** The hashes of the newest entries are recomputed. Older ones only pass theirs on. */
const CHECKED_MAX = 100_000;
const DOCTORED_ENTRIES = 20;
const AGENTS_MAX = 100;
/** Agents whose last act is remembered. */
const ACTING_MAX = 10_000;
const WINDOW_SECONDS = 30 * 86_400;

/** The details of an entry `user.erased`. */
export interface ErasedEntry {
  readonly user: string;
  readonly count: number;
  readonly fingerprint: string;
  readonly timestamp: number;
}

export interface Trail {
  readonly evidence: TrailEvidence;
  readonly erased: readonly ErasedEntry[];
  /** Fingerprints in entries `key.destroyed`. */
  readonly destroyed: ReadonlySet<string>;
  /** Hashes of the newest entries `memory.recalled`. */
  readonly recalled: ReadonlySet<string>;
}

type Details = Readonly<Record<string, unknown>>;

export function* walkTrail(store: Store, memory: number, nowMs: number): Sliced<Trail> {
  const committed = store.auditHead(memory);
  const noted = notedHead(store, store.memory(memory));
  const windowFrom = Math.floor(nowMs / 1000) - WINDOW_SECONDS;
  const counts = new Counts(windowFrom);
  let head = GENESIS;
  let rewritten = false;
  let firstBadSeq: number | undefined;
  let checked = 0;
  let firstSeq = 0;
  let newest: readonly AuditEntry[] = [];
  let newestAt = 0;
  let beforeNewest = GENESIS;
  for (const sequence of store.allKeyed(memory, 'audit')) {
    const entries = entriesAt(store, sequence);
    const last = entries.at(-1);
    if (last === undefined) {
      firstBadSeq ??= head.seq + 1;
      continue;
    }
    if (firstSeq === 0) firstSeq = entries[0]!.seq;
    beforeNewest = head;
    if (last.seq > committed.seq - CHECKED_MAX) {
      const result = checkChain(head, entries);
      if ('badSeq' in result) firstBadSeq ??= result.badSeq;
      checked += entries.length;
    }
    for (const entry of entries) counts.take(entry);
    if (noted !== undefined) rewritten ||= contradicts(entries, noted);
    head = { seq: last.seq, hash: last.hash };
    newest = entries;
    newestAt = sequence;
    yield;
  }
  const cutOff = Math.max(0, committed.seq - head.seq, (noted?.seq ?? 0) - head.seq);
  if (cutOff > 0) firstBadSeq ??= head.seq + 1;
  const summary = counts.summary();
  const own = store.memory(memory);
  const doctored = doctor(beforeNewest, newest.slice(0, DOCTORED_ENTRIES));
  return {
    evidence: defined({
      entries: committed.seq,
      checked,
      firstBadSeq,
      firstSeq,
      ...summary,
      unregisteredAgents: unregistered(own, summary.agents),
      deactivatedAgents: deactivatedCount(store, own),
      lateAgents: actingAfter(store, own, counts.lastActs),
      notedSeq: noted?.seq,
      rewritten,
      cutOff,
      doctored: doctored.length,
      doctoredAccepted: doctored.filter((accepted) => accepted).length,
      replaceable: store.log.mayReplace?.(newestAt) ?? true,
    }),
    erased: counts.erased,
    destroyed: counts.destroyed,
    recalled: counts.recalled,
  };
}

/** Empty when the record cannot be read; its entries are then missing. */
function entriesAt(store: Store, sequence: number): readonly AuditEntry[] {
  try {
    const bytes = store.log.read(sequence);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    return record?.kind === 'audit' ? decodeAuditBody(record.body) : [];
  } catch {
    return [];
  }
}

/** True when the entry at the noted head has changed. */
function contradicts(entries: readonly AuditEntry[], noted: AuditHead): boolean {
  return entries.some(({ seq, hash }) => seq === noted.seq && hash !== noted.hash);
}

/**
 * Tries doctored copies of a stretch of the chain and returns which pass as intact; none should. Each is checked
 * against the hashes and, like the whole chain, against its noted head. Empty for an empty stretch.
 */
function doctor(head: AuditHead, entries: readonly AuditEntry[]): readonly boolean[] {
  const first = entries[0];
  const last = entries.at(-1);
  if (first === undefined || last === undefined) return [];
  const end: AuditHead = { seq: last.seq, hash: last.hash };
  const passes = (copy: readonly AuditEntry[]): boolean => {
    const checked = checkChain(head, copy);
    return !('badSeq' in checked) && checked.head.seq >= end.seq && !contradicts(copy, end);
  };
  const edited = entries.map((entry) => (entry === first ? { ...entry, actor: `${entry.actor}?` } : entry));
  // The entries after a missing one. When there was only one entry: the one that would come next.
  const rest = entries.length > 1 ? entries.slice(1) : [{ ...first, seq: first.seq + 1 }];
  return [edited, rest, [first, first], entries.slice(0, -1), hashedAnew(head, edited)].map(passes);
}

/** The same entries with consistent hashes, as somebody who edits an entry would write them. */
function hashedAnew(head: AuditHead, entries: readonly AuditEntry[]): readonly AuditEntry[] {
  let previous = head.hash;
  return entries.map((entry) => {
    previous = entryHash(entry, previous);
    return { ...entry, hash: previous };
  });
}

class Counts {
  readonly #windowFrom: number;
  readonly #events: Record<string, number> = {};
  readonly #windowEvents: Record<string, number> = {};
  readonly #newest: Record<string, number> = {};
  readonly #agents = new Set<string>();
  /** The last write or recall of each agent, in seconds. */
  readonly lastActs = new Map<string, number>();
  readonly #sealed: number[] = [];
  readonly #changed: number[] = [];
  readonly erased: ErasedEntry[] = [];
  readonly destroyed = new Set<string>();
  readonly recalled = new Set<string>();
  #seq = 0;
  #timestamp = 0;
  #gaps = 0;
  #regression = 0;
  #window = 0;
  #withoutActor = 0;
  #anonymous = 0;
  #downgrades = 0;
  #looseDowngrades = 0;
  #exportedWholeAt: number | undefined;

  constructor(windowFrom: number) {
    this.#windowFrom = windowFrom;
  }

  take(entry: AuditEntry): void {
    const { seq, timestamp, event, actor } = entry;
    if (seq !== this.#seq + 1) this.#gaps += 1;
    this.#regression = Math.max(this.#regression, this.#timestamp - timestamp);
    this.#seq = seq;
    this.#timestamp = Math.max(this.#timestamp, timestamp);
    this.#events[event] = (this.#events[event] ?? 0) + 1;
    this.#newest[event] = Math.max(this.#newest[event] ?? 0, timestamp);
    if (timestamp >= this.#windowFrom) {
      this.#window += 1;
      this.#windowEvents[event] = (this.#windowEvents[event] ?? 0) + 1;
      if (actor.trim() === '') this.#withoutActor += 1;
      else if (actor === 'anonymous') this.#anonymous += 1;
      if (actor.startsWith('agent:') && this.#agents.size < AGENTS_MAX) this.#agents.add(actor);
    }
    if (event.startsWith('memory.') && actor.startsWith('agent:')) this.#act(actor.slice('agent:'.length), timestamp);
    if (event === 'memory.recalled') this.#recall(entry.hash);
    this.#takeDetails(entry);
  }

  #act(agent: string, timestamp: number): void {
    if (this.lastActs.size >= ACTING_MAX && !this.lastActs.has(agent)) return;
    this.lastActs.set(agent, Math.max(this.lastActs.get(agent) ?? 0, timestamp));
  }

  #recall(hash: string): void {
    if (this.recalled.size >= CHECKED_MAX) this.recalled.delete(this.recalled.values().next().value!);
    this.recalled.add(hash);
  }

  #takeDetails(entry: AuditEntry): void {
    const { event, actor, subject, timestamp } = entry;
    if (!DETAILED.has(event)) return;
    const details = JSON.parse(entry.details) as Details; // canonical JSON of a flat object
    const fingerprint = String(details['key_fingerprint'] ?? '');
    if (event === 'user.erased')
      this.erased.push({ user: subject, count: Number(details['count']), fingerprint, timestamp });
    if (event === 'export.file' && details['whole'] === 1) this.#exportedWholeAt = timestamp;
    if (event === 'key.destroyed') this.destroyed.add(fingerprint);
    if (event === 'agent.write' || event === 'agent.recall') this.#act(String(details['agent']), timestamp);
    if (event === 'policy.sealed') this.#sealed.push(Number(details['version']));
    if (event === 'policy.upgraded' || event === 'policy.downgraded') this.#changed.push(Number(details['version']));
    if (event !== 'policy.downgraded') return;
    this.#downgrades += 1;
    // Older builds recorded the reason's SHA-256.
    const reason = details['reason_hmac'] ?? details['reason_sha256'];
    if (actor === '' || actor === 'anonymous' || reason === undefined) this.#looseDowngrades += 1;
  }

  summary() {
    return {
      gaps: this.#gaps,
      regressionSeconds: this.#regression,
      windowEntries: this.#window,
      withoutActor: this.#withoutActor,
      anonymous: this.#anonymous,
      windowEvents: this.#windowEvents,
      events: this.#events,
      newest: this.#newest,
      exportedWholeAt: this.#exportedWholeAt,
      agents: [...this.#agents],
      sealedVersions: this.#sealed,
      changedVersions: this.#changed,
      looseDowngrades: this.#looseDowngrades,
      downgrades: this.#downgrades,
    };
  }
}

/** Events whose details are read. */
const DETAILED: ReadonlySet<string> = new Set([
  'user.erased',
  'key.destroyed',
  'policy.sealed',
  'policy.upgraded',
  'policy.downgraded',
  'export.file',
  'agent.write',
  'agent.recall',
]);
