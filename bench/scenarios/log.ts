// The cost of a write below the engine: appends to the log by callers who each wait for theirs (they form groups),
// compared with a plain file with the same groups; sealing, tokens, and new keys.
import { createSecretKey, randomBytes } from 'node:crypto';
import { closeSync, fdatasyncSync, openSync, readFileSync, writevSync } from 'node:fs';
import { join } from 'node:path';
import { BlindTokens, keyedIdentity } from '../../src/engine/crypto/blind-tokens.ts';
import { deriveGrainKey } from '../../src/engine/crypto/derive.ts';
import { open, seal } from '../../src/engine/crypto/envelope.ts';
import { KeyStore } from '../../src/engine/keys/key-store.ts';
import { MasterKey } from '../../src/engine/keys/master-key.ts';
import { openLmdbLog } from '../../src/engine/log/lmdb/lmdb-log.ts';
import type { Log } from '../../src/engine/log/log.ts';
import { takeOwnership } from '../../src/engine/log/wal/owner.ts';
import { openWalLog } from '../../src/engine/log/wal/wal-log.ts';
import { closedLoop, type Loop } from '../lib/append-loop.ts';
import { cpuTable } from '../lib/cpu-table.ts';
import { inFolder } from '../lib/folder.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { median, rounded } from '../lib/statistics.ts';
import { ownCpu, totalOf } from '../lib/thread-cpu.ts';

const RECORD = Buffer.alloc(250, 7);
const IN_FLIGHT = [1, 64, 256];
const SHARDS = 8;
const ROUNDS = 15;

export const scenario: Scenario = {
  name: 'log',
  about: 'appends to the log beside a plain file, records read back, keys, sealing',
  aims: [],
  run,
};

function run({ size }: Options): Promise<Measured> {
  const milliseconds = sized(size, { full: 1_500, quick: 400, smoke: 20 });
  const groups = sized(size, { full: 100, quick: 30, smoke: 2 });
  const calls = sized(size, { full: 5_000, quick: 2_000, smoke: 50 });
  return inFolder(async (directory) => {
    const metrics = {
      ...(await appends(directory, milliseconds)),
      ...(await shardsSideBySide(directory, milliseconds)),
      ...(await fill(directory, groups)),
      ...keys(directory),
      ...sealing(calls),
    };
    return {
      parameters: { record_bytes: RECORD.length, milliseconds, records_read: groups * 1_000 },
      metrics: rounded(metrics),
    };
  });
}

function openShard(directory: string, shard: number, shards: number): Log {
  return openLmdbLog(join(directory, `log-${shards}-${shard}`), { stamp: { formatVersion: 1, shard, shards } });
}

/** The same, made durable by the write-ahead files of one worker. */
function openShardAhead(directory: string, shard: number, shards: number): Log {
  const wal = join(directory, `wal-${shards}`);
  const mark = shard === 0 ? takeOwnership(wal) : readFileSync(join(wal, 'owner')).toString('hex');
  return openWalLog(join(directory, `ahead-${shards}-${shard}`), {
    stamp: { formatVersion: 1, shard, shards },
    writeAhead: { directory: wal, workers: 1, worker: 0, mark },
  });
}

async function appends(directory: string, milliseconds: number): Promise<Record<string, number>> {
  const log = openShard(directory, 0, 1);
  const plain = openSync(join(directory, 'plain'), 'a');
  const figures: Record<string, number> = {};
  await closedLoop(RECORD, (group) => log.append({ records: group }), 64, 300);
  for (const inFlight of IN_FLIGHT) {
    const ours = await closedLoop(RECORD, (group) => log.append({ records: group }), inFlight, milliseconds);
    const raw = await closedLoop(
      RECORD,
      async (group) => {
        writevSync(plain, group);
        fdatasyncSync(plain);
      },
      inFlight,
      milliseconds / 3,
    );
    cpuTable.add(`in_flight_${inFlight}`, ours.records, ours.cpu);
    cpuTable.add(`in_flight_${inFlight}_plain_file`, raw.records, raw.cpu);
    figures[`in_flight_${inFlight}_appends_per_s`] = ours.perSecond;
    figures[`in_flight_${inFlight}_commit_p50_ms`] = ours.commitP50Ms;
    figures[`in_flight_${inFlight}_cpu_us`] = ours.cpuUs;
    figures[`in_flight_${inFlight}_over_plain_file_ratio`] = ours.perSecond / raw.perSecond;
  }
  closeSync(plain);
  await log.close();
  return figures;
}

