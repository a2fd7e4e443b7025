// Who is calling, as everything behind authentication sees it.
export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Principal {
  /** Audit actor: who the key was given to, `key:<key_id>` where nobody was named; `anonymous`, `system`. */
  readonly actor: string;
  /** The highest scope; each includes those before it. */
  readonly scope: Scope;
  readonly keyId?: string;
  /** Bindings of the key, narrowed by the request: it sees nothing else. */
  readonly memoryId?: string;
  readonly namespace?: string;
  readonly userId?: string;
  /** May create memories without being admin (anonymous on an open address). */
  readonly createsMemories?: true;
}

/** Actors that no key may be given to: this server, somebody unknown, another key, somebody erased. */
export const RESERVED_ACTOR = /^(?:system$|anonymous$|key:|erased:)/i;

/** True when `held` includes `needed`. */
export function includesScope(held: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(held) >= SCOPES.indexOf(needed);
}

/** The highest of some scopes; `read` for none. */
export function highestScope(scopes: readonly Scope[]): Scope {
  let highest = 0;
  for (const scope of scopes) highest = Math.max(highest, SCOPES.indexOf(scope));
  return SCOPES[highest] ?? 'read';
}
