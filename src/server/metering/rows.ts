// The rows of a memory's metrics: their names, thresholds and windows, and the status that a value has.

/** Why a metric has no value, or the value and the number of observations behind it. */
export type Measured =
  | { readonly reason: string; readonly samples?: number }
  | { readonly value: number; readonly samples: number };

export type Status = 'green' | 'yellow' | 'red' | 'not_computed';
export type Domain = 'ops' | 'intel';

export interface Metric {
  readonly id: string;
  readonly domain: Domain;
  readonly label: string;
  readonly value: number | null;
  readonly unit: string;
  readonly status: Status;
  /** Thresholds, inclusive. */
  readonly green: number;
  readonly yellow: number;
  readonly direction: 'lower' | 'higher';
  /** 0 for a state of now. */
  readonly windowS: number;
  readonly samples: number;
  readonly reason?: string | undefined;
}

export interface Row {
  readonly label: string;
  readonly unit: string;
  /** `green` and `yellow` are bounds from above where `lower` is better, from below otherwise. */
  readonly direction: 'lower' | 'higher';
  readonly green: number;
  readonly yellow: number;
  readonly windowS: number;
}

const MINUTES_15 = 900;
const DAY = 86_400;

function lower(label: string, unit: string, green: number, yellow: number, windowS = 0): Row {
  return { label, unit, direction: 'lower', green, yellow, windowS };
}

function higher(label: string, unit: string, green: number, yellow: number, windowS = 0): Row {
  return { label, unit, direction: 'higher', green, yellow, windowS };
}

/** In the order of the answer. */
export const ROWS = {
  'ops.write_latency_p95_ms': lower('95th percentile of the time of a write', 'ms', 50, 250, MINUTES_15),
  'ops.recall_latency_p95_ms': lower('95th percentile of the time of a recall', 'ms', 150, 600, MINUTES_15),
  'ops.error_rate_pct': lower("Requests that failed by the server's fault", '%', 0.5, 2, MINUTES_15),
  'ops.write_buffer_depth': lower('Writes that wait for their commit', 'writes', 1_000, 10_000),
  'ops.oldest_unflushed_s': lower('Age of the oldest write that waits', 's', 5, 60),
  'ops.index_lag_grains': lower('Grains that are not embedded yet', 'grains', 100, 1_000),
  'ops.disk_quota_pct': lower('Used share of the disk quota', '%', 70, 90),
  'ops.audit_chain_valid': higher('Audit chain is intact', '1 or 0', 1, 1),
  'ops.hook_success_pct': higher('Webhook deliveries that succeeded', '%', 99, 95, DAY),
  'ops.hook_dead_letters': lower('Webhook deliveries that were given up', 'deliveries', 0, 10, DAY),
  'ops.retention_backlog': lower('Expired grains that are not removed yet', 'grains', 0, 100),
  'ops.import_failure_pct': lower('Import jobs that failed', '%', 1, 10, 7 * DAY),
  'intel.recall_hit_rate_pct': higher('Recalls that found something', '%', 80, 50, DAY),
  'intel.mean_top_score': higher('Mean best score of recalls by text', 'score', 0.5, 0.25, DAY),
  'intel.duplicate_ratio_pct': lower('Grains that duplicate another', '%', 5, 15),
  'intel.contradiction_ratio_pct': lower('Beliefs that contradict another', '%', 2, 10),
  'intel.low_confidence_pct': lower('Grains with a confidence below 0.3', '%', 10, 30),
  'intel.stale_pct': lower('Grains older than 180 days that no recall has found', '%', 40, 70),
  'intel.max_chain_depth': lower('Versions in the longest chain', 'versions', 20, 100),
  'intel.embedding_coverage_pct': higher('Grains that are embedded', '%', 99, 90),
  'intel.extraction_backlog': lower('Texts that wait for extraction', 'texts', 10, 100),
  'intel.goal_success_pct': higher('Closed goals that were satisfied', '%', 70, 40, 30 * DAY),
  'intel.blocked_goals': lower('Suspended goals', 'goals', 5, 20),
  'intel.action_error_pct': lower('Actions that failed', '%', 5, 20, DAY),
  'intel.consent_coverage_pct': higher('Grains about a person that consent or another basis covers', '%', 100, 95),
} as const satisfies Readonly<Record<`${Domain}.${string}`, Row>>;

export type MetricId = keyof typeof ROWS;
export type OpsId = Extract<MetricId, `ops.${string}`>;
export type IntelId = Extract<MetricId, `intel.${string}`>;

/** Digits after the point of an answered value. */
const DIGITS = 1_000;

export function metricOf(id: MetricId, measured: Measured): Metric {
  const row: Row = ROWS[id];
  const isKnown = 'value' in measured;
  const value = isKnown ? Math.round(measured.value * DIGITS) / DIGITS : null;
  return {
    id,
    domain: id.startsWith('ops.') ? 'ops' : 'intel',
    label: row.label,
    value,
    unit: row.unit,
    // The exact value is judged, so that rounding never turns red into yellow.
    status: isKnown ? statusOf(row, measured.value) : 'not_computed',
    green: row.green,
    yellow: row.yellow,
    direction: row.direction,
    windowS: row.windowS,
    samples: measured.samples ?? 0,
    reason: isKnown ? undefined : measured.reason,
  };
}

function statusOf({ direction, green, yellow }: Row, value: number): Status {
  const isWithin = (bound: number): boolean => (direction === 'lower' ? value <= bound : value >= bound);
  if (isWithin(green)) return 'green';
  return isWithin(yellow) ? 'yellow' : 'red';
}
