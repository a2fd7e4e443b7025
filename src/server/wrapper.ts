// Around every operation, once for all faces and in the contract's order: authentication, rate limit, scope, memory,
// then the input, the deadline, the run, the answer, the counters. A transport brings an `Arrival` and gets an answer
// that is never an exception.
import { hash } from 'node:crypto';
import { assert } from '../engine/assert.ts';
import { EngineError } from '../engine/errors.ts';
import { SLOW_REQUEST_MS } from '../engine/limits.ts';
import type { Input, MemoryCalls, Output } from '../shards/protocol.ts';
import { type Authenticator, narrowed } from './auth/authenticate.ts';
import { includesScope, type Principal, type Scope } from './auth/principal.ts';
import type { RateLimiter } from './auth/rate-limit.ts';
import type { CallExtras, Context, Services } from './context.ts';
import { randomId } from './control/ids.ts';
import { DEFAULT_MEMORY, type MemoryRecord } from './control/memories.ts';
import { RequestAborted } from './http/listener.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Operation } from './operations/define.ts';
import { ReplyCache } from './replies.ts';

/** A request as far as it is known before its body is looked at. */
export interface Arrival {
  readonly operation: Operation;
  readonly face: 'http' | 'grpc';
  /** The memory that the path names, or the metadata; undefined: the key's own, else `default`. */
  readonly memoryId: string | undefined;
  /** A header or metadata entry, by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly remoteAddress: string;
  /** Epoch ms after which the caller does not wait. */
  readonly deadlineMs?: number;
}

/** What a transport does between the wrapper's steps. */
export interface Face<Reply> {
  /** The input, not yet checked, and the bytes it came in, for idempotency. Called after the caller was let in. */
  readonly read: () =>
    | { readonly candidate: unknown; readonly bytes: Uint8Array }
    | Promise<{ readonly candidate: unknown; readonly bytes: Uint8Array }>;
  readonly write: (output: unknown) => Reply;
}

/** `headers` go with every answer: request id, rate limit, what a 401 must carry. */
export type Answer<Reply> = { readonly requestId: string; readonly headers: Readonly<Record<string, string>> } & (
  | { readonly ok: true; readonly reply: Reply }
  | { readonly ok: false; readonly error: EngineError }
);

const REQUEST_ID_PATTERN = /^[A-Za-z0-9._:-]{1,128}$/;
const IDEMPOTENCY_KEY_CHARS_MAX = 256;

/** Shard calls that change something: an idempotency key is for them. */
const CHANGING = new Set<keyof MemoryCalls>([
  'add',
  'addBatch',
  'importBlobs',
  'supersede',
  'accumulate',
  'forget',
  'eraseUser',
]);

export class Wrapper {
  readonly #services: Services;
  readonly #authenticator: Authenticator;
  readonly #limiter: RateLimiter | undefined;
  readonly #metrics: Metrics;
  readonly #log: Logger;
  readonly #replies: ReplyCache;
  /** Requests being answered, for the drain. */
  #running = 0;
  #idle: (() => void) | undefined;

  constructor(parts: {
    services: Services;
    authenticator: Authenticator;
    limiter: RateLimiter | undefined;
    metrics: Metrics;
    log: Logger;
  }) {
    this.#services = parts.services;
    this.#authenticator = parts.authenticator;
    this.#limiter = parts.limiter;
    this.#metrics = parts.metrics;
    this.#log = parts.log;
    this.#replies = new ReplyCache(parts.services.control, parts.services.clock);
  }

