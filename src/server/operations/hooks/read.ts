// The events that a hook selects, read page by page.
import { EVENTS_PAGE_MAX } from '../../../engine/base/limits.ts';
import { cursorJson, readCursor } from '../../events/cursor.ts';
import { placeOf } from '../../events/place.ts';
import { EventReader } from '../../events/reader.ts';
import { epochOf, restoresOf } from '../../events/restores.ts';
import { defineOperation } from '../define.ts';
import type { Members } from '../names.ts';
import { described, Type } from '../type.ts';
import { Cursor, HookId } from './view.ts';

const LIMIT_DEFAULT = 100;

export const hookRead = defineOperation({
  name: 'read_hook',
  summary: 'Read the events that a hook selects, oldest first.',
  description: 'Nothing is remembered: send `next` as `after` to go on.',
  example: { hook_id: 'hook_aaaaaaaaaaaaaaaaaaaaaaaa', after: 0, limit: 100 },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  input: Type.Object({
    hookId: HookId,
    after: Type.Optional(described(Cursor, 'Cursor after which events are read; the default is where the hook began.')),
    limit: described(
      Type.Optional(Type.Integer({ minimum: 1, maximum: EVENTS_PAGE_MAX, default: LIMIT_DEFAULT })),
      `Number of events at most; the default is ${LIMIT_DEFAULT}.`,
    ),
  }),
  output: Type.Object({
    events: Type.Array(Type.Unsafe<Members>({ type: 'object' }), { description: 'The events, as a stream has them.' }),
    next: described(Cursor, 'Cursor after these events.'),
    gap: Type.Optional(
      described(
        Type.Object({
          oldest: described(Cursor, 'Number of the oldest event that is kept; of each partition, joined by dots.'),
          reason: Type.Enum(['expired', 'ahead'], {
            description:
              'Why events are missing: expired ones are not kept, and a cursor ahead is of events that a restore undid.',
          }),
        }),
        'Set if events after the cursor are missing here; the events begin at the oldest, or at the restore if ahead.',
      ),
    ),
  }),
  errors: ['HOK-E003'],
  exec: { command: 'cdc_read' },
  async run({ hookId, after, limit = LIMIT_DEFAULT }, { memory, services, principal, requestId, purpose }) {
    const hook = services.hooks.get(memory, hookId);
    const { number, partitions } = memory;
    const restores = restoresOf(services.control);
    const form = { memory: number, partitions, seal: undefined, restores };
    const wanted =
      after === undefined
        ? { epoch: epochOf(restores), numbers: hook.cursor }
        : readCursor(String(after), 'after', form);
    // The scope admin, which this needs, owns the memory.
    const context = { memory: number, actor: principal.actor, owns: true as const, requestId, purpose };
    const reach = { memoryId: memory.id, partitions, context, kinds: [...hook.filters].sort(), form };
    const reader = new EventReader(services.shards, reach, services.clock);
    const { cursor, gap } = placeOf(wanted, await reader.ends(), form);
    const next = [...cursor];
    const events: Members[] = [];
    for (let isAtEnd = false; !isAtEnd && events.length < limit; ) {
      const page = [...next];
      const found = await reader.next(page);
      const room = limit - events.length;
      for (const { json, partition, sequence } of found.entries.slice(0, room)) {
        events.push(JSON.parse(json) as Members); // an object of our own
        next[partition] = sequence;
      }
      if (found.entries.length > room) break;
      next.splice(0, next.length, ...page);
      ({ isAtEnd } = found);
    }
    return { events, next: cursorJson(next, form), gap };
  },
});
