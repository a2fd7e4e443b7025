import { hash } from 'node:crypto';
import type { Memory } from '../store/memory.ts';

/** How the audit chain names a person: a token under the memory's key, so that the name itself can be erased. */
export function pseudonym(memory: Memory, userId: string | undefined): string {
  return userId === undefined ? '' : `user:${memory.userToken(userId)}`;
}

/** Free text never enters the audit chain, only its SHA-256. */
export function reasonDetail(reason: string | undefined): { readonly reason_sha256?: string } {
  return reason === undefined || reason === '' ? {} : { reason_sha256: hash('sha256', reason, 'hex') };
}
