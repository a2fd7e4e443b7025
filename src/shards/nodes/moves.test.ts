import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { FleetNode } from '../../engine/log/postgres/fleet.ts';
import { NOTICE_KINDS, noticeBytes, readNotice, type ShardNotice } from './link/notice.ts';
import { Moves } from './moves.ts';

const nodeOf = (id: string): FleetNode => ({
  ...{
    id,
    address: `${id}:1`,
    httpPort: 0,
    grpcPort: 0,
    version: '0',
    protocol: 1,
    weight: 1,
    refused: [],
    isDraining: false,
    seenMs: 0,
  },
});

/** One side, with what it told and did. */
function sideOf(options: { readonly fetch?: () => Promise<void>; readonly isDue?: () => boolean } = {}) {
  const told: (ShardNotice & { readonly to: string })[] = [];
  const prepared: number[] = [];
  const moves = new Moves({
    set: {
      isOpen: () => prepared.length > 0,
      prepare: async (shard) => void prepared.push(shard),
      fetch: options.fetch ?? (() => Promise.resolve()),
    },
    tellNode: ({ id }, notice) => void told.push({ to: id, ...notice }),
    isDue: options.isDue ?? (() => true),
  });
  return { moves, told, prepared };
}

test('a shard is closed when the next owner has fetched it, however long that takes', async () => {
  const { promise: fetched, resolve: end } = Promise.withResolvers<void>();
  const owner = sideOf();
  const next = sideOf({ fetch: () => fetched });
  let mayClose: boolean | undefined;
  const waiting = owner.moves.prepared(nodeOf('next'), 3).then((may) => {
    mayClose = may;
  });
  await eventually('the next owner is asked', () => owner.told.length > 0);
  // The first notice was lost, and another one comes.
  await eventually('it is asked again', () => owner.told.length > 1);
  assert.deepEqual(owner.told[0], { to: 'next', kind: 'fetch', shard: 3 });
  next.moves.fetch(nodeOf('owner'), 3);
  next.moves.fetch(nodeOf('owner'), 3);
  assert.deepEqual(next.told, [{ to: 'owner', kind: 'fetching', shard: 3 }]);
  owner.moves.heard('stranger', { kind: 'fetched', shard: 3 });
  owner.moves.heard('next', { kind: 'fetching', shard: 3 });
  await eventually('the next owner tells that it goes on', () => next.told.length > 2);
  assert.equal(mayClose, undefined);
  assert.deepEqual(owner.prepared, [3]);
  end();
  await next.moves.fetchOf(3);
  assert.deepEqual(next.told.at(-1), { to: 'owner', kind: 'fetched', shard: 3 });
  owner.moves.heard('next', { kind: 'fetched', shard: 3 });
  await waiting;
  assert.equal(mayClose, true);
  // The changes that came meanwhile were sealed too.
  assert.deepEqual(owner.prepared, [3, 3]);
});

test('a next owner that says nothing, or cannot fetch, gets the shard nevertheless', async () => {
  const { moves } = sideOf();
  assert.equal(await moves.prepared(nodeOf('older'), 1), true);
  const next = sideOf({ fetch: () => Promise.reject(new EngineError('STO-E001', 'no room')) });
  next.moves.fetch(nodeOf('owner'), 1);
  await next.moves.fetchOf(1);
  assert.deepEqual(next.told.at(-1), { to: 'owner', kind: 'fetched', shard: 1 });
});

test('a shard that is not to go to that node any more stays, and a node that ends waits for nobody', async () => {
  let isDue = true;
  const { moves, told } = sideOf({ isDue: () => isDue });
  const waiting = moves.prepared(nodeOf('next'), 2);
  await eventually('the next owner is asked', () => told.length > 0);
  isDue = false;
  assert.equal(await waiting, false);
  isDue = true;
  const ending = moves.prepared(nodeOf('next'), 2);
  await moves.end();
  assert.equal(await ending, true);
});

test('notices are read as they were written, and those of newer versions are left out', () => {
  for (const kind of NOTICE_KINDS)
    assert.deepEqual(readNotice(noticeBytes({ kind, shard: 70_000 })), { kind, shard: 70_000 });
  assert.equal(readNotice(noticeBytes(undefined)), undefined);
  assert.equal(readNotice(Buffer.from([9, 0, 0, 0, 0])), undefined);
  assert.equal(readNotice(Buffer.alloc(9)), undefined);
});
