// One shard's engine over a folder, for the tests of damage: memories by number, and a clock that a test can advance.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { EngineError } from '../../src/engine/base/errors.ts';
import type { CallContext } from '../../src/engine/calls/context.ts';
import type { MemorySettings } from '../../src/engine/calls/memory.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { FaultyLog } from '../../src/engine/log/faulty.ts';
import { FORMAT_VERSION } from '../../src/engine/log/format.ts';
import { openLmdbLog } from '../../src/engine/log/lmdb/lmdb-log.ts';
import { type EngineOptions, openEngine } from '../../src/engine/open.ts';
import { WAIT_MS_MAX } from './eventually.ts';

export const contextOf = (memory: number): CallContext => ({
  memory,
  partition: 0,
  actor: 'key:test',
  requestId: 'req_test',
});

export const settingsOf = (number: number): MemorySettings => ({
  number,
  id: `m${number}`,
  partitions: 1,
  language: 'en',
  dedup: 'exact',
  dedupThreshold: 0.85,
  createdAtMs: 1_700_000_000_000,
});

/**
 * The shard in `root/shard-0` with its keys in `root/keys/shard-0`. An error that only a bug can cause fails the test.
 */
export function openShard(root: string, options: Partial<EngineOptions> = {}): Promise<Engine> {
  return openEngine({
    directory: join(root, 'shard-0'),
    keysDirectory: join(root, 'keys', 'shard-0'),
    shard: 0,
    shards: 1,
    masterKeys: [Buffer.alloc(32, 7)],
    indexHeapBytes: 16 << 20,
    onFatal: (error) => assert.fail(`fatal: ${error instanceof Error ? error.stack : error}`),
    ...options,
  });
}

/** The same over a log with faults that the test sets. */
export async function openFaultyShard(
  root: string,
  options: Partial<EngineOptions> = {},
): Promise<{ readonly engine: Engine; readonly log: FaultyLog }> {
  const stamp = { formatVersion: FORMAT_VERSION, shard: 0, shards: 1 };
  const log = new FaultyLog(openLmdbLog(join(root, 'shard-0', 'log'), { stamp }));
  return { engine: await openShard(root, { log, ...options }), log };
}

/** Adds a belief; returns its hash. */
export async function addBelief(
  engine: Engine,
  memory: number,
  fields: {
    readonly subject: string;
    readonly object: string;
    readonly user_id?: string;
    readonly namespace?: string;
    readonly created_at?: number;
    readonly expires_at?: number;
  },
): Promise<string> {
  const item = { grainType: 'belief', fields: { relation: 'says', ...fields }, sync: false };
  return (await engine.write('add', contextOf(memory), item)).hash;
}

/** Hashes of the hits of a recall by words, up to 500. */
export function recalled(engine: Engine, memory: number, query: string): string[] {
  const wanted = { query, filter: {}, structural: false, limit: 500, candidateLimit: 2_500 };
  return engine.read('recall', contextOf(memory), wanted).hits.map(({ grain }) => grain.hash);
}

/** The code of a call's refusal, or undefined when it answers; any other error fails the test. */
export async function codeOf(call: () => unknown): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof EngineError, `a code, and not ${error instanceof Error ? error.stack : error}`);
    return error.code;
  }
}

/**
 * Gives the engine time for maintenance until a condition holds. Turns are not counted, because a commit takes as long
 * as the disk.
 */
export async function until(engine: Pick<Engine, 'maintain'>, isDone: () => boolean): Promise<void> {
  for (const endMs = performance.now() + WAIT_MS_MAX; !isDone(); ) {
    assert.ok(performance.now() < endMs, 'maintenance ends');
    engine.maintain(5);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
