// The part of a node that does not run the server: it keeps a copy of the control log, answers by it what it can, and passes the rest
// on to the leader, request by request.
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { DRAIN_MS, NODE_REFUSED_MS_MAX, PASS_LEAVE_MS, PASS_RETRY_MS } from '../../engine/base/limits.ts';
import type { FleetNode } from '../../engine/log/postgres/fleet.ts';
import { CHANNEL_PROTOCOL } from '../../shards/nodes/link/handshake.ts';
import type { Peer } from '../../shards/nodes/link/peer.ts';
import { messageBytes, readMessage, type ToCopy } from '../control/replica/messages.ts';
import { ControlReplica } from '../control/replica/replica.ts';
import { Reports } from '../control/replica/reports.ts';
import { Subscription } from '../control/replica/subscription.ts';
import type { Starting } from '../start/starting.ts';
import type { ReachedStore } from '../start/store.ts';
import { type CopyServer, startCopyServer } from './copy-server.ts';
import type { JoinedNode, NodePorts } from './joined-node.ts';
import { type Handlers, Passer, type PassTarget } from './passing/passer.ts';

export interface FollowingOptions {
  readonly starting: Starting;
  readonly store: ReachedStore;
  readonly node: JoinedNode;
  /** The ports of the node for callers. */
  readonly ports: () => NodePorts;
  /** Called before those ports are listened on. */
  readonly freePorts: () => Promise<void>;
}

interface Leader {
  readonly id: string;
  readonly address: string;
  readonly copy: Peer;
  readonly requests: Peer;
  readonly target: PassTarget;
}

export class Following {
  readonly #options: FollowingOptions;
  readonly #replica = new ControlReplica();
  readonly #reports = new Reports(() => this.#server?.report());
  readonly #passer: Passer;
  /** The leader, and the connections to it: one for the copy, and one for requests, which may be long. */
  #leader: Leader | undefined;
  #server: CopyServer | undefined;
  #own: Handlers | undefined;
  /** Why this node could not listen, and when it tries again. */
  #failed = { reason: '', againMs: 0 };

  constructor(options: FollowingOptions) {
    this.#options = options;
    this.#passer = new Passer({ own: () => this.#own });
  }

  /** As of a copy of the control log; undefined without one. */
  get copyAgeMs(): number | undefined {
    return this.#leader === undefined ? undefined : this.#replica.ageMs;
  }

  /** True while it has the ports. */
  get isListening(): boolean {
    return this.#server !== undefined;
  }

  /**
   * Looks at the leader, several times a second: connects to it, and begins to answer when there is a copy of its
   * control log. Resolves to false when that node is of a version that gives no copies, and this one does not listen.
   */
  async look(leader: FleetNode | undefined): Promise<boolean> {
    const gives = leader !== undefined && leader.protocol >= CHANNEL_PROTOCOL;
    if (leader !== undefined) this.#connect(gives ? leader : undefined);
    if (leader !== undefined && !gives) {
      await this.stop();
      return false;
    }
    if (this.#server === undefined && this.#replica.isFresh && performance.now() >= this.#failed.againMs)
      return this.#listen();
    return this.#server !== undefined || this.#failed.reason === '';
  }

  /** Requests that wait go to these handlers of this node, while it runs the server. */
  serveOwn(handlers: Handlers | undefined): void {
    this.#own = handlers;
  }

  /** Asks no other node any more. Its ports are free when this resolves; requests that it has are answered as they can be. */
  async stop(): Promise<void> {
    this.#connect(undefined);
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    void server
      .close()
      .catch((error: unknown) =>
        this.#options.starting.log.error({ err: error }, 'the listeners of this node did not close'),
      );
    const { host, http10Port: http10 = 0 } = this.#options.starting.config;
    const { http, grpc } = this.#options.ports();
    for (const port of new Set([http, grpc, http10])) if (port !== 0) await isFree(host, port);
  }

  /** The same, when the node ends: resolves when all is closed. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.close();
    this.#connect(undefined);
  }

  #connect(leader: FleetNode | undefined): void {
    const known = this.#leader;
    if (known?.id === leader?.id && known?.address === leader?.address) return;
    this.#leader = undefined;
    if (known !== undefined) void this.#leave(known);
    if (leader === undefined) return;
    const { node } = this.#options;
    // Its records may be of before another node had the log.
    this.#replica.expire();
    const copy = node.connect(leader, (_, send) => {
      const subscription = new Subscription({
        replica: this.#replica,
        send: (message) => send('control', messageBytes(message)),
        reports: this.#reports,
      });
      return {
        receive: (kind, bytes) => {
          if (kind === 'control') subscription.receive(readMessage<ToCopy>(bytes));
        },
        ended: () => subscription.end(),
      };
    });
    const target = this.#passer.target();
    const requests = node.connect(leader, (_, send) => target.open(send));
    this.#leader = { id: leader.id, address: leader.address, copy, requests, target };
  }

  /** Answers may be on their way. */
  async #leave({ copy, requests, target }: Leader): Promise<void> {
    copy.close();
    await target.leave(PASS_LEAVE_MS);
    requests.close();
  }

  async #listen(): Promise<boolean> {
    const { starting, store, node, ports, freePorts } = this.#options;
    const { log } = starting;
    try {
      const parts = { store, node, replica: this.#replica, passer: this.#passer, ports: ports(), freePorts };
      this.#server = await startCopyServer(starting, parts);
      this.#failed = { reason: '', againMs: 0 };
      log.info({ node: node.id }, 'this node answers requests with a copy of the control log');
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== this.#failed.reason)
        log.error(
          { reason, err: error },
          'this node cannot answer requests itself: it passes connections on to the leader',
        );
      this.#failed = { reason, againMs: performance.now() + NODE_REFUSED_MS_MAX };
      return false;
    }
  }
}

/** Resolves when the port can be listened on. */
async function isFree(host: string, port: number): Promise<void> {
  const untilMs = performance.now() + DRAIN_MS;
  while (performance.now() < untilMs) {
    const probe = createServer();
    const isBound = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, host, () => resolve(true));
    });
    await new Promise<void>((resolve) => (isBound ? probe.close(() => resolve()) : resolve()));
    if (isBound) return;
    await pause(PASS_RETRY_MS);
  }
}
