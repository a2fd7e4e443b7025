// Nodes over one PostgreSQL, as the scenarios start them: processes on loopback, over a database that is on disk.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../../src/engine/log/postgres/database.ts';
import { drainNode, type Fleet, readFleet } from '../../src/engine/log/postgres/fleet.ts';
import { PostgresInstance, sharedPostgres } from '../../test/support/postgres.ts';
import type { Size } from './scenario.ts';
import { askJson, createMemory, startServer, type Target } from './server.ts';
import { processCpuUs } from './thread-cpu.ts';

export const MASTER_KEY = 'be'.repeat(32);
const LOOK_MS = 20;
/** More appends than a shard makes by itself while a memory is made. */
const PLACING_ADDS = 16;
/** A wait that takes longer has failed. */
const WAIT_MS_MAX = 120_000;

export interface ClusterOptions {
  readonly folder: string;
  readonly shards: number;
  readonly workers: number;
  readonly leaseMs: number;
}

export class Cluster {
  readonly database: Database;
  readonly #size: Size;
  readonly #options: ClusterOptions;
  readonly #instance: PostgresInstance;
  readonly #url: string;
  readonly #nodes: Target[] = [];

  private constructor(
    size: Size,
    options: ClusterOptions,
    instance: PostgresInstance,
    url: string,
    database: Database,
  ) {
    this.#size = size;
    this.#options = options;
    this.#instance = instance;
    this.#url = url;
    this.database = database;
  }

  static async start(size: Size, options: ClusterOptions): Promise<Cluster> {
    const instance = await databaseServer(size);
    const { url } = await instance.database();
    return new Cluster(size, options, instance, url, await Database.open(url));
  }

  /** Starts the node of this name, or starts it again on its directory. */
  async node(name: string): Promise<Target> {
    const { folder, workers, shards, leaseMs } = this.#options;
    const node = await startServer({
      ...{ dataDirectory: join(folder, name), workers, shards, auth: 'api-key', isUncounted: true },
      flags: { nodeListen: '127.0.0.1:0', storeLeaseMs: String(leaseMs) },
      env: storeEnvironment(this.#url),
    });
    this.#nodes.push(node);
    return node;
  }

  fleet(): Promise<Fleet> {
    return readFleet(this.database);
  }

  /** Tells a node to give its shards away, or to take some again, and waits until it has none, or its share. */
  async drain(node: Target, isDraining: boolean): Promise<void> {
    const { nodes } = await this.fleet();
    const found = nodes.find(({ httpPort }) => httpPort === node.http);
    if (found === undefined) throw new Error('the node is not among those of the database');
    await drainNode(this.database, found.id, isDraining);
    await this.owns(node, isDraining ? 0 : this.#options.shards / 2);
  }

  /** Waits until the node has so many shards, and each shard an owner. */
  async owns(node: Target, count: number): Promise<void> {
    await reached(`a node owns ${count} shards`, async () => {
      const { nodes, shards } = await this.fleet();
      const { id } = nodes.find(({ httpPort }) => httpPort === node.http) ?? {};
      const held = shards.filter(({ shard, leaseMs }) => shard < this.#options.shards && leaseMs > 0);
      return held.length === this.#options.shards && held.filter(({ owner }) => owner === id).length === count;
    });
  }

  /** Makes a memory with a few grains, and resolves to the number of its shard: the one with the most appends meanwhile. */
  async memory(node: Target, id: string): Promise<number> {
    const before = new Map((await this.fleet()).shards.map(({ shard, appends }) => [shard, appends]));
    await createMemory(node, id);
    // A shard that has just moved appends something too.
    for (let i = 0; i < PLACING_ADDS; i++)
      await askJson(node, 'POST', `/memories/${id}/add`, { subject: 'a node', relation: 'is placed', object: `${i}` });
    const appended = (await this.fleet()).shards
      .filter(({ shard }) => shard < this.#options.shards)
      .map(({ shard, appends }) => ({ shard, count: appends - (before.get(shard) ?? 0) }))
      .sort((a, b) => b.count - a.count);
    if ((appended[0]?.count ?? 0) < PLACING_ADDS) throw new Error(`memory ${id} was made, and no shard has changed`);
    return appended[0]!.shard;
  }

  /** CPU time of the database's processes, in microseconds; NaN where the system does not report it. */
  databaseCpuUs(): number {
    return postgresCpuUs(this.#instance);
  }

  async stop(): Promise<void> {
    // Those that end last find nobody to take their shards, so all of them end at once.
    for (const { pid } of this.#nodes) killed(pid);
    await Promise.all(this.#nodes.map((node) => node.stop()));
    await this.database.close();
    if (this.#size !== 'smoke') this.#instance.kill();
  }
}

/** On disk. Smoke runs share one that is not. */
export function databaseServer(size: Size): Promise<PostgresInstance> {
  return size === 'smoke' ? sharedPostgres() : PostgresInstance.start({ isDurable: true });
}

/** Of a server whose data lie in this database. */
export function storeEnvironment(url: string): Record<string, string> {
  return { GRANARY_STORE: url, GRANARY_MASTER_KEY: MASTER_KEY };
}

/** Of the instance's first process and those that it started. */
export function postgresCpuUs({ pid }: PostgresInstance): number {
  if (pid === undefined || process.platform !== 'linux') return Number.NaN;
  let sum = processCpuUs(pid, true) ?? 0;
  for (const entry of readdirSync('/proc')) if (parentOf(entry) === pid) sum += processCpuUs(Number(entry)) ?? 0;
  return sum;
}

/** Resolves when `is` does so with true. Rejects when that takes too long. */
export async function reached(what: string, is: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + WAIT_MS_MAX;
  while (!(await is())) {
    if (performance.now() > untilMs) throw new Error(`it takes too long until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** SIGKILL. A process that has ended is left alone. */
export function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function parentOf(entry: string): number | undefined {
  if (!/^\d+$/.test(entry)) return undefined;
  try {
    const stat = readFileSync(`/proc/${entry}/stat`, 'latin1');
    // After the name, which may contain spaces: state, then the parent.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}
