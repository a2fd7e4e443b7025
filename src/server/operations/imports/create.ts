// Starts the import of a document as a job.
import { defined } from '../../../engine/base/defined.ts';
import { grainOfChunk, keptFileName } from '../../documents/chunk-grain.ts';
import type { Chunk } from '../../documents/chunks.ts';
import { foundIn } from '../../documents/kind.ts';
import { defineOperation } from '../define.ts';
import { ImportInput, readUpload, windowOf } from '../documents/schema.ts';
import { NO_MEMBERS } from '../http-face.ts';
import { Type } from '../type.ts';
import { JobId, refuseHostedJobs } from './view.ts';

const ANY_CHUNK: Chunk = { text: 'A document.', headings: [], index: 0, count: 1 };
const ANY_HASH = 'f'.repeat(64);

export const createImport = defineOperation({
  name: 'create_import',
  summary: 'Import a document as a job that goes on after the answer.',
  description:
    'The body is a multipart form with one part named file, of up to 50 MiB; the query has the options of import-document. Job and file are on disk before the answer. A fault of every chunk refuses the request.',
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
  errors: [
    'IMP-E001',
    'IMP-E004',
    'LIM-E001',
    'LIM-E003',
    'AUT-E001',
    'AUT-E006',
    'POL-E006',
    'POL-E007',
    'POL-E008',
    'SCP-E001',
  ],
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
    // A reason to refuse any chunk of this import refuses the import.
    await context.call(
      'checkAdd',
      grainOfChunk(
        ANY_CHUNK,
        { fileName: keptFileName(fileName), sha256: ANY_HASH },
        {
          ...options,
          confidence: options.confidence ?? 0.8,
          createdAt: Math.floor(services.clock.nowMs() / 1000),
        },
      ),
    );
    return context.once(async (first) => {
      const { actor, scope, keyId, agentId } = principal;
      const job = await services.imports.create({
        memory,
        caller: defined({ actor, scope, keyId, agentId, namespace, userId, purpose }),
        options: defined(options),
        fileName,
        bytes,
        first,
        // The trail first: an error means that there is no job.
        queued: async (id) => {
          await context.call('note', { event: 'import.queued', details: { job_id: id, bytes: bytes.length } });
        },
      });
      return { jobId: job.id, status: 'queued' as const };
    });
  },
});
