// A metric family of /metrics: its name, its help and the function that reads its values at a scrape.
import type { Counted } from '../../engine/base/histogram.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly value: number;
  readonly labels?: Labels | undefined;
  /** Differs from the family's name for the series of a histogram. */
  readonly metricName?: string | undefined;
}

export interface Family {
  /** Ends with the unit, or with `_total` for a counter. */
  readonly name: string;
  /** One sentence, with the unit. */
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: () => readonly Sample[] | Promise<readonly Sample[]>;
}

export function gauge(name: string, help: string, read: () => number): Family {
  return { name, help, type: 'gauge', values: () => [{ value: read() }] };
}

export function counter(name: string, help: string, read: () => number): Family {
  return { name, help, type: 'counter', values: () => [{ value: read() }] };
}

/** The series of one histogram. Their buckets are cumulative. */
export function histogramSamples(
  name: string,
  bounds: readonly number[],
  { counts, sum }: Counted,
  labels: Labels = {},
): Sample[] {
  let count = 0;
  const samples: Sample[] = [];
  for (const [at, more] of counts.entries()) {
    count += more;
    const le = at < bounds.length ? String(bounds[at]) : '+Inf';
    samples.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: count });
  }
  return [
    ...samples,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
