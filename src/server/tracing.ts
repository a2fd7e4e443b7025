// Traces through the API of OpenTelemetry: a span for each request, with the shard calls and the shard's stages as
// children. Without a registered SDK there is no `Tracing` at all. Workers never load the package: they note times, for traced calls
// alone, and the main thread makes the spans.

import type * as Api from '@opentelemetry/api';
import { defined } from '../engine/base/defined.ts';
import type { StageTime } from '../engine/base/stage-times.ts';
import type { Router } from '../shards/router.ts';
import type { Operation } from './operations/define.ts';
import { StageCollector, type TracedCall } from './stage-collector.ts';
import { statusOf } from './status.ts';
import { VERSION } from './version.ts';

const SERVICE = 'memory.v1.MemoryService';
const BATCH_SERVICE = 'memory.v1.MemoryBatchService';
/** Where an SDK registers its providers: the API of version 1 shares them under this symbol. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');
/** Of version 00, or of a later one, which may add members. Version ff is none. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|(?<!^00.{53})-)/;

/** A request as a span names it. */
export interface Traced {
  readonly operation: Operation;
  readonly face: 'http' | 'grpc';
  readonly header: (name: string) => string | undefined;
  readonly route?: { readonly verb: string; readonly path: string } | undefined;
}

/** The tracing of this process; undefined unless an SDK is registered. */
export async function openTracing(shards: Pick<Router, 'callShard' | 'shardCount'>): Promise<Tracing | undefined> {
  const registered = (globalThis as { [REGISTERED]?: { readonly trace?: unknown } })[REGISTERED];
  if (registered?.trace === undefined) return undefined;
  return new Tracing(await import('@opentelemetry/api'), new StageCollector(shards));
}

export class Tracing {
  readonly #api: typeof Api;
  readonly #tracer: Api.Tracer;
  readonly #stages: StageCollector;

  constructor(api: typeof Api, stages: StageCollector) {
    this.#api = api;
    this.#tracer = api.trace.getTracer('granary', VERSION);
    this.#stages = stages;
  }

