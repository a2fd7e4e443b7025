// Input and output schemas of imported documents.
import { defined } from '../../../engine/base/defined.ts';
import { EngineError, type ErrorCode } from '../../../engine/base/errors.ts';
import {
  CHUNK_CHARS_DEFAULT,
  CHUNK_CHARS_MAX,
  CHUNK_CHARS_MIN,
  CHUNK_OVERLAP_DEFAULT,
} from '../../../engine/base/limits.ts';
import type { ChunkFields } from '../../documents/chunk-grain.ts';
import type { ChunkWindow } from '../../documents/chunks.ts';
import { missing } from '../grains/fields.ts';
import { type HttpParts, mechanicalInput } from '../http-face.ts';
import { nodeOf } from '../names.ts';
import { type Static, Type } from '../type.ts';

/** How a document is cut and what its chunks get. */
export const IMPORT_OPTIONS = {
  namespace: Type.Optional(Type.String({ description: 'Namespace of the chunks; the default is default.' })),
  tags: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Tags of the chunks, separated by commas or in several parameters; the default is none.',
    }),
  ),
  chunkSize: Type.Optional(
    Type.Integer({
      minimum: CHUNK_CHARS_MIN,
      maximum: CHUNK_CHARS_MAX,
      description: 'Most characters of a chunk; the default is 1,000.',
      default: CHUNK_CHARS_DEFAULT,
    }),
  ),
  chunkOverlap: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: CHUNK_CHARS_MAX,
      description: 'Characters that a chunk repeats of the one before, less than chunk_size; the default is 100.',
      default: CHUNK_OVERLAP_DEFAULT,
    }),
  ),
  confidence: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Confidence of the chunks, from 0 to 1; the default is 0.8.',
      default: 0.8,
    }),
  ),
  userId: Type.Optional(Type.String({ description: 'The data subject of the chunks.' })),
  extract: Type.Optional(
    Type.Boolean({
      description: 'Whether beliefs are extracted from each chunk; the default is false.',
      default: false,
    }),
  ),
};

const Options = Type.Object(IMPORT_OPTIONS);
export type ImportOptions = Static<typeof Options>;

export const ImportInput = Type.Object({
  ...IMPORT_OPTIONS,
  bytes: Type.Unsafe<Uint8Array>({ description: 'The document.' }),
  fileName: Type.String({ description: 'Name of the file, whose extension tells the kind of a text.' }),
});

const INPUT_NODE = nodeOf(ImportInput);

/** Reads an upload: the file from the form, the options from the query, where tags may be joined by commas. */
export function readUpload(parts: HttpParts): unknown {
  const { file, query } = parts;
  if (file === undefined) throw missing('file');
  const tags = query['tags']?.flatMap((tag) => tag.split(',')).filter((tag) => tag.trim() !== '');
  const asked = mechanicalInput(INPUT_NODE, { ...parts, json: undefined });
  return defined({
    ...(asked as object), // the query has members
    tags,
    bytes: file.bytes,
    fileName: file.name,
  });
}

export const ChunkFailure = Type.Object({
  index: Type.Integer({ description: 'Position of the chunk in the document, from 0.' }),
  code: Type.Unsafe<ErrorCode>({ type: 'string', description: 'Error code.' }),
  error: Type.String({ description: 'Error message.' }),
});

export const ImportOutput = Type.Object({
  status: Type.Literal('imported', { description: 'Always imported.' }),
  fileName: Type.String({ description: 'Name of the file as the chunks keep it.' }),
  mimeType: Type.String({ description: 'Media type that the content was found to have.' }),
  pages: Type.Optional(Type.Integer({ description: 'Number of pages, slides or sheets, where the format has them.' })),
  chunks: Type.Integer({ description: 'Number of chunks of the document.' }),
  grainsCreated: Type.Integer({ description: 'Number of chunks that were stored.' }),
  duplicates: Type.Integer({ description: 'Number of chunks that the memory held already.' }),
  hashes: Type.Array(Type.String(), {
    description: 'Hashes of the chunks that the memory holds now, in order; only the first ones of a large document.',
  }),
  errors: Type.Array(ChunkFailure, { description: 'The chunks that were refused; the others are stored.' }),
  extractedCount: Type.Optional(
    Type.Integer({ description: 'Number of beliefs that were extracted; only with extract.' }),
  ),
  warnings: Type.Optional(
    Type.Array(Type.String(), { description: 'The changes that the import made and the parts that it left out.' }),
  ),
});

/** The window of the chunks. Throws VAL-E001 unless the overlap is below the size. */
export function windowOf({ chunkSize, chunkOverlap }: Pick<ImportOptions, 'chunkSize' | 'chunkOverlap'>): ChunkWindow {
  const size = chunkSize ?? CHUNK_CHARS_DEFAULT;
  // A size alone does not have to be above the default overlap.
  const overlap = chunkOverlap ?? Math.min(CHUNK_OVERLAP_DEFAULT, Math.floor(size / 10));
  if (overlap < size) return { size, overlap };
  throw new EngineError('VAL-E001', `chunk_overlap (${overlap}) is not below chunk_size (${size})`, {
    details: [{ field: 'chunk_overlap', issue: 'not below chunk_size' }],
  });
}

/** Values that the chunks of an import have in common. */
export function chunkFieldsOf(
  { namespace, userId, tags, confidence }: Pick<ImportOptions, 'namespace' | 'userId' | 'tags' | 'confidence'>,
  nowMs: number,
): ChunkFields {
  return { namespace, userId, tags, confidence: confidence ?? 0.8, createdAt: Math.floor(nowMs / 1000) };
}
