// Traces through the API of OpenTelemetry: a span for each request, with the shard calls and the shard's stages as
// children. Without a registered SDK there is no `Tracing` at all. Workers never load the package: they note times, for traced calls
// alone, and the main thread makes the spans.
import type * as Api from '@opentelemetry/api';
import type { StageTime } from '../engine/base/stage-times.ts';
import type { Operation } from './operations/define.ts';
import { STATUS, type WireStatus } from './status.ts';
import { VERSION } from './version.ts';

const SERVICE = 'memory.v1.MemoryService';
const BATCH_SERVICE = 'memory.v1.MemoryBatchService';
/** Where an SDK registers its providers: the API of version 1 shares them under this symbol. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** A request as a span names it. */
export interface Traced {
  readonly operation: Operation;
  readonly face: 'http' | 'grpc';
  readonly header: (name: string) => string | undefined;
  readonly route?: { readonly verb: string; readonly path: string } | undefined;
}

/** The tracing of this process; undefined unless an SDK is registered. */
export async function openTracing(): Promise<Tracing | undefined> {
  const registered = (globalThis as { [REGISTERED]?: { readonly trace?: unknown } })[REGISTERED];
  return registered?.trace === undefined ? undefined : new Tracing(await import('@opentelemetry/api'));
}

export class Tracing {
  readonly #api: typeof Api;
  readonly #tracer: Api.Tracer;

  constructor(api: typeof Api) {
    this.#api = api;
    this.#tracer = api.trace.getTracer('granary', VERSION);
  }

  /** Begins the span of a request, in the trace that its headers name. */
  begin(request: Traced): RequestSpan {
    const parent = this.#parentOf(request);
    const { operation } = request;
    const options = { kind: this.#api.SpanKind.SERVER, attributes: attributesOf(request) };
    const span = this.#tracer.startSpan(operation.name, options, parent);
    return new RequestSpan(this.#api, this.#tracer, { span, parent, request });
  }

  #parentOf({ header }: Traced): Api.Context {
    const { ROOT_CONTEXT, trace, createTraceState } = this.#api;
    const [, traceId, spanId, flags] = TRACEPARENT.exec(headerIfOne(header, 'traceparent') ?? '') ?? [];
    if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
    const state = headerIfOne(header, 'tracestate');
    const parent = {
      ...{ traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true },
      ...(state === undefined ? {} : { traceState: createTraceState(state) }),
    };
    return this.#api.isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
  }
}

/** Undefined also for a header that repeats: a trace is no reason to refuse a request. */
function headerIfOne(header: Traced['header'], name: string): string | undefined {
  try {
    return header(name);
  } catch {
    return undefined;
  }
}

function attributesOf({ operation, face, route }: Traced): Api.Attributes {
  if (face === 'http')
    return route === undefined ? {} : { 'http.request.method': route.verb, 'http.route': route.path };
  const method = operation.grpc?.rpc ?? operation.name;
  return {
    'rpc.system': 'grpc',
    'rpc.service': method === 'BatchAdd' ? BATCH_SERVICE : SERVICE,
    'rpc.method': method,
  };
}

/** The span of one request. */
export class RequestSpan {
  readonly #api: typeof Api;
  readonly #tracer: Api.Tracer;
  readonly #span: Api.Span;
  readonly #context: Api.Context;
  readonly #request: Traced;
  /** False for a trace that is not sampled: then shards measure nothing for it. */
  readonly isRecording: boolean;

  constructor(
    api: typeof Api,
    tracer: Api.Tracer,
    { span, parent, request }: { readonly span: Api.Span; readonly parent: Api.Context; readonly request: Traced },
  ) {
    this.#api = api;
    this.#tracer = tracer;
    this.#span = span;
    this.#context = api.trace.setSpan(parent, span);
    this.#request = request;
    this.isRecording = span.isRecording();
  }

  /** Runs a shard call in a span. `stages` asks for what the shards noted of it; the caller does not wait for that. */
  async call<T>(method: string, work: Promise<T>, stages: () => Promise<readonly StageTime[]>): Promise<T> {
    const span = this.#tracer.startSpan(`shard ${method}`, {}, this.#context);
    const within = this.#api.trace.setSpan(this.#context, span);
    try {
      return await work;
    } catch (error) {
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
      // Without an answer, the stages are missing from the trace.
      stages().then(
        (all) => this.#addStages(within, all),
        () => undefined,
      );
    }
  }

  #addStages(within: Api.Context, stages: readonly StageTime[]): void {
    for (const { name, partition, fromMs, toMs } of stages) {
      const attributes = { 'granary.partition': partition };
      this.#tracer.startSpan(name, { startTime: fromMs, attributes }, within).end(toMs);
    }
  }

  /** `code` is `ok` or an error code. */
  end(code: string): void {
    const span = this.#span;
    if (!this.isRecording) {
      span.end();
      return;
    }
    const isOk = code === 'ok';
    const status = isOk ? undefined : (STATUS as Readonly<Record<string, WireStatus | undefined>>)[code];
    if (this.#request.face === 'http') span.setAttribute('http.response.status_code', status?.http ?? 200);
    else span.setAttribute('rpc.grpc.status_code', status?.grpc ?? 0);
    if (!isOk) span.setAttribute('error.type', code);
    // By the conventions, a caller's mistake is no error of the server.
    if ((status?.http ?? 200) >= 500) span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: code });
    span.end();
  }
}
