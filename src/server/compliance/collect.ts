// Gathers the evidence for one run on one memory: measurements by the partitions, and facts that only the server knows.
import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { EngineError } from '../../engine/base/errors.ts';
import type { PartitionEvidence } from '../../engine/calls/compliance.ts';
import type { Context, Services } from '../context.ts';
import type { MemoryRecord } from '../control/records.ts';
import { sendsForVectors } from '../embedding/egress.ts';
import { isLoopback } from '../loopback.ts';
import type { Domain } from '../metering/rows.ts';
import { destinationOf } from '../models/egress.ts';
import { ROLES } from '../models/roles.ts';
import { LAST_BACKUP } from '../operations/deployment/backup.ts';
import { computedForChecks } from '../operations/memories/measure.ts';
import type { DeploymentEvidence, Evidence, KeyFact, MetricsEvidence, OutsideService } from './evidence.ts';

/** Evidence being gathered, by deployment and memory. Concurrent runs share it. */
const gathering = new WeakMap<Services['control'], Map<number, Promise<Gathered>>>();

export interface Gathered {
  readonly runId: string;
  readonly startedAt: number;
  readonly partitions: Evidence['partitions'];
}

/** Measurements of the partitions, from a new run or the one in progress. */
export function gather(context: Context, runId: string): Promise<Gathered> {
  const { control, clock } = context.services;
  const running = gathering.get(control) ?? new Map<number, Promise<Gathered>>();
  gathering.set(control, running);
  const { number } = context.memory;
  const known = running.get(number);
  if (known !== undefined) return known;
  const startedAt = Math.floor(clock.nowMs() / 1000);
  const gathered = context
    .call('compliance', { runId })
    .then(({ partitions }) => partitions, unmeasured)
    .then((partitions) => ({ runId, startedAt, partitions }))
    .finally(() => running.delete(number));
  running.set(number, gathered);
  return gathered;
}

/** A shard that does not answer, or whose memory cannot be opened, still gives a verdict: all its checks fail. */
function unmeasured(error: unknown): readonly PartitionEvidence[] {
  if (!(error instanceof EngineError) || !/^(STO|CRY|SYS)-/.test(error.code)) throw error;
  const missing = { error: error.message };
  return [
    {
      partition: 0,
      nowMs: 0,
      seed: 0,
      blobs: missing,
      keys: missing,
      erasures: missing,
      trail: missing,
      policy: missing,
      access: missing,
      retention: missing,
      data: missing,
      index: missing,
      recalls: missing,
      canary: missing,
    },
  ];
}

/** Both domains. A memory that cannot be measured still gets a verdict. */
export async function metricsEvidence(context: Context): Promise<Evidence['metrics']> {
  const of = async (domain: Domain): Promise<MetricsEvidence> => {
    try {
      const { computedAtMs, metrics } = await computedForChecks(domain, context);
      return { computedAt: Math.floor(computedAtMs / 1000), metrics };
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      return { error: error.message };
    }
  };
  const [ops, intel] = await Promise.all([of('ops'), of('intel')]);
  return { ops, intel };
}

export function deploymentEvidence(
  { services, memory }: Pick<Context, 'services' | 'memory'>,
  previousFullRunAt: number | undefined,
): DeploymentEvidence {
  const { config, clock, control, masterKeys } = services;
  const backedUp = control.get('setting', LAST_BACKUP)?.value;
  return {
    nowSeconds: Math.floor(clock.nowMs() / 1000),
    authMode: config.auth,
    masterKeySource:
      config.masterKey !== undefined ? 'environment' : config.masterKeyFile !== undefined ? 'file' : 'own',
    masterKeyInDataDirectory: config.masterKeyFile !== undefined && liesIn(config.masterKeyFile, config.dataDir),
    masterKeyIsGuessable: masterKeys.current.isGuessable,
    tls: config.tlsCert !== undefined,
    loopback: isLoopback(config.host),
    services: modelServices(services, memory),
    webhooks: webhooksOf(services, memory),
    keys: keysOf(services, memory),
    region: memory.region,
    modelAssignments: assignedModels(services, memory),
    previousFullRunAt,
    backedUpAt: typeof backedUp === 'number' ? backedUp : undefined,
    drill: services.monitor.drill(),
    tiers: [],
  };
}

/** Compares real paths, so that a symbolic link does not hide the location. */
function liesIn(file: string, directory: string): boolean {
  try {
    return realpathSync(file).startsWith(`${realpathSync(directory)}${sep}`);
  } catch {
    // A file removed after the start is no evidence that it was elsewhere.
    return true;
  }
}

/** Providers that the memory's texts may be sent to, with the roles of their models. */
export function modelServices(
  { providers, vectorsSetup }: Pick<Services, 'providers' | 'vectorsSetup'>,
  memory: MemoryRecord,
): readonly OutsideService[] {
  const roles = Map.groupBy(
    ROLES.filter((role) => role !== 'embedding' || sendsForVectors(memory, vectorsSetup())),
    (role) => providers.assignmentOf(role)?.provider,
  );
  return [...roles].flatMap(([id, some]) => {
    const provider = id === undefined ? undefined : providers.find(id);
    if (provider === undefined || provider.kind === 'mock') return [];
    const { baseUrl: url } = provider;
    return [{ name: `${provider.id} (${some.join(', ')})`, url, ...destinationOf(provider) }];
  });
}

function webhooksOf({ hooks }: Services, memory: MemoryRecord): readonly OutsideService[] {
  return hooks
    .of(memory)
    .flatMap(({ name, url }) =>
      url === undefined ? [] : [{ name, url, external: !isLoopback(new URL(url).hostname) }],
    );
}

function assignedModels({ providers, embedders }: Services, memory: MemoryRecord): Record<string, string> {
  const named = ROLES.map((role) => [role, providers.assignmentOf(role)?.model ?? '']);
  return { ...Object.fromEntries(named), embedding: embedders.nameOf(memory.vectorBackend ?? '') };
}

function keysOf({ keys, clock }: Services, memory: MemoryRecord): readonly KeyFact[] {
  const nowMs = clock.nowMs();
  return keys
    .list()
    .filter(
      ({ memoryId, revokedAtMs, expiresAtMs }) =>
        (memoryId === undefined || memoryId === memory.id) &&
        revokedAtMs === undefined &&
        (expiresAtMs === undefined || expiresAtMs > nowMs),
    )
    .map(({ name, principal, scopes }) => ({ name, principal, scopes }));
}
