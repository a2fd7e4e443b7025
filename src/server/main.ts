// Wires the server from bottom to top: lock, keys, control log, shards, services, wrapper, listeners. A step registers
// at the lifecycle what it opens. A shutdown, or a start that fails half-way, closes that in reverse order.
import { type Clock, systemClock } from '../engine/base/clock.ts';
import { EngineError } from '../engine/base/errors.ts';
import { tokenCounter } from '../engine/cal/output/tokenizer.ts';
import { keyFolderOf } from '../engine/keys/key-files.ts';
import type { ShardSet } from '../shards/transport/shard-set.ts';
import { Turns } from '../shards/turns.ts';
import type { Authenticator } from './auth/authenticate.ts';
import { CalGate } from './cal-gate.ts';
import { Chats } from './chat/chats.ts';
import type { Config } from './config.ts';
import type { Services } from './context.ts';
import { ensureBootstrapKey } from './control/bootstrap-key.ts';
import { Keys } from './control/keys.ts';
import type { ControlStore } from './control/store.ts';
import type { DiskWatch } from './disk-watch.ts';
import { EventBells } from './events/bells.ts';
import { EventHub } from './events/hub.ts';
import { restoresOf } from './events/restores.ts';
import type { HarnessTurns } from './harness/turns/turn-service.ts';
import { type ChosenListener, chooseListener } from './http/listen.ts';
import { randomHex } from './identity.ts';
import { ProgressStreams } from './imports/streams.ts';
import type { Erasures } from './jobs/erasures.ts';
import type { RetentionSweeps } from './jobs/retention.ts';
import { Lifecycle } from './lifecycle.ts';
import { makeLog } from './log.ts';
import { Metering } from './metering/metering.ts';
import { nodeFamilies, type SeenFleet } from './metering/node-families.ts';
import { shardFamilies } from './metering/shard-families.ts';
import { workFamilies } from './metering/work-families.ts';
import { Metrics } from './metrics.ts';
import { ExtractionModels } from './models/extraction/extractor.ts';
import { CursorSeal } from './operations/cursor-seal.ts';
import { LAST_BACKUP } from './operations/deployment/backup.ts';
import type { RunningServer } from './running-server.ts';
import { removeServerFile, writeServerFile } from './server-file.ts';
import { authenticatorOf, limiterOf } from './start/admission.ts';
import { openData } from './start/data.ts';
import { type Embedding, startEmbedding } from './start/embedding.ts';
import { type HookParts, startHooks } from './start/hooks.ts';
import { openImports, startImports } from './start/imports.ts';
import {
  openReaders,
  type Readers,
  startHealthChecks,
  startSweeps,
  startUseRecords,
  watchDisks,
} from './start/jobs.ts';
import type { Data } from './start/keyring.ts';
import { type Ports, startListeners } from './start/listeners.ts';
import { type ModelParts, openModels } from './start/models.ts';
import { type Monitoring, startMonitor } from './start/monitor.ts';
import { drainCallsFirst, openMemories, type Placed, startErasures, startShards } from './start/shards.ts';
import { type ServerDeps, type Starting, within } from './start/starting.ts';
import { startTurns } from './start/turns.ts';
import { SubjectRequests } from './subject-requests/requests.ts';
import { openTracing, type Tracing } from './tracing.ts';
import { Wrapper } from './wrapper.ts';

/** Starts a server, or one of several nodes. Rejects with EngineError or the system's error, and leaves nothing open. */
export async function startServer(config: Config, deps: ServerDeps = {}): Promise<RunningServer> {
  if (config.store === undefined || deps.node !== undefined) return startOne(config, deps);
  if (config.nodeListen === undefined) {
    const { startReopening } = await import('./store/reopening.ts');
    return startReopening(config, deps, startOne);
  }
  // Loaded only where there are several.
  const { startNode } = await import('./nodes/node-server.ts');
  return startNode(config, deps, startOne);
}

