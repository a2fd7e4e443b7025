// Hooks of a memory: webhooks, and named filters under which its events are read.
import { EngineError } from '../../../engine/base/errors.ts';
import { HOOK_URL_CHARS_MAX, NAME_CHARS_MAX } from '../../../engine/base/limits.ts';
import { EVENT_KINDS, type EventKind } from '../../../engine/govern/trail/event-kinds.ts';
import type { Context } from '../../context.ts';
import type { HookRecord } from '../../control/records.ts';
import { restoresOf } from '../../events/restores.ts';
import { defineOperation } from '../define.ts';
import { comparePlaces, PAGE_INPUT, PAGE_OUTPUT, type Place, pageOf, readPage } from '../page.ts';
import { plainText } from '../text.ts';
import { described, Type } from '../type.ts';
import { HookId, HookOutput, type HookView, hookView } from './view.ts';

const SCOPE = 'hooks';
/** Names of the two modes; a reading hook has three. */
const MODES = { webhook: 'webhook', cdc: 'cdc', log: 'cdc', internal: 'cdc' } as const;

function viewOf(context: Context, id: string): HookView {
  return shown(context.services.hooks.get(context.memory, id), context);
}

function shown(hook: HookRecord, { memory, services: { control, deliveries } }: Context): HookView {
  return hookView(hook, deliveries.stateOf(hook), { partitions: memory.partitions, restores: restoresOf(control) });
}

export const hooksList = defineOperation({
  name: 'list_hooks',
  summary: 'List the hooks of a memory, newest first, without their secrets.',
  description: 'Each one with the state of its deliveries.',
  example: {},
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  paged: true,
  input: Type.Object(PAGE_INPUT),
  output: Type.Object({ hooks: Type.Array(HookOutput, { description: 'The hooks of the page.' }), ...PAGE_OUTPUT }),
  http: [{ verb: 'GET', path: 'M/hooks' }],
  async run(input, context) {
    const { hooks } = context.services;
    const placeOf = ({ createdAtMs, id }: { createdAtMs: number; id: string }): Place => ({ timeMs: createdAtMs, id });
    const page = readPage(input, SCOPE, context.warnings);
    const sorted = hooks.of(context.memory).toSorted((one, other) => comparePlaces(placeOf(one), placeOf(other)));
    const { items, total, nextCursor } = pageOf(sorted, page, placeOf, SCOPE);
    const views = items.map((hook) => shown(hook, context));
    return { hooks: views, total, nextCursor };
  },
});

export const hooksCreate = defineOperation({
  name: 'create_hook',
  summary: 'Make a hook: events of the memory from now on are sent to a URL, or read with its filters.',
  description: 'The secret is in this answer alone.',
  example: {
    name: 'search index',
    url: 'https://hooks.example.com/granary',
    event_filters: ['grain_created'],
    generate_secret: true,
  },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({
    name: Type.Optional(
      described(
        plainText({ minLength: 1, maxLength: NAME_CHARS_MAX }),
        "Name of the hook; the default is the hook's id.",
      ),
    ),
    deliveryMode: Type.Optional(
      Type.Enum(['webhook', 'cdc', 'log', 'internal'], {
        description:
          'Whether events are sent (webhook) or read (cdc; also log, internal); the default is webhook with a URL.',
      }),
    ),
    url: Type.Optional(
      Type.String({
        maxLength: HOOK_URL_CHARS_MAX,
        description: 'URL that events are posted to, http or https; required for a webhook.',
      }),
    ),
    eventFilters: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: EVENT_KINDS.length,
        description: 'Kinds of events; empty or absent: all.',
      }),
    ),
    generateSecret: Type.Optional(
      Type.Boolean({
        description: 'Whether deliveries are signed with a new secret; the default is false.',
        default: false,
      }),
    ),
  }),
  output: Type.Object({
    ...HookOutput.properties,
    secret: Type.Optional(
      Type.String({
        description:
          'The secret of the signatures, which is shown this once: the answer to a repeat with the same Idempotency-Key lacks it.',
      }),
    ),
  }),
  shownOnce: ['secret'],
  errors: ['HOK-E001', 'HOK-E002', 'HOK-E004'],
  http: [{ verb: 'POST', path: 'M/hooks', successStatus: 201 }],
  async run({ name, deliveryMode, url, eventFilters = [], generateSecret = false }, context) {
    const { services, memory } = context;
    const mode = MODES[deliveryMode ?? (url === undefined ? 'cdc' : 'webhook')];
    if (mode === 'cdc' && url !== undefined) throw badUrl('only a webhook has a `url`');
    if (mode === 'webhook' && url === undefined) throw badUrl('a webhook needs a `url`');
    const filters = filtersOf(eventFilters);
    if (url !== undefined) await services.deliveries.checkUrl(url);
    // The first answer alone has the secret: what is kept for a repeat does not.
    let secret: string | undefined;
    const view = await context.once(async (first) => {
      const cursor = await services.deliveries.newestEvents(memory);
      const wanted = { name: name?.normalize('NFC'), url, filters, hasSecret: generateSecret, cursor };
      const made = await services.hooks.create(memory, wanted, first);
      secret = made.secret;
      await context.call('note', { event: 'hook.created', details: { hook_id: made.hook.id, mode } });
      return viewOf(context, made.hook.id);
    });
    return { ...view, secret };
  },
});

function filtersOf(asked: readonly string[]): readonly EventKind[] {
  const unknown = asked.find((kind) => !EVENT_KINDS.some((known) => known === kind));
  if (unknown !== undefined)
    throw new EngineError(
      'HOK-E002',
      `there is no event kind ${JSON.stringify(unknown)}: use one of ${EVENT_KINDS.join(', ')}`,
      {
        details: [{ field: 'event_filters', issue: 'unknown kind' }],
      },
    );
  return EVENT_KINDS.filter((kind) => asked.includes(kind));
}

function badUrl(message: string): EngineError {
  return new EngineError('HOK-E001', message, { details: [{ field: 'url', issue: message }] });
}

export const hooksDelete = defineOperation({
  name: 'delete_hook',
  summary: 'Delete a hook. Deliveries under way may still arrive.',
  description: 'Its dead letters go with it.',
  example: { hook_id: 'hook_aaaaaaaaaaaaaaaaaaaaaaaa' },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({ hookId: HookId }),
  output: Type.Object({
    deleted: Type.Literal(true, { description: 'Always true.' }),
    hookId: Type.String({ description: 'Id of the deleted hook.' }),
  }),
  errors: ['HOK-E003'],
  http: [{ verb: 'DELETE', path: 'M/hooks/{hook_id}' }],
  async run({ hookId }, context) {
    await context.services.hooks.delete(context.memory, hookId);
    await context.call('note', { event: 'hook.deleted', details: { hook_id: hookId } });
    return { deleted: true as const, hookId };
  },
});

export const hookResume = defineOperation({
  name: 'resume_hook',
  summary: 'Continue the deliveries of a paused hook; a waiting event is tried at once.',
  description: 'The deliveries go on with the event that they stopped at.',
  example: { hook_id: 'hook_aaaaaaaaaaaaaaaaaaaaaaaa' },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({ hookId: HookId }),
  output: HookOutput,
  errors: ['HOK-E003'],
  exec: { command: 'hook_resume' },
  async run({ hookId }, context) {
    const { hooks, deliveries } = context.services;
    await deliveries.resume(hooks.get(context.memory, hookId));
    await context.call('note', { event: 'hook.resumed', details: { hook_id: hookId } });
    return viewOf(context, hookId);
  },
});
