// Names of persons in the audit chain.
import type { Memory } from '../store/memory.ts';

/** The name of a person in the audit chain: a token under the memory's key, so that the real name can be erased. */
export function pseudonym(memory: Memory, userId: string | undefined): string {
  return userId === undefined ? '' : `user:${memory.userToken(userId)}`;
}

/** The name of an actor in the audit chain: persons by their pseudonym, keys and roles unchanged. */
export function auditActor(memory: Memory, actor: string): string {
  return actor.startsWith(PERSON) ? pseudonym(memory, actor.slice(PERSON.length)) : actor;
}

export const PERSON = 'user:';
