// The nine header bytes before a payload: read them, and derive them from a payload.
import { hash } from 'node:crypto';
import { NAMESPACE_HASHES_MAX } from '../../base/limits.ts';
import { refuse } from '../error.ts';
import type { Header, Sensitivity } from '../grain.ts';
import { canonicalText } from '../text.ts';
import type { Value, ValueMap } from '../value.ts';

export const HEADER_BYTES = 9;
export const FLAG = {
  signed: 0x01,
  encrypted: 0x02,
  compressed: 0x04,
  contentRefs: 0x08,
  embeddingRefs: 0x10,
  cbor: 0x20,
} as const;

const namespaceHashes = new Map<string, number>();

/** First two bytes of the SHA-256 of the namespace (NFC, UTF-8) as a number; 0 without a namespace. */
export function namespaceHash(namespace: Value | undefined): number {
  if (typeof namespace !== 'string' || namespace === '') return 0;
  let result = namespaceHashes.get(namespace);
  if (result === undefined) {
    result = Number.parseInt(hash('sha256', canonicalText(namespace), 'hex').slice(0, 4), 16);
    if (namespaceHashes.size >= NAMESPACE_HASHES_MAX) namespaceHashes.clear();
    if (namespace.length <= 256) namespaceHashes.set(namespace, result);
  }
  return result;
}

/** Minimum sensitivity that the tags require; accepts any value. */
export function sensitivityOfTags(tags: Value | undefined): Sensitivity {
  let level: Sensitivity = 0;
  if (!Array.isArray(tags)) return level;
  for (const tag of tags) {
    if (typeof tag !== 'string') continue;
    if (tag.startsWith('phi:')) return 3;
    if (tag.startsWith('pii:') || tag.startsWith('sec:') || tag.startsWith('legal:')) level = 2;
    else if (level === 0 && tag.startsWith('reg:')) level = 1;
  }
  return level;
}

/** The two header flags that follow from the payload's references. */
export function referenceFlags(fields: ValueMap): number {
  const { content_refs: content, embedding_refs: embedding } = fields;
  return (
    (Array.isArray(content) && content.length > 0 ? FLAG.contentRefs : 0) |
    (Array.isArray(embedding) && embedding.length > 0 ? FLAG.embeddingRefs : 0)
  );
}

/** Sensitivity in the header's flags. */
export function sensitivityOf(header: Header): Sensitivity {
  return (header.flags >>> 6) as Sensitivity; // two bits of a byte
}

/** The type byte of a blob; checks only its version. Throws ERR_TOO_SHORT, ERR_VERSION. */
export function peekType(blob: Uint8Array): number {
  if (blob.length <= HEADER_BYTES) refuse('ERR_TOO_SHORT');
  if (blob[0] !== 1) refuse('ERR_VERSION', `version ${blob[0]} is not known`);
  return blob[2]!;
}

/** The header of a blob; checks only its version. Throws ERR_TOO_SHORT, ERR_VERSION. */
export function peek(blob: Uint8Array): Header {
  const typeByte = peekType(blob);
  return {
    version: 1,
    flags: blob[1]!,
    typeByte,
    namespaceHash: blob[3]! * 256 + blob[4]!,
    createdAtSeconds: blob[5]! * 0x1000000 + (blob[6]! << 16) + (blob[7]! << 8) + blob[8]!,
  };
}
