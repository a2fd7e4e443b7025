// A batch of a document's chunks as bytes. The thread that reads the document packs it, the main thread forwards it
// unread, and the worker of the memory makes the grains: their texts pass through no other heap.
//
//   u8 form (shards/transport/value.ts), then the value { file, fields, chunks }
import type { AddItem, AddOutcome } from '../../shards/protocol.ts';
import type { RawReply, ShardCodec } from '../../shards/transport/codec.ts';
import { FORM_EXACT, FORM_MESSAGEPACK, packValue, unpackValue } from '../../shards/transport/value.ts';
import { type ChunkFields, grainOfChunk, type SourceFile } from './chunk-grain.ts';
import type { Chunk } from './chunks.ts';

export interface ChunkBatch {
  /** Position of its first chunk in the document. */
  readonly from: number;
  /** Number of its chunks. */
  readonly count: number;
  readonly bytes: Uint8Array;
}

export interface PackedChunks {
  readonly file: SourceFile;
  readonly fields: ChunkFields;
  readonly chunks: readonly Chunk[];
}

/** The bytes fill their own ArrayBuffer, which may be transferred. */
export function packChunks(packed: PackedChunks): Uint8Array<ArrayBuffer> {
  return framed(packed);
}

/** The grains of a batch, in order. */
export function itemsOf(bytes: Uint8Array): AddItem[] {
  const { file, fields, chunks } = unframed(bytes) as PackedChunks; // as `packChunks` wrote it
  return chunks.map((chunk) => grainOfChunk(chunk, file, fields));
}

/** Reads a batch as an `addBatch`. */
export const CHUNK_CODEC: ShardCodec = {
  decode: (bytes) => ({
    call: { method: 'addBatch', input: { items: itemsOf(bytes) } },
    encode: (output) => ({ bytes: framed(output), notes: '' }),
  }),
};

/** The outcomes of a batch's chunks, in order. */
export function outcomesOf({ bytes }: RawReply): readonly AddOutcome[] {
  return (unframed(bytes) as { readonly outcomes: readonly AddOutcome[] }).outcomes; // the answer of `addBatch`
}

function framed(value: unknown): Uint8Array<ArrayBuffer> {
  const { form, bytes } = packValue(value);
  const all = new Uint8Array(1 + bytes.length);
  all[0] = form;
  all.set(bytes, 1);
  return all;
}

function unframed(bytes: Uint8Array): unknown {
  return unpackValue(bytes[0] === FORM_EXACT ? FORM_EXACT : FORM_MESSAGEPACK, bytes.subarray(1));
}
