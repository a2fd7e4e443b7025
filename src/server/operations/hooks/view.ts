// A hook as clients see it. Its secret is shown by the call that makes it alone.
import { EVENT_KINDS } from '../../../engine/govern/trail/event-kinds.ts';
import type { HookRecord, HookStateRecord } from '../../control/records.ts';
import { type CursorForm, cursorJson } from '../../events/cursor.ts';
import { described, type Static, Type } from '../type.ts';

export const HookId = Type.String({ minLength: 1, description: 'Id of the hook.' });
export const Cursor = Type.Unsafe<string | number>({ anyOf: [{ type: 'integer' }, { type: 'string' }] });

const DeadLetter = Type.Object({
  cursor: Type.String({ description: 'Cursor of the event; `since` one less reads it again while events are kept.' }),
  eventType: Type.String({ description: 'Kind of the event.' }),
  timestamp: Type.Integer({ description: 'Time at which it was given up, in Unix seconds.' }),
  attempts: Type.Integer({ description: 'Number of tries.' }),
  reason: Type.String({ description: 'Why the last try failed.' }),
});

export const HookOutput = Type.Object({
  hookId: HookId,
  name: Type.String({ description: 'Name of the hook.' }),
  deliveryMode: Type.Enum(['webhook', 'cdc'], {
    description: 'How events reach their reader: webhook sends them to the URL, cdc lets them be read.',
  }),
  url: Type.Optional(Type.String({ description: 'URL that events are sent to.' })),
  eventFilters: Type.Array(Type.Enum([...EVENT_KINDS]), { description: 'Kinds of events; empty: all.' }),
  active: Type.Boolean({ description: 'False while deliveries are paused.' }),
  createdAt: Type.Integer({ description: 'Time at which the hook was made, in Unix seconds.' }),
  hasSecret: Type.Boolean({ description: 'Whether deliveries are signed.' }),
  lastSequence: Type.Optional(
    described(Cursor, 'Webhooks: the cursor of the last event that was delivered, given up or passed over.'),
  ),
  consecutiveFailures: Type.Integer({ description: 'Events in a row that were given up.' }),
  deliveries: Type.Integer({ description: 'Events that were delivered.' }),
  attempts: Type.Integer({ description: 'Failed tries of the event that is due.' }),
  nextAttemptAt: Type.Optional(Type.Integer({ description: 'Time of its next try, in Unix seconds.' })),
  pausedReason: Type.Optional(Type.String({ description: 'Why deliveries are paused.' })),
  lastFailure: Type.Optional(Type.String({ description: 'Why the newest failed try failed.' })),
  deadLetters: Type.Array(DeadLetter, {
    description: 'Events that were given up in the last seven days, newest first, at most 100.',
  }),
});

export type HookView = Static<typeof HookOutput>;

export function hookView(
  hook: HookRecord,
  state: HookStateRecord,
  { partitions, restores }: Pick<CursorForm, 'partitions' | 'restores'>,
): HookView {
  const isSent = hook.url !== undefined;
  const form = { memory: hook.memory, partitions, seal: undefined, restores };
  return {
    hookId: hook.id,
    name: hook.name,
    deliveryMode: isSent ? 'webhook' : 'cdc',
    url: hook.url,
    eventFilters: [...hook.filters],
    active: state.pausedReason === undefined,
    createdAt: seconds(hook.createdAtMs),
    hasSecret: hook.secret !== undefined,
    lastSequence: isSent ? cursorJson(state.cursor, form) : undefined,
    consecutiveFailures: state.deadInRow,
    deliveries: state.delivered,
    attempts: state.attempts,
    nextAttemptAt: state.nextAtMs === undefined ? undefined : seconds(state.nextAtMs),
    pausedReason: state.pausedReason,
    lastFailure: state.lastFailure?.reason,
    deadLetters: state.letters
      .map(({ cursor, kind, atMs, attempts, reason }) => ({
        cursor,
        eventType: kind,
        timestamp: seconds(atMs),
        attempts,
        reason,
      }))
      .reverse(),
  };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
