// Wraps every operation, on all transports and in the contract's order: authentication, rate limit, scope, memory, then
// input, deadline, run, answer, counters. A transport passes an `Arrival` and gets an answer; nothing is thrown.

import { assert } from '../engine/base/assert.ts';
import { steadyMs } from '../engine/base/clock.ts';
import { EngineError } from '../engine/base/errors.ts';
import { JSON_PARSED_HERE_BYTES_MAX, SLOW_REQUEST_MS } from '../engine/base/limits.ts';
import { type Input, MEMORY_ROWS, type MemoryCalls, type Output } from '../shards/protocol.ts';
import type { RawReply } from '../shards/transport/codec.ts';
import { Admission, type Admitted, requireScope } from './admission.ts';
import {
  type Arrival,
  flagHeader,
  idempotencyOf,
  nameHeader,
  queryModeHeader,
  requestIdOf,
  waitHeader,
} from './arrival.ts';
import type { Authenticator } from './auth/authenticate.ts';
import { includesScope } from './auth/principal.ts';
import type { RateLimiter } from './auth/rate-limit.ts';
import { requireReach } from './auth/reach.ts';
import type { CallExtras, Context, Services } from './context.ts';
import { repliesPrefix } from './control/memories.ts';
import { NeedsLeader } from './control/replica/needs-leader.ts';
import { CopyGate, type CopyInUse } from './copy-gate.ts';
import { Deadlines } from './deadlines.ts';
import { errorWithoutFolders } from './folders.ts';
import { headerText } from './header-text.ts';
import { RequestAborted } from './http/listener.ts';
import { CHALLENGE_HEADER, PROOF_HEADER, proofOf } from './identity.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import { framed } from './operations/codecs.ts';
import type { Operation } from './operations/define.ts';
import type { OnMainThread, Sidecar } from './operations/sidecar.ts';
import { type UnknownMember, unknownRefusal, unknownWarnings } from './operations/unknown-members.ts';
import { type FirstChange, ReplyCache, UNKEPT } from './replies.ts';
import type { MemoryContext } from './shards.ts';
import type { RequestSpan, Tracing } from './tracing.ts';

/** The transport's steps within the wrapper. */
export interface Face<Reply> {
  /**
   * Returns the input, not validated yet, and the bytes that identify the request for idempotency. Called after the
   * caller is admitted.
   */
  readonly read: () => ReadInput | Promise<ReadInput>;
  /** `warnings` are those besides the output's own. */
  readonly write: (output: unknown, warnings: readonly string[]) => Reply;
  /** The status of a reply over HTTP, for traces. */
  readonly statusOf?: ((reply: Reply) => number) | undefined;
  /** Set when a worker decodes the request: then nothing is read or written here. */
  readonly forward?: Forward<Reply> | undefined;
}

export interface ReadInput {
  readonly candidate: unknown;
  readonly bytes: Uint8Array;
  /** Members of the request that the operation does not know. */
  readonly unknown: readonly UnknownMember[];
}

export interface Forward<Reply> {
  /** Its number in operations/codecs.ts. */
  readonly codec: number;
  /** Called after the caller is admitted. */
  readonly bytes: () => Uint8Array | Promise<Uint8Array>;
  /** True for a request that must be read here nevertheless. */
  readonly onMainThread?: OnMainThread | undefined;
  /** Data made here and sent with the request, and the codec that reads both. */
  readonly sidecar?: { readonly codec: number; readonly make: Sidecar } | undefined;
  readonly write: (reply: RawReply) => Reply;
}

/** `headers` go with every answer: request id, rate limit, and what a 401 must have. */
export type Answer<Reply> = { readonly requestId: string; readonly headers: Readonly<Record<string, string>> } & (
  | { readonly ok: true; readonly reply: Reply }
  | {
      readonly ok: false;
      readonly error: EngineError;
      /** Nothing was done: the request can be answered by the node that has the control log. */
      readonly isElsewhere?: true | undefined;
    }
);

