// The subject that a caller is in access tuples.

import { SYSTEM_ACTOR } from '../trail/audit.ts';

/** The members of a call's context that say who calls. */
export interface Caller {
  readonly actor: string;
  /** The caller of a question that the deployment asks itself on a caller's behalf. */
  readonly onBehalfOf?: string | undefined;
  /** The caller's key has scope admin. Such a caller counts as owner of every memory that it can reach. */
  readonly owns?: true | undefined;
}

const PRINCIPAL = /^(?:user|agent|service):[^#]+$/;
const KEY = 'key:';

/** True if no tuple decides about the caller: an owner, and the server itself. */
export function isExempt({ actor, onBehalfOf, owns }: Caller): boolean {
  return owns === true || (onBehalfOf ?? actor) === SYSTEM_ACTOR;
}

/**
 * The subject of a principal: `user:`, `agent:` and `service:` name one; a key without a principal is a service with
 * the key's id; any other principal is a user. Undefined for a caller without an identity, to which nothing can be
 * granted.
 */
export function subjectOf({ actor, onBehalfOf }: Caller): string | undefined {
  const principal = onBehalfOf ?? actor;
  if (principal === '' || principal === 'anonymous' || principal === SYSTEM_ACTOR) return undefined;
  if (principal.startsWith(KEY)) return `service:${principal.slice(KEY.length)}`;
  if (principal.includes('#') || principal.endsWith(':*')) return undefined;
  return PRINCIPAL.test(principal) ? principal : `user:${principal}`;
}
