// Opens, lists, shows, extends and closes requests of data subjects.

import { EngineError } from '../../../engine/base/errors.ts';
import {
  SUBJECT_REQUEST_DAYS_DEFAULT,
  SUBJECT_REQUEST_DAYS_MAX,
  SUBJECT_REQUEST_EXTENSION_DAYS_DEFAULT,
} from '../../../engine/base/limits.ts';
import { toNfc } from '../../../engine/base/nfc.ts';
import { onDemand } from '../../../engine/base/on-demand.ts';
import type { Context } from '../../context.ts';
import type { SubjectRequestRecord } from '../../control/records.ts';
import { actsOf } from '../../subject-requests/acts.ts';
import type * as ReportData from '../../subject-requests/report-data.ts';
import { defineOperation } from '../define.ts';
import { comparePlaces, PAGE_INPUT, PAGE_OUTPUT, type Place, pageOf, readPage } from '../page.ts';
import { secondsToMs } from '../recall/query.ts';
import { described, Type } from '../type.ts';
import {
  Kind,
  Note,
  Outcome,
  Person,
  Requester,
  RequestId,
  RequestOutput,
  type RequestView,
  requestView,
} from './schema.ts';

const inReportData = onDemand<typeof ReportData>(import.meta.url, '../../subject-requests/report-data');

const EXAMPLE_ID = 'dsr_aaaaaaaaaaaaaaaaaaaaaaaa';

/** The request as answers show it. */
export function viewed({ services }: Context, record: SubjectRequestRecord): RequestView {
  return requestView(record, services.clock.nowMs());
}

export const openRequest = defineOperation({
  name: 'open_subject_request',
  summary: 'Record the request of a data subject, for which a deadline runs from now on.',
  description:
    'The record holds requester, time and deadline. It survives restarts and is in every backup. A person has at most one open request of each kind.',
  example: { user_id: 'ada', kind: 'erasure', requester: 'Ada Byron, by letter', received_at: 1_760_000_000 },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({
    userId: Person,
    kind: Type.Optional(
      described(
        Kind,
        'The act that the person asks for; the default is access. The kinds are those of the answer.',
        'access',
      ),
    ),
    requester: Type.Optional(
      described(Requester, 'Requester and way of the request, such as a name and a letter; at most 512 characters.'),
    ),
    note: Type.Optional(described(Note, 'Note of the operator; at most 4,096 characters.')),
    receivedAt: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Time at which the request reached the operator, in Unix seconds; the default is now.',
      }),
    ),
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: SUBJECT_REQUEST_DAYS_MAX,
        description: 'Days that the law allows; the default is 30 (GDPR, Art. 12(3)).',
        default: SUBJECT_REQUEST_DAYS_DEFAULT,
      }),
    ),
  }),
  output: RequestOutput,
  errors: ['VAL-E001', 'DSR-E002', 'LIM-E002'],
  http: [{ verb: 'POST', path: 'M/subject-requests', successStatus: 201 }],
  async run({ userId, kind = 'access', requester, note, receivedAt, days = SUBJECT_REQUEST_DAYS_DEFAULT }, context) {
    const { services, memory, principal } = context;
    const nowMs = services.clock.nowMs();
    const receivedAtMs = receivedAt === undefined ? nowMs : (secondsToMs(receivedAt, 'received_at', 0) ?? nowMs);
    if (receivedAtMs > nowMs)
      throw new EngineError('VAL-E001', 'received_at is in the future', {
        details: [{ field: 'received_at', issue: 'in the future' }],
      });
    if (days > SUBJECT_REQUEST_DAYS_DEFAULT)
      context.warnings.push('GDPR, Art. 12(3), allows one month: more days are only for other laws');
    return context.once(async (first) => {
      const asked = { userId: toNfc(userId), kind, requester, note, receivedAtMs, days };
      const record = await services.subjectRequests.open(memory.number, asked, principal.actor, first);
      await context.call('note', { event: 'dsr.opened', userId, details: { request_id: record.id, kind, days } });
      return viewed(context, record);
    });
  },
});

const SCOPE = 'subject-requests';

export const listRequests = defineOperation({
  name: 'list_subject_requests',
  summary: 'List the requests of data subjects, the latest received first.',
  description:
    'A request is kept for three years after it was closed. One that names nobody any more is still found by its person.',
  example: { status: 'open', limit: 20 },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  paged: true,
  input: Type.Object({
    status: Type.Optional(
      Type.Enum(['open', 'closed'], { description: 'Only requests in this state; the default is all.' }),
    ),
    userId: Type.Optional(described(Person, 'Only requests about this person; the default is all.')),
    ...PAGE_INPUT,
  }),
  output: Type.Object({
    requests: Type.Array(RequestOutput, { description: 'The requests of the page.' }),
    ...PAGE_OUTPUT,
  }),
  errors: ['VAL-E004'],
  http: [{ verb: 'GET', path: 'M/subject-requests' }],
  async run({ status, userId, ...paging }, context) {
    const page = readPage(paging, SCOPE, context.warnings);
    const placeOf = ({ receivedAtMs: timeMs, id }: SubjectRequestRecord): Place => ({ timeMs, id });
    const found = context.services.subjectRequests
      .of(context.memory.number, userId)
      .filter(({ closed }) => status === undefined || (closed === undefined) === (status === 'open'))
      .sort((one, other) => comparePlaces(placeOf(one), placeOf(other)));
    const { items, total, nextCursor } = pageOf(found, page, placeOf, SCOPE, (one) => viewed(context, one));
    return { requests: items.map((one) => viewed(context, one)), total, nextCursor };
  },
});

