// A provider of traces that keeps every ended span in memory, as an SDK with an in-memory exporter does. Registered by
// `--import`, it sends the spans of its process to the file that TRACES_FILE names, a JSON line each.
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanOptions,
  type SpanStatus,
  SpanStatusCode,
  type TimeInput,
  TraceFlags,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';

export interface EndedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly traceState: string | undefined;
  readonly kind: number;
  readonly attributes: Attributes;
  readonly status: SpanStatus;
  /** Milliseconds since 1970. */
  readonly startMs: number;
  readonly endMs: number;
}

const nowMs = (): number => performance.timeOrigin + performance.now();
const inMs = (time: TimeInput | undefined): number => (typeof time === 'number' ? time : nowMs());
let ids = 0;
const idOf = (digits: number): string => (++ids).toString(16).padStart(digits, '0');

class RecordedSpan implements Span {
  readonly #ended: (span: EndedSpan) => void;
  readonly #name: string;
  readonly #options: SpanOptions;
  readonly #parent: SpanContext | undefined;
  readonly #context: SpanContext;
  readonly #attributes: Attributes;
  readonly #startMs: number;
  #status: SpanStatus = { code: SpanStatusCode.UNSET };

  constructor(ended: (span: EndedSpan) => void, name: string, options: SpanOptions, parent: SpanContext | undefined) {
    this.#ended = ended;
    this.#name = name;
    this.#options = options;
    this.#parent = parent;
    this.#attributes = { ...options.attributes };
    this.#startMs = inMs(options.startTime);
    this.#context = {
      traceId: parent?.traceId ?? idOf(32),
      spanId: idOf(16),
      traceFlags: parent?.traceFlags ?? TraceFlags.SAMPLED,
      ...(parent?.traceState && { traceState: parent.traceState }),
    };
  }

  spanContext(): SpanContext {
    return this.#context;
  }
  setAttribute(key: string, value: NonNullable<Attributes[string]>): this {
    this.#attributes[key] = value;
    return this;
  }
  setAttributes(attributes: Attributes): this {
    Object.assign(this.#attributes, attributes);
    return this;
  }
  setStatus(status: SpanStatus): this {
    this.#status = status;
    return this;
  }
  isRecording(): boolean {
    return this.#context.traceFlags === TraceFlags.SAMPLED;
  }
  end(endTime?: TimeInput): void {
    if (!this.isRecording()) return;
    const { traceId, spanId, traceState } = this.#context;
    this.#ended({
      name: this.#name,
      ...{ traceId, spanId, parentSpanId: this.#parent?.spanId, traceState: traceState?.serialize() },
      kind: this.#options.kind ?? 0,
      attributes: this.#attributes,
      status: this.#status,
      startMs: this.#startMs,
      endMs: inMs(endTime),
    });
  }
  addEvent(): this {
    return this;
  }
  addLink(): this {
    return this;
  }
  addLinks(): this {
    return this;
  }
  updateName(): this {
    return this;
  }
  recordException(): void {}
}

class RecordingProvider implements TracerProvider {
  readonly #ended: (span: EndedSpan) => void;

  constructor(ended: (span: EndedSpan) => void) {
    this.#ended = ended;
  }

  getTracer(): Tracer {
    return {
      startSpan: (name: string, options: SpanOptions = {}, context: Context = ROOT_CONTEXT) =>
        new RecordedSpan(this.#ended, name, options, trace.getSpanContext(context)),
      startActiveSpan: () => {
        throw new Error('the server starts no active spans');
      },
    };
  }
}

const file = process.env['TRACES_FILE'];
if (isMainThread && file !== undefined)
  trace.setGlobalTracerProvider(new RecordingProvider((span) => appendFileSync(file, `${JSON.stringify(span)}\n`)));
