// Campaigns on engines and servers whose truth lies in PostgreSQL. The database is killed too, under load, and folders,
// which are caches, are lost between two rounds.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { KeyStore } from '../../src/engine/keys/key-store.ts';
import { MasterKey } from '../../src/engine/keys/master-key.ts';
import { StagedBuckets } from '../../src/engine/keys/staged-buckets.ts';
import { Database } from '../../src/engine/log/postgres/database.ts';
import { readKeySlots } from '../../src/engine/log/postgres/key-slots.ts';
import { eventually } from '../support/eventually.ts';
import { PostgresInstance } from '../support/postgres.ts';
import { serverThread } from '../support/program.ts';
import type { Random } from '../support/random.ts';
import { MASTER, migratedDatabase } from '../support/store.ts';
import type { Ending, Target } from './campaign.ts';
import type { Life } from './door.ts';
import { armLife, startEngines } from './engine-life.ts';
import { unprovenErasures } from './proofs.ts';
import { startServer } from './server-life.ts';

/** Longer than a life: nobody else asks for the shards. */
const LEASE_MS = 600_000;
const NODE = 'campaign';
/** The name of the node on a server's folder: one of another name would wait for the end of the lease. */
const NAME_FILE = 'node.json';
/** The database is killed this long after the load began, in a part of the lives. */
const DATABASE_KILL_MS = [20, 400] as const;
const DATABASE_KILL_SHARE = 0.35;
const EMPTY_SHARE = 0.3;

export class StoredTargets {
  /** How often the database was killed, and the folder of a node was lost. */
  databaseKills = 0;
  emptied = 0;
  readonly #instance: PostgresInstance;
  readonly #urls = new Map<string, string>();
  /** Ends when the database that was killed runs again. */
  #killing: Promise<void> = Promise.resolve();

  /** With a database of its own, which syncs. */
  static async start(): Promise<StoredTargets> {
    return new StoredTargets(await PostgresInstance.start({ isDurable: true }));
  }

  private constructor(instance: PostgresInstance) {
    this.#instance = instance;
  }

  /** Engines in a process. */
  engines(shards: number, partitions: number): Target {
    return this.#target(shards, partitions, async (directory, url, { cut }, random) =>
      startEngines(
        {
          directory,
          shards,
          masterKey: MASTER,
          sealGrains: random.between(8, 64),
          segmentThread: random.between(0, 3) === 0 ? serverThread('segment-thread') : undefined,
          database: { url, node: NODE, leaseMs: LEASE_MS },
          ...(cut === undefined ? {} : { cut }),
        },
        partitions,
      ),
    );
  }

  /** The whole server. */
  server(shards: number): Target {
    return this.#target(shards, 1, (directory, url, { cut }) =>
      startServer({
        directory,
        shards,
        flags: ['--store-lease-ms', String(LEASE_MS)],
        env: { GRANARY_STORE: url, GRANARY_MASTER_KEY: MASTER },
        ...(cut === undefined ? {} : { cut }),
      }),
    );
  }

  end(): void {
    this.#instance.kill();
  }

  #target(
    shards: number,
    partitions: number,
    start: (directory: string, url: string, ending: Ending, random: Random) => Promise<Life>,
  ): Target {
    let chance: Random | undefined;
    return {
      partitions,
      endsStore: true,
      start: async (directory, ending, random) => {
        await this.#killing;
        chance = random;
        if (existsSync(directory) && random.chance(EMPTY_SHARE)) this.#empty(directory);
        return start(directory, await this.#urlOf(directory, shards), ending, random);
      },
      arm: (life) => {
        armLife(life);
        if (chance?.chance(DATABASE_KILL_SHARE) === true)
          this.#killing = this.#killDatabase(life, chance.between(...DATABASE_KILL_MS));
      },
      // The proof over several partitions is a fingerprint of all their proofs.
      after: async (directory, knowledge) =>
        partitions > 1 ? [] : unprovenErasures(await this.#tombstones(directory, shards), knowledge),
    };
  }

  #empty(directory: string): void {
    const names = readdirSync(directory).filter((name) => name !== NAME_FILE);
    if (names.length > 0) this.emptied += 1;
    for (const name of names) rmSync(join(directory, name), { recursive: true });
  }

  async #urlOf(directory: string, shards: number): Promise<string> {
    const known = this.#urls.get(directory);
    if (known !== undefined) return known;
    const { url } = await migratedDatabase(shards, this.#instance);
    this.#urls.set(directory, url);
    return url;
  }

  /** A life that ends before, ends with it. */
  async #killDatabase(life: Life, afterMs: number): Promise<void> {
    const { promise: time, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, afterMs);
    await Promise.race([time, life.ended]);
    clearTimeout(timer);
    this.#instance.kill();
    await eventually('the database has ended', () => !this.#instance.isRunning);
    this.#instance.restart();
    this.databaseKills += 1;
  }

  /** Fingerprints of the destroyed keys in the database. */
  async #tombstones(directory: string, shards: number): Promise<ReadonlySet<string>> {
    const database = await Database.open(await this.#urlOf(directory, shards));
    const master = MasterKey.of(Buffer.from(MASTER, 'hex'));
    const destroyed = new Set<string>();
    for (let shard = 0; shard < shards; shard++) {
      const buckets = new StagedBuckets(`shard-${shard}`, await readKeySlots(database, shard));
      for (const { fingerprint } of KeyStore.over(buckets, master).tombstones()) destroyed.add(fingerprint);
    }
    await database.close();
    return destroyed;
  }
}
