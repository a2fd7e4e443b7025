import { hash } from 'node:crypto';
import { decodeRecord } from '../record/record.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';

/** How the audit chain names a person: a token under the memory's key, so that the name itself can be erased. */
export function pseudonym(memory: Memory, userId: string | undefined): string {
  return userId === undefined ? '' : `user:${memory.userToken(userId)}`;
}

/** How the audit chain names who acted: persons by their pseudonym, keys and roles as they are. */
export function auditActor(memory: Memory, actor: string): string {
  return actor.startsWith(PERSON) ? pseudonym(memory, actor.slice(PERSON.length)) : actor;
}

/** An actor or subject of the chain as readers are shown it: one whose key was destroyed, by that key's fingerprint. */
export function shownPerson(store: Store, memory: Memory, stored: string): string {
  const token = PSEUDONYM.exec(stored)?.[1];
  if (token === undefined) return stored;
  const sequence = store.newestKeyed(memory.number, 'userKey', token);
  const bytes = sequence === undefined ? undefined : store.log.read(sequence);
  const record = bytes === undefined ? undefined : decodeRecord(bytes);
  if (record?.kind !== 'key') return stored;
  const fingerprint = store.keys.tombstone(record.key)?.fingerprint;
  return fingerprint === undefined ? stored : `erased:${fingerprint}`;
}

const PERSON = 'user:';
const PSEUDONYM = /^user:([0-9a-f]{32})$/;

/** Free text never enters the audit chain, only its SHA-256. */
export function reasonDetail(reason: string | undefined): { readonly reason_sha256?: string } {
  return reason === undefined || reason === '' ? {} : { reason_sha256: hash('sha256', reason, 'hex') };
}
