// Log reads of a grouping: only the grains shown, each once; and groups of grains that no longer open.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { groupGrains } from '../../src/engine/cal/reads/group.ts';
import { drained } from '../../src/engine/cal/reads/open-each.ts';
import { PLAIN_SESSION } from '../../src/engine/cal/run/session.ts';
import { isRefused } from '../../src/engine/calls/cal.ts';
import type { AddItem, GrainFilter } from '../../src/engine/calls/grain.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { IndexPart } from '../../src/engine/index/parts/part.ts';
import { FORMAT_VERSION } from '../../src/engine/log/format.ts';
import { ForwardingLog } from '../../src/engine/log/forwarding-log.ts';
import { openLmdbLog } from '../../src/engine/log/lmdb/lmdb-log.ts';
import type { Sequence } from '../../src/engine/log/log.ts';
import type { Store } from '../../src/engine/store/store.ts';
import { contextOf, openShard, settingsOf } from '../support/shard.ts';
import { temporaryDirectory } from '../support/temporary.ts';

class CountingLog extends ForwardingLog {
  reads = 0;

  override read(sequence: Sequence): Uint8Array | undefined {
    this.reads += 1;
    return super.read(sequence);
  }
}

interface Grouped {
  readonly total: number;
  readonly groups: readonly { readonly key: string; readonly count: number; readonly grains: readonly unknown[] }[];
}

async function openCounted(t: TestContext, items: readonly AddItem[]) {
  const root = temporaryDirectory(t);
  const log = new CountingLog(
    openLmdbLog(join(root, 'shard-0', 'log'), { stamp: { formatVersion: FORMAT_VERSION, shard: 0, shards: 1 } }),
  );
  // Without the cache of opened grains, which would answer the second time.
  const engine = await openShard(root, { log, openedCacheBytes: 0 });
  t.after(() => engine.abandon());
  await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
  await engine.write('addBatch', contextOf(1), { items });
  await engine.write('flush', contextOf(1), {});
  return { engine, log };
}

function answerTo(engine: Engine, query: string): Grouped & { readonly grains: readonly unknown[] } {
  const reply = engine.read('cal', contextOf(1), { query, session: PLAIN_SESSION, vectors: [] });
  assert.ok(!('tooLong' in reply), `${query} is answered in one slice`);
  if (isRefused(reply)) assert.fail(`${query}: ${reply.message}`);
  return JSON.parse(reply.resultJson);
}

const RELATIONS = ['likes', 'makes', 'owns'];

test('an answer reads each shown grain once, and no other record', async (t) => {
  const items = Array.from({ length: 180 }, (_, i): AddItem => {
    const fields = { subject: `s${i % 7}`, relation: RELATIONS[i % 3]!, object: `o${i}` };
    return { grainType: 'belief', fields: i % 9 === 0 ? { ...fields, verification_status: 'contested' } : fields };
  });
  const { engine, log } = await openCounted(t, items);
  const readsOf = (query: string): number => {
    // Warms up what is read once per memory.
    answerTo(engine, query);
    const before = log.reads;
    answerTo(engine, query);
    return log.reads - before;
  };
  const query = 'RECALL beliefs | GROUP BY relation';
  assert.deepEqual(
    answerTo(engine, query).groups.map(({ key, count, grains }) => [key, count, grains.length]),
    RELATIONS.map((relation) => [relation, 60, 20]),
  );
  assert.equal(readsOf(query), 60);
  assert.equal(readsOf('RECALL beliefs | GROUP BY subject'), 140);
  assert.equal(readsOf('RECALL beliefs WITH dedup(subject) | COUNT'), 0);
  assert.equal(readsOf('RECALL beliefs WHERE verification_status = "contested" LIMIT 20'), 20);
  assert.equal(readsOf('RECALL beliefs RECENT 20'), 20);
});

test('a name whose grains no longer open is not shown, with or without grains of its group', async (t) => {
  const belief = (subject: string, i: number): AddItem => ({
    grainType: 'belief',
    fields: { subject, relation: 'says', object: `o${i}`, ...(/^(ada|zoe)$/.test(subject) && { user_id: subject }) },
  });
  const names = ['ada', ...Array.from({ length: 1_001 }, (_, i) => `s${String(i).padStart(4, '0')}`), 'zoe', 'zzz'];
  const { engine } = await openCounted(t, names.map(belief));
  const query = 'RECALL beliefs | GROUP BY subject';
  const keys = (): string[] => answerTo(engine, query).groups.map(({ key }) => key);
  assert.deepEqual(keys(), names);
  const { store } = engine;
  const memory = store.memory(1);
  const ids = ['ada', 'zoe'].map((user) => store.namedKeys.user(memory, user)?.key ?? assert.fail(`${user} has a key`));
  // As in an older copy of the data with current keys: the index holds the names, but their grains do not open.
  store.keys.destroy(ids, Date.now());
  memory.dropKeys();
  assert.deepEqual(
    keys(),
    names.filter((name) => name !== 'ada' && name !== 'zoe'),
  );
  assert.deepEqual(answerTo(engine, query).groups.at(-1), { key: 'zzz', count: 1, grains: [] });
});

