import { EngineError, type ErrorCode } from '../../../engine/base/errors.ts';
import { IMPORT_HASHES_LISTED_MAX, IMPORT_PROBLEMS_LISTED_MAX } from '../../../engine/base/limits.ts';
import { blobsOf, entriesOf } from '../../jobs/read-import.ts';
import { defineOperation } from '../define.ts';
import { NO_MEMBERS } from '../http-face.ts';
import { Type } from '../type.ts';
import { missing } from './fields.ts';

const Failure = Type.Object({
  index: Type.Integer({ description: 'Position of the grain in the file, from 0.' }),
  code: Type.Unsafe<ErrorCode>({ type: 'string', description: 'Error code.' }),
  error: Type.String({ description: 'Error message.' }),
});

export const importFile = defineOperation({
  name: 'import_file',
  summary: 'Store the grains of a .mg file under the hashes that they have.',
  description: 'The body is a multipart form with one part named file, of up to 50 MiB.',
  example: {},
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  mutates: true,
  onUnknown: 'warn',
  slow: true,
  input: Type.Object({ bytes: Type.Unsafe<Uint8Array>({ description: 'The .mg file.' }) }),
  output: Type.Object({
    imported: Type.Integer({ description: 'Number of grains that were stored.' }),
    duplicates: Type.Integer({ description: 'Number of grains that the memory held already.' }),
    errors: Type.Array(Failure, { description: 'The grains that were refused; the others are stored.' }),
    hashes: Type.Array(Type.String(), {
      description: 'Hashes of grains in the file that the memory holds now; only the first ones of a large file.',
    }),
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: 'The changes that the import made and the parts that it left out.' }),
    ),
  }),
  errors: ['FMT-E001', 'FMT-E003', 'LIM-E003'],
  http: [
    {
      verb: 'POST',
      path: 'M/import-file',
      body: 'file',
      bodySchema: NO_MEMBERS,
      read: ({ file }) => {
        if (file === undefined) throw missing('file');
        return { bytes: file.bytes };
      },
    },
  ],
  async run({ bytes }, context) {
    const file = await context.services.readImport(bytes);
    const hashes: string[] = [];
    const errors: { index: number; code: ErrorCode; error: string }[] = [];
    const warnings = [...file.warnings];
    const accepted = new Set<string>();
    let [stored, duplicates, unlisted] = [0, 0, 0];
    const warn = (text: string): void => {
      if (warnings.length < IMPORT_PROBLEMS_LISTED_MAX) warnings.push(text);
      else unlisted += 1;
    };
    for (const part of file.chunks) {
      const entries = entriesOf(part);
      const earlier = entries.flatMap(({ hash }) => (accepted.has(hash) ? [hash] : []));
      const chunk = { blobs: blobsOf(part), manifest: entries, accepted: earlier };
      const { outcomes, refused } = await context.call('importBlobs', chunk);
      for (const [at, outcome] of outcomes.entries()) {
        const index = part.from + at;
        if ('error' in outcome) {
          const { code, message } = outcome.error;
          if (errors.length < IMPORT_PROBLEMS_LISTED_MAX) errors.push({ index, code, error: message });
          else unlisted += 1;
          continue;
        }
        stored += 1;
        accepted.add(outcome.hash);
        if (hashes.length < IMPORT_HASHES_LISTED_MAX) hashes.push(outcome.hash);
        if (outcome.duplicate) duplicates += 1;
        for (const warning of outcome.warnings) warn(`grain ${index}: ${warning}`);
      }
      for (const { hash, error } of refused) warn(`the manifest entry of ${hash} was ignored: ${error.message}`);
    }
    if (hashes.length < stored) warnings.push(`only the hashes of the first ${hashes.length} grains are listed`);
    if (unlisted > 0) warnings.push(`${unlisted} more errors and warnings are not listed`);
    const details = { imported: stored - duplicates, duplicates, errors: errors.length };
    // Stored grains stay, even if the shard takes no entry now.
    await context.call('note', { event: 'memory.imported', details }).catch((error: unknown) => {
      if (!(error instanceof EngineError && error.code === 'STO-E001')) throw error;
    });
    return {
      imported: stored - duplicates,
      duplicates,
      errors,
      hashes,
      warnings: warnings.length === 0 ? undefined : warnings,
    };
  },
});
