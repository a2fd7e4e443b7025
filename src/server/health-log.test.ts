import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShardHealth } from '../shards/protocol.ts';
import { HealthLog } from './health-log.ts';

const healthOf = (shard: number, ...reasons: string[]): ShardHealth => ({
  shard,
  ok: true,
  reasons,
  pendingWrites: 0,
  tailGrains: 0,
  segments: 0,
  sequence: 0,
  sealedSequence: 0,
});

test('each reason is logged once, and again when it returns', () => {
  const said: unknown[] = [];
  const log = new HealthLog({ warn: (what: unknown) => void said.push(what) });
  const rounds = [
    [healthOf(0), healthOf(1, 'bad block')],
    [healthOf(0, 'bad block'), healthOf(1, 'bad block')],
    [],
    [healthOf(1, 'bad block')],
  ];
  const counts = rounds.map((shards) => {
    log.take(shards);
    return said.length;
  });
  assert.deepEqual(counts, [1, 2, 2, 3]);
  assert.deepEqual(said[0], { shard: 1, reason: 'bad block' });
});