test('a history opens the newest versions, which it shows, and no older one', async (t) => {
  const said = { subject: 'ann', relation: 'likes' };
  const { engine, log } = await openCounted(t, [{ grainType: 'belief', fields: { ...said, object: 'v0' } }]);
  const [first] = engine.read('list', contextOf(1), { filter: {}, limit: 1, order: 'asc' }).grains;
  let oldHash = first!.hash;
  let count = 1;
  const supersedeTo = async (versions: number): Promise<void> => {
    for (; count < versions; count++)
      oldHash = (await engine.write('supersede', contextOf(1), { oldHash, fields: { object: `v${count}` } })).newHash;
  };
  const readsOfHistory = (): number => {
    const before = log.reads;
    const query = { query: `HISTORY sha256:${first!.hash}`, session: PLAIN_SESSION, vectors: [] };
    const reply = engine.read('cal', contextOf(1), query);
    assert.ok(!('tooLong' in reply) && !isRefused(reply));
    const { versions } = JSON.parse(reply.resultJson) as { versions: { hash: string; fields: { object: string } }[] };
    assert.deepEqual(
      versions.map(({ fields }) => fields.object),
      Array.from({ length: 100 }, (_, i) => `v${count - 1 - i}`),
    );
    assert.equal(versions[0]?.hash, `sha256:${oldHash}`);
    return log.reads - before;
  };
  await supersedeTo(130);
  const reads = readsOfHistory();
  await supersedeTo(260);
  // The walk along the chain takes one read for a version.
  const more = readsOfHistory() - reads;
  assert.ok(more <= 130, `${more} more reads for 130 older versions`);
});

/** The store, and the number of lists of values that are read in its parts. */
function countingLists(store: Store): { readonly store: Store; lists: number } {
  const bound = <T extends object>(of: T, name: string | symbol): unknown => {
    const value: unknown = Reflect.get(of, name, of);
    return typeof value === 'function' ? value.bind(of) : value;
  };
  const counted = {
    lists: 0,
    store: new Proxy(store, {
      get: (of, name) => (name === 'parts' ? (memory: number) => of.parts(memory).map(partOf) : bound(of, name)),
    }),
  };
  const partOf = (part: IndexPart): IndexPart =>
    new Proxy(part, {
      get: (of, name) =>
        name !== 'docsByValue'
          ? bound(of, name)
          : function* (facet: 'subject' | 'relation' | 'object') {
              for (const list of of.docsByValue(facet)) {
                counted.lists += 1;
                yield list;
              }
            },
    });
  return counted;
}

test('a grouping reads the lists of values up to its bound, and none for a few grains', async (t) => {
  const items = Array.from({ length: 600 }, (_, i): AddItem => {
    return { grainType: 'belief', fields: { subject: `s${i % 100}`, relation: 'makes', object: `o${i}` } };
  });
  const { engine } = await openCounted(t, items);
  const counted = countingLists(engine.store);
  const groupsOf = (filter: GrainFilter, scanMax: number) => {
    const input = { filter: { grainTypes: ['belief'], ...filter }, tests: [], field: 'object' };
    const bounds = { shown: 5, shownMax: 100, scanMax, untilMs: Number.POSITIVE_INFINITY };
    return drained(groupGrains(counted.store, engine.store.memory(1), contextOf(1), { ...input, ...bounds }));
  };
  assert.equal(groupsOf({}, 50).stopped, 'scan');
  assert.ok(counted.lists <= 52, `${counted.lists} lists`);
  counted.lists = 0;
  assert.deepEqual(
    groupsOf({ subject: 's7' }, 50).groups.map(({ key, count }) => [key, count]),
    ['o107', 'o207', 'o307', 'o407', 'o507', 'o7'].map((key) => [key, 1]),
  );
  assert.equal(counted.lists, 0);
  assert.equal(groupsOf({}, 1_000).groups.length, 600);
  assert.equal(counted.lists, 600);
});

test('a grouping opens as many grains for a bound caller, however many values others have', async (t) => {
  const belief = (namespace: string, object: string): AddItem => {
    return { grainType: 'belief', fields: { subject: 'ann', relation: 'makes', object, namespace } };
  };
  const own = ['o1', 'o2'].map((object) => belief('mine', object));
  const others = Array.from({ length: 600 }, (_, i) => belief('theirs', `p${i}`));
  const grouped = async (items: readonly AddItem[]) => {
    const { engine } = await openCounted(t, items);
    const input = { filter: { grainTypes: ['belief' as const] }, tests: [], field: 'object' };
    const bounds = { shown: 5, shownMax: 100, scanMax: 1_000, untilMs: Number.POSITIVE_INFINITY };
    const caller = { ...contextOf(1), namespace: 'mine' };
    const { store } = engine;
    return drained(groupGrains(store, store.memory(1), caller, { ...input, ...bounds }));
  };
  const alone = await grouped(own);
  assert.deepEqual(
    alone.groups.map(({ key, count }) => [key, count]),
    [
      ['o1', 1],
      ['o2', 1],
    ],
  );
  const { scanned, groups } = await grouped([...own, ...others]);
  assert.deepEqual([scanned, groups.length], [alone.scanned, alone.groups.length]);
});
