// Opens a deployment whose logs are in a database: waits for it, takes the control log, and reads the key files there.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isLocalHost, parseDatabaseUrl } from '../../engine/base/database-url.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { SHARDS_MAX, STORE_CLOSE_PART_MS, STORE_RETRY_MS } from '../../engine/base/limits.ts';
import { loadMasterKey } from '../../engine/keys/master-key.ts';
import { Database } from '../../engine/log/postgres/database.ts';
import { bindKeys } from '../../engine/log/postgres/key-store.ts';
import { shardName } from '../../engine/log/postgres/lease.ts';
import { LeaseTable } from '../../engine/log/postgres/lease-table.ts';
import { openOrMakeStore, openStore, type StoreRow } from '../../engine/log/postgres/migrate.ts';
import { otherOwners } from '../../engine/log/postgres/owners.ts';
import { type DatabaseOptions, openPostgresShard } from '../../engine/log/postgres/postgres-log.ts';
import { type Config, SHARDS_DEFAULT } from '../config.ts';
import { CONTROL_SHARD, controlStamp } from '../control/open.ts';
import { isWithin } from '../data-directory.ts';
import { keepCacheOf, nodeOf } from '../node-directory.ts';
import { keepLeases } from '../store/kept-leases.ts';
import { closeUnopened, openStoredControl } from '../store/stored-control.ts';
import { StoredKeyFiles } from '../store/stored-key-files.ts';
import { storedShards } from '../store/stored-shards.ts';
import { type Data, openKeyring, type StoredShards } from './keyring.ts';
import type { Starting } from './starting.ts';

/** A database that was reached, with the tables of a deployment. */
export interface ReachedStore {
  readonly database: Database;
  readonly shards: number;
  readonly stored: StoredShards;
  readonly leases: LeaseTable;
  readonly waiting: Waiting;
}

/**
 * The caller holds the lock of the data directory. Rejects with AUT-E003 without a master key from outside, VAL-E001 for
 * another number of shards, STO-E001 when the database is not reached in time or does not let us in, and STO-E002 while another
 * node holds a shard.
 */
export async function openStoredData(starting: Starting, url: string): Promise<Data> {
  const reached = await reachStore(starting, url);
  const { database, stored, waiting } = reached;
  return openOwnControl(starting, reached, () => waiting.for(() => refuseOthers(database, stored.database.node)));
}

/** Makes the tables of an empty database, and the data directory a cache of it. Rejects as `openStoredData`. */
export async function reachStore(starting: Starting, url: string): Promise<ReachedStore> {
  const { config, deps, clock, lifecycle, log, warn } = starting;
  const { dataDir } = config;
  requireMasterKey(config);
  warnOfConnection(url, warn);
  const node = nodeOf(dataDir, clock.nowMs());
  const database = await Database.shared(url);
  lifecycle.opened('store', () => database.close());
  lifecycle.bound(STORE_CLOSE_PART_MS);
  const waiting = new Waiting(log, config.storeStartMs, deps.stopping);
  const { shards, mark } = await waiting.for(() => openTables(database, config));
  await waiting.for(async () => bindKeys(database, await openStore(database), config.keyStore));
  if (keepCacheOf(dataDir, node, mark))
    log.info('the cache in the data directory belonged to another store and was deleted');
  const leases = LeaseTable.of(SHARDS_MAX + 1);
  const place: DatabaseOptions = {
    url,
    keyUrl: config.keyStore,
    node,
    leaseMs: config.storeLeaseMs,
    leases: leases.buffer,
    isKept: true,
  };
  lifecycle.opened(
    'thread of leases',
    keepLeases({ url, node, leaseMs: config.storeLeaseMs, leases: leases.buffer }, log),
  );
  return { database, shards, stored: storedShards(place, leases, log), leases, waiting };
}

