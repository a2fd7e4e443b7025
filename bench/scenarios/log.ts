// What a write costs below the engine: appends to the log by callers who each wait for theirs (they group by
// themselves), beside a plain file with the same groups; sealing, tokens, and new keys. Prints one JSON line.
//
//   node bench/scenarios/log.ts [milliseconds a measurement]
import { createSecretKey, randomBytes } from 'node:crypto';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writevSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlindTokens, keyedIdentity } from '../../src/engine/crypto/blind-tokens.ts';
import { deriveGrainKey } from '../../src/engine/crypto/derive.ts';
import { open, seal } from '../../src/engine/crypto/envelope.ts';
import { KeyStore } from '../../src/engine/keys/key-store.ts';
import { MasterKey } from '../../src/engine/keys/master-key.ts';
import { openLmdbLog } from '../../src/engine/log/lmdb/lmdb-log.ts';
import type { Log } from '../../src/engine/log/log.ts';

const RECORD = Buffer.alloc(250, 7);
const IN_FLIGHT = [1, 64, 256];
const SHARDS = 8;
const ROUNDS = 15;

export const scenario = { name: 'log', run };

async function run(milliseconds = 1_500): Promise<Record<string, number>> {
  // A temporary folder may be no disk at all: BENCH_DIR names a better one.
  const directory = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'granary-bench-log-'));
  try {
    return {
      ...(await appends(directory, milliseconds)),
      ...(await shardsSideBySide(directory, milliseconds)),
      ...(await fill(directory)),
      ...keys(directory),
      ...sealing(),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function openShard(directory: string, shard: number, shards: number): Log {
  return openLmdbLog(join(directory, `log-${shards}-${shard}`), { stamp: { formatVersion: 1, shard, shards } });
}

async function appends(directory: string, milliseconds: number): Promise<Record<string, number>> {
  const log = openShard(directory, 0, 1);
  const plain = openSync(join(directory, 'plain'), 'a');
  const figures: Record<string, number> = {};
  await closedLoop((group) => log.append({ records: group }), 64, 300);
  for (const inFlight of IN_FLIGHT) {
    const ours = await closedLoop((group) => log.append({ records: group }), inFlight, milliseconds);
    const raw = await closedLoop(
      async (group) => {
        writevSync(plain, group);
        fdatasyncSync(plain);
      },
      inFlight,
      milliseconds / 3,
    );
    figures[`appends_per_s_${inFlight}`] = Math.round(ours.perSecond);
    figures[`commit_p50_ms_${inFlight}`] = round(ours.commitP50Ms);
    figures[`append_cpu_us_${inFlight}`] = round(ours.cpuUs);
    figures[`of_plain_file_${inFlight}`] = round(ours.perSecond / raw.perSecond);
  }
  closeSync(plain);
  await log.close();
  return figures;
}

async function shardsSideBySide(directory: string, milliseconds: number): Promise<Record<string, number>> {
  const logs = Array.from({ length: SHARDS }, (_, shard) => openShard(directory, shard, SHARDS));
  const loops = await Promise.all(
    logs.map((log) => closedLoop((group) => log.append({ records: group }), 64, milliseconds)),
  );
  for (const log of logs) await log.close();
  const total = loops.reduce((sum, loop) => sum + loop.perSecond, 0);
  const slowest = Math.max(...loops.map((loop) => loop.commitP50Ms));
  return { [`appends_per_s_${SHARDS}_shards`]: Math.round(total), [`commit_p50_ms_${SHARDS}_shards`]: round(slowest) };
}

/** Bytes a record takes, and reading it all back. */
async function fill(directory: string): Promise<Record<string, number>> {
  const log = openShard(directory, 0, 2);
  const group = Array.from({ length: 1_000 }, () => RECORD);
  for (let i = 0; i < 100; i++) await log.append({ records: group });
  const count = log.nextSequence - 1;
  const start = performance.now();
  let scanned = 0;
  for (const _ of log.scan(1)) scanned += 1;
  const scanMs = performance.now() - start;
  const readUs = median(() => {
    const from = performance.now();
    for (let i = 0; i < 2_000; i++) log.read(1 + ((i * 7_919) % count));
    return ((performance.now() - from) * 1_000) / 2_000;
  });
  const bytes = log.bytesOnDisk() / count;
  await log.close();
  return {
    scan_records_per_s: Math.round((scanned / scanMs) * 1_000),
    read_us: round(readUs),
    bytes_per_record: Math.round(bytes),
  };
}

function keys(directory: string): Record<string, number> {
  const master = MasterKey.random();
  const path = join(directory, 'keys');
  const store = KeyStore.open(path, master, { name: 'bench' });
  const flushUs = (count: number): number =>
    median(() => {
      const start = performance.now();
      for (let i = 0; i < count; i++) store.allocate('user');
      store.flush();
      return (performance.now() - start) * 1_000;
    });
  const one = flushUs(1);
  const hundred = flushUs(100);
  const destroyUs = median((round) => {
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
    key_flush_1_us: round(one),
    key_flush_100_us: round(hundred),
    key_destroy_us: round(destroyUs),
    key_unwrap_us: round(getUs),
  };
}

function sealing(): Record<string, number> {
  const raw = randomBytes(32);
  const key = createSecretKey(raw);
  const aad = randomBytes(32);
  const sealed = seal(key, RECORD, aad);
  const tokens = new BlindTokens(raw);
  const empty = new Uint8Array(0);
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

interface Loop {
  readonly perSecond: number;
  readonly commitP50Ms: number;
  readonly cpuUs: number;
}

/** `inFlight` callers, each with one record at a time; those that come while a commit is out share the next one. */
async function closedLoop(
  commit: (group: Uint8Array[]) => Promise<unknown>,
  inFlight: number,
  milliseconds: number,
): Promise<Loop> {
  const commits: number[] = [];
  let records = 0;
  const cpu = process.cpuUsage();
  const start = performance.now();
  let now = start;
  // Callers answer at once: every one whose record is committed is in the next group.
  while (now - start < milliseconds) {
    const group = Array.from({ length: inFlight }, () => Buffer.from(RECORD));
    await commit(group);
    const end = performance.now();
    commits.push(end - now);
    records += inFlight;
    now = end;
  }
  const used = process.cpuUsage(cpu);
  commits.sort((a, b) => a - b);
  return {
    perSecond: (records / (now - start)) * 1_000,
    commitP50Ms: commits[commits.length >> 1] ?? 0,
    cpuUs: (used.user + used.system) / records,
  };
}

function median(measure: (round: number) => number): number {
  const values = Array.from({ length: ROUNDS }, (_, i) => measure(i)).sort((a, b) => a - b);
  return values[values.length >> 1]!;
}

function callUs(work: (i: number) => unknown): number {
  const calls = 5_000;
  let kept: unknown;
  const us = median(() => {
    const start = performance.now();
    for (let i = 0; i < calls; i++) kept = work(i);
    return ((performance.now() - start) * 1_000) / calls;
  });
  if (kept === undefined) throw new Error('the work was not done');
  return round(us);
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

if (import.meta.main) {
  const figures = await run(Number(process.argv[2] ?? 1_500));
  console.log(JSON.stringify({ scenario: scenario.name, ...figures }));
}
