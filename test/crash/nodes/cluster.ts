// Three nodes on one database, as processes on loopback, to be killed, stopped and started again.
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../../../src/engine/log/postgres/database.ts';
import { type Fleet, readFleet } from '../../../src/engine/log/postgres/fleet.ts';
import { eventually } from '../../support/eventually.ts';
import { PostgresInstance } from '../../support/postgres.ts';
import { type ServerProcess, startServerProcess } from '../../support/server-process.ts';

const MASTER = 'c0ffee0123456789'.repeat(4);
const SHARDS = 4;
export const LEASE_MS = 3_000;

export class Member {
  readonly name: string;
  readonly directory: string;
  server: ServerProcess | undefined;
  isStopped = false;

  constructor(name: string, root: string) {
    this.name = name;
    this.directory = join(root, name);
  }
}

export class Cluster {
  readonly key = `gr_${randomBytes(32).toString('hex')}`;
  readonly members: readonly Member[];
  readonly instance: PostgresInstance;
  readonly #url: string;
  readonly #database: Database;

  /** `root`: an empty folder. */
  static async start(root: string): Promise<Cluster> {
    const instance = await PostgresInstance.start({ isDurable: true });
    const { url } = await instance.database();
    const cluster = new Cluster(root, instance, url, await Database.open(url));
    // The first one makes the tables.
    for (const member of cluster.members) await cluster.run(member);
    await eventually('each node has a shard', async () => {
      const { shards, nodes } = await cluster.fleet();
      return nodes.every(({ id }) => shards.some(({ owner }) => owner === id));
    });
    return cluster;
  }

  private constructor(root: string, instance: PostgresInstance, url: string, database: Database) {
    this.members = ['a', 'b', 'c'].map((name) => new Member(name, root));
    this.instance = instance;
    this.#url = url;
    this.#database = database;
  }

  get addresses(): readonly string[] {
    return this.members.flatMap(({ server }) => (server === undefined ? [] : [server.http]));
  }

  async run(member: Member): Promise<void> {
    const flags = ['--shards', String(SHARDS), '--workers', '1', '--node-listen', '127.0.0.1:0', '--store-lease-ms', String(LEASE_MS)]; // biome-ignore format: one row
    member.server = await startServerProcess({
      directory: member.directory,
      flags,
      env: { GRANARY_STORE: this.#url, GRANARY_MASTER_KEY: MASTER, GRANARY_BOOTSTRAP_KEY: this.key },
    });
  }

  /** kill -9. `isEmptied`: its directory goes too, so that it comes back as another node. */
  async kill(member: Member, isEmptied = false): Promise<void> {
    const { server } = member;
    member.server = undefined;
    await server?.kill();
    if (isEmptied) rmSync(member.directory, { recursive: true, force: true });
  }

  stop(member: Member): void {
    member.isStopped = true;
    member.server?.child.kill('SIGSTOP');
  }

  goOn(member: Member): void {
    member.isStopped = false;
    member.server?.child.kill('SIGCONT');
  }

  async killDatabase(): Promise<void> {
    this.instance.kill();
    await eventually('the database has ended', () => !this.instance.isRunning);
  }

  fleet(): Promise<Fleet> {
    return readFleet(this.#database);
  }

  /** Resolves when other nodes hold all shards that the member had, and the control log. */
  async hasTakenOver(member: Member): Promise<void> {
    const port = Number(new URL(member.server!.http).port);
    await eventually(`other nodes take over from ${member.name}`, async () => {
      const { nodes, shards } = await this.fleet();
      const id = nodes.find(({ httpPort }) => httpPort === port)?.id;
      return shards.every(({ owner, leaseMs }) => leaseMs > 0 && owner !== id);
    });
  }

  /** The member whose node has the control log; undefined when nobody does. */
  async leader(): Promise<Member | undefined> {
    const { nodes, shards } = await this.fleet();
    const control = shards.reduce((last, shard) => (shard.shard > last.shard ? shard : last));
    const port = nodes.find(({ id }) => id === control.owner)?.httpPort;
    return this.members.find(({ server }) => server !== undefined && Number(new URL(server.http).port) === port);
  }

  /** Exit codes of the nodes, all of which run. */
  async end(): Promise<readonly (number | null)[]> {
    const codes: (number | null)[] = [];
    for (const { server } of this.members) codes.push((await server?.stop()) ?? null);
    await this.#database.close();
    this.instance.kill();
    return codes;
  }

  /** Kills all that runs. */
  async abandon(): Promise<void> {
    for (const member of this.members) await this.kill(member);
    await this.#database.close();
    this.instance.kill();
  }
}
