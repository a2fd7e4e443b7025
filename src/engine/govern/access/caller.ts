// The subject that a caller is in access tuples.

import { SYSTEM_ACTOR } from '../trail/audit.ts';

/** The members of a call's context that say who calls. */
export interface Caller {
  readonly actor: string;
  /** The caller of a question that the deployment asks itself on a caller's behalf. */
  readonly onBehalfOf?: string | undefined;
  /** The caller's key has scope admin. Such a caller counts as owner of every memory that it can reach. */
  readonly owns?: true | undefined;
  /** The agent that the caller's token names. */
  readonly agentId?: string | undefined;
}

const PRINCIPAL = /^(?:user|agent|service):[^#]+$/;
const KEY = 'key:';

/** True if no tuple decides about the caller: an owner, and the server itself. */
export function isExempt(caller: Caller): boolean {
  return caller.owns === true || principalOf(caller) === SYSTEM_ACTOR;
}

/** The principal that calls, also where the deployment asks for it. */
export function principalOf({ actor, onBehalfOf }: Caller): string {
  return onBehalfOf ?? actor;
}

/**
 * The subject of a principal: `user:`, `agent:` and `service:` name one; a key without a principal is a service with
 * the key's id; any other principal is a user. Undefined for a caller without an identity, to which nothing can be
 * granted.
 */
export function subjectOf(caller: Caller): string | undefined {
  const principal = principalOf(caller);
  if (principal === '' || principal === 'anonymous' || principal === SYSTEM_ACTOR) return undefined;
  if (principal.startsWith(KEY)) return `service:${principal.slice(KEY.length)}`;
  if (principal.includes('#') || principal.endsWith(':*')) return undefined;
  return PRINCIPAL.test(principal) ? principal : `user:${principal}`;
}
