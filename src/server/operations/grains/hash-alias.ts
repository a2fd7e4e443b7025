import { inward, isMembers, type Members, type SchemaNode } from '../names.ts';
import { bodyOf } from './fields.ts';

/** What a member for a hash may be called. */
export const HASH_NAMES = ['blob_hash', 'old_hash', 'hash'];

/** The members of a body under the mechanical rules, its `hash` also under the names `blob_hash` and `old_hash`. */
export function hashAlias(node: SchemaNode, json: unknown): Members {
  const body = bodyOf(json);
  const input = inward(node, body);
  const members: Members = isMembers(input) ? input : {};
  const hash = body['blob_hash'] ?? body['old_hash'] ?? body['hash'];
  if (hash !== undefined && hash !== null) members['hash'] = hash;
  return members;
}
