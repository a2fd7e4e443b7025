import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import type { MemoryRecord } from '../control/records.ts';
import type { Shards } from '../shards.ts';
import { RetentionSweeps } from './retention.ts';

function sweepsOver(ids: readonly string[], enforce: (memory: number) => Promise<{ forgotten: number }>) {
  const logged: string[] = [];
  const sweeps = new RetentionSweeps({
    memories: { list: () => ids.map((id, number) => ({ id, number }) as MemoryRecord) }, // the members that a sweep reads
    shards: {
      call: ((_method: string, { memory }: { memory: number }) => enforce(memory)) as unknown as Shards['call'], // only one method
    },
    log: {
      info: ((_: object, text: string) => void logged.push(text)) as never,
      error: (({ memory }: { memory: string }) => void logged.push(memory)) as never,
    },
  });
  return { sweeps, logged };
}

test('a sweep covers every memory, also after failed and deleted ones', async () => {
  const asked: number[] = [];
  const { sweeps, logged } = sweepsOver(['a', 'gone', 'bad', 'd'], (memory) => {
    asked.push(memory);
    if (memory === 1) return Promise.reject(new EngineError('MEM-E003'));
    if (memory === 2) return Promise.reject(new EngineError('STO-E001'));
    return Promise.resolve({ forgotten: 2 });
  });
  await sweeps.sweep();
  assert.deepEqual(asked, [0, 1, 2, 3]);
  assert.deepEqual(logged, ['bad', 'expired grains were removed']);
});

test('sweeps do not overlap, and close waits for the current memory and starts no other', async () => {
  const asked: number[] = [];
  let release: (() => void) | undefined;
  const { sweeps } = sweepsOver(['a', 'b'], (memory) => {
    asked.push(memory);
    return new Promise((resolve) => {
      release = () => resolve({ forgotten: 0 });
    });
  });
  const sweep = sweeps.sweep();
  assert.equal(sweeps.sweep(), sweep);
  const closed = sweeps.close();
  release?.();
  await closed;
  assert.deepEqual(asked, [0]);
});