export const getRequest = defineOperation({
  name: 'get_subject_request',
  summary: 'Show the request of a data subject, with its deadline.',
  description: 'The days that are used are counted up to now, or to its end.',
  example: { request_id: EXAMPLE_ID },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  input: Type.Object({ requestId: RequestId }),
  output: RequestOutput,
  errors: ['DSR-E001'],
  http: [{ verb: 'GET', path: 'M/subject-requests/{request_id}' }],
  run: async ({ requestId: id }, context) =>
    viewed(context, context.services.subjectRequests.get({ memory: context.memory.number, id })),
});

export const extendRequest = defineOperation({
  name: 'extend_subject_request',
  summary: 'Extend the deadline of a request, once.',
  description:
    'GDPR, Art. 12(3): by two further months, where that is necessary; the person must be told why before the first month has passed.',
  example: { request_id: EXAMPLE_ID, days: 60, reason: 'Many requests by the same person.' },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({
    requestId: RequestId,
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: SUBJECT_REQUEST_DAYS_MAX,
        description: 'Days to add; the default is 60.',
        default: SUBJECT_REQUEST_EXTENSION_DAYS_DEFAULT,
      }),
    ),
    reason: described(Note, 'Why more time is necessary, as the person is told.'),
  }),
  output: RequestOutput,
  errors: ['DSR-E001', 'DSR-E002'],
  http: [{ verb: 'POST', path: 'M/subject-requests/{request_id}/extend' }],
  async run({ requestId: id, days = SUBJECT_REQUEST_EXTENSION_DAYS_DEFAULT, reason }, context) {
    const { services, memory, principal } = context;
    if (days > SUBJECT_REQUEST_EXTENSION_DAYS_DEFAULT)
      context.warnings.push('GDPR, Art. 12(3), allows two further months: more days are only for other laws');
    return context.once(async () => {
      const which = { memory: memory.number, id };
      const record = await services.subjectRequests.extend(which, { days, reason }, principal.actor);
      const { userId } = record;
      await context.call('note', { event: 'dsr.extended', userId, details: { request_id: id, days } });
      return viewed(context, record);
    });
  },
});

export const closeRequest = defineOperation({
  name: 'close_subject_request',
  summary: 'Close the request of a data subject.',
  description:
    'If the person was erased since the request was received, the record then names nobody: the person, who asked and all free texts are gone. Make the report before.',
  example: { request_id: EXAMPLE_ID, outcome: 'fulfilled' },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  slow: true,
  input: Type.Object({
    requestId: RequestId,
    outcome: Type.Optional(described(Outcome, 'How the request ended; the default is fulfilled.', 'fulfilled')),
    note: Type.Optional(described(Note, 'Why, or what remains; required for a request that is refused.')),
  }),
  output: RequestOutput,
  errors: ['VAL-E001', 'DSR-E001', 'DSR-E002'],
  http: [{ verb: 'POST', path: 'M/subject-requests/{request_id}/close' }],
  async run({ requestId: id, outcome = 'fulfilled', note }, context) {
    const { services, memory, principal } = context;
    const { subjectRequests } = services;
    if (outcome === 'refused' && note === undefined)
      throw new EngineError('VAL-E001', 'a refusal needs its reason (GDPR, Art. 12(4)): give `note`', {
        details: [{ field: 'note', issue: 'required' }],
      });
    return context.once(async () => {
      const which = { memory: memory.number, id };
      const record = subjectRequests.get(which);
      const { userId, kind, erasure } = record;
      if (record.closed === undefined && userId !== undefined) {
        const { isErased } = await actsOf(context, userId, record);
        if (kind === 'erasure' && outcome === 'fulfilled' && !isErased && erasure === undefined)
          throw new EngineError(
            'DSR-E002',
            `the person was not erased since the request ${id} was received: erase, or close it with another outcome`,
          );
        const proof = await inReportData().currentProof(context, record);
        if (proof !== undefined && proof !== record.proof) await subjectRequests.noteProof(which, proof);
        await context.call('note', { event: 'dsr.closed', userId, details: { request_id: id, outcome } });
      }
      // With the entry of the end itself. A closed request is refused below.
      const acts = userId === undefined ? undefined : await actsOf(context, userId, record);
      const end = { outcome, note, acts: acts?.acts ?? [], isErased: erasure !== undefined || acts?.isErased === true };
      return viewed(context, await subjectRequests.close(which, end, principal.actor));
    });
  },
});
