// A chunk of a document as an event. Where it comes from is in its context, so its content is the chunk alone; the index
// puts the file's name and the headings in front of it (engine/grain/api/text.ts).
import { defined } from '../../engine/base/defined.ts';
import { FILE_NAME_CHARS_MAX } from '../../engine/base/limits.ts';
import type { AddItem, JsonObject } from '../../shards/protocol.ts';
import type { Chunk } from './chunks.ts';
import { cleanText } from './section-writer.ts';

export interface SourceFile {
  readonly fileName: string;
  /** Of the file's bytes, in hex. */
  readonly sha256: string;
}

/** Fields that all chunks of an import have. */
export interface ChunkFields {
  readonly namespace?: string | undefined;
  readonly userId?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly confidence: number;
  /** In Unix seconds. */
  readonly createdAt: number;
}

export function grainOfChunk(chunk: Chunk, file: SourceFile, fields: ChunkFields): AddItem {
  return { grainType: 'event', fields: fieldsOfChunk(chunk, file, fields) };
}

function fieldsOfChunk(chunk: Chunk, { fileName, sha256 }: SourceFile, fields: ChunkFields): JsonObject {
  const { headings, page, slide, sheet, index, count } = chunk;
  const document = defined({
    file_name: fileName,
    sha256,
    page,
    slide,
    sheet,
    headings: headings.length === 0 ? undefined : [...headings],
    chunk_index: index,
    chunk_count: count,
  });
  return defined({
    content: chunk.text,
    confidence: fields.confidence,
    source_type: 'user',
    namespace: fields.namespace,
    user_id: fields.userId,
    tags: fields.tags === undefined || fields.tags.length === 0 ? undefined : [...fields.tags],
    created_at: fields.createdAt,
    context: { document },
  });
}

/** The name as it is kept: one line, of bounded length, never empty. */
export function keptFileName(name: string): string {
  const line = cleanText(name).replace(/\s+/g, ' ').trim();
  return (line.length <= FILE_NAME_CHARS_MAX ? line : line.slice(0, FILE_NAME_CHARS_MAX).toWellFormed()) || 'document';
}
