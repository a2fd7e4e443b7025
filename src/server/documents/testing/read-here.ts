// Reads documents on this thread, for tests that need a server without threads.
import { hash } from 'node:crypto';
import { ANSWER_BYTES_MAX } from '../../../engine/base/limits.ts';
import type { Services } from '../../context.ts';
import { packChunks } from '../chunk-batch.ts';
import { chunksOf } from '../chunks.ts';
import { parseDocument } from '../parse.ts';
import { textAsJson } from '../read-document-thread.ts';

export function readHere(): Services['documents'] {
  return {
    async text(bytes, fileName) {
      const document = await parseDocument(bytes, fileName);
      const { kind, mimeType, pages } = document;
      const sha256 = hash('sha256', bytes, 'hex');
      return { kind, mimeType, pages, sha256, ...textAsJson(document, ANSWER_BYTES_MAX) };
    },
    async chunks(bytes, name, { window, fileName, fields, from = 0 }) {
      const document = await parseDocument(bytes, name);
      const { kind, mimeType, pages } = document;
      const chunks = chunksOf(document, window);
      const sha256 = hash('sha256', bytes, 'hex');
      const rest = chunks.slice(from);
      async function* batches() {
        if (rest.length === 0) return;
        yield { from, count: rest.length, bytes: packChunks({ file: { fileName, sha256 }, fields, chunks: rest }) };
      }
      return { kind, mimeType, pages, sha256, count: chunks.length, batches: batches(), close: () => undefined };
    },
  };
}
