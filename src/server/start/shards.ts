// Starts the shards, and what finds a memory's shards.
import { join } from 'node:path';
import type { EngineError } from '../../engine/base/errors.ts';
import { takeOwnership } from '../../engine/log/wal/owner.ts';
import type { WriteAheadOptions } from '../../engine/log/wal/write-ahead.ts';
import { Router } from '../../shards/router.ts';
import type { EngineOptions } from '../../shards/transport/engine-door.ts';
import { type LocalOptions, LocalShards } from '../../shards/transport/local.ts';
import { ShardPool } from '../../shards/transport/pool.ts';
import type { OpeningOptions, ShardSet } from '../../shards/transport/shard-set.ts';
import { Memories } from '../control/memories.ts';
import type { ControlChanges } from '../control/reading.ts';
import type { ControlStore } from '../control/store.ts';
import { errorWithoutFolders } from '../folders.ts';
import { Erasures } from '../jobs/erasures.ts';
import { CODECS } from '../operations/codecs.ts';
import { placementOf } from '../placement-of.ts';
import { threadEntry } from '../thread-entry.ts';
import { settleDeployment, writeAheadFolder } from '../write-ahead.ts';
import type { Data } from './keyring.ts';
import type { Starting } from './starting.ts';

/** The parts of `Data` that shards need. */
export type ShardData = Pick<Data, 'layout' | 'stored'> & {
  readonly masterKeys: { readonly current: { readonly raw: readonly Uint8Array[] } };
};

/** `opens`: with `asked`, the caller opens shards, and opens them again. */
export async function startShards(
  { config, deps, log, lifecycle }: Starting,
  { layout: { shards }, masterKeys, stored }: ShardData,
  opens: OpeningOptions['opens'] = 'all',
): Promise<ShardSet> {
  const isLocal = config.workers === 0;
  // Engines in this thread write as those of a single worker do.
  const workers = isLocal ? 1 : Math.min(config.workers, shards);
  const writeAhead = stored === undefined ? await openWriteAhead(config.dataDir, shards, workers) : undefined;
  const { indexHeapMb, openedCacheMb } = config;
  if (openedCacheMb > indexHeapMb / 2)
    log.info(
      `--opened-cache-mb ${openedCacheMb} is more than half of --index-heap-mb ${indexHeapMb}: opened grains get ${Math.floor(indexHeapMb / 2)} MiB`,
    );
  const options = {
    shards,
    engineOptions: (shard: number): EngineOptions => ({
      directory: join(config.dataDir, `shard-${shard}`),
      keysDirectory: join(config.dataDir, 'keys', `shard-${shard}`),
      shard,
      shards,
      writeAhead: writeAhead && { ...writeAhead, worker: shard % workers },
      database: stored?.database,
      // A restarted worker gets the keys of that time.
      masterKeys: masterKeys.current.raw,
      indexHeapBytes: Math.floor((indexHeapMb * 1024 * 1024) / shards),
      openedCacheBytes: Math.floor((openedCacheMb * 1024 * 1024) / shards),
      vectorHeapBytes: Math.floor((config.vectorHeapMb * 1024 * 1024) / shards),
    }),
    log,
    errorForCallers: (error: EngineError): EngineError => {
      const shown = errorWithoutFolders(error, config.dataDir);
      if (shown !== error) log.debug({ code: error.code }, error.message);
      return shown;
    },
    faults: deps.faults,
    lapsed: stored?.lapsed,
    opens,
  };
  const pool = isLocal
    ? await startLocal(options, deps)
    : await ShardPool.start({
        ...options,
        workers,
        entry: deps.entry ?? threadEntry('../shard-worker', import.meta.url),
        threads: deps.threads,
        onEnded: stored?.ended,
      });
  lifecycle.opened('shards', () => pool.close(), { isBounded: true });
  if (stored === undefined || opens === 'asked') return pool;
  const { set, stop } = stored.serve(pool);
  lifecycle.opened('watch over shards', stop);
  return set;
}

/** Puts what an earlier server left in the write-ahead files into the logs, and takes the files. */
async function openWriteAhead(
  dataDir: string,
  shards: number,
  workers: number,
): Promise<Omit<WriteAheadOptions, 'worker'>> {
  const directory = writeAheadFolder(dataDir);
  await settleDeployment(dataDir, shards, workers);
  return { directory, workers, mark: takeOwnership(directory) };
}

/** Loads the engine, which this thread does not need otherwise. */
async function startLocal(
  options: Omit<LocalOptions, 'openEngine' | 'codecs' | 'onBroken'>,
  { onBroken }: Starting['deps'],
): Promise<ShardSet> {
  const { openEngine, fetchShard } = await import('../shard-worker.ts');
  return LocalShards.start({ ...options, openEngine, fetchShard, codecs: CODECS, onBroken });
}

/** Registered after the parts that need no call, so that calls under way are answered before those close. */
export function drainCallsFirst({ lifecycle }: Starting, pool: ShardSet): void {
  lifecycle.opened('calls under way', async () => {
    await pool.drain(lifecycle.drainMs);
  });
}

export interface Placed {
  readonly router: Router;
  readonly memories: Memories;
}

/** Each needs the other: the router asks for a memory's settings, the memories call their shards. */
export function placeMemories({ config, clock, log }: Starting, pool: ShardSet, control: ControlChanges): Placed {
  let memories: Memories | undefined;
  const router = new Router({
    shards: Array.from({ length: pool.shards }, (_, shard) => pool.caller(shard)),
    settingsOf: (number) => memories?.settingsOf(number),
    placementOf,
    codecs: CODECS,
  });
  memories = new Memories({ store: control, shards: router, clock, memoriesMax: config.memoriesMax, log });
  return { router, memories };
}

export async function openMemories(starting: Starting, pool: ShardSet, control: ControlStore): Promise<Placed> {
  const placed = placeMemories(starting, pool, control);
  starting.lifecycle.opened('deletions', () => placed.memories.close());
  await placed.memories.start();
  return placed;
}

/** Goes on with the erasures that an earlier server began. */
export async function startErasures(
  { deps, clock, log, lifecycle }: Starting,
  control: ControlStore,
  router: Router,
): Promise<Erasures> {
  const erasures = new Erasures({ control, shards: router, log, clock, repeats: deps.repeats === true });
  lifecycle.opened('erasures under way', () => erasures.close());
  await erasures.start();
  return erasures;
}