  /** Answers a request. Never rejects. */
  async perform<Reply>(arrival: Arrival, face: Face<Reply>): Promise<Answer<Reply>> {
    const started = performance.now();
    const requestId = requestIdOf(arrival.header('x-request-id'));
    const headers: Record<string, string> = { 'x-request-id': requestId };
    this.#running += 1;
    this.#metrics.begin();
    let code = 'ok';
    try {
      const admitted = this.#admit(arrival, headers);
      const { candidate, bytes } = await face.read();
      const context = this.#contextOf(arrival, admitted, requestId, bytes);
      const output = await this.#run(arrival.operation, candidate, context);
      return { ok: true, reply: face.write(output), requestId, headers };
    } catch (caught) {
      const error = this.#asEngineError(caught, arrival, requestId);
      code = error.code;
      if (code === 'AUT-E005' || code === 'AUT-E004') headers['www-authenticate'] = 'Bearer';
      if (code === 'LIM-E001') headers['retry-after'] ??= '1';
      return { ok: false, error, requestId, headers };
    } finally {
      this.#metrics.end(arrival.operation.name, arrival.face, code, (performance.now() - started) / 1000);
      this.#running -= 1;
      if (this.#running === 0) this.#idle?.();
    }
  }

  /** Lets the caller in, or throws: who, how often, with which scope, on which memory. */
  #admit(arrival: Arrival, headers: Record<string, string>): Admitted {
    const { operation } = arrival;
    if (operation.needs === 'public')
      return { principal: PUBLIC, memory: undefined, namespace: undefined, userId: undefined };
    const principal = this.#authenticator.authenticate({
      authorization: arrival.header('authorization'),
      apiKey: arrival.header('x-api-key'),
      remoteAddress: arrival.remoteAddress,
    });
    this.#limit(principal, arrival.remoteAddress, headers);
    const mayCreate = operation.orMayCreateMemories && principal.createsMemories === true;
    if (operation.needs !== 'key' && !mayCreate) requireScope(principal, operation.needs);
    const memory = operation.on === 'memory' ? this.#memoryOf(principal, arrival.memoryId) : undefined;
    return {
      principal,
      memory,
      namespace: narrowed(principal.namespace, arrival.header('x-namespace'), 'namespace'),
      userId: narrowed(principal.userId, arrival.header('x-user-id'), 'user'),
    };
  }

  #limit(principal: Principal, address: string, headers: Record<string, string>): void {
    if (this.#limiter === undefined) return;
    const allowance = this.#limiter.take(principal.keyId ?? `anonymous ${address}`);
    headers['x-ratelimit-limit'] = String(allowance.limit);
    headers['x-ratelimit-remaining'] = String(allowance.remaining);
    headers['x-ratelimit-reset'] = String(allowance.resetSeconds);
    if (allowance.granted) return;
    headers['retry-after'] = String(allowance.retryAfterSeconds);
    throw new EngineError('LIM-E001', 'rate limit exceeded');
  }

  /** A bound key learns nothing of other memories, not even whether they exist. */
  #memoryOf(principal: Principal, asked: string | undefined): MemoryRecord {
    const id = asked ?? principal.memoryId ?? DEFAULT_MEMORY;
    if (principal.memoryId !== undefined && principal.memoryId !== id)
      throw new EngineError('AUT-E001', 'this key is bound to another memory');
    return this.#services.memories.get(id);
  }

  #contextOf(arrival: Arrival, admitted: Admitted, requestId: string, bytes: Uint8Array): Context {
    const { principal, memory, namespace, userId } = admitted;
    const waitMs = arrival.operation.slow ? SLOW_REQUEST_MS : this.#services.config.requestTimeoutMs;
    const own = this.#services.clock.nowMs() + waitMs;
    const deadlineMs = Math.min(own, arrival.deadlineMs ?? own);
    const reason = textHeader(arrival, 'x-reason');
    const purpose = textHeader(arrival, 'x-purpose');
    const idempotency = idempotencyOf(arrival, principal, memory, bytes);
    const services = this.#services;
    let changes = 0;
    return {
      services,
      principal,
      requestId,
      deadlineMs,
      reason,
      namespace,
      userId,
      idempotency,
      get memory() {
        assert(memory !== undefined, `${arrival.operation.name} is about a memory`);
        return memory;
      },
      require: (scope) => requireScope(principal, scope),
      call<M extends keyof MemoryCalls>(method: M, input: Input<M>, extras: CallExtras = {}): Promise<Output<M>> {
        assert(memory !== undefined, `${arrival.operation.name} is about a memory`);
        // A request that makes several changing calls gives each its own key, the same ones when it is sent again.
        const place = CHANGING.has(method) ? changes++ : 0;
        return services.shards.call(
          method,
          {
            memory: memory.number,
            actor: principal.actor,
            requestId,
            deadlineMs,
            ...(namespace === undefined ? {} : { namespace }),
            ...(userId === undefined ? {} : { userId }),
            ...(reason === undefined ? {} : { reason }),
            ...(purpose === undefined ? {} : { purpose }),
            ...(idempotency === undefined || !CHANGING.has(method)
              ? {}
              : { idempotency: { key: `${idempotency.key}:${place}`, bodyHash: idempotency.bodyHash } }),
            ...extras,
          },
          input,
        );
      },
    };
  }

  /** Runs the row until the deadline. What runs on after it is not waited for; shards drop what is past its deadline. */
  async #run(operation: Operation, candidate: unknown, context: Context): Promise<unknown> {
    const work =
      operation.on === 'deployment' && context.idempotency !== undefined
        ? this.#replies.once(context.idempotency, operation.shownOnce, () => operation.perform(candidate, context))
        : operation.perform(candidate, context);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const waitMs = Math.max(0, context.deadlineMs - this.#services.clock.nowMs());
      timer = setTimeout(() => reject(new EngineError('SYS-E005', 'timed out')), waitMs);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #asEngineError(caught: unknown, arrival: Arrival, requestId: string): EngineError {
    const operation = arrival.operation.name;
    if (caught instanceof EngineError) {
      this.#log.debug({ operation, request: requestId, code: caught.code }, caught.message);
      return caught;
    }
    // Nobody is there to be answered.
    if (caught instanceof RequestAborted) return new EngineError('SYS-E005', 'the caller has gone');
    // A bug of this server: the caller learns that it is one, the log what it is.
    this.#log.error({ operation, request: requestId, err: caught }, 'internal error');
    return new EngineError('SYS-E001', 'internal error');
  }

  /** Resolves when no request is being answered. */
  async idle(): Promise<void> {
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
  }
}

