// Admits callers: who asks, how often, with which rights, and about which memory. It runs before a request's body is read.
import { EngineError } from '../engine/base/errors.ts';
import { type Arrival, flagHeader, nameHeader } from './arrival.ts';
import { type Authenticator, type Caller, narrowed } from './auth/authenticate.ts';
import { includesScope, type Principal, type Scope } from './auth/principal.ts';
import type { RateLimiter } from './auth/rate-limit.ts';
import { DEFAULT_MEMORY, type Memories, type MemoryRecord } from './control/memories.ts';
import { networkOf } from './networks.ts';

/** A caller that may do what it asks for, and the memory and bindings of its request. */
export interface Admitted {
  readonly principal: Principal;
  readonly memory: MemoryRecord | undefined;
  readonly namespace: string | undefined;
  readonly userId: string | undefined;
}

/** Checks identity, rate, scope and memory of a request, in this order. */
export class Admission {
  readonly #authenticator: Authenticator;
  readonly #limiter: RateLimiter | undefined;
  readonly #memories: Memories;

  constructor(authenticator: Authenticator, limiter: RateLimiter | undefined, memories: Memories) {
    this.#authenticator = authenticator;
    this.#limiter = limiter;
    this.#memories = memories;
  }

  /** Admits the caller or throws: checks identity, rate, scope and memory. */
  admit(arrival: Arrival, headers: Record<string, string>): Admitted | Promise<Admitted> {
    const { operation } = arrival;
    if (operation.mutates && !operation.dryRun && flagHeader(arrival, 'x-dry-run'))
      throw new EngineError('VAL-E001', `${operation.name} has no dry run`, {
        details: [{ field: 'x-dry-run', issue: 'not for this call' }],
      });
    if (operation.needs === 'public')
      return { principal: PUBLIC, memory: undefined, namespace: undefined, userId: undefined };
    // Every key has at least the scope read, except metrics-only ones.
    const needed = operation.needs === 'key' ? 'read' : operation.needs;
    const principal = this.#principalOf(arrival);
    const admitAs = (caller: Principal): Admitted => this.#admitAs(caller, needed, arrival, headers);
    return principal instanceof Promise ? principal.then(admitAs) : admitAs(principal);
  }

  #admitAs(principal: Principal, needed: Scope, arrival: Arrival, headers: Record<string, string>): Admitted {
    const { operation } = arrival;
    if (arrival.isCounted !== true) this.#limit(principal, arrival, headers);
    const mayCreate = operation.orMayCreateMemories && principal.createsMemories === true;
    if (!mayCreate) requireScope(principal, needed);
    const memory = operation.on === 'memory' ? this.#memoryOf(principal, arrival.memoryId) : undefined;
    const namespace = narrowed(principal.namespace, nameHeader(arrival, 'x-namespace'), 'namespace');
    const userId = narrowed(principal.userId, nameHeader(arrival, 'x-user-id'), 'user');
    return { principal: withBindings(principal, namespace, userId), memory, namespace, userId };
  }

  #principalOf(arrival: Arrival): Principal | Promise<Principal> {
    const { identity } = arrival;
    const known = identity === undefined ? undefined : this.#authenticator.recognise(identity);
    if (known !== undefined) return known;
    const authorization = arrival.header('authorization');
    const apiKey = arrival.header('x-api-key');
    return this.#authenticator.authenticate({ authorization, apiKey, from: arrival, identity });
  }

  #limit(principal: Principal, from: Caller, headers: Record<string, string>): void {
    if (this.#limiter === undefined) return;
    const allowance = this.#limiter.take(limitedAs(principal, from));
    headers['x-ratelimit-limit'] = String(allowance.limit);
    headers['x-ratelimit-remaining'] = String(allowance.remaining);
    headers['x-ratelimit-reset'] = String(allowance.resetSeconds);
    if (allowance.granted) return;
    headers['retry-after'] = String(allowance.retryAfterSeconds);
    throw new EngineError(
      'LIM-E001',
      `more than ${allowance.limit} requests a minute: try again in ${allowance.retryAfterSeconds} s`,
    );
  }

  /** A bound key learns nothing about other memories, not even whether they exist. */
  #memoryOf(principal: Principal, asked: string | undefined): MemoryRecord {
    const { memoryIds } = principal;
    const id = asked ?? (memoryIds?.length === 1 ? memoryIds[0] : undefined) ?? DEFAULT_MEMORY;
    if (memoryIds !== undefined && !memoryIds.includes(id))
      throw new EngineError('AUT-E001', 'this caller is bound to a different memory');
    return this.#memories.get(id);
  }
}

/** A narrowed call has only the rights of a key bound that way. */
function withBindings(principal: Principal, namespace: string | undefined, userId: string | undefined): Principal {
  if (namespace === principal.namespace && userId === principal.userId) return principal;
  return {
    ...principal,
    namespace: namespace ?? principal.namespace,
    userId: userId ?? principal.userId,
  };
}

/** The name of the caller's bucket: a key, the subject of a token, or a network. */
function limitedAs({ keyId, actor }: Principal, from: Caller): string {
  return keyId ?? (actor === 'anonymous' ? `anonymous ${networkOf(from.remoteAddress)}` : `token ${actor}`);
}

const PUBLIC: Principal = { actor: 'anonymous', scope: 'read' };

/** AUT-E001 for a caller without the scope. */
export function requireScope(principal: Principal, scope: Scope): void {
  if (!includesScope(principal, scope))
    throw new EngineError('AUT-E001', `this call needs a key with the scope ${scope}`, {
      details: [{ field: 'scope', issue: scope }],
    });
}
