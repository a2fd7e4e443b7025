// An import job as clients see it, and who sees it.
import { EngineError, type ErrorCode } from '../../../engine/base/errors.ts';
import type { Context } from '../../context.ts';
import type { ImportJobRecord } from '../../control/records.ts';
import { keptFileName } from '../../documents/chunk-grain.ts';
import { namespaceOf, personOf } from '../../imports/holds.ts';
import { ChunkFailure } from '../documents/schema.ts';
import { isHosted } from '../settings/view.ts';
import { described, type Static, Type } from '../type.ts';

export const JobId = Type.String({ minLength: 1, maxLength: 64, description: 'Id of the job.' });
export const STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;

export const JobOutput = Type.Object({
  jobId: JobId,
  status: Type.Enum(STATUSES, { description: 'State of the job.' }),
  phase: Type.Enum(['parsing', 'chunking', 'storing', 'extracting'], {
    description: 'The current step of a running job; the last step of one that has ended.',
  }),
  fileName: Type.String({ description: 'Name of the file as the chunks keep it.' }),
  mimeType: Type.Optional(Type.String({ description: 'Media type of the content; absent until it is read.' })),
  sizeBytes: Type.Integer({ description: 'Size of the file in bytes.' }),
  totalChunks: Type.Optional(Type.Integer({ description: 'Number of chunks; absent until the document is read.' })),
  processedChunks: Type.Integer({ description: 'Number of chunks that were stored, found or refused.' }),
  grainsCreated: Type.Integer({ description: 'Number of chunks that were stored.' }),
  duplicates: Type.Integer({ description: 'Number of chunks that the memory held already.' }),
  extractedCount: Type.Optional(
    Type.Integer({ description: 'Number of beliefs that were extracted; only with extract.' }),
  ),
  hashes: Type.Array(Type.String(), { description: 'Hashes of the stored chunks and duplicates, the first 500.' }),
  errors: Type.Array(ChunkFailure, { description: 'The chunks that were refused, the first 50.' }),
  warnings: Type.Optional(
    Type.Array(Type.String(), { description: 'The changes that the import made and the parts that it left out.' }),
  ),
  percent: Type.Integer({ description: 'Share of the chunks that are processed, 0 to 100.' }),
  createdAt: Type.Integer({ description: 'Time of the request, in Unix seconds.' }),
  startedAt: Type.Optional(Type.Integer({ description: 'Time at which the job first ran, in Unix seconds.' })),
  finishedAt: Type.Optional(Type.Integer({ description: 'Time at which it ended, in Unix seconds.' })),
  error: Type.Optional(
    described(
      Type.Object({
        code: Type.Unsafe<ErrorCode>({ type: 'string', description: 'Error code.' }),
        message: Type.String({ description: 'Error message.' }),
      }),
      'Why the job failed.',
    ),
  ),
});
export type JobView = Static<typeof JobOutput>;

export function jobView(job: ImportJobRecord): JobView {
  const warnings = [...job.warnings];
  if (job.hashes.length < job.created + job.duplicates)
    warnings.push(`only the hashes of the first ${job.hashes.length} chunks are listed`);
  if (job.errors.length < job.refused) warnings.push(`${job.refused - job.errors.length} more errors are not listed`);
  return {
    jobId: job.id,
    status: job.status,
    phase: job.phase,
    fileName: keptFileName(job.fileName),
    mimeType: job.mimeType,
    sizeBytes: job.sizeBytes,
    totalChunks: job.totalChunks,
    processedChunks: job.processedChunks,
    grainsCreated: job.created,
    duplicates: job.duplicates,
    extractedCount: job.options.extract === true ? job.extracted : undefined,
    hashes: [...job.hashes],
    errors: [...job.errors],
    warnings: warnings.length === 0 ? undefined : warnings,
    percent: percentOf(job),
    createdAt: Math.floor(job.createdAtMs / 1000),
    startedAt: secondsOf(job.startedAtMs),
    finishedAt: secondsOf(job.finishedAtMs),
    error: job.error,
  };
}

function secondsOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.floor(ms / 1000);
}

export function percentOf({ status, totalChunks, processedChunks }: ImportJobRecord): number {
  if (status === 'completed') return 100;
  return totalChunks === undefined || totalChunks === 0 ? 0 : Math.floor((100 * processedChunks) / totalChunks);
}

/** AUT-E006 in a hosted deployment, which imports synchronously only. */
export function refuseHostedJobs({ services }: Context): void {
  if (isHosted(services))
    throw new EngineError('AUT-E006', 'this deployment has no import jobs: use POST /import-document');
}

/** True for a job within the caller's binding. */
export function isWithin({ namespace, userId }: Context, job: ImportJobRecord): boolean {
  if (namespace !== undefined && namespace !== namespaceOf(job)) return false;
  return userId === undefined || userId === personOf(job);
}

/** True when the caller has a relation to the memory, which jobs of others need where access tuples decide. */
export async function seesOthers(context: Context, relation: 'viewer' | 'editor'): Promise<boolean> {
  if (context.principal.scope === 'admin') return true;
  try {
    await context.call('requireAccess', { relations: [relation] });
    return true;
  } catch (error) {
    if (error instanceof EngineError && error.code === 'AUT-E001') return false;
    throw error;
  }
}

/** POL-E008 while the processing of the job's person is restricted. */
export async function checkPerson(context: Context, userId: string | undefined): Promise<void> {
  if (userId !== undefined) await context.call('list', { filter: { userId }, limit: 1, order: 'desc' });
}

/** The job, or IMP-E002 for one that the caller may not see. */
export async function visibleJob(
  context: Context,
  id: string,
  relation: 'viewer' | 'editor',
): Promise<ImportJobRecord> {
  await context.services.imports.settled(context.memory);
  const job = context.services.imports.find(context.memory, id);
  if (job === undefined || !isWithin(context, job)) throw new EngineError('IMP-E002');
  const isOwn = job.caller.actor === context.principal.actor;
  if (!isOwn && !(await seesOthers(context, relation))) throw new EngineError('IMP-E002');
  return job;
}