interface Admitted {
  readonly principal: Principal;
  readonly memory: MemoryRecord | undefined;
  readonly namespace: string | undefined;
  readonly userId: string | undefined;
}

const PUBLIC: Principal = { actor: 'anonymous', scope: 'read' };

function requireScope(principal: Principal, scope: Scope): void {
  if (!includesScope(principal.scope, scope))
    throw new EngineError('AUT-E001', `this needs scope ${scope}`, { details: [{ field: 'scope', issue: scope }] });
}

/** The caller's request id when it is sane, else one of ours. */
export function requestIdOf(given: string | undefined): string {
  return given !== undefined && REQUEST_ID_PATTERN.test(given) ? given : randomId('req');
}

function textHeader(arrival: Arrival, name: string): string | undefined {
  const text = arrival.header(name);
  return text === undefined || text === '' ? undefined : text;
}

/** The key is told apart by who sent it; the body's hash covers what was asked of which memory. */
function idempotencyOf(
  arrival: Arrival,
  principal: Principal,
  memory: MemoryRecord | undefined,
  bytes: Uint8Array,
): Context['idempotency'] {
  if (!arrival.operation.mutates) return undefined;
  const given = textHeader(arrival, 'idempotency-key');
  if (given === undefined) return undefined;
  if (given.length > IDEMPOTENCY_KEY_CHARS_MAX)
    throw new EngineError('VAL-E001', `idempotency-key is longer than ${IDEMPOTENCY_KEY_CHARS_MAX} characters`);
  const about = Buffer.from(`${arrival.operation.name}\n${memory?.number ?? 0}\n`, 'utf8');
  return {
    key: hash('sha256', `${principal.actor}\n${given}`, 'hex'),
    bodyHash: hash('sha256', Buffer.concat([about, bytes]), 'hex'),
  };
}
