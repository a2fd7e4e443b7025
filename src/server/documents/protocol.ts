// Messages to the thread that reads a document, and its answers.
import type { MessagePort } from 'node:worker_threads';
import type { WireError } from '../../engine/base/errors.ts';
import type { ChunkBatch } from './chunk-batch.ts';
import type { ChunkFields } from './chunk-grain.ts';
import type { ChunkWindow } from './chunks.ts';
import type { DocumentKind } from './document.ts';
import type { DocumentLimits } from './limits.ts';

export interface DocumentTask {
  /** The thread empties it once it has the text. */
  bytes: Uint8Array;
  readonly fileName: string;
  readonly limits: DocumentLimits;
  readonly wants: { readonly textBytesMax: number } | ChunksWanted;
  /** Carries the answers. The thread works on the task until the port is closed. */
  readonly port: MessagePort;
}

/** How a document is cut, and what its chunks are as grains. */
export interface ChunksWanted {
  readonly window: ChunkWindow;
  /** The file's name as the chunks keep it. */
  readonly fileName: string;
  readonly fields: ChunkFields;
  /** Position of the first chunk that is wanted; default 0. */
  readonly from?: number | undefined;
}

export interface DocumentHead {
  readonly kind: DocumentKind;
  readonly mimeType: string;
  readonly pages?: number | undefined;
  /** SHA-256 of the file, in hex. */
  readonly sha256: string;
}

/** A text as the bytes of a JSON string: the main thread would need tens of milliseconds to make them. */
export interface TextAsJson {
  readonly json: Uint8Array;
  readonly characters: number;
}

/** The first answer on the port. After `chunked`, each request for more is answered with a batch, in the end an empty one. */
export type DocumentAnswer =
  | ({ readonly what: 'text' } & TextAsJson & DocumentHead)
  | ({ readonly what: 'chunked'; readonly count: number } & DocumentHead)
  | ({ readonly what: 'chunks' } & ChunkBatch)
  | { readonly what: 'refused'; readonly error: WireError };
