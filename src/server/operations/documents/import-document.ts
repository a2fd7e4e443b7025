import { EngineError } from '../../../engine/base/errors.ts';
import { keptFileName } from '../../documents/chunk-grain.ts';
import { defineOperation } from '../define.ts';
import { NO_MEMBERS } from '../http-face.ts';
import { chunkFieldsOf, ImportInput, ImportOutput, readUpload, windowOf } from './schema.ts';
import { storeChunks } from './store-chunks.ts';

export const importDocument = defineOperation({
  name: 'import_document',
  summary: 'Store the text of a document as events, one for each chunk.',
  description:
    'The body is a multipart form with one part named file, of up to 50 MiB, as for extract-document; the query has the options. A chunk that the memory holds already is not stored again.',
  example: { namespace: 'handbook', tags: 'policy,2026', chunk_size: 1000, chunk_overlap: 100, extract: false },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  mutates: true,
  onUnknown: 'warn',
  slow: true,
  input: ImportInput,
  output: ImportOutput,
  errors: ['IMP-E001', 'IMP-E004', 'LIM-E003'],
  http: [
    {
      verb: 'POST',
      path: 'M/import-document',
      body: 'file',
      bodySchema: NO_MEMBERS,
      takesQuery: true,
      read: readUpload,
    },
  ],
  async run(input, context) {
    const fileName = keptFileName(input.fileName);
    const { services } = context;
    const fields = chunkFieldsOf(input, services.clock.nowMs());
    const wants = { window: windowOf(input), fileName, fields };
    const document = await services.documents.chunks(input.bytes, input.fileName, wants);
    const { mimeType, pages, count } = document;
    const stored = await storeChunks(document, input, context);
    const { created, duplicates, hashes, errors, refused, extracted } = stored;
    // Stored chunks stay, even if the shard takes no entry now.
    const details = { imported: created, duplicates, errors: refused };
    await context.call('note', { event: 'memory.imported', details }).catch((error: unknown) => {
      if (!(error instanceof EngineError && error.code === 'STO-E001')) throw error;
    });
    return {
      status: 'imported' as const,
      fileName,
      mimeType,
      pages,
      chunks: count,
      grainsCreated: created,
      duplicates,
      hashes,
      errors,
      extractedCount: input.extract === true ? extracted : undefined,
      warnings: stored.warnings.length === 0 ? undefined : stored.warnings,
    };
  },
});
