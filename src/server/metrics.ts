// Counters of this process, in the Prometheus text form, at GET /metrics of the HTTP listener. It needs an admin key
// in every mode but `none`. Labels are bounded: names of operations, faces and codes of the contract.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Counter<'operation' | 'face' | 'code'>;
  readonly #seconds: Histogram<'operation' | 'face'>;
  readonly #inFlight: Gauge;

  /** `memories` and `keys` are read when somebody scrapes. */
  constructor(counts: { readonly memories: () => number; readonly keys: () => number }) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#requests = new Counter({
      name: 'granary_requests_total',
      help: 'Requests answered, by operation, face and error code (ok without one).',
      labelNames: ['operation', 'face', 'code'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'granary_request_seconds',
      help: 'Time from the request to its answer.',
      labelNames: ['operation', 'face'],
      buckets: SECONDS,
      registers,
    });
    this.#inFlight = new Gauge({ name: 'granary_requests_in_flight', help: 'Requests being answered.', registers });
    this.#gauge('granary_memories', 'Memories that exist.', counts.memories);
    this.#gauge('granary_api_keys', 'API keys, revoked ones included.', counts.keys);
  }

  #gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }

  begin(): void {
    this.#inFlight.inc();
  }

  /** `code` is `ok` or an error code. */
  end(operation: string, face: 'http' | 'grpc', code: string, seconds: number): void {
    this.#inFlight.dec();
    this.#requests.inc({ operation, face, code });
    this.#seconds.observe({ operation, face }, seconds);
  }

  /** The exposition text and its content type. */
  async text(): Promise<{ readonly contentType: string; readonly text: string }> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }
}
