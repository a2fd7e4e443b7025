// The entries that a group adds to the audit chain of one memory. They are linked and written when the group is closed,
// so that the entries of all its requests share records.
import { type AuditDraft, chainDrafts, type TrailEnd } from '../govern/trail/audit.ts';
import { encodeDrafts } from '../govern/trail/audit-codec.ts';
import { marksOf } from '../govern/trail/event-kinds.ts';
import type { Sequence } from '../log/log.ts';
import type { EngineRecord } from '../record/record.ts';
import type { Store } from '../store/store.ts';

/** Entries in one audit record. A larger group writes several records. */
const AUDIT_ENTRIES_MAX = 4_096;
/** Actors that one audit record names. */
const AUDIT_ACTORS_MAX = 255;

/** An audit entry, and a callback that gets its hash. */
export type FollowedDraft = AuditDraft & { readonly follow?: ((entryHash: string) => void) | undefined };

/** The parts of a group that closing its entries needs. */
interface AuditedGroup {
  readonly store: Pick<Store, 'auditHead' | 'index' | 'setAuditHead'>;
  readonly nowMs: number;
  record(record: EngineRecord): Sequence;
  onPublish(step: () => void): void;
}

/** The entries of a group for one memory, in order and not yet linked to its chain. */
export class AuditDrafts {
  readonly #drafts: FollowedDraft[] = [];

  get isEmpty(): boolean {
    return this.#drafts.length === 0;
  }

  add(draft: FollowedDraft): void {
    this.#drafts.push(draft);
  }

  /** The hash of the newest entry when the entries follow `head`. */
  headAfter(head: TrailEnd, nowMs: number): string {
    return chainDrafts(head, this.#drafts, secondsOf(nowMs)).head.hash;
  }

  /**
   * Links the entries to the memory's chain, adds their records to the group and passes each hash to the entry's
   * `follow`.
   */
  close(group: AuditedGroup, memory: number): void {
    const { store, nowMs } = group;
    const drafts = this.#drafts;
    let before = store.auditHead(memory);
    for (let from = 0, to = 0; from < drafts.length; from = to) {
      to = recordEnd(drafts, from);
      const written = to - from === drafts.length ? drafts : drafts.slice(from, to);
      const timestamp = secondsOf(nowMs);
      const chained = chainDrafts(before, written, timestamp);
      const { marks, count } = marksOf(written);
      const firstSeq = before.seq + 1;
      const events = { before: before.events, atMs: nowMs, marks };
      const body = encodeDrafts({ seq: firstSeq, timestamp }, written, chained);
      const sequence = group.record({ kind: 'audit', memory, body, events });
      const end: TrailEnd = { ...chained.head, events: before.events + count };
      group.onPublish(() => {
        store.index.publishKeyed(memory, 'audit', firstSeq, sequence);
        store.setAuditHead(memory, end, { sequence, events: count });
      });
      for (let i = 0; i < written.length; i++) written[i]!.follow?.(chained.hashes[i]!);
      before = end;
    }
  }
}

/** The end of the entries from `from` that fit one record. */
function recordEnd(drafts: readonly AuditDraft[], from: number): number {
  const actors = new Set<string>();
  const end = Math.min(drafts.length, from + AUDIT_ENTRIES_MAX);
  let last: string | undefined;
  for (let at = from; at < end; at++) {
    const { actor } = drafts[at]!;
    if (actor === last) continue;
    last = actor;
    actors.add(actor);
    if (actors.size > AUDIT_ACTORS_MAX) return at;
  }
  return end;
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1000);
}
