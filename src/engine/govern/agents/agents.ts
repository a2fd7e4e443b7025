// The agents of a memory, as decisions ask for them: whether the caller, or the author that a grain names, is an agent
// that was deactivated. Answers are cached until an identity changes.

import { AGENTS_CACHED_MAX } from '../../base/limits.ts';
import { type Caller, principalOf } from '../access/caller.ts';
import { type AgentStatus, agentName, agentOfPrincipal } from './identity.ts';

/** The identities of a memory. `name` is an id without `agent:`. */
export interface IdentitySource {
  /** Number of identities. */
  count(): number;
  statusOf(name: string): AgentStatus | undefined;
  /** The same for the identity with this did. */
  statusOfDid(did: string): AgentStatus | undefined;
}

export class Agents {
  readonly #source: IdentitySource;
  readonly #known = new Map<string, AgentStatus | null>();
  /** Undefined until it is asked for, and after a change. */
  #count: number | undefined;

  constructor(source: IdentitySource) {
    this.#source = source;
  }

  /** The deactivated agent as which the caller acts; undefined if there is none. */
  deactivatedCaller(caller: Caller): string | undefined {
    return agentsOf(caller).find((name) => this.#statusOf(name) === 'deactivated');
  }

  /** True for the id of a deactivated agent, with or without `agent:`. */
  isDeactivated(agentId: string): boolean {
    return this.#statusOf(agentName(agentId)) === 'deactivated';
  }

  /** True if this did is that of a deactivated agent. */
  isDeactivatedDid(did: string): boolean {
    return this.#cached(`did ${did}`, () => this.#source.statusOfDid(did)) === 'deactivated';
  }

  /** Drops what is cached, after an identity changed. */
  changed(): void {
    this.#known.clear();
    this.#count = undefined;
  }

  #statusOf(name: string): AgentStatus | undefined {
    return this.#cached(`id ${name}`, () => this.#source.statusOf(name));
  }

  #cached(key: string, look: () => AgentStatus | undefined): AgentStatus | undefined {
    this.#count ??= this.#source.count();
    if (this.#count === 0) return undefined;
    const known = this.#known.get(key);
    if (known !== undefined) return known ?? undefined;
    const status = look();
    if (this.#known.size >= AGENTS_CACHED_MAX) this.#known.delete(this.#known.keys().next().value ?? key);
    this.#known.set(key, status ?? null);
    return status;
  }
}

/** The agents as which a caller acts: that of a token's claim first, then that of the principal. */
export function agentsOf(caller: Caller): readonly string[] {
  const { agentId } = caller;
  const named = agentOfPrincipal(principalOf(caller));
  if (agentId === undefined) return named === undefined ? [] : [named];
  const claimed = agentName(agentId);
  return named === undefined || named === claimed ? [claimed] : [claimed, named];
}
