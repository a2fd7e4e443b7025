import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { DISK_LATE_MS } from '../engine/base/limits.ts';
import { DiskWatch, type Probe } from './disk-watch.ts';

const failure = (code: string): Error => Object.assign(new Error(`${code}: words of the system`), { code });
const quiet = { warn: () => undefined, info: () => undefined };

test('a disk that accepts a write is healthy, and the test file is removed', async (t) => {
  const dataDirectory = temporaryDirectory(t);
  for (const name of ['keys', 'control', 'shard-0']) mkdirSync(join(dataDirectory, name));
  const watch = new DiskWatch({ dataDirectory, shards: 1, log: quiet });
  await watch.look();
  assert.deepEqual(watch.reasons, []);
  assert.deepEqual(readdirSync(dataDirectory).sort(), ['control', 'keys', 'shard-0']);
  const { mtimeMs } = statSync(dataDirectory);
  await watch.look();
  assert.ok(statSync(dataDirectory).mtimeMs > mtimeMs, 'it really wrote');
});

test('a disk error is described, logged once, and cleared when it is over', async (t) => {
  const dataDirectory = temporaryDirectory(t);
  let fails: string | undefined;
  const said: string[] = [];
  const probe: Probe = {
    freeBytes: async () => (fails === 'free' ? 100_000 : 1e9),
    write: async () => {
      if (fails !== undefined) throw failure(fails);
    },
  };
  const tell = (what: { reason?: string }, text: string) => void said.push(`${text} ${what.reason ?? ''}`.trim());
  const log = { warn: tell, info: tell } as unknown as typeof quiet;
  const watch = new DiskWatch({ dataDirectory, shards: 0, log, probe });
  for (const [code, words] of [
    ['ENOSPC', 'the disk is full'],
    ['free', 'the disk is full'],
    ['EDQUOT', 'the quota is used up'],
    ['EROFS', 'the file system is read-only'],
    ['EIO', 'EIO: words of the system'],
  ] as const) {
    fails = code;
    await watch.look();
    await watch.look();
    assert.deepEqual(watch.reasons, [`${dataDirectory} accepts no writes: ${words}`]);
  }
  fails = undefined;
  await watch.look();
  assert.deepEqual(watch.reasons, []);
  assert.deepEqual(said, [
    'a disk accepts no writes the disk is full',
    'a disk accepts no writes the quota is used up',
    'a disk accepts no writes the file system is read-only',
    'a disk accepts no writes EIO: words of the system',
    'the disk accepts writes again',
  ]);
});

test('a disk that does not answer is reported after a while, without a second probe', async (t) => {
  let nowMs = 0;
  let asked = 0;
  let answer = (): void => undefined;
  const probe: Probe = {
    freeBytes: async () => 1e9,
    write: () => {
      asked += 1;
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
  };
  const watch = new DiskWatch({
    dataDirectory: temporaryDirectory(t),
    shards: 0,
    log: quiet,
    probe,
    nowMs: () => nowMs,
  });
  const looks = [watch.look(), watch.look()];
  while (asked === 0) await new Promise((resolve) => setImmediate(resolve));
  nowMs = DISK_LATE_MS - 1;
  assert.deepEqual(watch.reasons, []);
  nowMs = DISK_LATE_MS + 2_000;
  assert.match(watch.reasons.join(), /has not taken a small write for 12 s/);
  answer();
  await Promise.all(looks);
  assert.deepEqual([watch.reasons, asked], [[], 1]);
});
