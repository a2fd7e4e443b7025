// Opens one shard's engine from disk or from its database: log, keys and segments, then the log's end, replayed into the tails.
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Clock, systemClock } from './base/clock.ts';
import { makeFolder } from './base/durable-file.ts';
import { EngineError } from './base/errors.ts';
import { OPENED_CACHE_BYTES, REPLAY_TURN_MS } from './base/limits.ts';
import { Engine, type OpenShard, type RunOptions } from './engine.ts';
import { HeapBudget } from './index/heap-budget.ts';
import { ShardIndex } from './index/shard-index.ts';
import { VectorIndex } from './index/vectors/vector-index.ts';
import { KeyStore } from './keys/key-store.ts';
import { MasterKey } from './keys/master-key.ts';
import { FixedRecordsLog } from './log/fixed-records.ts';
import type { Log } from './log/log.ts';
import type { DatabaseOptions } from './log/postgres/postgres-log.ts';
import type { WriteAheadOptions } from './log/wal/write-ahead.ts';
import { fetchMissing, uploadsOf, VECTORS_FOLDER } from './maintain/housekeeping/downloads.ts';
import { replayAfter } from './maintain/housekeeping/replay.ts';
import { liveSegmentsDirectory } from './maintain/housekeeping/segments-directory.ts';
import { openStored, type Stored, stampOf } from './maintain/housekeeping/stored.ts';
import { isAuditRecord } from './record/record.ts';
import { indexKeys } from './store/index-keys.ts';
import { OpenedCache } from './store/opened-cache.ts';
import { Store } from './store/store.ts';

export interface EngineOptions extends RunOptions {
  readonly keysDirectory: string;
  readonly shards: number;
  /** Raw master keys, 32 bytes each, the current one first. */
  readonly masterKeys: readonly Uint8Array[];
  /** Maximum bytes of decoded index structures and blocks. */
  readonly indexHeapBytes: number;
  /** Maximum bytes of opened grains among them; 0: none are kept. Absent: OPENED_CACHE_BYTES. */
  readonly openedCacheBytes?: number | undefined;
  /** Maximum bytes of vectors on the heap. Above it the least recently used memories are evicted. Absent: VECTOR_HEAP_BYTES. */
  readonly vectorHeapBytes?: number | undefined;
  readonly clock?: Clock | undefined;
  /** The write-ahead files of the worker that opens the shard. Absent: each append is a transaction of LMDB. */
  readonly writeAhead?: WriteAheadOptions | undefined;
  /** The database that holds the shard, in place of files. It must have been migrated. */
  readonly database?: DatabaseOptions | undefined;
  /** True while the thread of the engine has nothing to do but a single write: then it may wait for the disk. */
  readonly isAlone?: (() => boolean) | undefined;
  /** Replaces the LMDB store (simulator). */
  readonly log?: Log | undefined;
  /** Gets the log of the disk or of the database, and returns the one to use: for tests that inject faults. */
  readonly wrapLog?: ((log: Log) => Log) | undefined;
  /** Vectors in no file at which they are sealed; tests lower it. */
  readonly sealVectors?: number | undefined;
}

/** The embedder of a memory until one is known. It has made no vectors, so any existing vectors are used. */
const NO_EMBEDDER = { name: 'none', dimensions: 1 };

/** Throws STO-E001 with the reason, and STO-E002 while another node holds the shard. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  makeFolder(options.directory);
  // A copy that its disk has damaged is filled again before anything follows from it.
  return (await openOnce(options, true)) ?? (await openOnce(options, false))!;
}

/**
 * Fetches log, segments and vectors of a shard that this node takes soon, while another node owns it. Rejects with STO-E001.
 */
export async function fetchAhead({ directory, shard, shards, database }: EngineOptions): Promise<void> {
  if (database === undefined) return;
  const ahead = await import('./maintain/housekeeping/fetch-ahead.ts');
  await ahead.fetchAhead({ directory, stamp: stampOf(shard, shards), database });
}

/** Resolves to undefined when the copy is damaged and `mayAgain` says that it may be opened again. */
async function openOnce(options: EngineOptions, mayAgain: boolean): Promise<Engine | undefined> {
  const found = await openStored(stampOf(options.shard, options.shards), options);
  const log = new FixedRecordsLog(options.wrapLog?.(found.stored) ?? found.stored, isAuditRecord);
  const { files, care } = found;
  let engine: Engine | undefined;
  try {
    const fetched = files === undefined ? undefined : await fetchMissing(files, log, options.directory);
    const shard = shardOver(log, found, options);
    engine = new Engine(shard, options);
    if (mayAgain) refuseDamage(shard);
    if (fetched !== undefined) shard.store.uploads = uploadsOf(shard.store, options.directory, fetched);
    await catchUp(engine, shard, mayAgain);
    care?.opened(shard.store);
    return engine;
  } catch (error) {
    // Release everything, so that a retry in this process can open the shard.
    await (engine === undefined ? log.close() : engine.abandon());
    if (mayAgain && care?.isMendedByOpen(engine?.store ?? { log }) === true) return undefined;
    throw error;
  }
}

/** The store over a log, with its keys, index and vectors. Nothing of the log's end is in them yet. */
function shardOver(log: Log, { buckets, care }: Stored, options: EngineOptions): OpenShard {
  const master = MasterKey.of(...options.masterKeys);
  const keys = buckets === undefined ? KeyStore.open(options.keysDirectory, master) : KeyStore.over(buckets, master);
  const store = new Store(log, keys, options.clock ?? systemClock);
  const budget = new HeapBudget(options.indexHeapBytes);
  store.opened = new OpenedCache(budget, options.openedCacheBytes ?? OPENED_CACHE_BYTES);
  const tokens = indexKeys(store);
  const isCache = options.database !== undefined;
  const openIndex: OpenShard['openIndex'] = (directory, state) =>
    ShardIndex.open({ directory, isCache, log: state, budget, keys: tokens });
  store.index = openIndex(liveSegmentsDirectory(options.directory, log), log);
  store.vectors = VectorIndex.open({
    directory: join(options.directory, VECTORS_FOLDER),
    keys: tokens,
    isRemoved: (ordinal) => store.index.removed.get(ordinal),
    embedder: NO_EMBEDDER,
    onLost: (memory) => store.vectorsBehind.add(memory),
    lastOrdinal: log.nextSequence - 1,
    heapBytes: options.vectorHeapBytes,
    sealAt: options.sealVectors,
  });
  for (const memory of store.memoryNumbers()) store.vectorsBehind.add(memory);
  return { store, openIndex, care };
}

/** Replays unsealed records. Seals on the way if they exceed a tail's size. Throws as `refuseDamage`, if `mayAgain`. */
async function catchUp(engine: Engine, shard: OpenShard, mayAgain: boolean): Promise<void> {
  const { store } = shard;
  let turnMs = performance.now();
  for (const step = replayAfter(store, store.index, undefined); ; ) {
    const { done } = step.next();
    // Nothing is sealed without a record that is whole in the database.
    if (mayAgain && store.log.damaged !== undefined) refuseDamage(shard);
    if (done === true) return;
    if (store.index.tailIsFull()) await engine.seal();
    if (performance.now() - turnMs < REPLAY_TURN_MS) continue;
    // The leases of this thread's shards are renewed meanwhile.
    await setImmediate();
    turnMs = performance.now();
  }
}

/** Throws when the copy on disk is damaged and another open mends that. */
function refuseDamage({ care, store }: OpenShard): void {
  const reason = care?.damageIn(store);
  if (reason !== undefined) throw new EngineError('STO-E001', reason);
}
