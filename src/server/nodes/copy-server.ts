// The listeners of a node that has a copy of the control log, and the parts of a server that answer there: callers are admitted and
// requests read as in the whole server, and their calls go to the shards where they are. It has no work of its own beside requests.
import { loadMasterKey } from '../../engine/keys/master-key.ts';
import { CalGate } from '../cal-gate.ts';
import type { Services } from '../context.ts';
import { openControlKey } from '../control/control-key.ts';
import { Keys } from '../control/keys.ts';
import { CONTROL_SHARD } from '../control/open.ts';
import type { CopyReport } from '../control/replica/messages.ts';
import { NeedsLeader } from '../control/replica/needs-leader.ts';
import { type ControlReplica, isStale, ReplicaView } from '../control/replica/replica.ts';
import { chooseListener } from '../http/listen.ts';
import type { Elsewhere } from '../http.ts';
import { Lifecycle } from '../lifecycle.ts';
import { Metering } from '../metering/metering.ts';
import { nodeFamilies } from '../metering/node-families.ts';
import { Metrics } from '../metrics.ts';
import type { Burst, Monitor } from '../monitor/monitor.ts';
import { monitoredShards } from '../monitor/monitored-shards.ts';
import { CursorSeal } from '../operations/cursor-seal.ts';
import { authenticatorOf, limiterOf } from '../start/admission.ts';
import { forgetWithKeys, startEmbedding } from '../start/embedding.ts';
import { openReaders } from '../start/jobs.ts';
import { type Listening, type Ports, startListeners } from '../start/listeners.ts';
import { openModels } from '../start/models.ts';
import { placeMemories } from '../start/shards.ts';
import { type Starting, within } from '../start/starting.ts';
import type { ReachedStore } from '../start/store.ts';
import { StoredKeyFiles } from '../store/stored-key-files.ts';
import { openTracing } from '../tracing.ts';
import { Wrapper } from '../wrapper.ts';
import type { JoinedNode, NodePorts } from './joined-node.ts';
import type { Passer } from './passing/passer.ts';

export interface CopyServer {
  /** Events since the last call, for the owner of the control log. */
  readonly report: () => CopyReport | undefined;
  /** Frees the ports soon, and resolves when its requests are answered and its parts are closed. */
  readonly close: () => Promise<void>;
}

export interface CopyServerParts {
  readonly store: ReachedStore;
  readonly node: JoinedNode;
  readonly replica: ControlReplica;
  readonly passer: Passer;
  readonly ports: NodePorts;
  /** Called before the ports are listened on. */
  readonly freePorts: () => Promise<void>;
}