/** True for a shard call that carries its request's idempotency key. */
function isKeyed(method: keyof MemoryCalls): boolean {
  const row = MEMORY_ROWS[method];
  return 'retry' in row && row.retry === 'keyed';
}

function changesGrains(method: keyof MemoryCalls): boolean {
  const row = MEMORY_ROWS[method];
  return 'changes' in row && row.changes === 'grains';
}

/** Operations that answer a challenge. */
const PROVING: ReadonlySet<string> = new Set(['health', 'health_rpc']);

export class Wrapper {
  readonly #services: Services;
  readonly #admission: Admission;
  readonly #metrics: Metrics;
  readonly #log: Logger;
  readonly #replies: ReplyCache;
  readonly #deadlines = new Deadlines();
  readonly #repeats: boolean;
  readonly #secret: string | undefined;
  readonly #tracing: Tracing | undefined;
  readonly #copy: CopyGate | undefined;
  /** Running requests, for the drain. */
  #running = 0;
  #idle: (() => void) | undefined;

  constructor(parts: {
    services: Services;
    authenticator: Authenticator;
    limiter: RateLimiter | undefined;
    metrics: Metrics;
    log: Logger;
    /** True while a restored copy repeats later removals (`CallContext.repeats`). */
    repeats?: boolean | undefined;
    /** Proves the server's identity to local callers (identity.ts). */
    secret?: string | undefined;
    /** Absent without an OpenTelemetry SDK. */
    tracing?: Tracing | undefined;
    /** Set on a node that answers by a copy of the control log. */
    copy?: CopyInUse | undefined;
  }) {
    this.#services = parts.services;
    this.#admission = new Admission(parts.authenticator, parts.limiter, parts.services.memories);
    this.#metrics = parts.metrics;
    this.#log = parts.log;
    this.#repeats = parts.repeats === true;
    this.#secret = parts.secret;
    this.#tracing = parts.tracing;
    this.#copy = parts.copy && new CopyGate(parts.copy);
    this.#replies = new ReplyCache(parts.services.control, parts.services.clock);
  }

  /** Answers a request. Never rejects. */
  async perform<Reply>(arrival: Arrival, face: Face<Reply>): Promise<Answer<Reply>> {
    const started = performance.now();
    const requestId = requestIdOf(arrival.requestId);
    const headers: Record<string, string> = { 'x-request-id': requestId };
    this.#running += 1;
    this.#metrics.begin();
    const span = this.#tracing?.begin(arrival);
    const recorded = span?.isRecording === true ? span : undefined;
    let code = 'ok';
    let reply: Reply | undefined;
    try {
      if (PROVING.has(arrival.operation.name)) this.#prove(arrival, headers);
      this.#requireOwner(arrival);
      const admitting = this.#admission.admit(arrival, headers);
      // Waiting for nothing would cost each request a turn of the event loop's queue.
      const admitted = admitting instanceof Promise ? await admitting : admitting;
      this.#copy?.requireHere(arrival, admitted);
      if (arrival.operation.disclosure) headers['x-ai-disclosure'] = 'ai-generated';
      const { forward } = face;
      // A worker cannot wait for its own vectors, and sees no headers.
      const isPlain = waitHeader(arrival) === undefined && queryModeHeader(arrival) === undefined;
      if (forward !== undefined && isPlain) {
        const sent = forward.bytes();
        const body = sent instanceof Promise ? await sent : sent;
        this.#requireLive(admitted);
        const isReadHere = forward.onMainThread?.(body, this.#services) === true;
        if (!isReadHere) {
          const raw = await this.#forward(arrival, admitted, requestId, { ...forward, body, span: recorded });
          if (raw !== 'here') {
            reply = forward.write(raw);
            return { ok: true, reply, requestId, headers };
          }
        }
      }
      const { candidate, bytes, unknown } = await face.read();
      this.#requireLive(admitted);
      const keyed = idempotencyOf(arrival, admitted, bytes);
      const idempotency = keyed instanceof Promise ? await keyed : keyed;
      const context = this.#contextOf(arrival, admitted, requestId, { idempotency, span: recorded });
      warnOrRefuse(arrival.operation, unknown, context);
      const output = await this.#run(arrival.operation, candidate, context);
      reply = face.write(output, context.warnings);
      return { ok: true, reply, requestId, headers };
    } catch (caught) {
      if (this.#copy?.isElsewhere(caught, arrival.operation) === true) {
        code = PASSED_ON;
        return { ok: false, error: new EngineError('STO-E002'), isElsewhere: true, requestId, headers };
      }
      const error = this.#asEngineError(caught, arrival, requestId);
      code = error.code;
      if (code === 'AUT-E005' || code === 'AUT-E004') headers['www-authenticate'] = 'Bearer';
      if (code === 'LIM-E001' || code === 'STO-E002') headers['retry-after'] ??= '1';
      return { ok: false, error, requestId, headers };
    } finally {
      span?.end(code, reply && face.statusOf?.(reply));
      if (code === PASSED_ON) this.#metrics.leave();
      else this.#metrics.end(arrival.operation.name, arrival.face, code, (performance.now() - started) / 1000);
      this.#running -= 1;
      if (this.#running === 0) this.#idle?.();
    }
  }

  /** The body may have taken its time: throws AUT-E004 for a key that was revoked since it was admitted, and for a key or token that ended. */
  #requireLive({ principal: { keyId, untilMs } }: Admitted): void {
    const { keys, clock } = this.#services;
    if (keyId !== undefined && !keys.isLive(keyId))
      throw new EngineError('AUT-E004', 'API key not recognised, revoked or expired');
    if (untilMs !== undefined && clock.nowMs() >= untilMs)
      throw new EngineError('AUT-E004', 'the token expired while the body arrived');
  }

  /** STO-E002 while keys and memories may have changed elsewhere. */
  #requireOwner({ operation }: Arrival): void {
    if (this.#copy !== undefined) {
      this.#copy.requireRecent(operation);
      return;
    }
    const { lapsed } = this.#services.control;
    if (lapsed !== undefined && operation.needs !== 'public') throw new EngineError('STO-E002', lapsed);
  }