/** Logs side by side, each with its share of the records in flight: as environments of LMDB, and with one write-ahead file. */
async function shardsSideBySide(directory: string, milliseconds: number): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  for (const inFlight of [8, 64, 256]) {
    const [lmdb, ahead] = [
      await sideBySide((shard) => openShard(directory, shard, SHARDS), inFlight, milliseconds),
      await sideBySide((shard) => openShardAhead(directory, shard, SHARDS), inFlight, milliseconds),
    ];
    const name = `shards_${SHARDS}_in_flight_${inFlight * SHARDS}`;
    cpuTable.add(`${name}_lmdb`, lmdb.records, lmdb.cpu);
    cpuTable.add(name, ahead.records, ahead.cpu);
    figures[`${name}_appends_per_s`] = ahead.perSecond;
    figures[`${name}_commit_p50_ms`] = ahead.commitP50Ms;
    figures[`${name}_cpu_us`] = ahead.cpuUs;
    figures[`${name}_over_lmdb_ratio`] = ahead.perSecond / lmdb.perSecond;
    figures[`${name}_lmdb_over_cpu_ratio`] = lmdb.cpuUs / ahead.cpuUs;
  }
  return figures;
}

async function sideBySide(openOne: (shard: number) => Log, inFlight: number, milliseconds: number): Promise<Loop> {
  const logs = Array.from({ length: SHARDS }, (_, shard) => openOne(shard));
  const { result: loops, cpu } = await ownCpu(async () => {
    const done = await Promise.all(
      logs.map((log) => closedLoop(RECORD, (group) => log.append({ records: group }), inFlight, milliseconds)),
    );
    // With what the logs still have to write to their stores.
    for (const log of logs) await log.close();
    return done;
  });
  const records = loops.reduce((sum, loop) => sum + loop.records, 0);
  return {
    perSecond: loops.reduce((sum, loop) => sum + loop.perSecond, 0),
    commitP50Ms: Math.max(...loops.map((loop) => loop.commitP50Ms)),
    cpuUs: totalOf(cpu) / records,
    records,
    cpu,
  };
}

/** Bytes per record, and the time to read all of them back. */
async function fill(directory: string, groups: number): Promise<Record<string, number>> {
  const log = openShard(directory, 0, 2);
  const group = Array.from({ length: 1_000 }, () => RECORD);
  for (let i = 0; i < groups; i++) await log.append({ records: group });
  const count = log.nextSequence - 1;
  const start = performance.now();
  let scanned = 0;
  for (const _ of log.scan(1)) scanned += 1;
  const scanMs = performance.now() - start;
  const readUs = repeated(() => {
    const from = performance.now();
    for (let i = 0; i < 2_000; i++) log.read(1 + ((i * 7_919) % count));
    return ((performance.now() - from) * 1_000) / 2_000;
  });
  const bytes = log.bytesOnDisk() / count;
  await log.close();
  return {
    scan_records_per_s: (scanned / scanMs) * 1_000,
    read_us: readUs,
    bytes_per_record: bytes,
  };
}

function keys(directory: string): Record<string, number> {
  const master = MasterKey.random();
  const path = join(directory, 'keys');
  const store = KeyStore.open(path, master, { name: 'bench' });
  const flushUs = (count: number): number =>
    repeated(() => {
      const start = performance.now();
      for (let i = 0; i < count; i++) store.allocate('user');
      store.flush();
      return (performance.now() - start) * 1_000;
    });
  const one = flushUs(1);
  const hundred = flushUs(100);
  const destroyUs = repeated((round) => {
    const start = performance.now();
    store.destroy([round + 1], 0);
    return (performance.now() - start) * 1_000;
  });
  const cold = KeyStore.open(path, master, { name: 'bench' });
  const last = cold.nextId - 1;
  const start = performance.now();
  for (let id = last; id > last - 1_000; id--) cold.get(id);
  const getUs = ((performance.now() - start) * 1_000) / 1_000;
  return {
    key_flush_1_us: one,
    key_flush_100_us: hundred,
    key_destroy_us: destroyUs,
    key_unwrap_us: getUs,
  };
}

function sealing(calls: number): Record<string, number> {
  const raw = randomBytes(32);
  const key = createSecretKey(raw);
  const aad = randomBytes(32);
  const sealed = seal(key, RECORD, aad);
  const tokens = new BlindTokens(raw);
  const empty = new Uint8Array(0);
  const callUs = (work: (i: number) => unknown): number => callMicros(work, calls);
  return {
    seal_us: callUs(() => seal(key, RECORD, aad)),
    seal_raw_key_us: callUs(() => seal(raw, RECORD, aad)),
    open_us: callUs(() => open(key, sealed, aad)),
    grain_key_us: callUs(() => deriveGrainKey(raw, empty)),
    term_cold_us: callUs((i) => tokens.term(`word${i % 10_000}`)),
    term_cached_us: callUs((i) => tokens.term(`word${i % 100}`)),
    facet_us: callUs((i) => tokens.facet('entity', `name ${i % 10_000}`)),
    identity_us: callUs(() => keyedIdentity(raw, RECORD)),
  };
}

/** The median of ROUNDS measurements. */
function repeated(measure: (round: number) => number): number {
  return median(Array.from({ length: ROUNDS }, (_, round) => measure(round)));
}

function callMicros(work: (i: number) => unknown, calls: number): number {
  let kept: unknown;
  const us = repeated(() => {
    const start = performance.now();
    for (let i = 0; i < calls; i++) kept = work(i);
    return ((performance.now() - start) * 1_000) / calls;
  });
  if (kept === undefined) throw new Error('the work was not done');
  return us;
}
