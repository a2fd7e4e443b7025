// Pages of a partition's events, made from the audit entries that have marks.
import {
  EVENTS_EXAMINED_MAX,
  EVENTS_KEPT_MAX,
  EVENTS_KEPT_MS,
  EVENTS_PAGE_BYTES_MAX,
  EVENTS_PAGE_MAX,
} from '../../base/limits.ts';
import type { MemoryCalls } from '../../calls/calls.ts';
import type { CallContext } from '../../calls/context.ts';
import type { EventView } from '../../calls/events.ts';
import { SYSTEM_ACTOR } from '../../govern/trail/audit.ts';
import { decodeAuditBody } from '../../govern/trail/audit-codec.ts';
import { EVENT_MARKS, eventCount } from '../../govern/trail/event-kinds.ts';
import { AnswerRoom } from '../../grain/api/answer-room.ts';
import type { Sequence } from '../../log/log.ts';
import type { AuditRecord } from '../../record/record.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { pseudonym } from '../../write/pseudonym.ts';
import type { WriteQueue } from '../../write/queue.ts';
import { type EventOf, EventReader } from './event-view.ts';

type Input = MemoryCalls['events']['input'];
type Output = MemoryCalls['events']['output'];

/** A page, which examines a bounded number of events. A page with events is audited as a read. */
export function* eventPage(
  { store, queue }: { readonly store: Store; readonly queue: WriteQueue },
  memory: Memory,
  context: CallContext,
  input: Input,
): Generator<void, Output, void> {
  const { events: newest } = store.auditHead(memory.number);
  const oldest = oldestKept(store, memory.number, newest);
  const limit = Math.min(input.limit ?? EVENTS_PAGE_MAX, EVENTS_PAGE_MAX);
  const room = new AnswerRoom(Math.min(input.bytesMax ?? EVENTS_PAGE_BYTES_MAX, EVENTS_PAGE_BYTES_MAX));
  const reader = new EventReader(store, memory, context, input.forks);
  const wanted = input.kinds === undefined || input.kinds.length === 0 ? undefined : new Set(input.kinds);
  const events: EventView[] = [];
  const from = Math.max(input.after, oldest - 1);
  let next = from;
  for (const event of eventsAfter(store, memory.number, from, newest)) {
    if (next - from >= EVENTS_EXAMINED_MAX || events.length >= limit) break;
    const shown = wanted === undefined || wanted.has(event.kind) ? reader.view(event) : undefined;
    if (shown !== undefined) {
      if (!room.takes(shown)) break;
      events.push(shown);
    }
    next = event.sequence;
    yield;
  }
  if (events.length > 0 && context.actor !== SYSTEM_ACTOR)
    queue.trail.note(memory, {
      event: 'memory.read',
      actor: context.actor,
      subject: pseudonym(memory, context.userId),
      details: { count: events.length },
    });
  const forkedAt = (input.forks ?? []).map((fork) => store.eventRecords.countUpTo(memory.number, fork.lastRecord));
  return { events, next: Math.max(next, input.after), newest, oldest, isPartial: reader.isPartial, forkedAt };
}

function oldestKept(store: Store, memory: number, newest: number): number {
  const tooOld = store.eventRecords.countBefore(memory, store.clock.nowMs() - EVENTS_KEPT_MS);
  return Math.max(newest - EVENTS_KEPT_MAX, tooOld) + 1;
}

/** Events number `after + 1` to `newest`. Events of an unreadable record are left out; a verification names it. */
function* eventsAfter(store: Store, memory: number, after: number, newest: number): Generator<EventOf, void, void> {
  if (after >= newest) return;
  for (const at of store.eventRecords.from(memory, after)) {
    const record = readRecord(store, at);
    if (record?.events === undefined) continue;
    const { before, atMs, marks } = record.events;
    if (before >= newest) return;
    if (before + eventCount(marks) <= after) continue;
    let sequence = before;
    const entries = decodeAuditBody(record.body);
    for (let i = 0; i < marks.length; i++)
      for (const kind of EVENT_MARKS[marks[i]!] ?? []) {
        sequence += 1;
        if (sequence > after) yield { sequence, kind, atMs, entry: entries[i]!, record: at };
      }
  }
}

function readRecord(store: Store, sequence: Sequence): AuditRecord | undefined {
  try {
    const bytes = store.log.read(sequence);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    return record?.kind === 'audit' ? record : undefined;
  } catch {
    return undefined;
  }
}
