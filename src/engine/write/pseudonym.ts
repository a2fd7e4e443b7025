// How the audit chain names persons.
import type { Memory } from '../store/memory.ts';

/** How the audit chain names a person: a token under the memory's key, so that the name itself can be erased. */
export function pseudonym(memory: Memory, userId: string | undefined): string {
  return userId === undefined ? '' : `user:${memory.userToken(userId)}`;
}

/** How the audit chain names who acted: persons by their pseudonym, keys and roles as they are. */
export function auditActor(memory: Memory, actor: string): string {
  return actor.startsWith(PERSON) ? pseudonym(memory, actor.slice(PERSON.length)) : actor;
}

export const PERSON = 'user:';
