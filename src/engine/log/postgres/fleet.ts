// The nodes of a deployment and the owners of its shards, as the database has them. Times are counted by its clock, so nodes
// need not agree on the time.
import { EngineError } from '../../base/errors.ts';
import { type Database, databaseError } from './database.ts';

export interface FleetNode {
  readonly id: string;
  /** Host and port where the other nodes reach it. */
  readonly address: string;
  /** Where it answers callers, on the host of its address. */
  readonly httpPort: number;
  readonly grpcPort: number;
  /** Of its program. */
  readonly version: string;
  /** Of its protocol between nodes. */
  readonly protocol: number;
  /** A whole number from 1: its share of the shards against that of others. */
  readonly weight: number;
  /** Shards that it could not open. */
  readonly refused: readonly RefusedShard[];
  /** It gives its shards away. */
  readonly isDraining: boolean;
  /** Milliseconds since it was seen. */
  readonly seenMs: number;
  /** As it told when it was seen. Absent: nothing, as a node of an older version. */
  readonly copies?: NodeCopies | undefined;
}

/** How far the copies of a node are. */
export interface NodeCopies {
  /** Milliseconds for which its copy of the control log may lack a change; null where it runs the server, or has no copy. */
  readonly controlMs: number | null;
  /** By shard that it has: how old the oldest append is that the copy on its disk lacks, in milliseconds. */
  readonly shardsMs: Readonly<Record<string, number>>;
}

export interface RefusedShard {
  readonly shard: number;
  /** For operators. */
  readonly reason: string;
}

export interface FleetShard {
  readonly shard: number;
  /** The node that took it last, or undefined when that gave it back. */
  readonly owner?: string | undefined;
  /** Since its owner took it, in milliseconds. Absent: not known, of an owner of an older version. */
  readonly heldMs?: number | undefined;
  /** How long the owner's lease lasts, in milliseconds. 0: it has ended, so the node has, or does not reach the database. */
  readonly leaseMs: number;
  readonly token: number;
  /** The number of its newest append. */
  readonly appends: number;
}

export interface Fleet {
  /** By id. Nodes that were not seen for long are among them. */
  readonly nodes: readonly FleetNode[];
  /** In order. Shards that nobody has ever held are absent. */
  readonly shards: readonly FleetShard[];
}

/** Itself, as a node tells the others. */
export type NodeEntry = Omit<FleetNode, 'seenMs' | 'isDraining' | 'refused' | 'copies'>;

/** Enters the node, or changes its entry. A node that was draining takes shards again. Rejects with STO-E001. */
export async function enterNode(database: Database, entry: NodeEntry): Promise<void> {
  const { id, address, httpPort, grpcPort, version, protocol, weight } = entry;
  await telling('the node cannot be registered', () =>
    database.ask(
      (sql) => sql`
      INSERT INTO granary_nodes (node, address, http_port, grpc_port, version, protocol, weight, draining, seen_at)
      VALUES (${id}, ${address}, ${httpPort}, ${grpcPort}, ${version}, ${protocol}, ${weight}, false, now())
      ON CONFLICT (node) DO UPDATE SET address = excluded.address, http_port = excluded.http_port,
        grpc_port = excluded.grpc_port, version = excluded.version, protocol = excluded.protocol,
        weight = excluded.weight, draining = excluded.draining, refused = '[]', seen_at = excluded.seen_at`,
    ),
  );
}

/** Notes that the node lives, and how far its copies are. Resolves false when it has no entry any more. Rejects with STO-E001. */
export async function seeNode(database: Database, id: string, copies: NodeCopies): Promise<boolean> {
  const rows = await telling('the node cannot report that it is alive', () =>
    database.ask(
      (sql) => sql`
      UPDATE granary_nodes SET seen_at = now(), copies = ${JSON.stringify(copies)} WHERE node = ${id} RETURNING node`,
    ),
  );
  return rows.length > 0;
}

/** Tells a node to give its shards away, or to take some again. Resolves false when there is no such node. */
export async function drainNode(database: Database, id: string, isDraining: boolean): Promise<boolean> {
  const rows = await telling('the node cannot be drained', () =>
    database.ask((sql) => sql`UPDATE granary_nodes SET draining = ${isDraining} WHERE node = ${id} RETURNING node`),
  );
  return rows.length > 0;
}

/** Tells the others which shards the node cannot open, so that they try. */
export async function noteRefused(database: Database, id: string, refused: readonly RefusedShard[]): Promise<void> {
  await telling('the node cannot report the shards that it cannot open', () =>
    database.ask((sql) => sql`UPDATE granary_nodes SET refused = ${JSON.stringify(refused)} WHERE node = ${id}`),
  );
}

/** Removes the entry of a node that has ended. */
export async function leaveFleet(database: Database, id: string): Promise<void> {
  await telling('the entry of the node cannot be removed', () =>
    database.ask((sql) => sql`DELETE FROM granary_nodes WHERE node = ${id}`),
  );
}

/** All nodes and shards. Rejects with STO-E001. */
export async function readFleet(database: Database): Promise<Fleet> {
  const [nodes, shards] = await telling('the nodes cannot be read', () =>
    database.ask((sql) =>
      Promise.all([
        sql`
        SELECT node, address, http_port, grpc_port, version, protocol, weight, refused, copies, draining,
          extract(epoch FROM now() - seen_at) * 1000 AS seen
        FROM granary_nodes ORDER BY node`,
        sql`
        SELECT shard.shard, owner, shard.token, shard.appends, extract(epoch FROM expires_at - now()) * 1000 AS rest,
          extract(epoch FROM now() - taken_at) * 1000 AS held
        FROM granary_shards AS shard
          LEFT JOIN granary_owners AS taken ON taken.shard = shard.shard AND taken.token = shard.token
        ORDER BY shard.shard`,
      ]),
    ),
  );
  return {
    nodes: nodes.map((row) => ({
      id: row['node'],
      address: row['address'],
      httpPort: Number(row['http_port']),
      grpcPort: Number(row['grpc_port']),
      version: row['version'],
      protocol: Number(row['protocol']),
      weight: Number(row['weight']),
      refused: JSON.parse(row['refused']) as RefusedShard[], // written by noteRefused
      isDraining: row['draining'],
      seenMs: Number(row['seen']),
      copies: copiesOf(row['copies']),
    })),
    shards: shards.map((row) => {
      const leaseMs = Math.max(0, Number(row['rest'] ?? 0));
      return {
        shard: Number(row['shard']),
        owner: row['owner'] ?? undefined,
        heldMs: row['held'] === null ? undefined : Number(row['held']),
        leaseMs,
        token: Number(row['token']),
        appends: Number(row['appends']),
      };
    }),
  };
}

/** Written by seeNode; empty before the first time. */
function copiesOf(text: string): NodeCopies | undefined {
  const copies = JSON.parse(text) as Partial<NodeCopies>;
  return copies.shardsMs && { controlMs: copies.controlMs ?? null, shardsMs: copies.shardsMs };
}

async function telling<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof EngineError ? error : databaseError(what, error);
  }
}
