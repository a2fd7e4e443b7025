import Type from 'typebox';
import type { ErrorCode } from '../../../engine/errors.ts';
import { TRANSFER_BYTES, TRANSFER_GRAINS_MAX } from '../../../engine/limits.ts';
import type { ImportedFile } from '../../jobs/read-import.ts';
import { defineOperation, NO_MEMBERS } from '../define.ts';
import { missing } from './fields.ts';

const Failure = Type.Object({
  index: Type.Integer(),
  code: Type.Unsafe<ErrorCode>({ type: 'string' }),
  error: Type.String(),
});

export const importFile = defineOperation({
  name: 'import_file',
  summary: 'Store the grains of a .mg file, under the hashes that they have.',
  needs: 'write',
  on: 'memory',
  mutates: true,
  onUnknown: 'warn',
  slow: true,
  input: Type.Object({ bytes: Type.Unsafe<Uint8Array>({}) }),
  output: Type.Object({
    imported: Type.Integer(),
    duplicates: Type.Integer(),
    errors: Type.Array(Failure),
    hashes: Type.Array(Type.String()),
    warnings: Type.Optional(Type.Array(Type.String())),
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
    const errors: { index: number; code: ErrorCode; error: string }[] = [];
    const hashes: string[] = [];
    const warnings = [...file.warnings];
    let duplicates = 0;
    for (const { from, to } of chunksOf(file)) {
      const { outcomes } = await context.call('importBlobs', partOf(file, from, to));
      for (const [at, outcome] of outcomes.entries()) {
        const index = from + at;
        if ('error' in outcome) errors.push({ index, code: outcome.error.code, error: outcome.error.message });
        else {
          hashes.push(outcome.hash);
          if (outcome.duplicate) duplicates += 1;
          for (const warning of outcome.warnings) warnings.push(`grain ${index}: ${warning}`);
        }
      }
    }
    return {
      imported: hashes.length - duplicates,
      duplicates,
      errors,
      hashes,
      ...(warnings.length === 0 ? {} : { warnings }),
    };
  },
});

/** Stretches of the file that one call takes. */
function* chunksOf({ blobs }: ImportedFile): Generator<{ readonly from: number; readonly to: number }> {
  let from = 0;
  let bytes = 0;
  for (const [at, blob] of blobs.entries()) {
    if (at > from && (at - from >= TRANSFER_GRAINS_MAX || bytes + blob.length > TRANSFER_BYTES)) {
      yield { from, to: at };
      from = at;
      bytes = 0;
    }
    bytes += blob.length;
  }
  if (from < blobs.length) yield { from, to: blobs.length };
}

function partOf(file: ImportedFile, from: number, to: number) {
  const hashes = new Set(file.hashes.slice(from, to));
  return { blobs: file.blobs.slice(from, to), manifest: file.manifest.filter(({ hash }) => hashes.has(hash)) };
}
