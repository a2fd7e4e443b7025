// One of several nodes of a store. The node that has the control log runs the server, with all shards wherever they are. The
// others serve their shards, and pass HTTP and gRPC on to it. When it ends, one of them takes the control log and runs the server.

import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  COPY_RETRY_MS,
  COPY_START_MS,
  NODE_BUSY_MS_MAX,
  NODE_LEAD_MS,
  NODE_REFUSED_MS_MAX,
} from '../../engine/base/limits.ts';
import { CHANNEL_PROTOCOL } from '../../shards/nodes/link/handshake.ts';
import type { Config } from '../config.ts';
import { CONTROL_SHARD } from '../control/open.ts';
import { lockDirectory } from '../directory-lock.ts';
import { hostPortText } from '../host-port.ts';
import { Lifecycle } from '../lifecycle.ts';
import { makeLog } from '../log.ts';
import type { RunningServer } from '../running-server.ts';
import { removeServerFile } from '../server-file.ts';
import type { ServerDeps, Starting } from '../start/starting.ts';
import { openOwnControl, type ReachedStore, reachStore, Waiting } from '../start/store.ts';
import { Following } from './following.ts';
import { Fronts } from './fronts.ts';
import { JoinedNode } from './joined-node.ts';
import { Leading } from './leading.ts';

type StartOne = (config: Config, deps: ServerDeps) => Promise<RunningServer>;

