// The agents of a memory, as decisions ask for them: which agent acts, and whether it was deactivated. Answers are cached
// until an identity changes.

import { AGENTS_CACHED_MAX } from '../../base/limits.ts';
import { toNfc } from '../../base/nfc.ts';
import { type Caller, principalOf } from '../access/caller.ts';
import { type AgentStatus, agentName, agentOfPrincipal } from './identity.ts';

export interface KnownAgent {
  /** The agent's id without `agent:`. */
  readonly name: string;
  /** The token of the id in the log's state, in hex. */
  readonly token: string;
  /** Undefined for an agent without an identity. */
  readonly status: AgentStatus | undefined;
}

export interface IdentitySource {
  /** Number of identities. */
  count(): number;
  find(name: string): KnownAgent;
  /** The agent whose identity has this did. */
  findDid(did: string): KnownAgent | undefined;
}

const NO_AGENTS: readonly string[] = [];

export class Agents {
  readonly #source: IdentitySource;
  readonly #byName = new Map<string, KnownAgent>();
  readonly #byDid = new Map<string, KnownAgent | null>();
  /** Undefined until it is asked for, and after a change. */
  #count: number | undefined;

  constructor(source: IdentitySource) {
    this.#source = source;
  }

  /** The deactivated agent as which the caller acts; undefined if there is none. */
  deactivatedCaller(caller: Caller): string | undefined {
    if (this.#identities === 0) return undefined;
    return agentsOf(caller).find((name) => this.#find(name).status === 'deactivated');
  }

  /** The agent as which the caller acts, registered or not; undefined for a caller that is no agent. */
  acting(caller: Caller): KnownAgent | undefined {
    const [name] = agentsOf(caller);
    return name === undefined ? undefined : this.#find(name);
  }

  /** The agent that a grain names as its author by the did of its identity. */
  author(did: unknown): KnownAgent | undefined {
    if (typeof did !== 'string' || this.#identities === 0) return undefined;
    const known = this.#byDid.get(did);
    if (known !== undefined) return known ?? undefined;
    const agent = this.#source.findDid(did);
    keep(this.#byDid, did, agent ?? null);
    return agent;
  }

  isRegistered(name: string): boolean {
    return this.#find(name).status !== undefined;
  }

  /** True for the id or the did of a deactivated agent. */
  isDeactivated(agentIdOrDid: string): boolean {
    const agent = this.author(agentIdOrDid) ?? this.#find(agentName(agentIdOrDid));
    return agent.status === 'deactivated';
  }

  /** Drops what is cached, after an identity changed. */
  changed(): void {
    this.#byName.clear();
    this.#byDid.clear();
    this.#count = undefined;
  }

  get #identities(): number {
    this.#count ??= this.#source.count();
    return this.#count;
  }

  #find(name: string): KnownAgent {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const agent = this.#source.find(toNfc(name));
    keep(this.#byName, name, agent);
    return agent;
  }
}

/** The agents as which a caller acts, not normalised: that of a token's claim first, then that of the principal. */
export function agentsOf(caller: Caller): readonly string[] {
  const { agentId } = caller;
  const named = agentOfPrincipal(principalOf(caller));
  if (agentId === undefined) return named === undefined ? NO_AGENTS : [named];
  const claimed = agentName(agentId);
  return named === undefined || named === claimed ? [claimed] : [claimed, named];
}

function keep<V>(cache: Map<string, V>, key: string, value: V): void {
  if (cache.size >= AGENTS_CACHED_MAX) cache.delete(cache.keys().next().value ?? key);
  cache.set(key, value);
}
