// The authenticated caller, as operations see it.
/** Each level includes the ones before it. */
const LEVELS = ['read', 'write', 'admin'] as const;
/** `metrics` allows only /metrics; `admin` includes it. */
export const SCOPES = [...LEVELS, 'metrics'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Principal {
  /** Audit actor: the key's principal, or `key:<key_id>` without one; `anonymous`, `system`. */
  readonly actor: string;
  /** The highest level, or `metrics` for a key without a level. */
  readonly scope: Scope;
  /** The key has the scope `metrics` as well as a level. */
  readonly readsMetrics?: true | undefined;
  readonly keyId?: string | undefined;
  /** Bindings of the key, narrowed by the request. The caller sees only data within them. */
  /** The memories that the caller may use; undefined: all. A key has one, a token any number. */
  readonly memoryIds?: readonly string[] | undefined;
  readonly namespace?: string | undefined;
  readonly userId?: string | undefined;
  /** The agent that a token's claim `agent_id` names. */
  readonly agentId?: string | undefined;
  /** When the caller's token ends, in milliseconds since 1970. The record of a key says when the key ends. */
  readonly untilMs?: number | undefined;
  /** May create memories without admin scope (anonymous callers on an open address). */
  readonly createsMemories?: true | undefined;
}

/** Names that no key may have as principal: this server, unknown callers, other keys, erased persons. */
export const RESERVED_ACTOR = /^(?:system$|anonymous$|key:|erased:)/i;

type Held = Pick<Principal, 'scope' | 'readsMetrics'>;

/** True when the held scopes include `needed`. */
export function includesScope({ scope, readsMetrics }: Held, needed: Scope): boolean {
  if (needed === 'metrics') return scope === 'metrics' || scope === 'admin' || readsMetrics === true;
  return scope !== 'metrics' && LEVELS.indexOf(scope) >= LEVELS.indexOf(needed);
}

/** The effective scopes for a key's list; `read` for an empty one. */
export function heldBy(scopes: readonly Scope[]): Held {
  const scope = LEVELS.findLast((level) => scopes.includes(level));
  if (!scopes.includes('metrics')) return { scope: scope ?? 'read' };
  return { scope: scope ?? 'metrics', readsMetrics: true };
}
