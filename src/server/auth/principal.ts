// Who is calling, as everything behind authentication sees it.
/** Each includes those before it. */
const LEVELS = ['read', 'write', 'admin'] as const;
/** `metrics` opens the counters of the process, which `admin` does too, and nothing else. */
export const SCOPES = [...LEVELS, 'metrics'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Principal {
  /** Audit actor: who the key was given to, `key:<key_id>` where nobody was named; `anonymous`, `system`. */
  readonly actor: string;
  /** The highest level; `metrics` for a key that has none. */
  readonly scope: Scope;
  /** The key has the scope `metrics` beside its level. */
  readonly readsMetrics?: true;
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

type Held = Pick<Principal, 'scope' | 'readsMetrics'>;

/** True when what is held includes `needed`. */
export function includesScope({ scope, readsMetrics }: Held, needed: Scope): boolean {
  if (needed === 'metrics') return scope === 'metrics' || scope === 'admin' || readsMetrics === true;
  return scope !== 'metrics' && LEVELS.indexOf(scope) >= LEVELS.indexOf(needed);
}

/** What a key with these scopes holds; `read` for none. */
export function heldBy(scopes: readonly Scope[]): Held {
  const scope = LEVELS.findLast((level) => scopes.includes(level));
  if (!scopes.includes('metrics')) return { scope: scope ?? 'read' };
  return { scope: scope ?? 'metrics', readsMetrics: true };
}
