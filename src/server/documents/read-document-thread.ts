// The thread that reads documents. It alone loads their formats. Chunks are handed over a batch at a time, when the
// other end asks for them, so a document is not held twice.
import { hash } from 'node:crypto';
import type { MessagePort } from 'node:worker_threads';
import { EngineError } from '../../engine/base/errors.ts';
import { DOCUMENT_BATCH_CHARS, DOCUMENT_BATCH_CHUNKS } from '../../engine/base/limits.ts';
import { packChunks } from './chunk-batch.ts';
import { type Chunk, chunksOf } from './chunks.ts';
import { MIME_TYPES } from './document.ts';
import { tooLarge } from './limits.ts';
import { type ReadDocument, readDocument, textOf } from './parse.ts';
import type { ChunksWanted, DocumentAnswer, DocumentHead, DocumentTask, TextAsJson } from './protocol.ts';

export default async function readInThread(task: DocumentTask): Promise<void> {
  const { port } = task;
  const closed = new Promise<void>((resolve) => port.once('close', resolve));
  try {
    const { document, head } = await read(task);
    answer(document, head, task);
  } catch (error) {
    if (!(error instanceof EngineError)) {
      port.close();
      throw error;
    }
    post(port, { what: 'refused', error: error.toWire() });
  }
  await closed;
}

interface Read {
  readonly document: ReadDocument;
  readonly head: DocumentHead;
}

/** Lets the file's bytes go: only its text is needed while chunks are stored. */
async function read(task: DocumentTask): Promise<Read> {
  const { bytes, fileName, limits } = task;
  const document = await readDocument(bytes, fileName, limits);
  const sha256 = hash('sha256', bytes, 'hex');
  task.bytes = NO_BYTES;
  const { kind, pages } = document;
  return { document, head: { kind, mimeType: MIME_TYPES[kind], pages, sha256 } };
}

const NO_BYTES = new Uint8Array(0);

function answer(document: ReadDocument, head: DocumentHead, { wants, port }: DocumentTask): void {
  if ('window' in wants) giveChunks(document, wants, head, port);
  else {
    const read = textAsJson(document, wants.textBytesMax);
    post(port, { what: 'text', ...head, ...read }, [read.json.buffer]);
  }
}

/** Throws LIM-E003 for a text that an answer cannot hold. */
export function textAsJson(
  { sections }: Pick<ReadDocument, 'sections'>,
  bytesMax: number,
): TextAsJson & { readonly json: Uint8Array<ArrayBuffer> } {
  const text = textOf(sections);
  // JSON has at least a byte for each character.
  const json = text.length > bytesMax ? undefined : new TextEncoder().encode(JSON.stringify(text));
  if (json === undefined || json.length > bytesMax)
    throw tooLarge(`has more text than an answer may hold (${bytesMax} bytes): import it instead`);
  return { json, characters: text.length };
}

function giveChunks(document: ReadDocument, wants: ChunksWanted, head: DocumentHead, port: MessagePort): void {
  const { window, fileName, fields } = wants;
  const chunks = chunksOf(document, window);
  const file = { fileName, sha256: head.sha256 };
  let next = wants.from ?? 0;
  port.on('message', () => {
    const from = next;
    const batch: Chunk[] = [];
    let chars = 0;
    for (; next < chunks.length && batch.length < DOCUMENT_BATCH_CHUNKS && chars < DOCUMENT_BATCH_CHARS; next++) {
      const chunk = chunks[next];
      if (chunk === undefined) break;
      chars += chunk.text.length;
      batch.push(chunk);
    }
    const bytes = batch.length === 0 ? NO_BYTES : packChunks({ file, fields, chunks: batch });
    post(port, { what: 'chunks', from, count: batch.length, bytes }, batch.length === 0 ? [] : [bytes.buffer]);
  });
  post(port, { what: 'chunked', ...head, count: chunks.length });
}

function post(port: MessagePort, message: DocumentAnswer, transferred: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, transferred);
}
