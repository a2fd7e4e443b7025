// Reads documents on this thread, for tests that need a server without threads.
import { hash } from 'node:crypto';
import { ANSWER_BYTES_MAX } from '../../../engine/base/limits.ts';
import type { Services } from '../../context.ts';
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
    async chunks(bytes, fileName, window) {
      const document = await parseDocument(bytes, fileName);
      const { kind, mimeType, pages } = document;
      const chunks = chunksOf(document, window);
      async function* batches() {
        yield chunks;
      }
      const sha256 = hash('sha256', bytes, 'hex');
      return { kind, mimeType, pages, sha256, count: chunks.length, batches: batches(), close: () => undefined };
    },
  };
}
