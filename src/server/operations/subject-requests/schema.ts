// A request of a data subject, and the report about it, as clients see them.
import {
  SUBJECT_REQUEST_NOTE_CHARS_MAX,
  SUBJECT_REQUESTER_CHARS_MAX,
  USER_ID_CHARS_MAX,
} from '../../../engine/base/limits.ts';
import {
  type HeldSummary,
  SUBJECT_REQUEST_KINDS,
  SUBJECT_REQUEST_OUTCOMES,
  type SubjectRequestAct,
  type SubjectRequestRecord,
} from '../../control/records.ts';
import { deadlineOf } from '../../subject-requests/deadline.ts';
import { ProofOutput } from '../erasure/erasure-proof.ts';
import { seconds } from '../seconds.ts';
import { plainText } from '../text.ts';
import { described, type Static, Type } from '../type.ts';

export const RequestId = Type.String({ minLength: 1, maxLength: 64, description: 'Id of the request.' });
export const Kind = Type.Enum([...SUBJECT_REQUEST_KINDS], {
  description:
    'The act that the person asks for (GDPR): access (Art. 15), portability (20), erasure (17), rectification (16), restriction (18) or objection (21).',
});
export const Outcome = Type.Enum([...SUBJECT_REQUEST_OUTCOMES], { description: 'How the request ended.' });
export const Person = Type.String({
  minLength: 1,
  maxLength: USER_ID_CHARS_MAX,
  description: 'The person whom the request is about.',
});
export const Requester = plainText({ minLength: 1, maxLength: SUBJECT_REQUESTER_CHARS_MAX });
export const Note = plainText({ minLength: 1, maxLength: SUBJECT_REQUEST_NOTE_CHARS_MAX });

const Held = Type.Object({
  asOf: Type.Integer({ description: 'Time of the count in Unix seconds.' }),
  count: Type.Integer({ description: 'Number of grains, all versions.' }),
  byType: Type.Array(
    Type.Object({
      grainType: Type.String({ description: 'Grain type.' }),
      count: Type.Integer({ description: 'Number of grains of the type.' }),
      oldestCreatedAt: Type.Integer({ description: 'Creation time of the oldest one, in Unix seconds.' }),
      newestCreatedAt: Type.Integer({ description: 'Creation time of the newest one, in Unix seconds.' }),
    }),
    { description: 'Grains by type.' },
  ),
  byMonth: Type.Array(
    Type.Object({
      month: Type.String({ description: 'Month of creation in UTC, such as 2026-11.' }),
      count: Type.Integer({ description: 'Number of grains of the month.' }),
    }),
    { description: 'Grains by month of creation, oldest first.' },
  ),
  consents: Type.Integer({ description: 'Number of consents on record.' }),
  recalls: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Number of recalls about the person that left a record; null where they were not counted.',
  }),
  restricted: Type.Boolean({ description: 'Whether the data was restricted.' }),
});

export const Act = Type.Object({
  event: Type.String({ description: 'Type of the entries of the audit trail.' }),
  actor: Type.String({ description: 'Principal that acted.' }),
  from: Type.Integer({ description: 'Time of the first entry in Unix seconds.' }),
  to: Type.Integer({ description: 'Time of the last entry in Unix seconds.' }),
  count: Type.Integer({ description: 'Number of entries.' }),
  hash: Type.String({ description: 'Hash of the last entry.' }),
});

export const RequestOutput = Type.Object({
  requestId: RequestId,
  status: Type.Enum(['open', 'closed'], { description: 'Whether the request is still to be answered.' }),
  kind: Kind,
  userId: Type.Optional(
    Type.String({
      description: 'The person; absent once the request was closed and the person erased, as are all free texts.',
    }),
  ),
  requester: Type.Optional(Type.String({ description: "Requester, in the operator's words." })),
  note: Type.Optional(Type.String({ description: "The operator's note." })),
  receivedAt: Type.Integer({ description: 'Time at which the request reached the operator, in Unix seconds.' }),
  openedAt: Type.Integer({ description: 'Time at which it was recorded here, in Unix seconds.' }),
  openedBy: Type.String({ description: 'Principal that recorded it.' }),
  dueAt: Type.Integer({ description: 'Time by which it must be answered, in Unix seconds.' }),
  daysAllowed: Type.Integer({ description: 'Days that the law allows, with the extension.' }),
  daysUsed: Type.Integer({ description: 'Whole days that have passed, up to its end.' }),
  daysLeft: Type.Integer({ description: 'Whole days that are left; 0 once it is due.' }),
  overdue: Type.Boolean({ description: 'Whether it is, or was closed, past the time by which it was due.' }),
  extension: Type.Optional(
    described(
      Type.Object({
        days: Type.Integer({ description: 'Days that were added.' }),
        reason: Type.Optional(Type.String({ description: 'Why; absent once the request names nobody.' })),
        extendedAt: Type.Integer({ description: 'Time of the extension in Unix seconds.' }),
        extendedBy: Type.String({ description: 'Principal that extended it.' }),
      }),
      'The extension; absent without one.',
    ),
  ),
  erasure: Type.Optional(
    described(
      Type.Object({
        erasedAt: Type.Integer({ description: 'Time of the erasure in Unix seconds.' }),
        count: Type.Integer({ description: 'Number of grains that were erased.' }),
        keyFingerprint: Type.String({ description: 'Fingerprint of the destroyed key; empty where nothing was held.' }),
        held: Type.Optional(described(Held, 'The data held before, as counts and times.')),
      }),
      'The erasure by this request; absent without one.',
    ),
  ),
  closed: Type.Optional(
    described(
      Type.Object({
        closedAt: Type.Integer({ description: 'Time at which it was closed, in Unix seconds.' }),
        closedBy: Type.String({ description: 'Principal that closed it.' }),
        outcome: Outcome,
        note: Type.Optional(
          Type.String({ description: 'Why, or what remains; absent once the request names nobody.' }),
        ),
      }),
      'The end of the request; absent while it is open.',
    ),
  ),
});