async function startOne(config: Config, deps: ServerDeps): Promise<RunningServer> {
  const log = deps.log ?? makeLog(config.logLevel);
  const lifecycle = new Lifecycle(log, deps.stopping);
  const warnings: string[] = [];
  const warn = (text: string): void => {
    warnings.push(text);
    if (deps.logsWarnings !== false) log.warn(text);
  };
  const { lock } = deps;
  if (lock !== undefined) lifecycle.opened('lock', () => lock.release());
  try {
    const parts = await start({ config, deps, clock: deps.clock ?? systemClock, log, lifecycle, warn });
    return { ...parts, warnings, closing: () => lifecycle.current, close: () => lifecycle.close() };
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

async function start(starting: Starting): Promise<Omit<RunningServer, 'warnings' | 'closing' | 'close'>> {
  const { config } = starting;
  loadTokenCounter(config);
  const stored = await openStored(starting);
  const work = await startWork(starting, stored);
  const listener = await chooseListener(config.singlePort ? 'node' : config.http);
  if (listener.reason !== undefined) starting.warn(`HTTP is served by node:http: ${listener.reason}`);
  let ports: Ports | undefined;
  const services = servicesOf(starting, stored, work, {
    httpListener: () => listener.kind,
    grpcListener: () => (config.singlePort ? 'node' : config.grpc),
    grpcPort: () => ports?.grpc,
  });
  const { keys, control, router } = stored;
  const authenticator = authenticatorOf(starting, keys);
  startUseRecords(starting, { keys, control, authenticator, monitor: services.monitor });
  starting.deps.node?.onReport(({ uses, failed, refused }) => {
    keys.heardOfUses(uses);
    authenticator.heardOfFailed(failed);
    for (const [memory, calls] of refused) services.monitor.saw('policy_violations', memory, calls);
  });
  startHealthChecks(starting, control, router);
  // After the requests, and before all that writes there: the answer to a change may not come while a database is away.
  starting.lifecycle.opened('changes of the deployment', () => control.closing());
  const metrics = metricsOf(stored, work, services);
  const secret = randomHex();
  const tracing = await openTracing(router);
  const wrapper = openWrapper(starting, { services, authenticator, metrics, secret, tracing });
  const { bodies } = work.readers;
  await starting.deps.node?.freePorts();
  ports = await startListeners(starting, listener, {
    services,
    wrapper,
    authenticator,
    metrics,
    bodies,
    ports: () => ports,
    lapsed: () => control.lapsed,
  });
  // Before the listeners: they wait for the ends of their streams.
  starting.lifecycle.opened('streams of events', () => services.events.close());
  starting.lifecycle.opened('chat turns', () => services.chats.close());
  starting.lifecycle.opened('streams of imports', () => services.progress.close());
  await startImports(starting, services, { erasures: stored.erasures, documents: work.readers.jobs });
  starting.deps.stopping?.throwIfAborted();
  const addresses = announce(starting, ports, { secret, shards: stored.layout.shards, listener: listener.kind });
  // Last, because a follower loads its model when it starts.
  work.embedding.followers.start();
  return {
    httpPort: ports.http,
    grpcPort: ports.grpc,
    http10Port: ports.http10,
    ...addresses,
    httpListener: listener.kind,
    firstKey: stored.firstKey,
  };
}

interface Stored extends Data, Placed, OpenKeys {
  readonly erasures: Erasures;
  readonly pool: ShardSet;
  readonly nodes: () => SeenFleet | undefined;
}

/** Opens what the data directory holds, and finishes what an earlier server left half-done. */
async function openStored(starting: Starting): Promise<Stored> {
  const { node } = starting.deps;
  const data = await (node?.openData ?? openData)(starting);
  const { control } = data;
  const pool = node?.pool ?? (await startShards(starting, data));
  const placed = await openMemories(starting, pool, control);
  await data.masterKeys.start({ shards: placed.router, control });
  const erasures = await startErasures(starting, control, placed.router);
  const keys = await openKeys(starting, data);
  drainCallsFirst(starting, pool);
  return { ...data, ...placed, ...keys, erasures, pool, nodes: () => node?.fleet() };
}

interface Work {
  readonly embedding: Embedding;
  readonly readers: Readers;
  readonly disks: DiskWatch;
  readonly eventBells: EventBells;
  readonly webhooks: HookParts;
  readonly models: ModelParts;
  readonly sweeps: RetentionSweeps;
  readonly turns: HarnessTurns;
  readonly monitoring: Monitoring;
}

/** Starts what runs beside the requests. */
async function startWork(starting: Starting, stored: Stored): Promise<Work> {
  const { shards } = stored.layout;
  const models = openModels(starting, stored);
  const embedding = startEmbedding(starting, stored, { ...models, shards });
  const sweeps = startSweeps(starting, stored);
  const readers = openReaders(starting);
  const eventBells = new EventBells(stored.router);
  starting.lifecycle.opened('event bells', () => eventBells.close());
  const webhooks = startHooks(starting, { ...stored, bells: eventBells });
  const monitoring = startMonitor(starting, stored.router, stored.control);
  const turns = await startTurns(starting, { ...stored, shards: monitoring.shards });
  return {
    monitoring,
    embedding,
    readers,
    disks: watchDisks(starting, shards),
    eventBells,
    webhooks,
    models,
    sweeps,
    turns,
  };
}

function servicesOf(
  { config, clock, lifecycle, log }: Starting,
  { router, memories, control, controlKey, keys, keyFiles, masterKeys, proofKeys, erasures }: Stored,
  {
    embedding: { embedders, queryVectors, indexWaits, vectorsSetup },
    readers,
    disks,
    eventBells,
    webhooks,
    models,
    turns,
    monitoring,
  }: Work,
  listening: Pick<Services, 'httpListener' | 'grpcListener' | 'grpcPort'>,
): Services {
  const cursors = new CursorSeal(controlKey);
  const imports = openImports({ config, clock, log }, { control, shards: router });
  const readText: Services['readText'] = (task) => readers.texts.read(task);
  return {
    config,
    clock,
    shards: monitoring.shards,
    monitor: monitoring.monitor,
    cursors,
    chats: new Chats(log),
    imports,
    progress: new ProgressStreams(imports, clock),
    events: new EventHub({
      shards: router,
      bells: eventBells,
      memories,
      keys,
      cursors,
      restores: restoresOf(control),
      clock,
    }),
    control,
    memories,
    keys,
    keyFiles,
    masterKeys,
    proofKeys,
    subjectRequests: new SubjectRequests({ control, clock, controlKey }),
    erasures,
    startedAtMs: clock.nowMs(),
    readImport: (bytes) => readers.imports.read(bytes),
    readText,
    documents: readers.documents,
    pdfs: readers.pdfs,
    extractions: readers.extractions,
    cal: new CalGate({ control, clock, config }),
    embedders,
    queryVectors,
    vectorsSetup,
    indexWaits,
    eventBells,
    ...webhooks,
    metering: new Metering(clock),
    ...models,
    extractionModels: new ExtractionModels({
      ...models,
      readText,
      clock,
      limits: { callsPerMinute: config.extractionRate, charsPerDay: config.extractionBudget },
    }),
    turns,
    harnessChanges: new Turns(),
    ...listening,
    disks: () => disks.reasons,
    isEnding: () => lifecycle.isEnding,
  };
}

function metricsOf({ router, pool, memories, control, nodes }: Stored, work: Work, services: Services): Metrics {
  const { followers } = work.embedding;
  const { metering, events, deliveries } = services;
  return new Metrics({
    windows: metering.windows,
    families: [
      ...shardFamilies({
        health: () => router.health(),
        // A shard that is down has no counters.
        counts: (shard) => router.callShard(shard, 'counters', {}).catch(() => undefined),
        workers: () => pool.health(),
      }),
      ...nodeFamilies({ fleet: nodes, leaseMs: services.config.storeLeaseMs, shards: pool.shards }),
      ...workFamilies({
        memories: () => memories.count,
        keys: () => control.count('key'),
        extractions: () => work.readers.extractions.backlog,
        modelExtraction: () => services.extractionModels.counts,
        embedded: () => followers.embedded,
        notEmbedded: () => followers.passedOver,
        embeddingBehindMs: () => followers.behindMs,
        disk: () => work.disks.room,
        backupAgeSeconds: () => backupAgeOf(control, services.clock),
        eventStreams: () => events.size,
        webhooks: () => deliveries.size,
        deliveries: () => deliveries.counts,
        sweeps: () => work.sweeps.counts,
      }),
    ],
  });
}

function backupAgeOf(control: ControlStore, clock: Clock): number | undefined {
  const value = control.get('setting', LAST_BACKUP)?.value;
  return typeof value === 'number' ? Math.max(0, clock.nowMs() / 1000 - value) : undefined;
}

/** Throws VAL-E001 when the token counter is not installed: at start, rather than at the first query. */
function loadTokenCounter({ calTokens }: Config): void {
  try {
    tokenCounter(calTokens);
  } catch {
    throw new EngineError('VAL-E001', `--cal-tokens ${calTokens} needs a package: npm install gpt-tokenizer`);
  }
}

interface OpenKeys {
  readonly keys: Keys;
  /** The first key, if this start created it. */
  readonly firstKey: string | undefined;
}

/** The API keys. A new deployment gets its first one. */
async function openKeys({ config, clock, lifecycle }: Starting, data: Data): Promise<OpenKeys> {
  const { control, keyFiles, masterKeys, stored } = data;
  const keys = new Keys(control, clock);
  const firstKey = await ensureBootstrapKey(
    {
      folder: keyFolderOf(config.dataDir),
      stored: stored && { files: keyFiles, master: masterKeys.current },
    },
    keys,
    config.bootstrapKey,
  );
  lifecycle.opened('uses of keys', () => keys.writeUses({ all: true }));
  return { keys, firstKey };
}

function openWrapper(
  { config, deps, clock, log, lifecycle }: Starting,
  parts: {
    readonly services: Services;
    readonly authenticator: Authenticator;
    readonly metrics: Metrics;
    readonly secret: string;
    readonly tracing: Tracing | undefined;
  },
): Wrapper {
  const limiter = limiterOf(config, clock);
  const wrapper = new Wrapper({ ...parts, limiter, log, repeats: deps.repeats === true });
  lifecycle.opened('requests under way', () => within(wrapper.idle(), lifecycle.drainMs));
  return wrapper;
}

/** Writes where the server is reached, for commands on this machine, and logs it. */
function announce(
  { config, log, lifecycle }: Starting,
  ports: Ports,
  facts: { readonly secret: string; readonly shards: number; readonly listener: ChosenListener['kind'] },
): Pick<RunningServer, 'http' | 'grpc'> {
  const { secret, shards, listener } = facts;
  const host = reachable(config.host);
  const addresses = {
    http: `${config.tlsCert === undefined ? 'http' : 'https'}://${host}:${ports.http}`,
    grpc: `${host}:${ports.grpc}`,
  };
  writeServerFile(config.dataDir, { ...addresses, secret });
  lifecycle.opened('server.json', () => removeServerFile(config.dataDir));
  log.info({ ...addresses, http10Port: ports.http10, shards, listener }, 'ready');
  return addresses;
}

/** The line on stdout that reports the server's addresses. */
export function readyLine({ http, grpc }: { readonly http: string; readonly grpc: string }): string {
  return `${JSON.stringify({ ready: true, http, grpc, pid: process.pid })}\n`;
}

/** The host for callers on this machine: a wildcard address is reached by loopback. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::' || host === '[::]') return '[::1]';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
