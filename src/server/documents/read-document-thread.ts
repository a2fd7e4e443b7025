// The thread that reads documents. It alone loads their formats. Chunks are handed over a batch at a time, when the
// other end asks for them, so a document is not held twice.
import { hash } from 'node:crypto';
import type { MessagePort } from 'node:worker_threads';
import { EngineError } from '../../engine/base/errors.ts';
import { DOCUMENT_BATCH_CHARS, DOCUMENT_BATCH_CHUNKS } from '../../engine/base/limits.ts';
import { type Chunk, type ChunkWindow, chunksOf } from './chunks.ts';
import { MIME_TYPES } from './document.ts';
import { tooLarge } from './limits.ts';
import { type ReadDocument, readDocument, textOf } from './parse.ts';
import type { DocumentAnswer, DocumentHead, DocumentTask } from './protocol.ts';

export default async function readInThread(task: DocumentTask): Promise<void> {
  const { port } = task;
  const closed = new Promise<void>((resolve) => port.once('close', resolve));
  try {
    await answer(task);
  } catch (error) {
    if (!(error instanceof EngineError)) {
      port.close();
      throw error;
    }
    post(port, { what: 'refused', error: error.toWire() });
  }
  await closed;
}

async function answer({ bytes, fileName, limits, wants, port }: DocumentTask): Promise<void> {
  const document = await readDocument(bytes, fileName, limits);
  const head: DocumentHead = {
    kind: document.kind,
    mimeType: MIME_TYPES[document.kind],
    pages: document.pages,
    sha256: hash('sha256', bytes, 'hex'),
  };
  if ('window' in wants) giveChunks(document, wants.window, head, port);
  else post(port, { what: 'text', ...head, text: boundedText(document, wants.textBytesMax) });
}

function boundedText({ sections }: ReadDocument, bytesMax: number): string {
  const text = textOf(sections);
  // As JSON every character has at least its UTF-8 bytes.
  if (text.length > bytesMax || Buffer.byteLength(text) > bytesMax)
    throw tooLarge(`has more text than an answer may hold (${bytesMax} bytes): import it instead`);
  return text;
}

function giveChunks(document: ReadDocument, window: ChunkWindow, head: DocumentHead, port: MessagePort): void {
  const chunks = chunksOf(document, window);
  let next = 0;
  port.on('message', () => {
    const batch: Chunk[] = [];
    let chars = 0;
    for (; next < chunks.length && batch.length < DOCUMENT_BATCH_CHUNKS && chars < DOCUMENT_BATCH_CHARS; next++) {
      const chunk = chunks[next];
      if (chunk === undefined) break;
      chars += chunk.text.length;
      batch.push(chunk);
    }
    post(port, { what: 'chunks', chunks: batch });
  });
  post(port, { what: 'chunked', ...head, count: chunks.length });
}

function post(port: MessagePort, message: DocumentAnswer): void {
  port.postMessage(message);
}