  /** Before authentication: the caller sends no key until the server has proved its identity. */
  #prove(arrival: Arrival, headers: Record<string, string>): void {
    const challenge = arrival.header(CHALLENGE_HEADER);
    if (challenge === undefined || this.#secret === undefined) return;
    const proof = proofOf(this.#secret, challenge);
    if (proof !== undefined) headers[PROOF_HEADER] = proof;
  }

  /** Sends the undecoded request to its memory's worker; resolves to `here` when it must be read here. */
  async #forward(
    arrival: Arrival,
    admitted: Admitted,
    requestId: string,
    {
      codec,
      sidecar,
      body,
      span,
    }: Pick<Forward<unknown>, 'codec' | 'sidecar'> & { readonly body: Uint8Array; readonly span: AskedFor['span'] },
  ): Promise<RawReply | 'here'> {
    // The router would decode a request for several partitions on this thread, so a long one takes the path of
    // operations that are read here.
    if (body.length > JSON_PARSED_HERE_BYTES_MAX && admitted.memory !== undefined && admitted.memory.partitions > 1)
      return 'here';
    const keyed = idempotencyOf(arrival, admitted, body);
    const idempotency = keyed instanceof Promise ? await keyed : keyed;
    const asked = this.#askedOf(arrival, requestId, { idempotency, span });
    const { deadlineMs } = asked;
    const context = shardContext(asked, admitted, arrival.operation.mutates ? 0 : undefined);
    const { shards } = this.#services;
    const send = (number: number, bytes: Uint8Array): Promise<RawReply> =>
      traced(asked, arrival.operation.name, shards.callRaw(number, context, bytes));
    if (sidecar === undefined || admitted.memory === undefined)
      return this.#untilDeadline(send(codec, body), deadlineMs);
    const making = sidecar.make(body, { services: this.#services, memory: admitted.memory, deadlineMs });
    if (making === 'here') return 'here';
    if (making === undefined) return this.#untilDeadline(send(codec, body), deadlineMs);
    const both = framed(await making, body);
    return this.#untilDeadline(send(sidecar.codec, both), deadlineMs);
  }

  #askedOf(arrival: Arrival, requestId: string, { idempotency, span }: Keyed): AskedFor {
    const { config, clock } = this.#services;
    const own = steadyMs(clock) + (arrival.operation.slow ? SLOW_REQUEST_MS : config.requestTimeoutMs);
    return {
      requestId,
      repeats: this.#repeats,
      deadlineMs: arrival.deadlineMs === undefined ? own : Math.min(own, arrival.deadlineMs),
      reason: headerText(arrival.header('x-reason'), 'x-reason'),
      purpose: nameHeader(arrival, 'x-purpose'),
      strict: flagHeader(arrival, 'x-strict'),
      idempotency,
      span,
    };
  }

  #contextOf(arrival: Arrival, admitted: Admitted, requestId: string, keyed: Keyed): Context {
    const { principal, memory, namespace, userId } = admitted;
    const asked = this.#askedOf(arrival, requestId, keyed);
    const { deadlineMs, reason, idempotency } = asked;
    const services = this.#services;
    let changes = 0;
    let hasChanged = false;
    return {
      services,
      principal,
      requestId,
      deadlineMs,
      reason,
      purpose: asked.purpose,
      namespace,
      userId,
      idempotency,
      strict: asked.strict,
      isOnCopy: this.#copy !== undefined,
      dryRun: flagHeader(arrival, 'x-dry-run'),
      waitForIndexMs: waitHeader(arrival),
      queryMode: queryModeHeader(arrival),
      unknown: [],
      warnings: [],
      get memory() {
        assert(memory !== undefined, `${arrival.operation.name} is about a memory`);
        return memory;
      },
      require: (scope) => requireScope(principal, scope),
      // The claim has a number of its own; otherwise one of the work's changing calls would get its stored answer.
      once: (work) => this.#once(asked, admitted, changes++, work),
      call: <M extends keyof MemoryCalls>(method: M, input: Input<M>, extras: CallExtras = {}): Promise<Output<M>> => {
        // Each changing call of a request gets a key of its own, the same one when the request is repeated.
        const place = isKeyed(method) ? changes++ : undefined;
        const shared = { ...shardContext(asked, admitted, place), ...extras };
        if (this.#copy !== undefined && arrival.operation.mutates) {
          assert(!hasChanged, 'a change that any node answers asks for nothing after its changing call');
          hasChanged = changesGrains(method);
        }
        return traced(asked, method, services.shards.call(method, shared, input));
      },
      callRaw(codec: number, bytes: Uint8Array, extras: CallExtras = {}): Promise<RawReply> {
        const shared = { ...shardContext(asked, admitted, changes++), ...extras };
        return traced(asked, arrival.operation.name, services.shards.callRaw(codec, shared, bytes));
      },
    };
  }

