import { defined } from '../../../engine/base/defined.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { AUDIT_EVENTS } from '../../../engine/govern/trail/audit.ts';
import type { AuditFilter, AuditView } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { defineOperation } from '../define.ts';
import { Hash } from '../grains/view.ts';
import { PAGE_INPUT, PAGE_OUTPUT, readPage } from '../page.ts';
import { described, type Static, Type } from '../type.ts';
import { checkSpan } from './provenance-list.ts';

const Input = Type.Object({
  ...PAGE_INPUT,
  user: Type.Optional(Type.String({ description: 'Only entries about this user, or by them.' })),
  eventType: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Only these event types; a name that ends in * stands for all that begin so.',
    }),
  ),
  grainHash: Type.Optional(described(Hash, 'Only entries about this grain.')),
  actor: Type.Optional(Type.String({ description: 'Only entries of this actor.' })),
  since: Type.Optional(Type.Integer({ description: 'Only entries from this time on, in Unix seconds.' })),
  until: Type.Optional(Type.Integer({ description: 'Only entries up to this time, in Unix seconds.' })),
  seq: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Only the entry with this number in its chain; other filters do not apply.',
    }),
  ),
  partition: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Partition of the entry that seq names; the default is 0.', default: 0 }),
  ),
  verify: Type.Optional(
    Type.Boolean({ description: 'Whether the hash chain is recomputed too; the default is false.', default: false }),
  ),
});

const Entry = Type.Object({
  partition: Type.Integer({ description: 'Partition of the chain that the entry is in, from 0.' }),
  /** Absent for a caller that may see only some entries: gaps would reveal how many others exist. */
  seq: Type.Optional(
    Type.Integer({ description: 'Number of the entry in its chain, from 1; absent for a caller bound to a user.' }),
  ),
  timestamp: Type.Integer({ description: 'Time of the entry in Unix seconds.' }),
  eventType: Type.String({ description: 'Type of the event.' }),
  actor: Type.String({ description: 'Principal that acted.' }),
  subject: Type.String({ description: 'The object of the act.' }),
  grainHash: Type.Optional(Type.String({ description: 'Hash of the grain; absent where the entry is about none.' })),
  details: Type.Unsafe<AuditView['details']>({ type: 'object', description: 'Codes, counts and hashes.' }),
  prevHash: Type.String({ description: 'Hash of the entry before; 64 zeros for the first one.' }),
  hash: Type.String({ description: 'Hash of the entry.' }),
});

const SCOPE = 'audit';

export const audit = defineOperation({
  name: 'audit',
  summary: 'List the audit trail of a memory, newest first.',
  description: 'Each partition has a hash chain of its own; verify recomputes it.',
  example: { event_type: ['memory.*'], user: 'ada', limit: 20 },
  needs: 'read',
  on: 'memory',
  // Numbers would tell a bound caller how many entries of others there are.
  reach: ({ verify, seq }) => (verify === true || seq !== undefined ? 'memory' : 'binding'),
  access: 'calls',
  mutates: false,
  paged: true,
  input: Input,
  output: Type.Object({
    entries: Type.Array(Entry, { description: 'The entries of the page.' }),
    ...PAGE_OUTPUT,
    chainValid: Type.Optional(Type.Boolean({ description: 'Whether the hash chain is intact; only with verify.' })),
  }),
  errors: ['VAL-E001', 'VAL-E004', 'AUT-E001'],
  http: [{ verb: 'GET', path: 'M/audit' }],
  async run(input, context) {
    if (input.seq !== undefined) return entryAt(context, { seq: input.seq, partition: input.partition ?? 0 });
    const { cursors } = context.services;
    const { limit, offset, order, after } = readPage(input, SCOPE, context.warnings, (cursor) =>
      cursors.read(cursor, SCOPE),
    );
    const page = await context.call('auditPage', {
      filter: filterOf(input),
      order,
      limit,
      offset: offset === 0 ? undefined : offset,
      from: after === undefined ? undefined : placesOf(after.id),
    });
    const chainValid = input.verify === true ? (await context.call('verifyAudit', {})).valid : undefined;
    return {
      entries: page.entries.map((entry) => shownTo(context, entry)),
      total: page.total,
      nextCursor: page.next === undefined ? null : cursors.write({ timeMs: 0, id: page.next.join('.') }, SCOPE, order),
      chainValid,
    };
  },
});

/** The page with the one entry of that number; empty where there is none. */
async function entryAt(context: Context, { seq, partition }: { readonly seq: number; readonly partition: number }) {
  const from = Array.from({ length: context.memory.partitions }, (_, at) => (at === partition ? seq : 0));
  const { entries } = await context.call('auditPage', { filter: {}, order: 'desc', limit: 1, from });
  const found = entries.filter((entry) => entry.seq === seq && entry.partition === partition);
  return { entries: found, total: found.length, nextCursor: null, chainValid: undefined };
}

/** Counts of grains of whoever has them: an entry about a person may count what others say of that person. */
const COUNTS: Readonly<Record<string, readonly string[]>> = {
  'memory.recalled': ['candidate_count', 'result_count'],
  'erasure.cross_user_redacted': ['redacted', 'removed'],
};

/**
 * For a caller that may see only some entries, removes members that would reveal the number of others: seq, counts, and
 * grain names, which contain key ids.
 */
function shownTo({ userId }: Context, entry: AuditView): Omit<AuditView, 'seq'> & Partial<Pick<AuditView, 'seq'>> {
  if (userId === undefined) return entry;
  const { seq: _, details, ...shown } = entry;
  const counts = COUNTS[entry.eventType] ?? [];
  const isName = (value: unknown): boolean => typeof value === 'string' && GRAIN_NAME.test(value);
  const kept = Object.entries(details).filter(([name, value]) => !isName(value) && !counts.includes(name));
  return { ...shown, details: Object.fromEntries(kept) };
}

/** A grain's name in the log, not its hash, which has 64 digits. */
const GRAIN_NAME = /^[0-9a-f]{66,84}$/;

function filterOf(input: Static<typeof Input>): AuditFilter {
  const { user, eventType, grainHash, actor, since, until } = input;
  for (const name of eventType ?? [])
    if (!name.endsWith('*') && !Object.hasOwn(AUDIT_EVENTS, name))
      throw new EngineError('VAL-E001', `event_type ${JSON.stringify(name)} does not exist`, {
        details: [{ field: 'event_type', issue: 'unknown' }],
      });
  checkSpan(since, until);
  return defined({
    user,
    events: eventType,
    grainHash,
    actor,
    since,
    until,
  });
}

/** Reads the first seq of each partition from a cursor. Throws VAL-E004 for another list's cursor. */
function placesOf(text: string): number[] {
  const places = text.split('.').map(Number);
  if (!places.every((place) => Number.isSafeInteger(place) && place >= 0))
    throw new EngineError('VAL-E004', 'bad cursor', { details: [{ field: 'cursor', issue: 'not of this list' }] });
  return places;
}
