import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WHOLE_SHARE } from '../../embed/pace.ts';
import { SPARE_FORGOTTEN_MS, SPARE_LOOK_MS, SPARE_SHARE_MIN } from '../../engine/base/limits.ts';
import type { WorkerLoad } from '../../shards/transport/shard-set.ts';
import { SpareCores } from './spare-cores.ts';

/** The load of the threads in the next interval, as shares of it. */
interface Doing {
  readonly main?: number;
  readonly workers?: readonly { readonly active: number; readonly asked: number }[];
}

const IDLE = { active: 0, asked: 0 };
const BUSY = { active: 1, asked: 1 };

function machine({ cores = 2, isAwaited = (): boolean => false } = {}) {
  let nowMs = 10_000;
  let mainMs = 3_000;
  let loads: WorkerLoad[] = [0, 0].map(() => ({ activeMs: 500, askedMs: 400 }));
  let tick: (() => void) | undefined;
  const spare = new SpareCores({
    ...{ cores, isAwaited },
    loads: () => loads,
    mainMs: () => mainMs,
    nowMs: () => nowMs,
    every: (ms, run) => {
      assert.equal(ms, SPARE_LOOK_MS);
      tick = run;
      return () => {
        tick = undefined;
      };
    },
  });
  const pass = ({ main = 0, workers = [IDLE, IDLE] }: Doing, ms = SPARE_LOOK_MS): void => {
    nowMs += ms;
    mainMs += main * ms;
    loads = loads.map(({ activeMs, askedMs }, i) => ({
      activeMs: activeMs + workers[i]!.active * ms,
      askedMs: askedMs + workers[i]!.asked * ms,
    }));
    tick?.();
  };
  const shares = (): number[] => spare.shares.map((share) => Atomics.load(share, 0) / WHOLE_SHARE);
  const restart = (): void => {
    loads = loads.map(() => ({ activeMs: 0, askedMs: 0 }));
  };
  return { spare, pass, shares, restart, isLooking: () => tick !== undefined };
}

test('idle processors are given to both threads, and those of a single core to one', () => {
  const two = machine();
  two.spare.hold();
  two.pass({ main: 0.1, workers: [{ active: 0.1, asked: 0.1 }, IDLE] });
  assert.deepEqual(two.shares(), [1, 1]);
  const one = machine({ cores: 1 });
  one.spare.hold();
  one.pass({});
  assert.deepEqual(one.shares(), [1, SPARE_SHARE_MIN]);
});

test('busy requests leave the least share, which is never nothing', () => {
  const { spare, pass, shares } = machine();
  spare.hold();
  pass({ main: 1, workers: [BUSY, BUSY] });
  assert.deepEqual(shares(), [SPARE_SHARE_MIN, SPARE_SHARE_MIN]);
  assert.ok(SPARE_SHARE_MIN > 0 && SPARE_SHARE_MIN <= 0.1);
});

test('requests that need half a core leave half of one of two', () => {
  const { spare, pass, shares } = machine();
  spare.hold();
  pass({ workers: [{ active: 0.5, asked: 0.9 }, IDLE] });
  assert.deepEqual(shares(), [0.5, SPARE_SHARE_MIN]);
});

test('a large machine gives two threads beside busy requests', () => {
  const { spare, pass, shares } = machine({ cores: 16 });
  spare.hold();
  pass({ main: 1, workers: [BUSY, BUSY] });
  assert.deepEqual(shares(), [1, 1]);
});

test('work without a caller, and calls that wait for the disk, are no demand', () => {
  const { spare, pass, shares } = machine();
  spare.hold();
  // Segments are merged, and the main thread stores vectors.
  pass({
    main: 1,
    workers: [
      { active: 1, asked: 0 },
      { active: 1, asked: 0 },
    ],
  });
  assert.deepEqual(shares(), [1, 1]);
  pass({
    main: 0.1,
    workers: [
      { active: 0.05, asked: 1 },
      { active: 0.05, asked: 1 },
    ],
  });
  assert.deepEqual(shares(), [1, 1]);
});

test('a rise counts at once and a fall after a while, so that a backlog catches up when the requests end', () => {
  const { spare, pass, shares } = machine();
  spare.hold();
  pass({});
  pass({ main: 1, workers: [BUSY, BUSY] });
  assert.equal(shares()[0], SPARE_SHARE_MIN);
  pass({});
  assert.equal(shares()[0], SPARE_SHARE_MIN);
  const firsts: number[] = [];
  for (let look = 0; look < 20; look++) {
    pass({});
    firsts.push(shares()[0]!);
  }
  assert.deepEqual(
    firsts,
    firsts.toSorted((one, other) => one - other),
  );
  assert.deepEqual(shares(), [1, 1]);
});

test('a read that waits for vectors gives the first thread everything', () => {
  let isAwaited = false;
  const { spare, pass, shares } = machine({ isAwaited: () => isAwaited });
  spare.hold();
  pass({ main: 1, workers: [BUSY, BUSY] });
  isAwaited = true;
  pass({ main: 1, workers: [BUSY, BUSY] });
  assert.deepEqual(shares(), [1, SPARE_SHARE_MIN]);
  isAwaited = false;
  pass({ main: 1, workers: [BUSY, BUSY] });
  assert.equal(shares()[0], SPARE_SHARE_MIN);
});

test('it measures while a backlog is held, also in pieces, and forgets old measurements', () => {
  const { spare, pass, shares, isLooking } = machine();
  const work = { main: 1, workers: [BUSY, BUSY] };
  // Calls that are shorter than an interval.
  for (let call = 0; call < 4; call++) {
    const release = spare.hold();
    assert.ok(isLooking());
    const other = spare.hold();
    other();
    other();
    assert.ok(isLooking());
    release();
    assert.ok(!isLooking());
    pass(work, SPARE_LOOK_MS / 2);
  }
  spare.hold()();
  assert.equal(shares()[0], SPARE_SHARE_MIN);
  pass(work, SPARE_FORGOTTEN_MS + 1);
  spare.hold();
  assert.equal(shares()[0], 1);
});

test('a worker that was started again counts from its start', () => {
  const { spare, pass, shares, restart } = machine();
  spare.hold();
  pass({});
  restart();
  pass({ workers: [{ active: 0.5, asked: 0.5 }, IDLE] });
  assert.deepEqual(shares(), [0.5, SPARE_SHARE_MIN]);
});