  /** The key is claimed in the memory too, which holds the keys of its other changes. */
  async #once<T>(
    asked: AskedFor,
    admitted: Admitted,
    place: number,
    work: (first: FirstChange) => Promise<T>,
  ): Promise<T> {
    const { idempotency } = asked;
    if (idempotency === undefined) return work(UNKEPT);
    if (this.#copy !== undefined) throw new NeedsLeader('the answer is kept in the control log');
    const context = shardContext(asked, admitted, place);
    const claim = (release: boolean) => this.#services.shards.call('claim', context, { release });
    const output = await this.#replies.once(
      { key: `${repliesPrefix(context.memory)}${idempotency.key}`, bodyHash: idempotency.bodyHash },
      [],
      async (first) => {
        await claim(false);
        try {
          return await work(first);
        } catch (error) {
          // Failures are not kept: the key is free again.
          await claim(true).catch(() => undefined);
          throw error;
        }
      },
    );
    return output as T; // the output of `work`, now or before
  }

  #run(operation: Operation, candidate: unknown, context: Context): Promise<unknown> {
    // The operation checks it too, but not for an answer that is kept: another key of the principal may have got that.
    if (operation.reach !== 'input') requireReach(context.principal, operation.reach);
    const work =
      operation.on === 'deployment' && context.idempotency !== undefined
        ? this.#replies.once(context.idempotency, operation.shownOnce, (first) =>
            operation.perform(candidate, context, first),
          )
        : operation.perform(candidate, context, UNKEPT);
    return this.#untilDeadline(work, context.deadlineMs);
  }

  /** Work that continues after the deadline is not awaited; shards drop expired calls. */
  #untilDeadline<T>(work: Promise<T>, deadlineMs: number): Promise<T> {
    return this.#deadlines.race(work, Math.max(0, deadlineMs - steadyMs(this.#services.clock)));
  }

  #asEngineError(caught: unknown, arrival: Arrival, requestId: string): EngineError {
    const { remoteAddress: client } = arrival;
    const operation = arrival.operation.name;
    if (caught instanceof EngineError) {
      this.#log.debug({ operation, request: requestId, client, code: caught.code }, caught.message);
      return errorWithoutFolders(caught, this.#services.config.dataDir);
    }
    // The caller has disconnected.
    if (caught instanceof RequestAborted) return new EngineError('SYS-E005', 'the caller has disconnected');
    // A bug in the server: the caller learns only that, the log has the details.
    this.#log.error({ operation, request: requestId, client, err: caught }, 'internal error');
    return new EngineError('SYS-E001', 'internal error');
  }

  /** Resolves when no request runs. */
  async idle(): Promise<void> {
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
  }
}

