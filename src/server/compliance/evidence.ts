// Evidence for verdicts: measurements by the partitions, and facts that only the server knows.
import type { Area, PartitionEvidence, PolicyEvidence } from '../../engine/calls/compliance.ts';
import type { Scope } from '../auth/principal.ts';
import type { Domain, Metric } from '../metering/rows.ts';
import type { Drill } from '../monitor/monitor.ts';

export interface KeyFact {
  readonly name: string;
  readonly principal: string;
  readonly scopes: readonly Scope[];
}

/** A service that may receive texts. */
export interface OutsideService {
  readonly name: string;
  readonly url: string;
  /** False for a service on this machine. */
  readonly external: boolean;
  /** Where it processes what it is sent, as policies name regions. */
  readonly region?: string | undefined;
}

export interface DeploymentEvidence {
  readonly nowSeconds: number;
  readonly authMode: string;
  /** `own`: the server made the key and stores it with the data. */
  readonly masterKeySource: 'environment' | 'file' | 'own';
  /** True for an operator's key file inside the data directory. */
  readonly masterKeyInDataDirectory: boolean;
  /** True for bytes that are clearly not random: few different values, or a sequence. */
  readonly masterKeyIsGuessable: boolean;
  readonly tls: boolean;
  /** True when the listeners are reachable only from this machine. */
  readonly loopback: boolean;
  /** Providers of the models that roles have. */
  readonly services: readonly OutsideService[];
  /** Receivers of the memory's events. */
  readonly webhooks: readonly OutsideService[];
  /** Live keys that are valid for the memory. */
  readonly keys: readonly KeyFact[];
  readonly region: string | undefined;
  /** The model of each role; empty for unfilled ones. */
  readonly modelAssignments: Readonly<Record<string, string>>;
  /** Time of the previous full run, in seconds. */
  readonly previousFullRunAt: number | undefined;
  /** Time of the deployment's newest backup, in seconds. */
  readonly backedUpAt: number | undefined;
  /** A burst of removals that the monitor was shown for the check. */
  readonly drill: Drill;
  /** Slower storage tiers that hold grains. */
  readonly tiers: readonly string[];
}

/** Metrics of the whole memory and its server, or why they could not be computed. */
export type MetricsEvidence =
  | { readonly computedAt: number; readonly metrics: readonly Metric[] }
  | { readonly error: string };

export interface Evidence {
  readonly partitions: readonly PartitionEvidence[];
  readonly metrics: Readonly<Record<Domain, MetricsEvidence>>;
  readonly deployment: DeploymentEvidence;
}

export type AreaName = {
  [K in keyof PartitionEvidence]: PartitionEvidence[K] extends Area<object> ? K : never;
}[keyof PartitionEvidence] &
  string;
type Measured<K extends AreaName> = Exclude<PartitionEvidence[K], { readonly error: string } | number>;

/** One area of every partition. Throws when a partition could not be measured. */
export function areas<K extends AreaName>({ partitions }: Evidence, name: K): readonly Measured<K>[] {
  if (partitions.length === 0) throw new Error('no partition answered');
  return partitions.map((partition) => {
    const area = partition[name];
    if (typeof area === 'object' && 'error' in area) throw new Error(`${name}: ${area.error}`);
    return area as Measured<K>; // it has no error
  });
}

/** Sums a number over the partitions. */
export function sum<K extends AreaName>(evidence: Evidence, name: K, of: (area: Measured<K>) => number): number {
  return areas(evidence, name).reduce((total, area) => total + of(area), 0);
}

/** The memory's policy; every partition has the same. */
export function policyOf(evidence: Evidence): PolicyEvidence {
  const [policy] = areas(evidence, 'policy');
  if (policy === undefined) throw new Error('no partition answered');
  return policy;
}

export function seedsOf({ partitions }: Evidence): string {
  return partitions.map(({ seed }) => seed).join(',');
}
