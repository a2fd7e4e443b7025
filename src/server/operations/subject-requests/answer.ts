// Answers a request of a data subject: erases the person, and makes the report.

import { EngineError } from '../../../engine/base/errors.ts';
import { toNfc } from '../../../engine/base/nfc.ts';
import { onDemand } from '../../../engine/base/on-demand.ts';
import { erasedAlready } from '../../jobs/erasures.ts';
import { issueProof } from '../../proofs/issue.ts';
import { heldSummary } from '../../subject-requests/held.ts';
import type * as FindPdfkit from '../../subject-requests/report/find-pdfkit.ts';
import type * as ReportFile from '../../subject-requests/report/html.ts';
import type * as ReportData from '../../subject-requests/report-data.ts';
import { defineOperation } from '../define.ts';
import { eraseUser } from '../erasure/erase-user.ts';
import { ProofOutput } from '../erasure/erasure-proof.ts';
import { TEXT } from '../json-schema.ts';
import { nodeOf, outsideSchema, outward } from '../names.ts';
import { described, Type } from '../type.ts';
import { viewed } from './requests.ts';
import { Person, Report, RequestId, RequestOutput } from './schema.ts';

const inReportData = onDemand<typeof ReportData>(import.meta.url, '../../subject-requests/report-data');

const EXAMPLE_ID = 'dsr_aaaaaaaaaaaaaaaaaaaaaaaa';

const Erased = Type.Object({
  request: described(RequestOutput, 'The request.'),
  proof: described(ProofOutput, 'The signed proof of the erasure.'),
});

export const eraseRequest = defineOperation({
  name: 'erase_subject_request',
  summary: 'Erase the person of a request: the key is destroyed before the answer, which has the signed proof.',
  description:
    'The record notes what was held before, as counts and times. A repeated call answers with a new proof of the same erasure. The request stays open until it is closed.',
  example: { request_id: EXAMPLE_ID, confirm: 'ada', reason: 'Request of the person.' },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  slow: true,
  input: Type.Object({
    requestId: RequestId,
    confirm: described(Person, 'The id of the person once more.'),
    reason: Type.Optional(
      Type.String({
        description: 'Why the person is erased; the default is the x-reason header, else data_subject_request.',
      }),
    ),
  }),
  output: Erased,
  errors: ['VAL-E001', 'DSR-E001', 'DSR-E002', 'POL-E003'],
  http: [{ verb: 'POST', path: 'M/subject-requests/{request_id}/erase' }],
  async run({ requestId: id, confirm, reason }, context) {
    const { services, memory } = context;
    const { subjectRequests, clock } = services;
    const which = { memory: memory.number, id };
    const record = subjectRequests.get(which);
    const { userId } = record;
    if (record.closed !== undefined || userId === undefined)
      throw new EngineError('DSR-E002', `the request ${id} is closed`);
    if (toNfc(confirm) !== userId)
      throw new EngineError('VAL-E001', 'confirm is not the person of this request: nothing was erased', {
        details: [{ field: 'confirm', issue: 'another person' }],
      });
    const held = await heldSummary(context, userId);
    // A repeat finds nothing: what the first call noted stays, also if it was interrupted after that.
    const isFirst = held.count > 0 || record.heldBefore === undefined;
    if (isFirst) await subjectRequests.noteHeld(which, held);
    const { keyFingerprint } = await eraseUser(context, userId, reason);
    const atMs = isFirst || record.erasure === undefined ? clock.nowMs() : record.erasure.atMs;
    try {
      const proof = await issueProof(context, userId, atMs);
      const erasure = { atMs, count: proof.count, keyFingerprint };
      return { request: viewed(context, await subjectRequests.noteErasure(which, { erasure, proof })), proof };
    } catch (error) {
      throw keyFingerprint === '' ? error : erasedAlready(error);
    }
  },
});

const inFindPdfkit = onDemand<typeof FindPdfkit>(import.meta.url, '../../subject-requests/report/find-pdfkit');
const reportFile = onDemand<typeof ReportFile>(import.meta.url, '../../subject-requests/report/html');

export const reportRequest = defineOperation({
  name: 'report_subject_request',
  summary: 'Make the report about a request, for the person and for the file.',
  description:
    'The report holds requester, time, deadline, grains by type and time, consents, recalls, what was done, the proof, and what a restored backup does. As JSON, HTML that prints well, or PDF with the package pdfkit.',
  example: { request_id: EXAMPLE_ID, format: 'html', language: 'de' },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  slow: true,
  input: Type.Object({
    requestId: RequestId,
    format: Type.Optional(
      Type.Enum(['json', 'html', 'pdf'], {
        description: 'Format of the report; the default is json.',
        default: 'json',
      }),
    ),
    language: Type.Optional(
      Type.Enum(['en', 'de'], { description: 'Language of an HTML file or PDF; the default is en.', default: 'en' }),
    ),
  }),
  output: Type.Object({
    contentType: Type.String({ description: 'Content type of the report.' }),
    body: Type.Unsafe<string | Uint8Array>({ description: 'The report: text, or the bytes of a PDF.' }),
  }),
  errors: ['DSR-E001', 'LIM-E001', 'LIM-E003', 'SYS-E002', 'SYS-E005'],
  http: [
    {
      verb: 'GET',
      path: 'M/subject-requests/{request_id}/report',
      answers: {
        'application/json': outsideSchema(Report),
        'text/html': TEXT,
        'application/pdf': { type: 'string', format: 'binary' },
      },
      reply: ({ contentType, body }) => ({
        kind: 'bytes',
        status: 200,
        headers: {
          'content-type': contentType,
          // Nothing in it runs or loads, whatever its fields hold.
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
          'cache-control': 'no-store',
        },
        body: typeof body === 'string' ? Buffer.from(body) : body,
      }),
    },
  ],
  async run({ requestId: id, format = 'json', language = 'en' }, context) {
    const { subjectRequests } = context.services;
    const which = { memory: context.memory.number, id };
    const { closed, userId } = subjectRequests.get(which);
    // Without the package the report is not made, and no entry says so.
    if (format === 'pdf') requirePdfkit();
    // Before the report, which then lists it.
    if (closed === undefined)
      await context.call('note', { event: 'dsr.reported', userId, details: { request_id: id, format } });
    const data = await inReportData().reportData(context, subjectRequests.get(which));
    if (format === 'html')
      return { contentType: 'text/html; charset=utf-8', body: reportFile().reportHtml(data, language) };
    if (format === 'pdf')
      return { contentType: 'application/pdf', body: await context.services.pdfs.write(data, language) };
    return { contentType: 'application/json', body: JSON.stringify(outward(nodeOf(Report), data)) };
  },
});

/** Throws SYS-E002 when pdfkit is not installed. */
function requirePdfkit(): void {
  const { findPdfkit, PdfkitMissing } = inFindPdfkit();
  try {
    findPdfkit();
  } catch (error) {
    throw error instanceof PdfkitMissing ? new EngineError('SYS-E002', error.message) : error;
  }
}
