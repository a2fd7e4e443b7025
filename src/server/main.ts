// Wires the server from bottom to top: lock, keys, control log, shards, services, wrapper, listeners.

import { join } from 'node:path';
import { type Clock, systemClock } from '../engine/base/clock.ts';
import { EngineError } from '../engine/base/errors.ts';
import { DRAIN_MS, KEY_USE_WRITE_MS } from '../engine/base/limits.ts';
import { tokenCounter } from '../engine/cal/output/tokenizer.ts';
import { loadMasterKey } from '../engine/keys/master-key.ts';
import { Router } from '../shards/router.ts';
import { ShardPool } from '../shards/transport/pool.ts';
import { Authenticator } from './auth/authenticate.ts';
import { includesScope } from './auth/principal.ts';
import { RateLimiter } from './auth/rate-limit.ts';
import { tokenVerifier } from './auth/tokens.ts';
import { answerBudget, requestBudget } from './byte-budget.ts';
import { CalGate } from './cal-gate.ts';
import { type Config, isLoopback, SHARDS_DEFAULT } from './config.ts';
import type { Services } from './context.ts';
import { ensureBootstrapKey } from './control/bootstrap-key.ts';
import { openControlKey } from './control/control-key.ts';
import { Keys } from './control/keys.ts';
import { Memories } from './control/memories.ts';
import { openControl } from './control/open.ts';
import type { ControlStore } from './control/store.ts';
import { openLayout } from './data-directory.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { DiskWatch } from './disk-watch.ts';
import { leavingForVectors, outsideBackends } from './embedding/egress.ts';
import { Embedders, type Openers } from './embedding/embedders.ts';
import { Followers } from './embedding/followers.ts';
import { IndexWaits } from './embedding/index-waits.ts';
import { openersOf } from './embedding/openers.ts';
import { QueryVectors } from './embedding/query-vector.ts';
import { shardBacklog } from './embedding/shard-backlog.ts';
import { listenGrpc } from './grpc/http2.ts';
import { grpcHandler } from './grpc.ts';
import { watchHealth } from './health-log.ts';
import { Cors } from './http/cors.ts';
import { refusal } from './http/errors.ts';
import { chooseListener } from './http/listen.ts';
import type { HttpHandler, HttpListener, ListenOptions } from './http/listener.ts';
import { listenNode } from './http/node.ts';
import { httpHandler } from './http.ts';
import { randomHex } from './identity.ts';
import { Erasures } from './jobs/erasures.ts';
import { Extractions } from './jobs/extractions.ts';
import { ImportReader } from './jobs/read-import.ts';
import { JsonReader } from './jobs/read-json.ts';
import { TextReader } from './jobs/read-text.ts';
import { RetentionSweeps } from './jobs/retention.ts';
import { Lifecycle } from './lifecycle.ts';
import { type Logger, makeLog } from './log.ts';
import { MasterKeys } from './master-keys.ts';
import { Metrics } from './metrics.ts';
import { recallModels } from './models/models.ts';
import { networkDiskOf } from './network-disk.ts';
import { CODECS } from './operations/codecs.ts';
import { CursorSeal } from './operations/cursor-seal.ts';
import { health, healthLive, healthReady } from './operations/deployment/health.ts';
import { metricsOperation } from './operations/deployment/metrics.ts';
import { PageGuard } from './page-guard.ts';
import { placementOf } from './placement-of.ts';
import { removeServerFile, writeServerFile } from './server-file.ts';
import { threadEntry } from './thread-entry.ts';
import { requestIdOf, Wrapper } from './wrapper.ts';

export interface ServerDeps {
  readonly clock?: Clock | undefined;
  readonly log?: Logger | undefined;
  /** The worker's entry file; default: the one with the real engine. */
  readonly entry?: URL | undefined;
  /** Enables fault injection in shards. Only for tests. */
  readonly faults?: boolean | undefined;
  /** Removals repeat earlier ones without policy checks (`CallContext.repeats`). Only for a restore. */
  readonly repeats?: boolean | undefined;
  /** How to open embedders, instead of the configuration. Only for tests and benchmarks. */
  readonly openers?: Openers | undefined;
  /** False when the caller prints the warnings of the start itself. */
  readonly logsWarnings?: boolean | undefined;
  /** The lock of the data directory, if the caller has taken it. The server releases it. */
  readonly lock?: DirectoryLock | undefined;
}

export interface RunningServer {
  readonly httpPort: number;
  readonly grpcPort: number;
  /** Port of --http10-port. */
  readonly http10Port: number | undefined;
  /** `http://host:port` or `https://…`, as reachable from this machine. */
  readonly http: string;
  /** `host:port`. */
  readonly grpc: string;
  readonly httpListener: 'uws' | 'node';
  /** The first key, if this start created it. It is returned only here. */
  readonly firstKey: string | undefined;
  /** Warnings for the operator. */
  readonly warnings: readonly string[];
  /** Drains and closes everything; every call returns the same promise. */
  close(): Promise<void>;
}

