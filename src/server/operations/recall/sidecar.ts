// The query vector that the main thread computes for a recall that a worker decodes, or a warning why there is none. The
// packed form precedes the request's own bytes:
//
//   u16 length of the embedder's name, u16 length of the warning (little-endian), both texts (UTF-8), vector (4-byte floats)
import { steadyMs } from '../../../engine/base/clock.ts';
import type { QueryVector } from '../../embedding/query-vector.ts';
import type { Sidecar } from '../sidecar.ts';
import type { Peek } from './peek.ts';

/**
 * Prepares nothing for a recall without words or a memory without vectors. The main thread itself reads recalls that
 * need a model, and those whose memory may hold another embedder's vectors, because it must ask the shard first.
 */
export function sidecarOf(peek: (bytes: Uint8Array) => Peek): Sidecar {
  return (bytes, { services, memory, deadlineMs }) => {
    const { queryVectors, embedders, recallModels, clock } = services;
    const hasVectors = embedders.nameOf(memory.vectorBackend ?? '') !== 'none';
    const hasModels = recallModels.hasAny;
    if (!hasVectors && !hasModels) return undefined;
    const { text, asksModel, isLong } = peek(bytes);
    if (isLong === true || (asksModel && hasModels)) return 'here';
    if (text === '' || !hasVectors) return undefined;
    if (!queryVectors.isSettled(memory)) return 'here';
    // The person of the question does not matter here: the main thread reads those whose person must have a grant.
    return queryVectors.of(memory, { text }, deadlineMs - steadyMs(clock)).then(packSidecar);
  };
}

export function packSidecar({ vector, warning = '' }: QueryVector): Uint8Array {
  const head = Buffer.alloc(4);
  const texts = [Buffer.from(vector?.embedder ?? ''), Buffer.from(warning)] as const;
  head.writeUInt16LE(texts[0].length, 0);
  head.writeUInt16LE(texts[1].length, 2);
  return Buffer.concat([head, ...texts, ...(vector === undefined ? [] : [vector.bytes])]);
}

/** `of` is the text that was embedded. The vector's bytes are a view of `bytes`. */
export function unpackSidecar(bytes: Uint8Array, of: string): QueryVector {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const nameEnd = 4 + buffer.readUInt16LE(0);
  const warningEnd = nameEnd + buffer.readUInt16LE(2);
  const embedder = buffer.toString('utf8', 4, nameEnd);
  const warning = buffer.toString('utf8', nameEnd, warningEnd);
  return {
    vector: warningEnd === buffer.length ? undefined : { bytes: buffer.subarray(warningEnd), of, embedder },
    warning: warning === '' ? undefined : warning,
  };
}
