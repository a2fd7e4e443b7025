// The calls of a front: finds each one's method, or refuses it, and looks after connections. Listeners pass streams to it.
import type { EngineError, ErrorCode } from '../../engine/base/errors.ts';
import {
  ANSWER_MEMORY_MB,
  CONNECTIONS_MAX,
  GRPC_LOOK_MS,
  GRPC_UNREAD_MB,
  REQUEST_MEMORY_MB,
} from '../../engine/base/limits.ts';
import { answerBudget, requestBudget, type Share, unreadBudget } from '../byte-budget.ts';
import { Expiry } from '../expiry.ts';
import { GRPC_STATUS } from '../status.ts';
import type { CallStream } from './call-stream.ts';
import { Connection, type Link } from './connection.ts';
import { refuseCall } from './exchange.ts';
import type { GrpcHandler, GrpcOptions } from './front.ts';
import { Health } from './health.ts';
import { Inflation } from './inflation.ts';
import type { Method } from './method.ts';
import { methodsOf } from './methods.ts';
import { SERVICES } from './services.ts';
import type { Shared } from './shared.ts';
import { StreamingCall } from './streaming-call.ts';
import { asRefusal, ProtocolError } from './trailers.ts';
import { UnaryCall } from './unary-call.ts';

/** Messages are protobuf in any case; parameters do not matter. */
const CONTENT_TYPE = /^application\/grpc(?:\+proto)?\s*(?:;|$)/i;

/** True for the content types that gRPC serves. */
export function isGrpc(contentType: string | undefined): boolean {
  return contentType === 'application/grpc' || (contentType !== undefined && CONTENT_TYPE.test(contentType));
}

export class Calls {
  readonly shared: Shared;
  /** By path. */
  readonly methods: ReadonlyMap<string, Method>;
  private readonly options: GrpcOptions;
  private readonly health: Health;
  /** Methods of headers that have passed the checks: equal headers pass them again. */
  private readonly admitted = new WeakMap<object, Method>();
  private readonly connections = new Set<Connection>();
  private readonly timer: NodeJS.Timeout;
  private isDraining = false;
  /** Called when the last connection has closed. */
  private emptied: (() => void) | undefined;

  constructor(options: GrpcOptions, handler: GrpcHandler) {
    this.options = options;
    this.health = new Health(SERVICES.map((service) => service.name));
    this.methods = methodsOf(options, handler, this.health);
    this.shared = {
      expiry: new Expiry(),
      inflation: new Inflation(),
      requests: options.requests ?? requestBudget(REQUEST_MEMORY_MB),
      answers: options.answers ?? answerBudget(ANSWER_MEMORY_MB),
      unread: options.unread ?? unreadBudget(GRPC_UNREAD_MB),
      looks: 0,
      requestIdOf: options.requestIdOf,
      onError: options.onError,
    };
    this.shared.requests.list(() => this.shares());
    this.timer = setInterval(() => this.look(), GRPC_LOOK_MS).unref();
  }

  /** True while a further connection may be served. */
  get hasRoom(): boolean {
    return !this.isDraining && this.connections.size < CONNECTIONS_MAX;
  }

  setServing(serving: boolean): void {
    this.health.setServing(serving);
  }

  /** A listener has a new connection. `disconnected` must follow once it has closed. */
  connected(link: Link): Connection {
    const connection = new Connection(link, this.shared);
    this.connections.add(connection);
    if (this.isDraining) connection.end();
    return connection;
  }

  disconnected(connection: Connection): void {
    this.connections.delete(connection);
    if (this.connections.size === 0) this.emptied?.();
  }

  /** Resolves when all connections have closed, with their calls ended; it ends them after `deadlineMs`. */
  async drain(deadlineMs: number): Promise<void> {
    this.isDraining = true;
    this.setServing(false);
    const closed = new Promise<void>((resolve) => {
      this.emptied = resolve;
    });
    const force = setTimeout(() => this.close(), deadlineMs);
    for (const connection of this.connections) connection.end();
    if (this.connections.size > 0) await closed;
    clearTimeout(force);
    clearInterval(this.timer);
  }

  close(): void {
    clearInterval(this.timer);
    for (const connection of this.connections) connection.destroy();
  }

  /** Serves a new stream: as a call, or with a refusal. */
  accept(connection: Connection, stream: CallStream): void {
    const { head } = stream;
    const { identity } = head;
    const known = identity === undefined ? undefined : this.admitted.get(identity);
    if (known !== undefined) {
      begin(connection, stream, known);
      return;
    }
    const requestId = (): string => this.shared.requestIdOf(head.first('x-request-id'));
    const refuse = (refusal: EngineError | ProtocolError): void =>
      refuseCall(stream, refusal, { 'x-request-id': requestId() });
    if (!isGrpc(head.first('content-type'))) {
      refuseByStatus(stream, 415, 'VAL-E006', requestId());
      return;
    }
    if (head.first(':method') !== 'POST') {
      refuseByStatus(stream, 405, 'SYS-E004', requestId());
      return;
    }
    try {
      this.options.checkCaller?.((name) => head.only(name));
    } catch (caught) {
      const refusal = asRefusal(caught);
      if (refusal !== caught) this.options.onError?.(caught);
      refuse(refusal);
      return;
    }
    const path = head.first(':path') ?? '';
    const method = this.methods.get(path);
    if (method === undefined) {
      const unknown = `The server does not implement the method ${path}`;
      refuse(new ProtocolError(GRPC_STATUS.UNIMPLEMENTED, 'SYS-E002', unknown));
    } else {
      if (identity !== undefined) this.admitted.set(identity, method);
      begin(connection, stream, method);
    }
  }

  private *shares(): Iterable<Share> {
    for (const { calls } of this.connections) for (const call of calls) yield* call.shares();
  }

  private look(): void {
    this.shared.looks += 1;
    for (const connection of this.connections) connection.look();
  }
}

function begin(connection: Connection, stream: CallStream, method: Method): void {
  if ('run' in method) new UnaryCall(connection, stream, method);
  else new StreamingCall(connection, stream, method);
}

/** Ends a stream that is not gRPC, with an HTTP status. */
function refuseByStatus(stream: CallStream, status: 405 | 415, code: ErrorCode, requestId: string): void {
  const headers = { ':status': String(status), 'x-error-code': code, 'x-request-id': requestId };
  stream.refuse(status === 405 ? { ...headers, allow: 'POST' } : headers);
}
