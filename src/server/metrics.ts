// Counters of this process as Prometheus text, at GET /metrics of the HTTP listener. Except in mode `none` it requires
// an admin key or one with the scope metrics. Labels are bounded: operations, transports and codes of the contract.
import { collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import type { RequestWindows } from './metering/windows.ts';

/** Upper bounds in seconds. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type Face = 'http' | 'grpc';

/**
 * Times of one operation over one transport. Each is counted in the first bucket that holds it; the last bucket holds
 * the rest.
 */
interface Times {
  readonly labels: { readonly operation: string; readonly face: Face };
  readonly buckets: Float64Array;
  seconds: number;
}

interface Answers {
  readonly labels: { readonly operation: string; readonly face: Face; readonly code: string };
  readonly times: Times;
  count: number;
}

/** The interface that a registry needs from a metric. */
interface Scraped {
  readonly name: string;
  get(): Promise<object>;
}

export class Metrics {
  readonly #windows: RequestWindows;
  readonly #registry = new Registry();
  readonly #answers = new Map<string, Answers>();
  readonly #times = new Map<string, Times>();
  #inFlight = 0;

  /** The callbacks are called on each scrape. */
  constructor(counts: {
    /** Gets each request too. */
    readonly windows: RequestWindows;
    readonly memories: () => number;
    readonly keys: () => number;
    readonly extractions: () => number;
    readonly embedded: () => number;
    readonly notEmbedded: () => number;
  }) {
    this.#windows = counts.windows;
    collectDefaultMetrics({ register: this.#registry });
    // One look-up per request: prom-client's counters would validate and join labels each time.
    this.#register({
      name: 'granary_requests_total',
      help: 'Requests answered, by operation, face and error code (ok without one).',
      type: 'counter',
      values: () => [...this.#answers.values()].map(({ labels, count }) => ({ labels, value: count })),
    });
    this.#register({
      name: 'granary_request_seconds',
      help: 'Time from the request to its answer.',
      type: 'histogram',
      values: () => [...this.#times.values()].flatMap(histogramOf),
    });
    this.#gauge('granary_requests_in_flight', 'Requests being answered.', () => this.#inFlight);
    this.#gauge('granary_memories', 'Memories that exist.', counts.memories);
    this.#gauge('granary_api_keys', 'API keys, revoked ones included.', counts.keys);
    this.#gauge('granary_extractions_waiting', 'Texts that await extraction.', counts.extractions);
    this.#gauge('granary_embedded_grains', 'Grains embedded since the start.', counts.embedded);
    this.#gauge(
      'granary_not_embedded_grains',
      'Grains since the start that could not be embedded.',
      counts.notEmbedded,
    );
  }

  #register(metric: { name: string; help: string; type: 'counter' | 'histogram'; values: () => object[] }): void {
    const { name, help, type, values } = metric;
    const scraped: Scraped = { name, get: async () => ({ name, help, type, aggregator: 'sum', values: values() }) };
    this.#registry.registerMetric(scraped as unknown as Metric); // the registry needs no more
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
    this.#inFlight += 1;
  }

  /** `code` is `ok` or an error code. */
  end(operation: string, face: Face, code: string, seconds: number): void {
    this.#inFlight -= 1;
    const answers = this.#answersOf(operation, face, code);
    answers.count += 1;
    this.#windows.take(operation, code, seconds);
    const { times } = answers;
    times.seconds += seconds;
    let bucket = 0;
    while (bucket < SECONDS.length && seconds > SECONDS[bucket]!) bucket += 1;
    times.buckets[bucket]! += 1;
  }

  #answersOf(operation: string, face: Face, code: string): Answers {
    const name = `${face} ${operation}`;
    const known = this.#answers.get(`${name} ${code}`);
    if (known !== undefined) return known;
    let times = this.#times.get(name);
    if (times === undefined) {
      times = { labels: { operation, face }, buckets: new Float64Array(SECONDS.length + 1), seconds: 0 };
      this.#times.set(name, times);
    }
    const made = { labels: { operation, face, code }, times, count: 0 };
    this.#answers.set(`${name} ${code}`, made);
    return made;
  }

  /** The exposition text and its content type. */
  async text(): Promise<{ readonly contentType: string; readonly text: string }> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }
}

/** Buckets are cumulative. */
function histogramOf({ labels, buckets, seconds }: Times): object[] {
  const name = 'granary_request_seconds';
  let count = 0;
  const values: object[] = [];
  for (const [at, more] of buckets.entries()) {
    count += more;
    values.push({ metricName: `${name}_bucket`, labels: { ...labels, le: SECONDS[at] ?? '+Inf' }, value: count });
  }
  return [
    ...values,
    { metricName: `${name}_sum`, labels, value: seconds },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
