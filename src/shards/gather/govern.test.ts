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

const READS = { order: 'desc', offset: 0, limit: 1 } as const;
const said = (userId: string, atMs: number) => ({
  userId,
  restricted: false,
  facts: [{ ...FACT, userId, atMs }],
});
type Answer = { users: readonly ReturnType<typeof said>[]; total: number; more: boolean; mark?: number };

/** Partitions with these pages, and with these answers to a call for all users. */
function listing(pages: readonly Answer[], all: readonly Answer[] = []) {
  const asked: string[] = [];
  const callers = pages.map((page, partition) => ({
    call: async (_: string, __: unknown, input: { readonly all?: true }): Promise<unknown> => {
      asked.push(`${partition}${input.all === true ? ' all' : ''}`);
      return input.all === true ? all[partition] : page;
    },
  }));
  return { asked, fan: new Fan(CONTEXT, callers as unknown as ShardCaller[]) };
}

test('partitions that know the same consents answer a page of them, restricted where one of them knows it', async () => {
  const page = { users: [said('ann', 5)], total: 3, more: true, mark: 7 };
  const { asked, fan } = listing([page, { ...page, users: [{ ...said('ann', 5), restricted: true }] }]);
  const { users, total, more } = await GATHER.consentPage(fan, READS, TOOLS);
  assert.deepEqual(
    [users.map(({ userId, restricted }) => [userId, restricted]), total, more],
    [[['ann', true]], 3, true],
  );
  assert.deepEqual(asked, ['0', '1']);
});

for (const [what, marks] of [
  ['a consent has not reached every partition yet', [1, 2]],
  ['each partition shows the caller other users', [undefined, undefined]],
] as const)
  test(`a page of consents is cut from those of all partitions while ${what}`, async () => {
    const pages = marks.map((mark) => ({ users: [], total: 0, more: false, ...(mark === undefined ? {} : { mark }) }));
    const all = [
      [said('ann', 5), said('bob', 6)],
      [said('ann', 9), { ...said('cid', 7), restricted: true }],
    ];
    const answers = all.map((users) => ({ users, total: users.length, more: false }));
    const shown = async (page: object) => {
      const { fan } = listing(pages, answers);
      const { users, total, more } = await GATHER.consentPage(fan, { ...READS, ...page }, TOOLS);
      return [users.map(({ userId, restricted, facts }) => [userId, restricted, facts[0]?.atMs]), total, more];
    };
    assert.deepEqual(await shown({}), [[['ann', false, 9]], 3, true]);
    assert.deepEqual(await shown({ after: { timeMs: 9, id: 'ann' } }), [[['cid', true, 7]], 3, true]);
    assert.deepEqual(await shown({ offset: 1, limit: 5, order: 'asc' }), [
      [
        ['cid', true, 7],
        ['ann', false, 9],
      ],
      3,
      false,
    ]);
  });

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