/** Starts a server. Rejects with EngineError or the system's error, and leaves nothing open. */
export async function startServer(config: Config, deps: ServerDeps = {}): Promise<RunningServer> {
  const log = deps.log ?? makeLog(config.logLevel);
  const lifecycle = new Lifecycle(log);
  try {
    return await start(config, { ...deps, clock: deps.clock ?? systemClock }, log, lifecycle);
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

/** Throws VAL-E001 when the token counter is not installed: at start, rather than at the first query. */
function loadTokenCounter({ calTokens }: Config): void {
  try {
    tokenCounter(calTokens);
  } catch {
    throw new EngineError('VAL-E001', `--cal-tokens ${calTokens} needs a package: npm install gpt-tokenizer`);
  }
}

type Deps = ServerDeps & { readonly clock: Clock };

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the parts of a server in the order in which they start; each needs those before it, and undoes its own start
async function start(config: Config, deps: Deps, log: Logger, lifecycle: Lifecycle): Promise<RunningServer> {
  const { clock } = deps;
  const warnings: string[] = [];
  const warn = (text: string): void => {
    warnings.push(text);
    if (deps.logsWarnings !== false) log.warn(text);
  };

  loadTokenCounter(config);
  const lock = deps.lock ?? lockDirectory(config.dataDir);
  lifecycle.opened('lock', () => lock.release());
  // A killed server left it: another process may have its port now.
  removeServerFile(config.dataDir);
  const network = networkDiskOf(config.dataDir);
  if (network !== undefined)
    warn(`${config.dataDir} is on ${network}, which is not supported: move it to a local disk`);
  const layout = openLayout(config.dataDir, config.shards, SHARDS_DEFAULT);
  const masterKeys = new MasterKeys({
    dataDirectory: config.dataDir,
    loaded: loadMasterKey({
      dataDirectory: config.dataDir,
      value: config.masterKey,
      file: config.masterKeyFile,
      warn,
    }),
    ownFile: config.masterKey === undefined && config.masterKeyFile === undefined,
    warn,
  });
  const controlKey = openControlKey(config.dataDir, masterKeys.current, layout.isNew);
  const control = openControl(config.dataDir, { key: controlKey, master: masterKeys.current }, layout.shards, clock);
  lifecycle.opened('control log', () => control.close());

  const pool = await startPool(config, deps, { shards: layout.shards, masterKeys, log });
  lifecycle.opened('shards', () => pool.close());
  let memories: Memories | undefined;
  const router = new Router({
    shards: Array.from({ length: pool.shards }, (_, shard) => pool.caller(shard)),
    settingsOf: (number) => memories?.settingsOf(number),
    placementOf,
    codecs: CODECS,
  });
  memories = new Memories({ store: control, shards: router, clock, memoriesMax: config.memoriesMax, log });
  lifecycle.opened('deletions', () => memories?.close());
  await memories.start();
  await masterKeys.start({ shards: router, control });
  const keys = new Keys(control, clock);
  const repeats = deps.repeats === true;
  const erasures = new Erasures({ control, shards: router, log, clock, repeats });
  lifecycle.opened('erasures under way', () => erasures.close());
  await erasures.start();
  const firstKey = await ensureBootstrapKey(config.dataDir, keys, config.bootstrapKey);
  lifecycle.opened('uses of keys', () => keys.writeUses({ all: true }));
  lifecycle.opened('calls under way', async () => {
    await pool.drain(DRAIN_MS);
  });

  const embedders = new Embedders(config.embedder, deps.openers ?? openersOf(config, log), { log });
  lifecycle.opened('embedders', () => embedders.close());
  const indexWaits = new IndexWaits({
    lagOf: (memory, upTo) =>
      router.call('vectorLag', { memory, actor: 'system', requestId: 'system' }, upTo === undefined ? {} : { upTo }),
    isFollowed: (memory) => {
      const backend = embedders.nameOf(memory.vectorBackend ?? '');
      if (backend === 'none' || embedders.status(memory.vectorBackend ?? '').state === 'failed') return false;
      return backend !== 'remote' || leavingForVectors(memory, config) !== undefined;
    },
    wake: () => followers.wake(),
  });
  const followers = new Followers({
    backlogs: Array.from({ length: pool.shards }, (_, shard) => shardBacklog(router, shard, outsideBackends(config))),
    embedders,
    isChosen: (backend) => memories?.hasBackend(backend) === true,
    mayLeave: (number) => {
      const memory = memories?.byNumber(number);
      return memory !== undefined && leavingForVectors(memory, config) !== undefined;
    },
    log,
    progressed: () => indexWaits.progressed(),
  });
  lifecycle.opened('embedding', () => followers.close());
  followers.start();

  const sweeps = new RetentionSweeps({ memories, shards: router, log });
  lifecycle.opened('removing what has expired', () => sweeps.close());
  sweeps.start();

  const reader = new ImportReader();
  lifecycle.opened('import thread', () => reader.close());
  const bodies = new JsonReader();
  lifecycle.opened('thread of long bodies', () => bodies.close());
  const texts = new TextReader({ onError: (err) => log.error({ err }, 'the extraction thread failed') });
  lifecycle.opened('extraction thread', () => texts.close());
  const extractions = new Extractions(log);
  lifecycle.opened('extractions under way', () => extractions.close(DRAIN_MS));
  const disks = new DiskWatch({ dataDirectory: config.dataDir, shards: layout.shards, log });
  lifecycle.opened('disk checks', () => within(disks.close(), DRAIN_MS));
  disks.start();
  const listener = chooseListener(config.singlePort ? 'node' : config.http);
  if (listener.reason !== undefined) warn(`HTTP is served by node:http: ${listener.reason}`);
  let ports: { readonly http: number; readonly grpc: number } | undefined;
  const services: Services = {
    config,
    clock,
    shards: router,
    cursors: new CursorSeal(controlKey),
    control,
    memories,
    keys,
    masterKeys,
    erasures,
    startedAtMs: clock.nowMs(),
    readImport: (bytes) => reader.read(bytes),
    readText: (task) => texts.read(task),
    extractions,
    cal: new CalGate({ control, clock, config }),
    embedders,
    queryVectors: new QueryVectors({
      embedders,
      stateOf: (memory) => router.call('vectorState', { memory, actor: 'system', requestId: 'system' }, {}),
      leaving: (memory) => leavingForVectors(memory, config),
    }),
    indexWaits,
    models: recallModels(config),
    httpListener: () => listener.kind,
    grpcPort: () => ports?.grpc,
    disks: () => disks.reasons,
    isEnding: () => lifecycle.isEnding,
  };
  const authenticator = new Authenticator({
    mode: config.auth,
    open: !isLoopback(config.host),
    keys,
    tokens: tokenVerifier(config, { log, clock }),
    clock,
  });
  lifecycle.opened('timers', keepTime({ keys, control, authenticator, log }));
  lifecycle.opened(
    'health checks',
    watchHealth(async () => {
      const { refusing } = control;
      const reasons = refusing === undefined ? [] : [`writes are refused: ${refusing}`];
      return [...(await router.health()), { shard: 'control', reasons }];
    }, log),
  );
  const metrics = new Metrics({
    memories: () => services.memories.count,
    keys: () => control.count('key'),
    extractions: () => extractions.backlog,
    embedded: () => followers.embedded,
    notEmbedded: () => followers.passedOver,
  });
  const secret = randomHex();
  const limiter = limiterOf(config, clock);
  const wrapper = new Wrapper({ services, authenticator, limiter, metrics, log, repeats, secret });
  lifecycle.opened('requests under way', () => within(wrapper.idle(), DRAIN_MS));

  const onError = (error: unknown): void => log.error({ err: error }, 'error in a listener');
  const tls =
    config.tlsCert === undefined || config.tlsKey === undefined
      ? {}
      : { tls: { certFile: config.tlsCert, keyFile: config.tlsKey } };
  if (config.auth !== 'none' && config.tlsCert === undefined && !isLoopback(config.host))
    warn(`keys and data are sent unencrypted on ${config.host}: set --tls-cert and --tls-key, or use a proxy with TLS`);
  const pages =
    config.auth === 'none'
      ? new PageGuard({ host: config.host, hosts: config.allowedHosts, origins: config.corsOrigins })
      : undefined;
  const requests = requestBudget(config.requestMemoryMb);
  const answers = answerBudget(config.answerMemoryMb);
  const serve = httpHandler({
    wrapper,
    pages,
    cors: new Cors(config.corsOrigins),
    extra: [metricsOperation(metrics), health, healthLive, healthReady],
    readJson: (bytes) => bodies.read(bytes),
    answers,
  });
  const startGrpc = (port: { readonly otherwise?: HttpHandler | undefined }) =>
    listenGrpc(
      {
        host: config.host,
        port: config.grpcPort,
        onError,
        requests,
        answers,
        ...tls,
        ...port,
        requestIdOf,
        checkCaller: (header) =>
          pages?.check({ method: 'POST', authority: header(':authority') ?? header('host'), header }),
        allowReflection: async (header, remoteAddress) => {
          const caller = await authenticator.authenticate({
            authorization: header('authorization'),
            apiKey: header('x-api-key'),
            remoteAddress,
          });
          if (!includesScope(caller, 'read')) throw new EngineError('AUT-E001', 'this needs scope read');
        },
      },
      grpcHandler({
        wrapper,
        httpPort: () => ports?.http,
        readLong: (rpc, bytes) => bodies.readMessage(rpc, bytes),
      }),
    );
  const shared = config.singlePort ? await startGrpc({ otherwise: serve }) : undefined;
  const http = await listener.listen(
    {
      host: config.host,
      port: config.httpPort,
      onError,
      refusal,
      requests,
      ...tls,
      ...(shared === undefined ? {} : { http2: (connection) => shared.inject(connection) }),
    },
    serve,
  );
  lifecycle.opened('HTTP', () => http.drain(DRAIN_MS));
  const http10 = await listenHttp10(config, { onError, refusal, requests, ...tls }, serve);
  if (http10 !== undefined) lifecycle.opened('HTTP/1.0', () => http10.drain(DRAIN_MS));
  const grpc = shared ?? (await startGrpc({}));
  ports = { http: http.port, grpc: shared === undefined ? grpc.port : http.port };
  // Before HTTP, so that clients that watch its health know first.
  lifecycle.opened('gRPC', () => grpc.drain(DRAIN_MS));

  const host = reachable(config.host);
  const addresses = {
    http: `${config.tlsCert === undefined ? 'http' : 'https'}://${host}:${http.port}`,
    grpc: `${host}:${ports.grpc}`,
  };
  writeServerFile(config.dataDir, { ...addresses, secret });
  lifecycle.opened('server.json', () => removeServerFile(config.dataDir));
  log.info({ ...addresses, http10Port: http10?.port, shards: layout.shards, listener: listener.kind }, 'ready');
  return {
    httpPort: http.port,
    grpcPort: ports.grpc,
    http10Port: http10?.port,
    ...addresses,
    httpListener: listener.kind,
    firstKey,
    warnings,
    close: () => lifecycle.close(),
  };
}

/** The port for HTTP/1.0 peers, next to a listener without HTTP/1.0. */
async function listenHttp10(
  { host, http10Port: port }: Config,
  options: Omit<ListenOptions, 'host' | 'port'>,
  handler: HttpHandler,
): Promise<HttpListener | undefined> {
  return port === undefined ? undefined : listenNode({ ...options, host, port }, handler);
}

/** The line on stdout that reports the server's addresses. */
export function readyLine({ http, grpc }: { readonly http: string; readonly grpc: string }): string {
  return `${JSON.stringify({ ready: true, http, grpc, pid: process.pid })}\n`;
}

function startPool(
  config: Config,
  deps: Deps,
  { shards, masterKeys, log }: { readonly shards: number; readonly masterKeys: MasterKeys; readonly log: Logger },
): Promise<ShardPool> {
  return ShardPool.start({
    shards,
    workers: Math.min(config.workers, shards),
    entry: deps.entry ?? threadEntry('shard-worker', import.meta.url),
    engineOptions: (shard) => ({
      directory: join(config.dataDir, `shard-${shard}`),
      keysDirectory: join(config.dataDir, 'keys', `shard-${shard}`),
      shard,
      shards,
      // A restarted worker gets the keys of that time.
      masterKeys: masterKeys.current.raw,
      indexHeapBytes: Math.floor((config.indexHeapMb * 1024 * 1024) / shards),
      vectorHeapBytes: Math.floor((config.vectorHeapMb * 1024 * 1024) / shards),
    }),
    log,
    ...(deps.faults === undefined ? {} : { faults: deps.faults }),
  });
}

function limiterOf(config: Config, clock: Clock): RateLimiter | undefined {
  if (config.rateLimit === 0) return undefined;
  return new RateLimiter({ perMinute: config.rateLimit, burst: Math.max(1, config.rateLimit / 6), clock });
}

/** Periodic records: last use of keys, number of failed authentications. Returns a function that stops it. */
function keepTime(parts: {
  readonly keys: Keys;
  readonly control: ControlStore;
  readonly authenticator: Authenticator;
  readonly log: Logger;
}): () => Promise<void> {
  const { keys, control, authenticator, log } = parts;
  const write = async (): Promise<void> => {
    try {
      await keys.writeUses();
      const count = authenticator.takeFailed();
      if (count === 0) return;
      await control.commit((change) =>
        change.audit({ event: 'auth.failed', actor: 'system', subject: '', details: { count } }),
      );
    } catch (error) {
      log.error({ err: error }, 'cannot record when keys were used');
    }
  };
  const timer = setInterval(() => void write(), KEY_USE_WRITE_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await write();
  };
}

/** Waits for `work`, at most `ms`. */
async function within(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** The host for callers on this machine: a wildcard address is reached by loopback. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::' || host === '[::]') return '[::1]';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
