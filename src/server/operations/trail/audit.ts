import { EngineError } from '../../../engine/base/errors.ts';
import { AUDIT_EVENTS } from '../../../engine/govern/trail/audit.ts';
import type { AuditFilter, AuditView } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { defineOperation } from '../define.ts';
import { Hash } from '../grains/view.ts';
import { PAGE_INPUT, PAGE_OUTPUT, readPage } from '../page.ts';
import { type Static, Type } from '../type.ts';
import { checkSpan } from './provenance-list.ts';

const Input = Type.Object({
  ...PAGE_INPUT,
  user: Type.Optional(Type.String()),
  eventType: Type.Optional(Type.Array(Type.String())),
  grainHash: Type.Optional(Hash),
  actor: Type.Optional(Type.String()),
  since: Type.Optional(Type.Integer()),
  until: Type.Optional(Type.Integer()),
  verify: Type.Optional(Type.Boolean()),
});

const Entry = Type.Object({
  partition: Type.Integer(),
  /** Absent for a caller that sees some entries: it counts the others too. */
  seq: Type.Optional(Type.Integer()),
  timestamp: Type.Integer(),
  eventType: Type.String(),
  actor: Type.String(),
  subject: Type.String(),
  grainHash: Type.Optional(Type.String()),
  details: Type.Unsafe<AuditView['details']>({ type: 'object' }),
  prevHash: Type.String(),
  hash: Type.String(),
});

const SCOPE = 'audit';

export const audit = defineOperation({
  name: 'audit',
  summary: 'Pages of the audit trail of a memory, newest first.',
  needs: 'read',
  on: 'memory',
  reach: ({ verify }) => (verify === true ? 'memory' : 'binding'),
  mutates: false,
  paged: true,
  input: Input,
  output: Type.Object({ entries: Type.Array(Entry), ...PAGE_OUTPUT, chainValid: Type.Optional(Type.Boolean()) }),
  errors: ['VAL-E001', 'VAL-E004', 'AUT-E001'],
  http: [{ verb: 'GET', path: 'M/audit' }],
  async run(input, context) {
    const { cursors } = context.services;
    const { limit, offset, order, after } = readPage(input, SCOPE, context.told, (cursor) =>
      cursors.read(cursor, SCOPE),
    );
    const page = await context.call('auditPage', {
      filter: filterOf(input),
      order,
      limit,
      ...(offset === 0 ? {} : { offset }),
      ...(after === undefined ? {} : { from: placesOf(after.id) }),
    });
    const chainValid = input.verify === true ? (await context.call('verifyAudit', {})).valid : undefined;
    return {
      entries: page.entries.map((entry) => shownTo(context, entry)),
      total: page.total,
      nextCursor: page.next === undefined ? null : cursors.write({ timeMs: 0, id: page.next.join('.') }, SCOPE, order),
      ...(chainValid === undefined ? {} : { chainValid }),
    };
  },
});

/** To a caller that sees some entries without what counts the others: their numbers, and names of grains that hold ids of keys. */
function shownTo({ userId }: Context, entry: AuditView): Omit<AuditView, 'seq'> & Partial<Pick<AuditView, 'seq'>> {
  if (userId === undefined) return entry;
  const { seq: _, details, ...shown } = entry;
  const isName = (value: unknown): boolean => typeof value === 'string' && GRAIN_NAME.test(value);
  return { ...shown, details: Object.fromEntries(Object.entries(details).filter(([, value]) => !isName(value))) };
}

/** As the log names grains: no hash, which has 64 digits. */
const GRAIN_NAME = /^[0-9a-f]{66,84}$/;

function filterOf(input: Static<typeof Input>): AuditFilter {
  const { user, eventType, grainHash, actor, since, until } = input;
  for (const name of eventType ?? [])
    if (!name.endsWith('*') && !Object.hasOwn(AUDIT_EVENTS, name))
      throw new EngineError('VAL-E001', `there is no event type ${JSON.stringify(name)}`, {
        details: [{ field: 'event_type', issue: 'unknown' }],
      });
  checkSpan(since, until);
  return {
    ...(user === undefined ? {} : { user }),
    ...(eventType === undefined ? {} : { events: eventType }),
    ...(grainHash === undefined ? {} : { grainHash }),
    ...(actor === undefined ? {} : { actor }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/** The first seq of each partition, from the cursor that this list made. */
function placesOf(text: string): number[] {
  const places = text.split('.').map(Number);
  if (!places.every((place) => Number.isSafeInteger(place) && place >= 0))
    throw new EngineError('VAL-E004', 'bad cursor', { details: [{ field: 'cursor', issue: 'not of this list' }] });
  return places;
}
