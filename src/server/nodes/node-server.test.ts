import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { testDatabase } from '../../../test/support/postgres.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { systemClock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { NODE_BUSY_MS_MAX, NODE_LEAD_MS } from '../../engine/base/limits.ts';
import { readConfig } from '../config.ts';
import { Lifecycle } from '../lifecycle.ts';
import { makeLog } from '../log.ts';
import { startNode } from './node-server.ts';

test('a node that has the control log and cannot reach a shard tries again after pauses that grow, and says so once', async (t) => {
  const found = await testDatabase(t);
  if (found === undefined) return;
  const flags = { dataDir: join(temporaryDirectory(t), 'a'), store: found.url, nodeListen: '127.0.0.1:0', shards: 1 };
  const config = readConfig(
    { ...flags, workers: 1, httpPort: 0, grpcPort: 0, embedder: 'none' },
    { GRANARY_MASTER_KEY: 'c0ffee0123456789'.repeat(4) },
  );
  const lines: string[] = [];
  const log = makeLog('info', { write: (line: string) => void lines.push(line) });
  const began: number[] = [];
  const ended: number[] = [];
  const node = await startNode(config, { log, logsWarnings: false }, async (own, deps) => {
    began.push(performance.now());
    const lifecycle = new Lifecycle(log);
    try {
      await deps.node!.openData({ config: own, deps, clock: systemClock, log, lifecycle, warn: () => undefined });
      throw new EngineError('STO-E002', 'shard 0 does not answer');
    } finally {
      await lifecycle.close();
      ended.push(performance.now());
    }
  });
  t.after(() => node.close());
  await eventually('it has tried five times', () => began.length >= 5);
  const pauses = began.slice(1, 5).map((at, before) => at - ended[before]!);
  for (const [at, pauseMs] of pauses.entries())
    assert.ok(pauseMs >= 0.9 * Math.min(NODE_BUSY_MS_MAX, NODE_LEAD_MS * 2 ** (at + 1)), `${pauses}`);
  assert.equal(lines.filter((line) => line.includes('shard 0 does not answer')).length, 1);
});
