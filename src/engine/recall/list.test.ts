// Lists of grains that were created at one time: pages are as cheap as others, and end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBelief, contextOf, openFaultyShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { GrainPlace } from '../calls/grain.ts';

const context = contextOf(1);
const ONE_TIME = 1_768_471_200;

async function filled(root: string, count: number) {
  const { engine, log } = await openFaultyShard(root);
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const hashes = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      addBelief(engine, 1, { subject: 'ada', object: `thing ${i}`, created_at: ONE_TIME }),
    ),
  );
  return { engine, log, hashes: hashes.sort() };
}

test('a page of many grains of one time looks few addresses up, and the pages hold each grain once', async (t) => {
  const { engine, hashes } = await filled(temporaryDirectory(t), 400);
  t.after(() => engine.abandon());
  const lookUps = t.mock.method(engine.store, 'addressOfLive');
  for (const order of ['asc', 'desc'] as const) {
    const listed: string[] = [];
    let pages = 0;
    for (let after: GrainPlace | undefined; ; ) {
      const page = engine.read('list', context, { filter: {}, limit: 10, order, after });
      listed.push(...page.grains.map(({ hash }) => hash));
      pages += 1;
      after = page.next;
      if (after === undefined) break;
    }
    assert.deepEqual(listed, hashes);
    assert.equal(pages, 40);
  }
  // Of the place that it begins after, and of the one that it ends with.
  assert.ok(lookUps.mock.callCount() <= 2 * 80, `${lookUps.mock.callCount()} look-ups`);
});

test('a page that ends with a grain that cannot be read is followed by the others of its time', async (t) => {
  const { engine, log, hashes } = await filled(temporaryDirectory(t), 5);
  t.after(() => engine.abandon());
  const damaged = hashes[1]!;
  log.corrupt(engine.store.findOrdinal(1, damaged)!);
  const listed: string[] = [];
  const linked: string[] = [];
  let after: GrainPlace | undefined;
  for (let page = 0; page < 10 && (page === 0 || after !== undefined); page++) {
    const { grains, next } = engine.read('list', context, { filter: {}, limit: 2, order: 'asc', after });
    listed.push(...grains.map(({ hash }) => hash));
    after = next;
  }
  const readable = hashes.filter((hash) => hash !== damaged);
  assert.deepEqual(listed, readable);
  const edgesAfter = (place: GrainPlace | undefined) =>
    engine.read('edges', context, { nodes: undefined, direction: 'both', limit: 2, after: place });
  after = undefined;
  for (let page = 0; page < 10 && (page === 0 || after !== undefined); page++) {
    const { edges, next } = edgesAfter(after);
    linked.push(...edges.map(({ hash }) => hash));
    after = next;
  }
  assert.deepEqual(linked, readable);
});
