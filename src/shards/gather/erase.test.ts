// An erasure over several partitions: a refusal comes before any of them has begun, and an erasure that has begun
// reports it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError, type ErrorCode } from '../../engine/base/errors.ts';
import type { ErasureProof, Input, ShardCaller } from '../protocol.ts';
import { Turns } from '../turns.ts';
import { Fan } from './fan.ts';
import { GATHER } from './gather.ts';
import { GatherRoom } from './room.ts';

const TOOLS = {
  placementOf: () => ({ grainType: '', fields: {} }),
  turns: new Turns(),
  room: new GatherRoom(),
  dedup: 'exact',
} as const;
const CONTEXT = { memory: 1, actor: 'key:test', requestId: 'req' };

/** Three partitions; the refusals of the one in the middle, for the check and for the erasure itself. */
function partitions(refusal: { readonly check?: ErrorCode; readonly erase?: ErrorCode }) {
  const erased: number[] = [];
  const callers = [0, 1, 2].map((partition) => ({
    call: async (_: unknown, __: unknown, { userId, check }: Input<'eraseUser'>): Promise<ErasureProof> => {
      const code = check === true ? refusal.check : refusal.erase;
      if (partition === 1 && code !== undefined) throw new EngineError(code);
      if (check !== true) erased.push(partition);
      return { userId, count: 1, keyFingerprint: '0123456789abcdef', timestamp: 5 };
    },
  }));
  // Only these calls reach the shards.
  return { erased, fan: new Fan(CONTEXT, callers as unknown as ShardCaller[]) };
}

const erase = (fan: Fan) => GATHER.eraseUser(fan, { userId: 'ann' }, TOOLS);
const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'done',
    (error: unknown) => (error instanceof EngineError ? error.code : String(error)),
  );

test('all partitions check before the first erases', async () => {
  const held = partitions({ check: 'POL-E003', erase: 'POL-E003' });
  assert.deepEqual([await codeOf(erase(held.fan)), held.erased], ['POL-E003', []]);
  const free = partitions({});
  assert.equal((await erase(free.fan)).count, 3);
  assert.deepEqual(free.erased, [0, 1, 2]);
});

test('an erasure that began and did not complete is not refused: it continues', async () => {
  const late = partitions({ erase: 'POL-E003' });
  assert.deepEqual([await codeOf(erase(late.fan)), late.erased], ['STO-E002', [0, 2]]);
});