/** The counters' code of a request that goes to another node. */
const PASSED_ON = 'passed on';

/** The parts of a request besides its body. */
interface AskedFor {
  readonly requestId: string;
  readonly repeats: boolean;
  readonly deadlineMs: number;
  readonly reason: string | undefined;
  readonly purpose: string | undefined;
  readonly strict: boolean;
  readonly idempotency: Context['idempotency'];
  /** Absent for a request that is not traced, or whose trace is not sampled. */
  readonly span: RequestSpan | undefined;
}

/** The request's idempotency key with the hash of its body, and its span. */
type Keyed = Pick<AskedFor, 'idempotency' | 'span'>;

/** A shard call, in a span of the request's trace if it has one. */
function traced<T>({ span, requestId }: AskedFor, name: string, work: Promise<T>): Promise<T> {
  return span === undefined ? work : span.call(name, requestId, work);
}

/** `change`: number of this changing call within the request, from 0; undefined for a call that changes nothing. */
function shardContext(asked: AskedFor, admitted: Admitted, change: number | undefined): MemoryContext {
  const { memory, principal, namespace, userId } = admitted;
  assert(memory !== undefined, 'a call needs a memory');
  const context: { -readonly [K in keyof MemoryContext]: MemoryContext[K] } = {
    memory: memory.number,
    actor: principal.actor,
    requestId: asked.requestId,
    deadlineMs: asked.deadlineMs,
  };
  if (includesScope(principal, 'admin')) context.owns = true;
  if (principal.agentId !== undefined) context.agentId = principal.agentId;
  if (asked.span !== undefined) context.traced = true;
  const { reason, purpose, idempotency } = asked;
  if (asked.repeats) context.repeats = true;
  if (asked.strict) context.strict = true;
  if (namespace !== undefined) context.namespace = namespace;
  if (userId !== undefined) context.userId = userId;
  if (reason !== undefined) context.reason = reason;
  if (purpose !== undefined) context.purpose = purpose;
  if (idempotency !== undefined && change !== undefined)
    context.idempotency = { key: `${idempotency.key}:${change}`, bodyHash: idempotency.bodyHash };
  return context;
}

/** Lists unknown members in the answer, or rejects the request for them. */
function warnOrRefuse(operation: Operation, unknown: readonly UnknownMember[], context: Context): void {
  if (unknown.length === 0) return;
  if (context.strict || operation.onUnknown === 'refuse') throw unknownRefusal(unknown);
  context.unknown.push(...unknown);
  context.warnings.push(...unknownWarnings(unknown));
}
