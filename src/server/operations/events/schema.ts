// The schema of an event as clients get it.
import { EVENT_KINDS } from '../../../engine/govern/trail/event-kinds.ts';
import { COUNT, HASH, listOf, TEXT } from '../json-schema.ts';
import type { Members } from '../names.ts';

function described(schema: Members, description: string): Members {
  return { ...schema, description };
}

const GRAIN_MEMBERS: Members = {
  hash: described(HASH, 'Hash of the grain; absent once a key of the grain was destroyed.'),
  grain_type: described(TEXT, 'Type of the grain.'),
  namespace: described(TEXT, 'Namespace of the grain, while the grain is there.'),
  subject: described(TEXT, 'Subject of the grain, if the policy lets personal data out.'),
  relation: described(TEXT, 'Relation of the grain, if the policy lets personal data out.'),
  object: described(TEXT, 'Object of the grain, if the policy lets personal data out.'),
  user_id: described(TEXT, 'The person concerned, if the policy lets personal data out.'),
  old_hash: described(HASH, 'Hash of the version that the grain replaced.'),
};

/** One event. Absent members are left out. */
export const EVENT: Members = {
  type: 'object',
  required: ['id', 'memory_id', 'event_type', 'timestamp_ms', 'details'],
  properties: {
    id: described(TEXT, 'Id of the event, the same each time it is told.'),
    sequence: described(COUNT, 'Number of the event in its partition; absent for a caller that is bound.'),
    partition: described(COUNT, 'Partition of the event, in a memory with several.'),
    memory_id: described(TEXT, 'Id of the memory.'),
    event_type: { enum: [...EVENT_KINDS], description: 'Kind of the event.' },
    timestamp_ms: described(COUNT, 'Time of the commit, in milliseconds since 1970.'),
    ...GRAIN_MEMBERS,
    count: described(COUNT, 'Number of grains concerned.'),
    key_fingerprint: described(TEXT, 'Fingerprint of the key that was made or destroyed.'),
    scope_path: described(TEXT, 'The erased scope, for a caller that is bound to it.'),
    details: { type: 'object', additionalProperties: true, description: 'Further codes and counts.' },
    omitted: described(listOf(TEXT), 'Members that are too long for an event.'),
  },
};

/** A cursor: a number for a memory with one partition. */
export const CURSOR: Members = { anyOf: [{ type: 'integer' }, TEXT] };

/** The answer of a long-poll. */
export const EVENT_LIST: Members = {
  type: 'object',
  required: ['events', 'next'],
  properties: {
    events: described(listOf(EVENT), 'The events, oldest first; none at the timeout.'),
    next: described(CURSOR, 'The cursor for `since` of the next request.'),
    gap: {
      type: 'object',
      required: ['oldest', 'reason'],
      properties: {
        oldest: described(CURSOR, 'The oldest event that is kept, in each partition.'),
        reason: {
          enum: ['expired', 'ahead'],
          description: 'Why events after `since` are missing: they are not kept, or a restore undid them.',
        },
      },
      description: 'Present when events after `since` are missing.',
    },
  },
};