/** Rejects with EngineError or the system's error, and leaves nothing open. */
export async function startNode(config: Config, deps: ServerDeps, startOne: StartOne): Promise<RunningServer> {
  const log = deps.log ?? makeLog(config.logLevel);
  const lifecycle = new Lifecycle(log, deps.stopping);
  const warnings: string[] = [];
  const warn = (text: string): void => {
    warnings.push(text);
    if (deps.logsWarnings !== false) log.warn(text);
  };
  const starting: Starting = { config, deps, clock: deps.clock ?? systemClock, log, lifecycle, warn };
  const lock = deps.lock ?? lockDirectory(config.dataDir);
  lifecycle.opened('lock', () => lock.release());
  try {
    const node = await NodeServer.open(starting, startOne);
    return {
      ...node.running(),
      warnings,
      closing: () => node.closing ?? lifecycle.current,
      close: () => lifecycle.close(),
    };
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

class NodeServer {
  readonly #starting: Starting;
  readonly #startOne: StartOne;
  readonly #store: ReachedStore;
  readonly #fronts: Fronts;
  readonly #node: JoinedNode;
  readonly #following: Following;
  readonly #leading: Leading;
  #server: RunningServer | undefined;
  #firstKey: string | undefined;
  #changing: Promise<void> | undefined;
  #isOver = false;
  /** Why the last look failed. */
  #unchanged: string | undefined;
  /** Attempts to run the server that failed one after the other, why the last one did, and when the next one may come. */
  #failed = { times: 0, reason: '', againMs: 0 };

  static async open(starting: Starting, startOne: StartOne): Promise<NodeServer> {
    const { config, lifecycle } = starting;
    removeServerFile(config.dataDir);
    // startServer came here because of the options of nodes, which need a store.
    const store = await reachStore(starting, config.store!);
    const server: { node?: JoinedNode; following?: Following } = {};
    const leading = new Leading(starting.log, store.leases);
    const fronts = new Fronts(config, store.stored.database.node, () => server.node?.leader);
    lifecycle.opened('ports', () => fronts.close());
    await fronts.listen();
    const ports = fronts.ports;
    const controlCopyMs = (): number | undefined => server.following?.copyAgeMs;
    const node = await JoinedNode.join(starting, store, { ports, openChannel: leading.openChannel, controlCopyMs });
    server.node = node;
    const freePorts = (): Promise<void> => fronts.stopListening();
    const following = new Following({ starting, store, node, ports: () => fronts.ports, freePorts });
    server.following = following;
    const opened = new NodeServer({ starting, startOne, store, fronts, node, following, leading });
    await opened.#lead(true);
    await opened.#awaitCopy();
    const timer = setInterval(() => opened.#look(), NODE_LEAD_MS);
    lifecycle.opened('server', () => {
      clearInterval(timer);
      return opened.#end();
    });
    return opened;
  }

  private constructor(parts: {
    readonly starting: Starting;
    readonly startOne: StartOne;
    readonly store: ReachedStore;
    readonly fronts: Fronts;
    readonly node: JoinedNode;
    readonly following: Following;
    readonly leading: Leading;
  }) {
    this.#starting = parts.starting;
    this.#startOne = parts.startOne;
    this.#store = parts.store;
    this.#fronts = parts.fronts;
    this.#node = parts.node;
    this.#following = parts.following;
    this.#leading = parts.leading;
  }

  /** The part of the server that its end waits for. */
  get closing(): string | undefined {
    return this.#server?.closing();
  }

  running(): Omit<RunningServer, 'warnings' | 'closing' | 'close'> {
    const { config } = this.#starting;
    const { http, grpc } = this.#fronts.ports;
    const host = reachable(config.host);
    return {
      httpPort: http,
      grpcPort: grpc,
      http10Port: undefined,
      http: `${config.tlsCert === undefined ? 'http' : 'https'}://${hostPortText({ host, port: http })}`,
      grpc: hostPortText({ host, port: grpc }),
      httpListener: this.#server?.httpListener ?? 'node',
      firstKey: this.#firstKey,
    };
  }

  /** Takes the control log when nobody has it, and gives up the server when another node has. */
  #look(): void {
    this.#node.forget();
    this.#fronts.endFormer();
    if (this.#changing !== undefined || this.#isOver) return;
    const isLost = this.#server !== undefined && this.#store.leases.isSpoiled(CONTROL_SHARD);
    const { leader } = this.#node;
    // It has its own lease again at once, after a restart.
    const isFree =
      this.#server === undefined &&
      (leader === undefined || leader.id === this.#node.id) &&
      performance.now() >= this.#failed.againMs;
    const change = isLost ? this.#follow() : isFree ? this.#lead(false) : this.#lookAtLeader();
    this.#changing = change.then(
      () => this.#changed(undefined),
      (error: unknown) => this.#changed(error),
    );
  }

  /** The next look tries again what failed: a port may be another program's for a moment. */
  #changed(error: unknown): void {
    this.#changing = undefined;
    const reason = error === undefined || error instanceof Error ? error?.message : String(error);
    if (reason !== undefined && reason !== this.#unchanged)
      this.#starting.log.error({ reason, err: error }, 'this node can neither lead nor follow yet, and keeps trying');
    this.#unchanged = reason;
  }

  /** Gives a node that starts beside others the time to get a copy, so that its ports change hands before it says that it is ready. */
  async #awaitCopy(): Promise<void> {
    const untilMs = performance.now() + COPY_START_MS;
    const isElsewhere = (): boolean => (this.#node.leader?.protocol ?? 0) >= CHANNEL_PROTOCOL;
    while (this.#server === undefined && isElsewhere() && !this.#following.isListening && performance.now() < untilMs) {
      await this.#lookAtLeader();
      await pause(COPY_RETRY_MS);
    }
  }

  /** Answers by a copy of the control log of the leader, or passes connections on to it. */
  async #lookAtLeader(): Promise<void> {
    if (this.#server !== undefined || this.#node.leader?.id === this.#node.id) return;
    const isAble = await this.#following.look(this.#node.leader);
    if (!isAble) await this.#fronts.listen();
  }

  /** Resolves without a server when another node has the control log. `isFirst`: rejects with what the operator must mend. */
  async #lead(isFirst: boolean): Promise<void> {
    const { config, deps, log } = this.#starting;
    if (this.#node.leader !== undefined && this.#node.leader.id !== this.#node.id) return;
    const { http, grpc } = this.#fronts.ports;
    let hasControl = false;
    this.#fronts.pause(true);
    try {
      this.#server = await this.#startOne(
        { ...config, httpPort: http, grpcPort: grpc },
        {
          ...deps,
          lock: { directory: config.dataDir, release: () => undefined },
          node: {
            // The next look tries again.
            openData: async (inner) => {
              const store = { ...this.#store, waiting: new Waiting(inner.log, 0) };
              const data = await openOwnControl(inner, store, () => Promise.resolve());
              hasControl = true;
              this.#leading.begin(inner.lifecycle, data);
              return data;
            },
            pool: this.#node.shards,
            fleet: () => this.#node.ownership.fleet,
            leads: () => this.#store.leases.isHeld(CONTROL_SHARD),
            freePorts: async () => {
              await this.#following.stop();
              await this.#fronts.stopListening();
            },
            serve: (handlers) => {
              this.#leading.serve(handlers);
              this.#following.serveOwn(handlers);
            },
            drainPassed: async (deadlineMs) => {
              this.#following.serveOwn(undefined);
              await this.#leading.drain(deadlineMs);
            },
            onReport: (heard) => this.#leading.onReport(heard),
          },
        },
      );
      this.#firstKey ??= this.#server.firstKey;
      this.#failed = { times: 0, reason: '', againMs: 0 };
      log.info({ node: this.#node.id }, 'this node has the control log and runs the server');
    } catch (error) {
      if (!this.#following.isListening) await this.#fronts.listen();
      const isBusy = error instanceof EngineError && error.code === 'STO-E002';
      // Another node was first. With the control log, it is a shard that does not answer: each attempt opens the whole log.
      if (isBusy && !hasControl) return;
      if (isFirst && !(error instanceof EngineError && error.retryable)) throw error;
      this.#notLeading(error, isBusy ? NODE_BUSY_MS_MAX : NODE_REFUSED_MS_MAX);
    } finally {
      this.#fronts.pause(false);
    }
  }

  /** The lease of the control log was given back, so other nodes try in the meantime. */
  #notLeading(error: unknown, mostMs: number): void {
    const { log } = this.#starting;
    const times = this.#failed.times + 1;
    const waitMs = Math.min(mostMs, NODE_LEAD_MS * 2 ** times);
    const reason = error instanceof Error ? error.message : String(error);
    if (reason !== this.#failed.reason)
      log.error({ reason, err: error instanceof EngineError ? undefined : error }, 'this node cannot run the server: another node may, and this one keeps trying'); // biome-ignore format: one row
    this.#failed = { times, reason, againMs: performance.now() + waitMs };
  }

  async #follow(): Promise<void> {
    this.#starting.log.error({}, 'this node has lost the control log: another node runs the server');
    const server = this.#server;
    this.#server = undefined;
    await server?.close();
    await this.#fronts.listen();
  }

  async #end(): Promise<void> {
    this.#isOver = true;
    await this.#changing?.catch(() => undefined);
    await this.#following.close();
    await this.#server?.close();
  }
}

function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
