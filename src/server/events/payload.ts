// Events as clients get them (service contract, section 15.1), and the frames of an event stream.
import type { EventView } from '../../engine/calls/events.ts';
import { base32 } from '../control/ids.ts';

/** As in every id of the service: 24 characters. */
const ID_BYTES = 15;

/** The memory and the reader of an event. */
export interface PayloadOf {
  readonly memoryId: string;
  readonly partitions: number;
  readonly partition: number;
  /** A bound caller does not learn the numbers of events, which count those of others too. */
  readonly isBound: boolean;
}

/** Absent members are left out. */
export function eventPayload(event: EventView, { memoryId, partitions, partition, isBound }: PayloadOf): object {
  return {
    id: eventId(event.id),
    sequence: isBound ? undefined : event.sequence,
    partition: isBound || partitions === 1 ? undefined : partition,
    memory_id: memoryId,
    event_type: event.kind,
    timestamp_ms: event.timestampMs,
    hash: event.hash,
    grain_type: event.grainType,
    namespace: event.namespace,
    subject: event.subject,
    relation: event.relation,
    object: event.object,
    user_id: event.userId,
    old_hash: event.oldHash,
    count: event.count,
    key_fingerprint: event.keyFingerprint,
    scope_path: event.scopePath,
    details: event.details,
    omitted: event.omitted,
  };
}

export function eventJson(event: EventView, of: PayloadOf): string {
  return JSON.stringify(eventPayload(event, of));
}

function eventId(hex: string): string {
  return `evt_${base32(Buffer.from(hex, 'hex'), 0, ID_BYTES)}`;
}

/** One frame of a stream. `data` is one line, as JSON is. */
export function frame(id: string, kind: string, data: string): string {
  return `id: ${id}\nevent: ${kind}\ndata: ${data}\n\n`;
}

export const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');
/** Tells clients to wait 3 s before they connect again. */
export const RETRY = 'retry: 3000\n';
