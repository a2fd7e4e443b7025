// What a worker needs to a recall that it reads itself: the vector of its words, which the main thread makes, or the reason
// why there is none. It goes before the request's own bytes:
//
//   u16 bytes of the embedder's name, u16 bytes of the warning (little-endian), both texts (UTF-8), then 4-byte floats
import type { QueryVector } from '../../embedding/query-vector.ts';
import type { Beside } from '../define.ts';
import type { Glance } from './glance.ts';
import { hasModels } from './models.ts';

/**
 * Nothing for a recall without words, or of a memory without vectors. On the main thread stay those that ask a model, and
 * those whose memory's vectors may be of another embedder than its own, since the shard has to be asked first.
 */
export function besideOf(glanceAt: (bytes: Uint8Array) => Glance): Beside {
  return (bytes, { services, memory, deadlineMs }) => {
    const { queryVectors, embedders, config, clock } = services;
    const hasVectors = embedders.nameOf(memory.vectorBackend ?? '') !== 'none';
    if (!hasVectors && !hasModels(config)) return undefined;
    const { text, asksModel, isLong } = glanceAt(bytes);
    if (isLong === true || (asksModel && hasModels(config))) return 'here';
    if (text === '' || !hasVectors) return undefined;
    if (!queryVectors.isSettled(memory)) return 'here';
    return queryVectors.of(memory, text, deadlineMs - clock.nowMs()).then(packBeside);
  };
}

export function packBeside({ vector, warning = '' }: QueryVector): Uint8Array {
  const head = Buffer.alloc(4);
  const texts = [Buffer.from(vector?.embedder ?? ''), Buffer.from(warning)] as const;
  head.writeUInt16LE(texts[0].length, 0);
  head.writeUInt16LE(texts[1].length, 2);
  return Buffer.concat([head, ...texts, ...(vector === undefined ? [] : [vector.bytes])]);
}

/** `of` is the text that the vector is of. The vector's bytes are a view. */
export function unpackBeside(bytes: Uint8Array, of: string): QueryVector {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const nameEnd = 4 + buffer.readUInt16LE(0);
  const warningEnd = nameEnd + buffer.readUInt16LE(2);
  const embedder = buffer.toString('utf8', 4, nameEnd);
  const warning = buffer.toString('utf8', nameEnd, warningEnd);
  return {
    ...(warningEnd === buffer.length ? {} : { vector: { bytes: buffer.subarray(warningEnd), of, embedder } }),
    ...(warning === '' ? {} : { warning }),
  };
}
