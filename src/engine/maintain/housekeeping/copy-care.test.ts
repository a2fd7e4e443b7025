import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { COPY_AGAIN_MS_MAX, COPY_AGAIN_TIMES_MAX } from '../../base/limits.ts';
import type { OwnCopy } from '../../log/postgres/postgres-log.ts';
import type { Store } from '../../store/store.ts';
import { CopyCare } from './copy-care.ts';

let folders = 0;

/** A shard whose copy is damaged, and a clock that goes on when it is told to. */
function setUp(t: TestContext, copy: Partial<OwnCopy> = {}) {
  let nowMs = 1_000_000;
  t.mock.method(performance, 'now', () => nowMs);
  const log: { damaged?: string; lapsed?: string } = {};
  const problems: string[] = [];
  const store = { log, index: { problems }, vectors: { problems: [] } } as unknown as Store; // what is asked of it
  const calls: string[] = [];
  const failed: { tell?: (reason: string) => void } = {};
  const own: OwnCopy = {
    isWhole: true,
    wentBack: false,
    reportedWentBack: () => void calls.push('told'),
    distrust: () => void calls.push('distrust'),
    doubtFiles: async () => void calls.push('doubt'),
    fillAgain: async () => {
      calls.push('fill');
      return 'filled';
    },
    reopen: () => calls.push('reopen') > 0,
    watchFailure: (watch) => {
      failed.tell = watch;
    },
    ...copy,
  };
  const directory = `folder-${folders++}`;
  return {
    log,
    problems,
    store,
    calls,
    failed,
    goOn: (ms: number) => {
      nowMs += ms;
    },
    care: () => new CopyCare(directory, own),
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a damaged log is filled again once, and the shard is opened again then', async (t) => {
  const { log, store, calls, care } = setUp(t);
  const own = care();
  assert.equal(own.run(store), false);
  log.damaged = 'record 7 is damaged';
  assert.equal(own.run(store), true);
  await settled();
  assert.equal(own.run(store), true);
  await settled();
  assert.deepEqual(calls, ['distrust', 'fill', 'reopen']);
  assert.match(own.reasons.join(), /^the copy of the shard on this disk was damaged; it is filled again.*record 7/);
});

test('damaged files are compared once; those that the database has as they are are left to the index', async (t) => {
  const { problems, store, calls, care, goOn } = setUp(t);
  const own = care();
  problems.push('a block of 1.seg is bad');
  assert.equal(own.run(store), true);
  await settled();
  assert.deepEqual(calls, ['doubt', 'reopen']);
  goOn(60_000);
  const next = care();
  assert.equal(next.run(store), false);
  problems.push('a block of 2.seg is bad');
  next.opened(store);
  assert.equal(next.run(store), false);
  assert.equal(calls.length, 2);
});

test('attempts that fail come after longer and longer pauses, and end', async (t) => {
  let fills = 0;
  const { log, store, care, goOn } = setUp(t, {
    fillAgain: () => {
      fills += 1;
      return Promise.reject(new Error('the database is away'));
    },
  });
  const own = care();
  log.damaged = 'record 7 is damaged';
  const pauses: number[] = [];
  for (let waited = 0, before = 0, turns = 0; turns < 10_000 && !/may be failing/.test(own.reasons.join()); turns++) {
    own.run(store);
    await settled();
    if (fills > before) {
      if (before > 0) pauses.push(waited);
      before = fills;
      waited = 0;
    }
    goOn(1_000);
    waited += 1_000;
  }
  assert.equal(fills, COPY_AGAIN_TIMES_MAX);
  assert.deepEqual(
    pauses,
    pauses.toSorted((a, b) => a - b),
  );
  assert.ok(pauses[0]! < 5_000 && pauses.at(-1)! <= COPY_AGAIN_MS_MAX && pauses.at(-1)! > 60_000, pauses.join());
  assert.equal(own.run(store), false, 'the index may be built from what is left');
});

test('a copy is not filled again from a database that has the damage too, nor while the lease is lapsed', async (t) => {
  const { log, store, calls, care } = setUp(t, { fillAgain: async () => 'damaged' });
  log.damaged = 'record 7 is damaged';
  log.lapsed = 'the lease ended';
  const own = care();
  assert.equal(own.run(store), true);
  await settled();
  assert.deepEqual(calls, []);
  delete log.lapsed;
  own.run(store);
  await settled();
  assert.deepEqual(calls, ['distrust']);
  assert.match(own.reasons.join(), /so is the log in the database/);
  assert.equal(own.run(store), false);
  assert.equal(own.isMending(store), false);
});

test('a disk without room for two copies has the first one removed by the next open', async (t) => {
  const { log, store, calls, care } = setUp(t, { fillAgain: async () => 'no room' });
  log.damaged = 'record 7 is damaged';
  const own = care();
  assert.equal(own.run(store), true);
  await settled();
  assert.deepEqual(calls, ['distrust', 'reopen']);
  assert.equal(own.isMending(store), true);
});

test('a copy that came from a damaged database when it was opened is not filled again', (t) => {
  const { log, store, calls, care } = setUp(t, { isWhole: false });
  log.damaged = 'record 7 is damaged';
  assert.equal(care().run(store), false);
  assert.deepEqual(calls, []);
});

test('that the database went back stays known until the shard is open', (t) => {
  const { store, care, calls } = setUp(t, { wentBack: true });
  const one = care();
  assert.match(one.reasons.join(), /is older than it was/);
  assert.deepEqual(calls, []);
  one.opened(store);
  assert.deepEqual(calls, ['told']);
  assert.match(one.reasons.join(), /is older than it was/);
});

test('a copy that takes no writes counts as one that was damaged, and health says so', (t) => {
  const { failed, care } = setUp(t);
  for (let times = 1; times <= COPY_AGAIN_TIMES_MAX; times++) {
    const own = care();
    failed.tell?.('a write failed: Input/output error');
    assert.match(own.reasons.join(), /^the copy of the shard on this disk was damaged.*Input\/output error$/);
  }
  care();
  failed.tell?.('a write failed: Input/output error');
  assert.match(care().reasons.join(), /may be failing/);
});
