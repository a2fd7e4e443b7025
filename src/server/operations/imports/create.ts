// Starts the import of a document as a job.
import { defined } from '../../../engine/base/defined.ts';
import { foundIn } from '../../documents/kind.ts';
import { defineOperation } from '../define.ts';
import { ImportInput, readUpload, windowOf } from '../documents/schema.ts';
import { NO_MEMBERS } from '../http-face.ts';
import { Type } from '../type.ts';
import { checkPerson, JobId, refuseHostedJobs } from './view.ts';

export const createImport = defineOperation({
  name: 'create_import',
  summary: 'Import a document as a job that goes on after the answer.',
  description:
    'The body is a multipart form with one part named file, of up to 50 MiB; the query has the options of import-document. The job and its file are on disk before the answer.',
  example: { namespace: 'handbook', tags: 'policy,2026', chunk_size: 1000, chunk_overlap: 100, extract: false },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  mutates: true,
  onUnknown: 'warn',
  slow: true,
  input: ImportInput,
  output: Type.Object({
    jobId: JobId,
    status: Type.Literal('queued', { description: 'Always queued.' }),
  }),
  errors: ['IMP-E001', 'IMP-E004', 'LIM-E001', 'LIM-E003', 'AUT-E006', 'POL-E008'],
  http: [
    {
      verb: 'POST',
      path: 'M/imports',
      body: 'file',
      bodySchema: NO_MEMBERS,
      takesQuery: true,
      successStatus: 202,
      read: readUpload,
    },
  ],
  async run({ bytes, fileName, ...options }, context) {
    refuseHostedJobs(context);
    windowOf(options);
    foundIn(bytes);
    const { services, principal, namespace, userId, purpose, memory } = context;
    await checkPerson(context, options.userId ?? userId);
    return context.once(async () => {
      const { actor, scope, keyId, agentId } = principal;
      const job = await services.imports.create({
        memory,
        caller: defined({ actor, scope, keyId, agentId, namespace, userId, purpose }),
        options: defined(options),
        fileName,
        bytes,
      });
      await context.call('note', { event: 'import.queued', details: { job_id: job.id, bytes: bytes.length } });
      return { jobId: job.id, status: 'queued' as const };
    });
  },
});
