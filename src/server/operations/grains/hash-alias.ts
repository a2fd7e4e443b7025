import { inward, isMembers, type Members, type SchemaNode } from '../names.ts';
import { bodyOf } from './fields.ts';

/** Accepted names of a member that holds a hash. */
export const HASH_NAMES = ['blob_hash', 'old_hash', 'hash'];

/** Reads a body under the mechanical rules; accepts `blob_hash` and `old_hash` as aliases of `hash`. */
export function hashAlias(node: SchemaNode, json: unknown): Members {
  const body = bodyOf(json);
  const input = inward(node, body);
  const members: Members = isMembers(input) ? input : {};
  const hash = body['blob_hash'] ?? body['old_hash'] ?? body['hash'];
  if (hash !== undefined && hash !== null) members['hash'] = hash;
  return members;
}
