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
  reach: 'binding',
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
    const accepted = new Set<string>();
    let duplicates = 0;
    for (const { from, to, entries } of chunksOf(file)) {
      const earlier = entries.flatMap(({ hash }) => (accepted.has(hash) ? [hash] : []));
      const chunk = { blobs: file.blobs.slice(from, to), manifest: entries, accepted: earlier };
      const { outcomes, refused } = await context.call('importBlobs', chunk);
      for (const [at, outcome] of outcomes.entries()) {
        const index = from + at;
        if ('error' in outcome) errors.push({ index, code: outcome.error.code, error: outcome.error.message });
        else {
          hashes.push(outcome.hash);
          accepted.add(outcome.hash);
          if (outcome.duplicate) duplicates += 1;
          for (const warning of outcome.warnings) warnings.push(`grain ${index}: ${warning}`);
        }
      }
      for (const { hash, error } of refused)
        warnings.push(`what the manifest says of ${hash} does not count: ${error.message}`);
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

interface Chunk {
  readonly from: number;
  readonly to: number;
  /** What the manifest says of its grains, and of earlier ones that its grains replace. */
  readonly entries: ImportedFile['manifest'];
}

/** Stretches of the file that one call takes. */
function* chunksOf({ blobs, hashes, manifest }: ImportedFile): Generator<Chunk> {
  const placeOf = new Map(hashes.map((hash, at) => [hash, at]));
  const lastPlace = ({ hash, supersededBy = hash }: ImportedFile['manifest'][number]): number =>
    Math.max(placeOf.get(hash) ?? 0, placeOf.get(supersededBy) ?? 0);
  const waiting = [...manifest].sort((one, other) => lastPlace(one) - lastPlace(other));
  let next = 0;
  for (const { from, to } of stretchesOf(blobs)) {
    const first = next;
    while (next < waiting.length && lastPlace(waiting[next]!) < to) next += 1;
    yield { from, to, entries: waiting.slice(first, next) };
  }
}

function* stretchesOf(blobs: readonly Uint8Array[]): Generator<{ readonly from: number; readonly to: number }> {
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
