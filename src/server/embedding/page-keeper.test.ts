import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FOLLOW_STRETCH_GRAINS, FOLLOW_STRETCH_VECTORS } from '../../engine/base/limits.ts';
import type { Backlog, EmbeddedPage } from './backlog.ts';
import { PageKeeper } from './page-keeper.ts';

const VECTOR = Float32Array.of(1, 0);
const GRAINS = 2 * FOLLOW_STRETCH_GRAINS + 2;

/** Every third sequence is a grain of the page; the page extends past the last one. */
const PAGE = {
  memory: 1,
  backend: '',
  after: 7,
  upTo: 3 * GRAINS + 50,
  grains: Array.from({ length: GRAINS }, (_, i) => ({ ordinal: 10 + 3 * i, text: 'word' })),
};

/** Stores ranges after a turn; `refuses` selects one (from 1) that it rejects. */
function shard(refuses = 0): Backlog & { readonly kept: EmbeddedPage[] } {
  const kept: EmbeddedPage[] = [];
  let asked = 0;
  return {
    kept,
    pages: () => Promise.resolve([]),
    async store(page) {
      await new Promise(setImmediate);
      asked += 1;
      if (asked === refuses) throw new Error('no room');
      kept.push(page);
    },
  };
}

const STAMP = { name: 'e/1', dimensions: 2 };
const endsOf = (kept: readonly EmbeddedPage[]) => kept.map(({ after, upTo, grains }) => [after, upTo, grains.length]);

test('a page is stored in consecutive ranges, to its end', async () => {
  const backlog = shard();
  const keeper = new PageKeeper(backlog, PAGE, STAMP);
  for (let i = 0; i < GRAINS; i++) keeper.add(i === 0 ? [] : [VECTOR]);
  assert.deepEqual(await keeper.finish(), { stored: GRAINS - 1, passedOver: [] });
  const [first, second] = [FOLLOW_STRETCH_GRAINS, 2 * FOLLOW_STRETCH_GRAINS].map((at) => PAGE.grains[at - 1]!.ordinal);
  assert.deepEqual(endsOf(backlog.kept), [
    [PAGE.after, first, FOLLOW_STRETCH_GRAINS - 1],
    [first, second, FOLLOW_STRETCH_GRAINS],
    [second, PAGE.upTo, 2],
  ]);
  assert.deepEqual(backlog.kept[0]!.embedder, STAMP);
});

test('vectors of a failed page are stored, together with the skipped grains', async () => {
  const backlog = shard();
  const keeper = new PageKeeper(backlog, PAGE, STAMP);
  const error = new Error('poison');
  keeper.add([VECTOR]);
  keeper.passOver(error);
  keeper.add(Array<Float32Array>(FOLLOW_STRETCH_VECTORS).fill(VECTOR));
  keeper.add([VECTOR]);
  assert.deepEqual(keeper.rest, PAGE.grains.slice(4));
  assert.deepEqual(await keeper.finish(), { stored: 3, passedOver: [{ ordinal: 13, error }] });
  assert.deepEqual(endsOf(backlog.kept), [
    [PAGE.after, 16, 2],
    [16, 19, 1],
  ]);
  const none = shard();
  assert.deepEqual(await new PageKeeper(none, PAGE, STAMP).finish(), { stored: 0, passedOver: [] });
  assert.deepEqual(none.kept, []);
});

test('after a rejected range no further one is sent', async () => {
  const backlog = shard(2);
  const keeper = new PageKeeper(backlog, PAGE, STAMP);
  for (let i = 0; i < GRAINS; i++) keeper.add([VECTOR]);
  await assert.rejects(keeper.finish(), /no room/);
  assert.equal(backlog.kept.length, 1);
});

test('a page without grains is marked as done', async () => {
  const backlog = shard();
  await new PageKeeper(backlog, { ...PAGE, grains: [] }, STAMP).finish();
  assert.deepEqual(endsOf(backlog.kept), [[PAGE.after, PAGE.upTo, 0]]);
});
