// A node's part in its store: the shards that it owns, the connections to the other nodes, and the routes to all shards.
import { EngineError } from '../../engine/base/errors.ts';
import { NODE_HAND_OVER_MS } from '../../engine/base/limits.ts';
import { loadMasterKey } from '../../engine/keys/master-key.ts';
import { type FleetNode, type NodeEntry, readFleet } from '../../engine/log/postgres/fleet.ts';
import { fencedCaller } from '../../shards/nodes/fenced-caller.ts';
import type { OpenChannel } from '../../shards/nodes/link/channel.ts';
import { LINK_PROTOCOL, linkSecrets } from '../../shards/nodes/link/handshake.ts';
import { LinkListener } from '../../shards/nodes/link/listener.ts';
import { Peer } from '../../shards/nodes/link/peer.ts';
import { Ownership, type OwnershipOptions } from '../../shards/nodes/ownership.ts';
import { RoutedShard } from '../../shards/nodes/routed-shard.ts';
import { METHODS } from '../../shards/protocol.ts';
import type { RawShardCaller } from '../../shards/transport/client.ts';
import { calledBy, type ShardSet } from '../../shards/transport/shard-set.ts';
import { CONTROL_SHARD } from '../control/open.ts';
import { hostPortText, parseHostPort } from '../host-port.ts';
import { CODECS } from '../operations/codecs.ts';
import { startShards } from '../start/shards.ts';
import type { Starting } from '../start/starting.ts';
import type { ReachedStore } from '../start/store.ts';
import { StoredKeyFiles } from '../store/stored-key-files.ts';
import { VERSION } from '../version.ts';

const CONTROL_LAPSED =
  'the lease of the control log ended, and the database did not renew it: another node may have changed keys and memories';

export interface NodePorts {
  readonly http: number;
  readonly grpc: number;
}

interface JoinOptions extends Pick<OwnershipOptions, 'controlCopyMs'> {
  readonly ports: NodePorts;
  readonly openChannel: OpenChannel;
}

export class JoinedNode {
  readonly id: string;
  readonly ownership: Ownership;
  /** All shards of the store, wherever they are, for as long as this node has the control log. It does not end with the server that uses it. */
  readonly shards: ShardSet;
  readonly #peers: Map<string, Peer>;
  readonly #pool: ShardSet;
  readonly #callers: readonly RawShardCaller[];
  readonly #connect: (to: FleetNode, openChannel: OpenChannel) => Peer;

  private constructor(parts: {
    readonly id: string;
    readonly ownership: Ownership;
    readonly pool: ShardSet;
    readonly callers: readonly RawShardCaller[];
    readonly lapsed: () => string | undefined;
    readonly peers: Map<string, Peer>;
    readonly connect: (to: FleetNode, openChannel: OpenChannel) => Peer;
  }) {
    this.id = parts.id;
    this.ownership = parts.ownership;
    this.#pool = parts.pool;
    this.#callers = parts.callers;
    this.#peers = parts.peers;
    this.#connect = parts.connect;
    this.shards = this.shardsWhile(parts.lapsed);
  }

  /** All shards of the store. Calls are refused while `lapsed` has a reason. */
  shardsWhile(lapsed: () => string | undefined): ShardSet {
    return sharedBy(
      this.#pool,
      this.#callers.map((caller) => fencedCaller(caller, lapsed)),
    );
  }

  get fleet(): Ownership['fleet'] {
    return this.ownership.fleet;
  }

  /** A further connection to a node, for a channel. The caller closes it. */
  connect(to: FleetNode, openChannel: OpenChannel): Peer {
    return this.#connect(to, openChannel);
  }

