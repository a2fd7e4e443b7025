// Evidence for one run on one memory: the partitions measure themselves, the server adds what it alone knows.
import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { EngineError } from '../../engine/base/errors.ts';
import type { PartitionEvidence } from '../../engine/calls/compliance.ts';
import { isLoopback } from '../config.ts';
import type { Context, Services } from '../context.ts';
import type { MemoryRecord } from '../control/records.ts';
import { leavingForVectors } from '../embedding/egress.ts';
import { LAST_BACKUP } from '../operations/deployment/backup.ts';
import type { DeploymentEvidence, Evidence, KeyFact, OutsideService } from './evidence.ts';

/** Evidence that is being gathered, by deployment and memory: who asks meanwhile is given the same. */
const gathering = new WeakMap<Services['control'], Map<number, Promise<Gathered>>>();

export interface Gathered {
  readonly runId: string;
  readonly startedAt: number;
  readonly partitions: Evidence['partitions'];
}

/** What the partitions measure, in a run of its own or in the one that is under way. */
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

/** A shard that does not answer, or whose memory does not open, is no reason for no verdict: everything fails then. */
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
      retention: missing,
      data: missing,
      index: missing,
      recalls: missing,
      canary: missing,
    },
  ];
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
    masterKeyBesideData: config.masterKeyFile !== undefined && liesIn(config.masterKeyFile, config.dataDir),
    masterKeyIsGuessable: masterKeys.current.isGuessable,
    tls: config.tlsCert !== undefined,
    loopback: isLoopback(config.host),
    services: servicesOf(services, memory),
    keys: keysOf(services, memory),
    region: memory.region,
    modelAssignments: {
      embedding: services.embedders.nameOf(memory.vectorBackend ?? ''),
      hyde: config.model ?? '',
      rerank: config.rerankModel ?? '',
    },
    previousFullRunAt,
    backedUpAt: typeof backedUp === 'number' ? backedUp : undefined,
    tiers: [],
  };
}

/** By where they really lie, so that a link does not hide it. */
function liesIn(file: string, directory: string): boolean {
  try {
    return realpathSync(file).startsWith(`${realpathSync(directory)}${sep}`);
  } catch {
    // A file that is gone after the start is no evidence that it lay elsewhere.
    return true;
  }
}

/** Where the memory's texts may be sent. */
function servicesOf({ config }: Services, memory: MemoryRecord): readonly OutsideService[] {
  const named: readonly (readonly [name: string, url: string | undefined])[] = [
    ['embedding', leavingForVectors(memory, config) === undefined ? undefined : config.embeddingUrl],
    ['language model', config.modelUrl],
    ['reranker', config.rerankUrl],
  ];
  return named.flatMap(([name, url]) =>
    url === undefined || !URL.canParse(url) ? [] : [{ name, url, external: !isLoopback(new URL(url).hostname) }],
  );
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