/** Takes the control log, waits for `checked`, and opens the keys and the log. Rejects as `openStoredData`. */
export async function openOwnControl(
  starting: Starting,
  { database, shards, stored, leases, waiting }: ReachedStore,
  checked: () => Promise<void>,
): Promise<Data> {
  const { config, clock, lifecycle, log, warn } = starting;
  const { dataDir, masterKey, masterKeyFile } = config;
  const stamp = controlStamp(shards);
  const directory = join(dataDir, 'control');
  const shard = await waiting.for(() => openPostgresShard(directory, stamp, stored.database));
  try {
    await checked();
    if (shard.copy.wentBack) {
      warn('the control log in the database is older than it was: the database was restored to an earlier state. Repeat the changes of keys, memories and settings made since that state'); // biome-ignore format: one row
      shard.copy.reportedWentBack();
    }
    const keyFiles = await StoredKeyFiles.open(database, { shard: CONTROL_SHARD, token: shard.token });
    const isNew = shard.log.nextSequence === 1;
    const loaded = loadMasterKey({ files: keyFiles, value: masterKey, file: masterKeyFile, warn });
    const keyring = await openKeyring(starting, { keyFiles, loaded, ownFile: false, isNew });
    const keys = { key: keyring.controlKey, master: keyring.masterKeys.current };
    const control = openStoredControl(shard, keys, clock);
    lifecycle.opened('control log', () => control.close(lifecycle.drainMs));
    starting.deps.watchControl?.(() => leases.isSpoiled(CONTROL_SHARD));
    log.info({ node: stored.database.node, shards }, 'the data is in a database');
    return { layout: { shards, isNew }, control, stored, ...keyring };
  } catch (error) {
    throw await closeUnopened(directory, shard, error);
  }
}

/** The database must never have what opens its keys, and the data directory is a cache. */
function requireMasterKey({ masterKey, masterKeyFile, dataDir }: Config): void {
  if (masterKey !== undefined) return;
  const how =
    'set GRANARY_MASTER_KEY, or --master-key-file to a file outside the data directory (openssl rand -hex 32 makes a key), and keep ' +
    'a copy: it is never stored in the database, and no data can be read without it';
  if (masterKeyFile === undefined)
    throw new EngineError('AUT-E003', `--store needs a master key that is kept outside the database: ${how}`);
  if (isWithin(masterKeyFile, dataDir))
    throw new EngineError('AUT-E003', `--master-key-file is in the data directory, which is only a cache: ${how}`);
}

function warnOfConnection(url: string, warn: (text: string) => void): void {
  const { host, sslMode, rootCertificate } = parseDatabaseUrl(url);
  const isChecked = /^verify/.test(sslMode) || (sslMode === 'require' && rootCertificate !== undefined);
  if (!isLocalHost(host) && !isChecked)
    warn(
      `the connection to the database at ${host} has sslmode=${sslMode}, so another machine can impersonate it: use sslmode=verify-full`,
    );
}

/** Makes the tables of an empty database. */
async function openTables(database: Database, config: Config): Promise<StoreRow> {
  const store = await openOrMakeStore(database, config.shards ?? SHARDS_DEFAULT);
  if (config.shards !== undefined && config.shards !== store.shards)
    throw new EngineError(
      'VAL-E001',
      `--shards ${config.shards}: the store was created with ${store.shards} shards, and the number cannot change`,
    );
  return store;
}

async function refuseOthers(database: Database, node: string): Promise<void> {
  const [other] = await otherOwners(database, node);
  if (other !== undefined)
    throw new EngineError(
      'STO-E002',
      `node ${other.owner} holds ${shardName(other.shard)}, and its lease ends in ${other.seconds} s unless it is renewed: without --node-listen, only one node serves a store, so stop that node`,
    );
}

/** Tries again what the database or another node's lease may allow soon, until the start stops. All waits of a start share their time. */
export class Waiting {
  readonly #log: Starting['log'];
  readonly #forMs: number;
  readonly #untilMs: number;
  readonly #stopping: AbortSignal | undefined;

  constructor(log: Starting['log'], forMs: number, stopping?: AbortSignal) {
    this.#log = log;
    this.#forMs = forMs;
    this.#stopping = stopping;
    this.#untilMs = performance.now() + forMs;
  }

  async for<T>(work: () => Promise<T>): Promise<T> {
    for (let reported = ''; ; ) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof EngineError) || !error.retryable) throw error;
        if (performance.now() >= this.#untilMs)
          throw new EngineError(error.code, `${textOf(error)} (tried for ${this.#forMs / 1_000} s)`);
        if (textOf(error) !== reported) this.#log.warn(`waiting for the store: ${textOf(error)}`);
        reported = textOf(error);
      }
      await pause(STORE_RETRY_MS, undefined, { signal: this.#stopping });
    }
  }
}

function textOf({ code, message }: EngineError): string {
  return message.replace(`${code}: `, '');
}