  /** Begins to take shards. Its parts are closed with `starting`. Rejects with EngineError and the system's error. */
  static async join(starting: Starting, store: ReachedStore, options: JoinOptions): Promise<JoinedNode> {
    const { ports, openChannel, controlCopyMs } = options;
    const { config, lifecycle, log } = starting;
    const { database, stored, leases, shards: count } = store;
    const { node: id, leaseMs } = stored.database;
    const masterKey = await masterKeyOf(starting, store);
    await refuseDistant(store);
    const data = { layout: { shards: count, isNew: false }, stored, masterKeys: { current: masterKey } };
    const pool = await startShards(starting, data, 'asked');
    const self = { node: id, version: VERSION, methods: METHODS };
    const secrets = linkSecrets(masterKey.raw);
    const routes = Array.from(
      { length: count },
      (_, shard) => new RoutedShard(shard, { onElsewhere: () => ownership.wake() }),
    );
    const peers = new Map<string, Peer>();
    lifecycle.opened('connections to nodes', () => closeAll(peers.values()));
    const peerOf = ({ id: node, address }: FleetNode): Peer => {
      const known = peers.get(node);
      if (known?.address === address) return known;
      known?.close();
      const onError = (reason: string): void => log.error({ node, address, reason }, 'a node cannot be reached');
      const onSteady = (): void => log.info({ node, address }, 'a node can be reached again');
      const peer = new Peer({ self, node, address, secrets, codecs: CODECS, onError, onSteady });
      peers.set(node, peer);
      return peer;
    };
    const { host, port } = parseHostPort(config.nodeListen!); // startNode asks for it
    const listener = await LinkListener.start(
      {
        self,
        secrets,
        shards: routes.map(({ here }) => here),
        onRan: () => pool.flush(),
        onLook: (from, notice) => ownership.heard(from, notice),
        openChannel,
        log,
      },
      host,
      port,
    );
    lifecycle.opened('listener for nodes', () => listener.close());
    const address = config.advertise ?? hostPortText({ host, port: listener.port });
    const ownership: Ownership = new Ownership({
      self: { id, address, ...ownEntry(ports, config.nodeWeight) },
      database,
      leaseMs,
      routes,
      set: pool,
      leases,
      callerAt: (node, shard) => peerOf(node).shard(shard),
      tellNode: (node, notice) => peerOf(node).look(notice),
      controlCopyMs,
      log,
    });
    lifecycle.opened('ownership of shards', () => ownership.stop(NODE_HAND_OVER_MS));
    await ownership.start();
    log.info({ node: id, address }, 'this node has joined the store');
    const lapsed = (): string | undefined => (leases.isHeld(CONTROL_SHARD) ? undefined : CONTROL_LAPSED);
    const connect = ({ id: node, address }: FleetNode, open: OpenChannel): Peer =>
      new Peer({ self, node, address, secrets, codecs: CODECS, openChannel: open });
    return new JoinedNode({ id, ownership, pool, callers: routes.map(({ caller }) => caller), lapsed, peers, connect });
  }

  /** The node that has the control log, or undefined: nobody has it at the moment. */
  get leader(): FleetNode | undefined {
    const { nodes, shards } = this.ownership.fleet;
    const held = shards.find(({ shard }) => shard === CONTROL_SHARD);
    return held === undefined || held.leaseMs === 0 ? undefined : nodes.find(({ id }) => id === held.owner);
  }

  /** Ends the connections to nodes that have left. */
  forget(): void {
    const { nodes } = this.ownership.fleet;
    for (const [id, peer] of this.#peers) {
      if (nodes.some((node) => node.id === id)) continue;
      this.#peers.delete(id);
      peer.close();
    }
  }
}

function ownEntry({ http, grpc }: NodePorts, weight: number): Omit<NodeEntry, 'id' | 'address'> {
  return { httpPort: http, grpcPort: grpc, version: VERSION, protocol: LINK_PROTOCOL, weight };
}

/** Rejects with VAL-E001 when a live node speaks a protocol that this one does not: half of the calls between them would fail. */
async function refuseDistant({ database, stored }: ReachedStore): Promise<void> {
  const { node: self, leaseMs } = stored.database;
  const { nodes } = await readFleet(database);
  const distant = nodes.find(
    ({ id, seenMs, protocol }) => id !== self && seenMs < leaseMs && Math.abs(protocol - LINK_PROTOCOL) > 1,
  );
  if (distant !== undefined)
    throw new EngineError(
      'VAL-E001',
      `node ${distant.id} of version ${distant.version} speaks version ${distant.protocol} of the protocol between nodes, and this version (${VERSION}) ${LINK_PROTOCOL}: only neighbouring versions serve together, so upgrade through a version in between, or stop that node`,
    );
}

/** Checked against the store, so that a wrong key is refused before it opens a shard. */
async function masterKeyOf({ config, warn }: Starting, { database }: ReachedStore) {
  // Nothing is written with it: no owner has this number.
  const files = await StoredKeyFiles.open(database, { shard: CONTROL_SHARD, token: 0 });
  return loadMasterKey({ files, value: config.masterKey, file: config.masterKeyFile, warn }).key;
}

function closeAll(peers: Iterable<Peer>): void {
  for (const peer of peers) peer.close();
}

function sharedBy(pool: ShardSet, callers: readonly RawShardCaller[]): ShardSet {
  return {
    ...calledBy(pool, callers),
    // Calls of other nodes go on, and its own are drained by the routes when the node ends.
    drain: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
}
