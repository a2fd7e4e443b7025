// Counters of this process as Prometheus text, at GET /metrics of the HTTP listener. Except in mode `none` it requires
// an admin key or one with the scope metrics. Labels are bounded: operations, transports, codes of the contract, shards
// and stages.
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import { Histogram } from '../engine/base/histogram.ts';
import { type Family, gauge, histogramSamples } from './metering/family.ts';
import type { RequestWindows } from './metering/windows.ts';

/** Upper bounds in seconds. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type Face = 'http' | 'grpc';

/** Times of one operation over one transport. */
interface Times {
  readonly labels: { readonly operation: string; readonly face: Face };
  readonly seconds: Histogram;
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
  readonly #registry = new Registry();
  readonly #windows: RequestWindows;
  readonly #answers = new Map<string, Answers>();
  readonly #times = new Map<string, Times>();
  #inFlight = 0;

  /** `windows` gets each request too. `families` are read at each scrape. */
  constructor({ windows, families }: { readonly windows: RequestWindows; readonly families: readonly Family[] }) {
    this.#windows = windows;
    collectDefaultMetrics({ register: this.#registry });
    for (const family of [...this.#requestFamilies(), ...families]) this.#register(family);
  }

  #requestFamilies(): Family[] {
    return [
      {
        name: 'granary_requests_total',
        help: 'Requests answered, by operation, face and error code (ok without one).',
        type: 'counter',
        values: () => [...this.#answers.values()].map(({ labels, count }) => ({ labels, value: count })),
      },
      {
        name: 'granary_request_seconds',
        help: 'Time from the request to its answer, in seconds.',
        type: 'histogram',
        values: () =>
          [...this.#times.values()].flatMap(({ labels, seconds }) =>
            histogramSamples('granary_request_seconds', SECONDS, seconds.counted, labels),
          ),
      },
      gauge('granary_requests_in_flight', 'Requests being answered.', () => this.#inFlight),
    ];
  }

  /** A family in place of prom-client's counters, which would validate and join labels for each request. */
  #register({ name, help, type, values }: Family): void {
    const get = async () => ({ name, help, type, aggregator: 'sum', values: await values() });
    const scraped: Scraped = { name, get };
    this.#registry.registerMetric(scraped as unknown as Metric); // the registry needs no more
  }

  begin(): void {
    this.#inFlight += 1;
  }

  /** A request is answered by another node, which counts it. */
  leave(): void {
    this.#inFlight -= 1;
  }

  /** `code` is `ok` or an error code. */
  end(operation: string, face: Face, code: string, seconds: number): void {
    this.#inFlight -= 1;
    const answers = this.#answersOf(operation, face, code);
    answers.count += 1;
    answers.times.seconds.observe(seconds);
    this.#windows.take(operation, code, seconds);
  }

  #answersOf(operation: string, face: Face, code: string): Answers {
    const name = `${face} ${operation}`;
    const known = this.#answers.get(`${name} ${code}`);
    if (known !== undefined) return known;
    let times = this.#times.get(name);
    if (times === undefined) {
      times = { labels: { operation, face }, seconds: new Histogram(SECONDS) };
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