export type RequestView = Static<typeof RequestOutput>;

/** The recalls, consents and acts of a report are its newest ones; the totals count all. */
export const Report = Type.Object({
  generatedAt: Type.Integer({ description: 'Time of the report in Unix seconds.' }),
  software: Type.String({ description: 'Program and version that made the report.' }),
  memoryId: Type.String({ description: 'Id of the memory.' }),
  memoryName: Type.String({ description: 'Name of the memory.' }),
  person: Type.String({ description: 'The person; erased: and a fingerprint where the request names nobody.' }),
  request: described(RequestOutput, 'The request.'),
  controller: Type.Union([Type.String(), Type.Null()], {
    description: 'Controller that the policy names; null without one.',
  }),
  purposes: Type.Array(Type.String(), { description: 'Purposes of processing that the policy names.' }),
  recipients: Type.Array(Type.String(), {
    description: 'Recipients that the policy names, and model services outside of this machine.',
  }),
  retentionDays: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Days for which grains are kept by default; null without a limit.',
  }),
  held: described(Held, 'The data that the memory holds of the person now.'),
  consents: Type.Array(
    Type.Object({
      purpose: Type.String({ description: 'The purpose, or * for every purpose.' }),
      status: Type.String({ description: 'State of the consent: granted, revoked or none.' }),
      grantedAt: Type.Optional(Type.Integer({ description: 'Time of the latest grant in Unix seconds.' })),
      revokedAt: Type.Optional(Type.Integer({ description: 'Time of the withdrawal in Unix seconds.' })),
      basis: Type.Optional(Type.String({ description: 'Lawful basis that the grant named.' })),
      jurisdiction: Type.Optional(Type.String({ description: 'Jurisdiction that the grant named.' })),
    }),
    { description: 'Consents on record, at most 200.' },
  ),
  restriction: Type.Optional(
    described(
      Type.Object({
        reason: Type.String({ description: 'Why the data is restricted.' }),
        restrictedAt: Type.Integer({ description: 'Time since which it is restricted, in Unix seconds.' }),
        restrictedBy: Type.String({ description: 'Principal that restricted it.' }),
      }),
      'The restriction of the data; absent without one.',
    ),
  ),
  recalls: Type.Array(
    Type.Object({
      timestamp: Type.Integer({ description: 'Time of the recall in Unix seconds.' }),
      principal: Type.String({ description: 'Principal that asked.' }),
      queryMode: Type.String({ description: 'How it searched.' }),
      resultCount: Type.Integer({ description: 'Number of results.' }),
    }),
    { description: 'The newest recalls about the person, at most 20.' },
  ),
  acts: Type.Array(Act, { description: 'The acts since the request was received, oldest first.' }),
  actsTotal: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Number of entries of the audit trail about that; null where they were not counted.',
  }),
  proof: Type.Optional(described(ProofOutput, 'The signed proof of the erasure; absent without one.')),
  lastBackupAt: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Time of the newest backup by the server, in Unix seconds; null without one.',
  }),
});

export type ReportData = Static<typeof Report>;

export function heldView({ atMs, byType, byMonth, ...counts }: HeldSummary): Static<typeof Held> {
  return {
    asOf: seconds(atMs),
    ...counts,
    byType: byType.map(({ type, count, oldestMs, newestMs }) => ({
      grainType: type,
      count,
      oldestCreatedAt: seconds(oldestMs),
      newestCreatedAt: seconds(newestMs),
    })),
    byMonth: [...byMonth],
  };
}

export function actView(act: SubjectRequestAct): Static<typeof Act> {
  return { ...act };
}

export function requestView(record: SubjectRequestRecord, nowMs: number): RequestView {
  const { extension, erasure, heldBefore, closed } = record;
  const { dueAtMs, daysAllowed, daysUsed, daysLeft, isOverdue } = deadlineOf(record, nowMs);
  return {
    requestId: record.id,
    status: closed === undefined ? 'open' : 'closed',
    kind: record.kind,
    userId: record.userId,
    requester: record.requester,
    note: record.note,
    receivedAt: seconds(record.receivedAtMs),
    openedAt: seconds(record.openedAtMs),
    openedBy: record.openedBy,
    dueAt: seconds(dueAtMs),
    ...{ daysAllowed, daysUsed, daysLeft, overdue: isOverdue },
    extension: extension && {
      days: extension.days,
      reason: extension.reason,
      extendedAt: seconds(extension.atMs),
      extendedBy: extension.by,
    },
    erasure: erasure && {
      erasedAt: seconds(erasure.atMs),
      count: erasure.count,
      keyFingerprint: erasure.keyFingerprint,
      held: heldBefore && heldView(heldBefore),
    },
    closed: closed && {
      closedAt: seconds(closed.atMs),
      closedBy: closed.by,
      outcome: closed.outcome,
      note: closed.note,
    },
  };
}
