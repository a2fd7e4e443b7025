// Evidence for a check from the metrics of a memory.
import type { Status as Colour, Domain, Metric } from '../../metering/rows.ts';
import type { Evidence } from '../evidence.ts';

export interface MetricsSeen {
  /** Metrics with a value that something was observed for. Without any there is no evidence. */
  readonly observed: number;
  readonly red: readonly string[];
  readonly yellow: readonly string[];
  /** At the time of the run. */
  readonly ageSeconds: number;
  readonly detail: string;
}

/** Throws when the metrics could not be computed. */
export function metricsSeen({ metrics: of, deployment }: Evidence, domain: Domain): MetricsSeen {
  const found = of[domain];
  if ('error' in found) throw new Error(`the metrics were not computed: ${found.error}`);
  const named = (colour: Colour): string[] => found.metrics.filter(({ status }) => status === colour).map(described);
  const [green, yellow, red, unknown] = [named('green'), named('yellow'), named('red'), named('not_computed')];
  const ageSeconds = Math.max(0, deployment.nowSeconds - found.computedAt);
  const worse = [...red.map((one) => `red ${one}`), ...yellow.map((one) => `yellow ${one}`)];
  const counts = `${green.length} metrics green, ${yellow.length} yellow, ${red.length} red, ${unknown.length} without enough data, computed ${ageSeconds} s ago`;
  return {
    observed: found.metrics.filter(({ value, samples }) => value !== null && samples > 0).length,
    red,
    yellow,
    ageSeconds,
    detail: worse.length === 0 ? counts : `${counts}: ${worse.join(', ')}`,
  };
}

function described({ id, value, unit }: Metric): string {
  return value === null ? id : `${id} ${value} ${unit}`;
}