/** Rejects with EngineError or the system's error, and leaves nothing open. */
export async function startCopyServer(outer: Starting, parts: CopyServerParts): Promise<CopyServer> {
  const { log, config } = outer;
  const lifecycle = new Lifecycle(log);
  const { http: httpPort, grpc: grpcPort } = parts.ports;
  // The node gave its warnings at its start; they are not repeated.
  const starting: Starting = { ...outer, lifecycle, config: { ...config, httpPort, grpcPort }, warn: () => undefined };
  try {
    return await start(starting, parts);
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

async function start(starting: Starting, parts: CopyServerParts): Promise<CopyServer> {
  const { config, clock, log, lifecycle } = starting;
  const { store, node, replica, passer } = parts;
  const listener = await chooseListener(config.singlePort ? 'node' : config.http);
  const cursors = new CursorSeal(await controlKeyOf(starting, store));
  const pool = node.shardsWhile(() => replica.lapsed);
  const control = viewOf(replica, lifecycle);
  const placed = placeMemories(starting, pool, control);
  const models = openModels(starting, { control, router: placed.router });
  const embedding = startEmbedding(starting, { ...placed, pool }, { ...models, shards: store.shards });
  forgetWithKeys(control, embedding.embedders);
  const { bodies } = openReaders(starting);
  const [keys, refusals] = [new Keys(control, clock), new Refusals()];
  const authenticator = authenticatorOf(starting, keys);
  let ports: Ports | undefined;
  const services = onlyThese({
    config,
    clock,
    shards: monitoredShards(placed.router, refusals),
    control: control as unknown as Services['control'], // rows that any node answers read it alone (define.ts)
    memories: placed.memories,
    keys,
    cursors,
    cal: new CalGate({ control, clock, config }),
    embedders: embedding.embedders,
    queryVectors: embedding.queryVectors,
    vectorsSetup: embedding.vectorsSetup,
    metering: new Metering(clock),
    ...models,
    startedAtMs: clock.nowMs(),
    httpListener: () => listener.kind,
    grpcListener: () => (config.singlePort ? 'node' : config.grpc),
    grpcPort: () => ports?.grpc,
    isEnding: () => lifecycle.isEnding,
  });
  const metrics = metricsOf(starting, parts, services.metering);
  const wrapper = new Wrapper({
    services,
    authenticator,
    limiter: limiterOf(config, clock),
    metrics,
    log,
    tracing: await openTracing(placed.router),
    copy: { mayBegin: () => replica.mayBegin, isTooOld: isStale },
  });
  lifecycle.opened('requests under way', () => within(wrapper.idle(), lifecycle.drainMs));
  // Opened now, as in the whole server: the first question need not wait for a model.
  embedding.open();
  await parts.freePorts();
  const elsewhere: Elsewhere = { http: (passed) => passer.http(passed), grpc: (call, may) => passer.grpc(call, may) };
  const served = {
    services,
    wrapper,
    authenticator,
    metrics,
    bodies,
    ports: () => ports,
    elsewhere,
    lapsed: () => control.lapsed,
  };
  const listening = await startListeners(starting, listener, served);
  ports = listening;
  return {
    report: () => reportOf({ uses: keys.takeUses(), failed: authenticator.takeFailed(), refused: refusals.take() }),
    close: () => close(listening, lifecycle),
  };
}

function viewOf(replica: ControlReplica, lifecycle: Lifecycle): ReplicaView {
  const view = new ReplicaView(replica);
  lifecycle.opened('view of the control log', () => view.close());
  return view;
}

async function close(listening: Listening, lifecycle: Lifecycle): Promise<void> {
  // All at once: requests of one listener that wait for the leader must not keep the ports of the others open.
  await listening.drain(lifecycle.drainMs);
  await lifecycle.close();
}

function metricsOf(
  { config }: Starting,
  { store, node, replica, passer }: CopyServerParts,
  metering: Metering,
): Metrics {
  return new Metrics({
    windows: metering.windows,
    families: nodeFamilies({
      fleet: () => node.fleet,
      leaseMs: config.storeLeaseMs,
      shards: store.shards,
      copy: { isFresh: () => replica.mayBegin, passed: () => passer.count },
    }),
  });
}

function reportOf(report: CopyReport): CopyReport | undefined {
  return report.uses.length + report.failed + report.refused.length === 0 ? undefined : report;
}

/** Calls that policies refused, until the owner of the control log is told: it notices bursts. */
class Refusals implements Pick<Monitor, 'saw'> {
  #calls = new Map<number, number>();

  saw(burst: Burst, memory: number | undefined, acts = 1): void {
    if (burst === 'policy_violations' && memory !== undefined)
      this.#calls.set(memory, (this.#calls.get(memory) ?? 0) + acts);
  }

  take(): CopyReport['refused'] {
    const calls = [...this.#calls];
    this.#calls = new Map();
    return calls;
  }
}

/** The key of the deployment, which the leader has made. */
async function controlKeyOf({ config, warn }: Starting, { database }: ReachedStore) {
  // Nothing is written with it: no owner has this number.
  const files = await StoredKeyFiles.open(database, { shard: CONTROL_SHARD, token: 0 });
  const { key } = loadMasterKey({ files, value: config.masterKey, file: config.masterKeyFile, warn });
  return openControlKey(files, key, false);
}

/** Services of which there are only these: a request that needs another one goes to the leader. */
function onlyThese<T extends Partial<Services>>(given: T): Services & T {
  return new Proxy(given, {
    get: (target, name) => {
      if (Object.hasOwn(target, name)) return target[name as keyof T];
      throw new NeedsLeader(`this node has no ${String(name)}`);
    },
  }) as Services & T; // the others throw
}