  /** Begins the span of a request, in the trace that its headers name. */
  begin(request: Traced): RequestSpan {
    const parent = this.#parentOf(request);
    const { operation } = request;
    const options = { kind: this.#api.SpanKind.SERVER, attributes: attributesOf(request) };
    const span = this.#tracer.startSpan(operation.name, options, parent);
    return new RequestSpan(this.#api, this.#tracer, { span, parent, request, stages: this.#stages });
  }

  #parentOf({ header }: Traced): Api.Context {
    const { ROOT_CONTEXT, trace, createTraceState } = this.#api;
    const [, traceId, spanId, flags] = TRACEPARENT.exec(headerIfOne(header, 'traceparent') ?? '') ?? [];
    if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
    const state = headerIfOne(header, 'tracestate');
    const parent = defined({
      ...{ traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true },
      traceState: state === undefined ? undefined : createTraceState(state),
    });
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

/** The attributes of each route and of each operation over gRPC. They are the same for every request. */
const attributes = new WeakMap<object, Api.Attributes>();

function attributesOf(request: Traced): Api.Attributes {
  const about = request.face === 'grpc' ? request.operation : request.route;
  if (about === undefined) return {};
  const known = attributes.get(about);
  if (known !== undefined) return known;
  const made = newAttributes(request);
  attributes.set(about, made);
  return made;
}

function newAttributes({ operation, face, route }: Traced): Api.Attributes {
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
  /** The context of its children; undefined until there is one. */
  #within: Api.Context | undefined;
  readonly #parent: Api.Context;
  readonly #stages: StageCollector;
  readonly #request: Traced;
  /** False for a trace that is not sampled: then shards measure nothing for it. */
  readonly isRecording: boolean;

  constructor(
    api: typeof Api,
    tracer: Api.Tracer,
    parts: {
      readonly span: Api.Span;
      readonly parent: Api.Context;
      readonly request: Traced;
      readonly stages: StageCollector;
    },
  ) {
    const { span, parent, request, stages } = parts;
    this.#api = api;
    this.#tracer = tracer;
    this.#span = span;
    this.#parent = parent;
    this.#stages = stages;
    this.#request = request;
    this.isRecording = span.isRecording();
  }

  /** Puts a shard call in a span, to which the stages of the shards are added later. */
  call<T>(method: string, requestId: string, work: Promise<T>): Promise<T> {
    this.#within ??= new Within(this.#api, this.#parent, this.#span);
    const span = this.#tracer.startSpan(`shard ${method}`, undefined, this.#within);
    const call = new CallSpan(this.#tracer, requestId, new Within(this.#api, this.#parent, span));
    this.#stages.begin(call);
    work.then(
      () => {
        span.end();
        this.#stages.end(call);
      },
      () => {
        span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
        span.end();
        this.#stages.end(call);
      },
    );
    return work;
  }

  /** `code` is `ok` or an error code; `answered` the status of an answer without an error over HTTP. */
  end(code: string, answered = 200): void {
    const span = this.#span;
    if (!this.isRecording) {
      span.end();
      return;
    }
    const isOk = code === 'ok';
    const status = isOk ? undefined : statusOf(code);
    if (this.#request.face === 'http') span.setAttribute('http.response.status_code', status?.http ?? answered);
    else span.setAttribute('rpc.grpc.status_code', status?.grpc ?? 0);
    if (!isOk) span.setAttribute('error.type', code);
    // By the conventions, a caller's mistake is no error of the server.
    if ((status?.http ?? 200) >= 500) span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: code });
    span.end();
  }
}

/** The span of one shard call. */
class CallSpan implements TracedCall {
  readonly requestId: string;
  readonly fromMs = performance.timeOrigin + performance.now();
  earlier: TracedCall | undefined = undefined;
  readonly #tracer: Api.Tracer;
  readonly #within: Api.Context;

  /** `within`: the context of its stages. */
  constructor(tracer: Api.Tracer, requestId: string, within: Api.Context) {
    this.#tracer = tracer;
    this.requestId = requestId;
    this.#within = within;
  }

  addStage({ name, partition, fromMs, toMs }: StageTime): void {
    const options = { startTime: fromMs, attributes: partitionAttributes(partition) };
    this.#tracer.startSpan(name, options, this.#within).end(toMs);
  }
}

/** The context of a span's children. The API's own copies a map of all values for each span. */
class Within implements Api.Context {
  readonly #api: typeof Api;
  readonly #outer: Api.Context;
  readonly #span: Api.Span;

  constructor(api: typeof Api, outer: Api.Context, span: Api.Span) {
    this.#api = api;
    this.#outer = outer;
    this.#span = span;
  }

  getValue(key: symbol): unknown {
    return key === keyOfSpans(this.#api) ? this.#span : this.#outer.getValue(key);
  }

  setValue(key: symbol, value: unknown): Api.Context {
    return this.#asTheirs().setValue(key, value);
  }

  deleteValue(key: symbol): Api.Context {
    return this.#asTheirs().deleteValue(key);
  }

  #asTheirs(): Api.Context {
    return this.#api.trace.setSpan(this.#outer, this.#span);
  }
}

let spanKey: symbol | undefined;

/** The key under which a context has its span, which the API keeps to itself. */
function keyOfSpans({ trace, ROOT_CONTEXT }: typeof Api): symbol | undefined {
  if (spanKey !== undefined) return spanKey;
  const asked: Api.Context = {
    getValue: (key) => {
      spanKey = key;
    },
    setValue: () => ROOT_CONTEXT,
    deleteValue: () => ROOT_CONTEXT,
  };
  trace.getSpan(asked);
  return spanKey;
}

const ofPartitions: Api.Attributes[] = [];

function partitionAttributes(partition: number): Api.Attributes {
  ofPartitions[partition] ??= { 'granary.partition': partition };
  return ofPartitions[partition];
}
