// What verdicts are made of: what the partitions measured of themselves, and what only the server knows.
import type { Area, PartitionEvidence, PolicyEvidence } from '../../engine/calls/compliance.ts';
import type { Scope } from '../auth/principal.ts';

export interface KeyFact {
  readonly name: string;
  readonly principal: string;
  readonly scopes: readonly Scope[];
}

/** A service that texts may be sent to. */
export interface OutsideService {
  readonly name: string;
  readonly url: string;
  /** False for one on this machine. */
  readonly external: boolean;
}

export interface DeploymentEvidence {
  readonly nowSeconds: number;
  readonly authMode: string;
  /** `own`: made by the server, and kept beside the data. */
  readonly masterKeySource: 'environment' | 'file' | 'own';
  /** True for a file of an operator's that lies in the data directory. */
  readonly masterKeyBesideData: boolean;
  /** True for bytes that nobody drew at random: few different ones, or a series. */
  readonly masterKeyIsGuessable: boolean;
  readonly tls: boolean;
  /** True when no other machine reaches the listeners. */
  readonly loopback: boolean;
  readonly services: readonly OutsideService[];
  /** Keys that are live and may be used on the memory. */
  readonly keys: readonly KeyFact[];
  readonly region: string | undefined;
  /** Who makes the vectors and answers of models; '' for what nobody does. */
  readonly modelAssignments: Readonly<Record<string, string>>;
  /** Seconds; of the full run before this one. */
  readonly previousFullRunAt: number | undefined;
  /** Seconds; of the newest backup of the deployment. */
  readonly backedUpAt: number | undefined;
  /** Slower tiers that hold grains. */
  readonly tiers: readonly string[];
}

export interface Evidence {
  readonly partitions: readonly PartitionEvidence[];
  readonly deployment: DeploymentEvidence;
}

export type AreaName = {
  [K in keyof PartitionEvidence]: PartitionEvidence[K] extends Area<object> ? K : never;
}[keyof PartitionEvidence] &
  string;
type Measured<K extends AreaName> = Exclude<PartitionEvidence[K], { readonly error: string } | number>;

/** An area of every partition. Throws where one could not be measured. */
export function areas<K extends AreaName>({ partitions }: Evidence, name: K): readonly Measured<K>[] {
  if (partitions.length === 0) throw new Error('no partition answered');
  return partitions.map((partition) => {
    const area = partition[name];
    if (typeof area === 'object' && 'error' in area) throw new Error(`${name}: ${area.error}`);
    return area as Measured<K>; // it has no error
  });
}

/** The sum of a number over the partitions. */
export function sum<K extends AreaName>(evidence: Evidence, name: K, of: (area: Measured<K>) => number): number {
  return areas(evidence, name).reduce((total, area) => total + of(area), 0);
}

/** What governs the memory; every partition has the same. */
export function policyOf(evidence: Evidence): PolicyEvidence {
  const [policy] = areas(evidence, 'policy');
  if (policy === undefined) throw new Error('no partition answered');
  return policy;
}

export function seedsOf({ partitions }: Evidence): string {
  return partitions.map(({ seed }) => seed).join(',');
}
