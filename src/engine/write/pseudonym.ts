// Names in the audit chain.
import { typeOf } from '../govern/access/tuple.ts';
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

/**
 * A name in the audit chain, which holds no words of callers: groups, namespaces and harnesses as tokens. Agents and
 * services appear as they do as actors, the memory by its id. A namespace has the token that its erasure would name.
 */
export function auditedName(memory: Memory, text: string): string {
  const [name = '', relation] = text.split('#');
  const type = typeOf(name);
  const id = name.slice(type.length + 1);
  const isClear = id === '*' || type === 'agent' || type === 'service' || name === memory.governed.access.memoryObject;
  const token = () =>
    type === 'namespace' ? memory.scopeToken(id) : memory.tokens.facet('access', name).toString('hex');
  return `${type}:${isClear ? id : token()}${relation === undefined ? '' : `#${relation}`}`;
}
