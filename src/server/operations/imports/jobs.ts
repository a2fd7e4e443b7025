// Lists the import jobs of a memory, shows one, streams its progress and cancels it.
import type { ImportJobRecord } from '../../control/records.ts';
import { personOf } from '../../imports/holds.ts';
import type { OpenedProgress } from '../../imports/streams.ts';
import { isLiveCaller } from '../chat/stream.ts';
import { defineOperation } from '../define.ts';
import { TEXT } from '../json-schema.ts';
import { nodeOf, outward } from '../names.ts';
import { comparePlaces, PAGE_INPUT, PAGE_OUTPUT, type Place, pageOf, readPage } from '../page.ts';
import { Type } from '../type.ts';
import {
  checkPerson,
  isWithin,
  JobId,
  JobOutput,
  jobView,
  percentOf,
  refuseHostedJobs,
  STATUSES,
  seesOthers,
  visibleJob,
} from './view.ts';

const SCOPE = 'imports';
const JOB_NODE = nodeOf(JobOutput);

export const importsList = defineOperation({
  name: 'list_imports',
  summary: 'List the import jobs of a memory, newest first.',
  description: 'Jobs that ended are listed for seven days.',
  example: { status: 'running', limit: 20 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  access: 'calls',
  mutates: false,
  paged: true,
  input: Type.Object({
    status: Type.Optional(Type.Enum(STATUSES, { description: 'Only jobs in this state; the default is all.' })),
    ...PAGE_INPUT,
  }),
  output: Type.Object({ jobs: Type.Array(JobOutput, { description: 'The jobs of the page.' }), ...PAGE_OUTPUT }),
  errors: ['AUT-E006'],
  http: [{ verb: 'GET', path: 'M/imports' }],
  async run({ status, ...paging }, context) {
    refuseHostedJobs(context);
    const page = readPage(paging, SCOPE, context.warnings);
    await context.services.imports.settled(context.memory);
    const all = context.services.imports.of(context.memory).filter((job) => isWithin(context, job));
    const sees = await seesOthers(context, 'viewer');
    const seen = all.filter(
      (job) =>
        (status === undefined || job.status === status) && (sees || job.caller.actor === context.principal.actor),
    );
    const placeOf = ({ createdAtMs, id }: ImportJobRecord): Place => ({ timeMs: createdAtMs, id });
    seen.sort((one, other) => comparePlaces(placeOf(one), placeOf(other)));
    const { items, total, nextCursor } = pageOf(seen, page, placeOf, SCOPE, (job) => outward(JOB_NODE, jobView(job)));
    return { jobs: items.map(jobView), total, nextCursor };
  },
});

export const importGet = defineOperation({
  name: 'get_import',
  summary: 'Show an import job.',
  description: 'A job that ended is kept for seven days.',
  example: { job_id: 'job_aaaaaaaaaaaaaaaaaaaaaaaa' },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  access: 'calls',
  mutates: false,
  input: Type.Object({ jobId: JobId }),
  output: JobOutput,
  errors: ['IMP-E002', 'AUT-E006', 'POL-E008'],
  http: [{ verb: 'GET', path: 'M/imports/{job_id}' }],
  async run({ jobId }, context) {
    refuseHostedJobs(context);
    const job = await visibleJob(context, jobId, 'viewer');
    await checkPerson(context, personOf(job));
    return jobView(job);
  },
});

export const importStream = defineOperation({
  name: 'stream_import',
  summary: 'Stream the progress of an import job as server-sent events.',
  description:
    'Events named progress until the job ends; then one named completed, failed or cancelled with the job. A job that has ended has its last event at once.',
  example: { job_id: 'job_aaaaaaaaaaaaaaaaaaaaaaaa' },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  access: 'calls',
  mutates: false,
  input: Type.Object({ jobId: JobId }),
  output: Type.Object({ opened: Type.Unsafe<OpenedProgress>({ description: 'The job whose progress is streamed.' }) }),
  errors: ['IMP-E002', 'AUT-E006', 'LIM-E001', 'POL-E008'],
  http: [
    {
      verb: 'GET',
      path: 'M/imports/{job_id}/stream',
      answers: { 'text/event-stream': TEXT },
      reply: ({ opened }) => ({
        kind: 'open',
        status: 200,
        headers: {},
        open: ({ progress }, request, { headers }) => progress.open(opened, request, headers),
      }),
    },
  ],
  async run({ jobId }, context) {
    refuseHostedJobs(context);
    const { imports, progress } = context.services;
    progress.check();
    await checkPerson(context, personOf(await visibleJob(context, jobId, 'viewer')));
    const opened: OpenedProgress = {
      id: jobId,
      job: () => (isLiveCaller(context) ? imports.find(context.memory, jobId) : undefined),
      progress: progressOf,
      whole: (job) => outward(JOB_NODE, jobView(job)) as object, // a job has members
    };
    return { opened };
  },
});

function progressOf(job: ImportJobRecord): object {
  return {
    job_id: job.id,
    status: job.status,
    phase: job.phase,
    percent: percentOf(job),
    processed_chunks: job.processedChunks,
    total_chunks: job.totalChunks ?? null,
  };
}

export const importCancel = defineOperation({
  name: 'cancel_import',
  summary: 'Cancel an import job that is queued or running.',
  description: 'The job stops at its next chunk; chunks that it has stored stay.',
  example: { job_id: 'job_aaaaaaaaaaaaaaaaaaaaaaaa' },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  access: 'calls',
  mutates: true,
  onUnknown: 'warn',
  input: Type.Object({ jobId: JobId }),
  output: JobOutput,
  errors: ['IMP-E002', 'IMP-E003', 'AUT-E006'],
  http: [{ verb: 'POST', path: 'M/imports/{job_id}/cancel' }],
  async run({ jobId }, context) {
    refuseHostedJobs(context);
    await visibleJob(context, jobId, 'editor');
    return context.once(async () => jobView(await context.services.imports.cancel(jobId)));
  },
});
