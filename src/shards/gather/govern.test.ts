// Policy, consent and restriction in a memory of several partitions, one of which does not answer: the change is
// reported as unfinished, whatever that partition said, and a repeat completes it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import type { ShardCaller } from '../protocol.ts';
import { Turns } from '../turns.ts';
import { Fan } from './fan.ts';
import { GATHER } from './gather.ts';
import { partitionFor } from './placement.ts';
import { GatherRoom } from './room.ts';

const TOOLS = {
  placementOf: () => ({ grainType: '', fields: {} }),
  turns: new Turns(),
  room: new GatherRoom(),
  dedup: 'exact',
} as const;
const CONTEXT = { memory: 1, actor: 'key:test', requestId: 'req' };
const FACT = { userId: 'ann', purpose: 'storage', granted: false, atMs: 5, hash: 'h' };

/** Three partitions that record their work; those in `busy` accept nothing. */
function partitions(busy: Set<number>) {
  const done: string[] = [];
  const callers = [0, 1, 2].map((partition) => ({
    call: async (method: string, _: unknown, input: { readonly check?: true }): Promise<unknown> => {
      if (busy.has(partition)) throw new EngineError('LIM-E001');
      if (input.check !== true) done.push(`${method} ${partition}`);
      if (method === 'restrict') return { restricted: true, timestamp: 5 };
      if (method === 'setPolicy') return { policy: { seal_hash: 's' }, change: 'downgraded' };
      return { outcomes: [{ fact: FACT }] };
    },
  }));
  // Only these calls reach the shards.
  return { done, fan: new Fan(CONTEXT, callers as unknown as ShardCaller[]) };
}

const home = partitionFor({ grainType: 'consent', fields: { user_id: 'ann' } }, 3);
const others = [0, 1, 2].filter((partition) => partition !== home);
const calls: Readonly<Record<string, { readonly begins: number; readonly run: (fan: Fan) => Promise<unknown> }>> = {
  'a withdrawal': {
    begins: home,
    run: (fan) => GATHER.consent(fan, { items: [{ userId: 'ann', purpose: 'storage', granted: false }] }, TOOLS),
  },
  'a restriction': {
    begins: home,
    run: (fan) => GATHER.restrict(fan, { userId: 'ann', restricted: true }, TOOLS),
  },
  'a policy': { begins: 0, run: (fan) => GATHER.setPolicy(fan, { change: {}, isAdmin: true }, TOOLS) },
};

for (const [what, { begins, run }] of Object.entries(calls))
  test(`${what} that is interrupted is not refused, and completes when it is repeated`, async () => {
    const busy = new Set([others.find((partition) => partition !== begins)!]);
    const { fan, done } = partitions(busy);
    await assert.rejects(run(fan), { code: 'STO-E002', retryable: true });
    assert.ok(done.length > 0);
    busy.clear();
    done.length = 0;
    await run(fan);
    assert.deepEqual([...new Set(done.map((one) => Number(one.split(' ')[1])))].sort(), [0, 1, 2]);
    // When nothing had begun, the original error is returned.
    busy.add(0).add(1).add(2);
    await assert.rejects(run(fan), { code: 'LIM-E001' });
  });
