// The events of a memory as they happen: a stream of server-sent events, or a long-poll (service contract, section 15).
import { defined } from '../../../engine/base/defined.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { EVENT_KINDS, type EventKind } from '../../../engine/govern/trail/event-kinds.ts';
import type { EventsQuery, Opened } from '../../events/subscription.ts';
import { defineOperation } from '../define.ts';
import { type HttpParts, mechanicalInput, NO_MEMBERS } from '../http-face.ts';
import { TEXT } from '../json-schema.ts';
import { nodeOf } from '../names.ts';
import { Type } from '../type.ts';
import { EVENT_LIST } from './schema.ts';

const TIMEOUT_SECONDS = 300;
const POLL_TIMEOUT_SECONDS = 30;
const TIMEOUT_SECONDS_MAX = 3_600;

const Input = Type.Object({
  types: Type.Optional(Type.String({ description: 'Kinds of events, joined by commas; the default is all.' })),
  since: Type.Optional(
    Type.String({
      description:
        'Cursor after which events are wanted: the id of an event, or 0 for all that are kept; the default is events from now on.',
    }),
  ),
  lastEventId: Type.Optional(
    Type.String({
      description: 'The same as `since`, and stronger; clients send it as the header Last-Event-ID.',
    }),
  ),
  hookId: Type.Optional(Type.String({ description: 'Only events that this hook selects.' })),
  timeoutS: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: TIMEOUT_SECONDS_MAX,
      description: `Seconds until the stream ends; the default is ${TIMEOUT_SECONDS}, and ${POLL_TIMEOUT_SECONDS} for a long-poll.`,
    }),
  ),
});

const INPUT_NODE = nodeOf(Input);

export const events = defineOperation({
  name: 'events',
  summary: 'Stream the events of a memory, or wait for some.',
  description:
    'Answers with server-sent events. With `Accept: application/json` it waits for events and answers with a list. A caller gets only events about data that it may read.',
  example: { types: 'grain_created,grain_superseded', since: '0', timeout_s: 60 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  input: Input,
  output: Type.Object({
    opened: Type.Unsafe<Opened>({ description: 'The place where the events begin.' }),
    timeoutS: Type.Optional(Type.Integer({ description: 'Seconds until the answer ends.' })),
  }),
  errors: ['HOK-E002', 'HOK-E003', 'LIM-E002'],
  http: [
    {
      verb: 'GET',
      path: 'M/events',
      takesQuery: true,
      bodySchema: NO_MEMBERS,
      read: (parts) => {
        const { lastEventId } = parts;
        const input = mechanicalInput(INPUT_NODE, parts) as object; // the query is an object
        return lastEventId === undefined || lastEventId === '' ? input : { ...input, lastEventId };
      },
      answers: { 'text/event-stream': TEXT, 'application/json': EVENT_LIST },
      reply: ({ opened, timeoutS }, parts) => {
        const isPoll = isLongPoll(parts);
        const seconds = timeoutS ?? (isPoll ? POLL_TIMEOUT_SECONDS : TIMEOUT_SECONDS);
        return {
          kind: 'open',
          status: 200,
          headers: {},
          open: ({ events: hub }, request, asked) => {
            const options = { ...asked, timeoutMs: seconds * 1_000 };
            if (isPoll) hub.poll(opened, request, options);
            else hub.stream(opened, request, options);
          },
        };
      },
    },
  ],
  async run({ types, since, lastEventId, hookId, timeoutS }, context) {
    const kinds =
      hookId === undefined
        ? kindsOf(types)
        : both(kindsOf(types), context.services.hooks.get(context.memory, hookId).filters);
    const opened = await context.services.events.open(context, { kinds, since: sinceOf(since, lastEventId) });
    return defined({ opened, timeoutS });
  },
});

/** JSON is sent only to those who ask for nothing else. */
function isLongPoll({ accept = '' }: HttpParts): boolean {
  const types = accept.split(',').map((type) => type.split(';')[0]!.trim().toLowerCase());
  return types.includes('application/json') && !types.includes('text/event-stream') && !types.includes('*/*');
}

/** A browser that connects again sends the id of its last event beside the address it was given. */
function sinceOf(since: string | undefined, lastEventId: string | undefined): EventsQuery['since'] {
  if (lastEventId !== undefined) return { text: lastEventId, field: 'last-event-id' };
  return since === undefined ? undefined : { text: since, field: 'since' };
}

/** Empty: all kinds. Throws HOK-E002. */
function kindsOf(types: string | undefined): readonly EventKind[] {
  const names = (types ?? '').split(',').map((name) => name.trim());
  return names.filter((name) => name !== '').map(kindNamed);
}

function kindNamed(name: string): EventKind {
  const kind = EVENT_KINDS.find((one) => one === name);
  if (kind !== undefined) return kind;
  throw new EngineError('HOK-E002', `unknown event kind \`${name.slice(0, 100)}\``, {
    details: [{ field: 'types', issue: `one of ${EVENT_KINDS.join(', ')}` }],
  });
}

/** The kinds that both lists select, where an empty list selects all. Throws VAL-E001 when there are none. */
function both(some: readonly EventKind[], others: readonly EventKind[]): readonly EventKind[] {
  if (some.length === 0 || others.length === 0) return [...some, ...others];
  const kinds = some.filter((kind) => others.includes(kind));
  if (kinds.length > 0) return kinds;
  throw new EngineError('VAL-E001', 'the hook selects none of these types', {
    details: [{ field: 'types', issue: `the hook selects ${others.join(', ')}` }],
  });
}
