import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../test/support/shard.ts';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { EngineError } from './base/errors.ts';
import { GROUP_WRITES_MAX } from './base/limits.ts';
import type { Engine } from './engine.ts';
import { decodeAuditBody } from './govern/trail/audit-codec.ts';
import type { JsonObject } from './grain/api/json-value.ts';
import { FaultyLog } from './log/faulty.ts';
import { CorruptRecord, type Log } from './log/log.ts';
import { MemoryLog, MemoryLogStore } from './log/memory.ts';
import { decodeRecord } from './record/record-codec.ts';

const context = contextOf(1);

interface Shard {
  engine: Engine;
  /** The folder of the test's files. */
  readonly directory: string;
  reopen(how?: 'close' | 'abandon'): Promise<Engine>;
}

async function setUp(
  t: TestContext,
  options: { sealGrains?: number; log?: () => Log; betweenGroups?: () => void } = {},
): Promise<Shard> {
  const root = temporaryDirectory(t);
  const { log, ...others } = options;
  const open = () => openShard(root, { ...others, ...(log === undefined ? {} : { log: log() }) });
  const shard: Shard = {
    directory: root,
    engine: await open(),
    reopen: async (how = 'close') => {
      await shard.engine[how]();
      shard.engine = await open();
      return shard.engine;
    },
  };
  t.after(() => shard.engine.close());
  await shard.engine.write('attachMemory', context, { settings: settingsOf(1) });
  return shard;
}

function belief(subject: string, relation: string, object: string, more: JsonObject = {}) {
  return { grainType: 'belief', fields: { subject, relation, object, ...more }, sync: false };
}

const code = (expected: string) => (error: unknown) => error instanceof EngineError && error.code === expected;

test('between two groups of writes the first is visible and the second is not', async (t) => {
  const seen: number[] = [];
  let engine: Engine | undefined;
  const look = (): void => {
    if (engine !== undefined) seen.push(engine.read('statistics', context, {}).totalGrains);
  };
  ({ engine } = await setUp(t, { betweenGroups: look }));
  const count = GROUP_WRITES_MAX + 5;
  const adds = Array.from({ length: count }, (_, at) => engine.write('add', context, belief('Ada', 'counts', `${at}`)));
  await Promise.all(adds);
  assert.deepEqual(seen, [GROUP_WRITES_MAX, count]);
});

test('an added grain is found by address, by structure and by words, also after a restart and after a crash', async (t) => {
  const shard = await setUp(t);
  const added = await shard.engine.write(
    'add',
    context,
    belief('Ada', 'likes', 'analytical engines', { tags: ['math'] }),
  );
  for (const how of ['none', 'close', 'abandon'] as const) {
    if (how !== 'none') await shard.reopen(how);
    const { engine } = shard;
    assert.equal(engine.read('get', context, { hash: added.hash }).fields['object'], 'analytical engines');
    const structural = { filter: { subject: 'Ada' }, structural: true, limit: 20, candidateLimit: 100 };
    assert.deepEqual(
      engine.read('recall', context, structural).hits.map((hit) => hit.grain.hash),
      [added.hash],
      how,
    );
    const words = { query: 'which engine?', filter: {}, structural: false, limit: 20, candidateLimit: 100 };
    assert.deepEqual(
      engine.read('recall', context, words).hits.map((hit) => hit.grain.hash),
      [added.hash],
      how,
    );
    assert.equal(engine.read('recall', context, { ...words, query: 'nothing matches' }).hits.length, 0);
  }
});

test('an exact duplicate gets the existing hash, within a group and across groups', async (t) => {
  const { engine } = await setUp(t);
  const item = belief('a', 'b', 'c');
  const [first, second] = await Promise.all([engine.write('add', context, item), engine.write('add', context, item)]);
  const third = await engine.write('add', context, item);
  assert.deepEqual([first.duplicate, second.duplicate, third.duplicate], [false, true, true]);
  assert.equal(second.hash, first.hash);
  assert.equal(third.hash, first.hash);
  assert.equal(engine.read('statistics', context, {}).totalGrains, 1);
});

test('supersede links versions, history labels them, and the old one is not current', async (t) => {
  const shard = await setUp(t);
  const { hash: a } = await shard.engine.write('add', context, belief('Ada', 'lives_in', 'London'));
  const { newHash: b } = await shard.engine.write('supersede', context, { oldHash: a, fields: { object: 'Paris' } });
  const { newHash: c } = await shard.engine.write('supersede', context, { oldHash: b, fields: { object: 'Rome' } });
  await assert.rejects(
    shard.engine.write('supersede', context, { oldHash: a, fields: { object: 'Oslo' } }),
    code('MEM-E002'),
  );
  for (const how of ['none', 'abandon', 'close'] as const) {
    if (how !== 'none') await shard.reopen(how);
    for (const hash of [a, b, c]) {
      const { versions } = shard.engine.read('history', context, { hash });
      assert.deepEqual(
        versions.map((version) => [version.hash, version.relation, version.fields['object']]),
        [
          [a, 'original', 'London'],
          [b, 'superseded', 'Paris'],
          [c, 'supersedes', 'Rome'],
        ],
      );
    }
    const { grains } = shard.engine.read('list', context, { filter: {}, limit: 10, order: 'desc' });
    assert.deepEqual(
      grains.map((grain) => grain.hash),
      [c],
    );
    const old = shard.engine.read('get', context, { hash: a });
    assert.equal(old.supersededBy, b);
    assert.equal(shard.engine.read('get', context, { hash: b }).supersedes, a);
  }
});

test('concurrent accumulates lose no delta', async (t) => {
  const shard = await setUp(t);
  const { hash } = await shard.engine.write('add', context, belief('counter', 'counts', 'visits', { visits: 1 }));
  const deltas = Array.from({ length: 200 }, () =>
    shard.engine.write('accumulate', context, { target: { hash }, deltas: { visits: 2 }, set: {} }),
  );
  await Promise.all(deltas);
  const target = { subject: 'counter', relation: 'counts' };
  const last = await shard.engine.write('accumulate', context, { target, deltas: { visits: 0 }, set: { note: 'end' } });
  assert.equal(last.fields['visits'], 401);
  assert.equal(last.fields['note'], 'end');
  assert.equal(shard.engine.read('history', context, { hash }).versions.length, 202);
  // One of them tells that the chain is long.
  assert.deepEqual(await shard.engine.write('verifyAudit', context, {}), { valid: true, checked: 205, partition: 0 });
});

test('forget removes by hash, and by subject with all versions', async (t) => {
  const shard = await setUp(t);
  const { hash: a } = await shard.engine.write('add', context, belief('Ada', 'lives_in', 'London'));
  const { newHash: b } = await shard.engine.write('supersede', context, { oldHash: a, fields: { object: 'Paris' } });
  const { hash: other } = await shard.engine.write('add', context, belief('Bob', 'lives_in', 'London'));
  const missing = 'f'.repeat(64);
  assert.deepEqual(await shard.engine.write('forget', context, { hashes: [missing, other], check: true }), {
    hashes: [other],
    notFound: [missing],
  });
  assert.equal(shard.engine.read('get', context, { hash: other }).hash, other);
  const gone = await shard.engine.write('forget', context, { subject: 'Ada', check: false });
  assert.deepEqual([...gone.hashes].sort(), [a, b].sort());
  for (const how of ['none', 'abandon', 'close'] as const) {
    if (how !== 'none') await shard.reopen(how);
    for (const hash of [a, b]) assert.throws(() => shard.engine.read('get', context, { hash }), code('MEM-E001'));
    const query = { query: 'London Paris', filter: {}, structural: false, limit: 20, candidateLimit: 100 };
    assert.deepEqual(
      shard.engine.read('recall', context, query).hits.map((hit) => hit.grain.hash),
      [other],
    );
    assert.equal(shard.engine.read('statistics', context, {}).totalGrains, 1);
  }
});

test('erasing a user destroys the key and returns a proof, which a second call repeats', async (t) => {
  const shard = await setUp(t);
  for (let i = 0; i < 5; i++)
    await shard.engine.write('add', context, belief(`s${i}`, 'says', 'canary words', { user_id: 'ada' }));
  const { hash: kept } = await shard.engine.write(
    'add',
    context,
    belief('other', 'says', 'canary stays', { user_id: 'bob' }),
  );
  await shard.engine.write('flush', context, {});
  const proof = await shard.engine.write('eraseUser', context, { userId: 'ada' });
  assert.equal(proof.count, 5);
  assert.match(proof.keyFingerprint, /^[0-9a-f]{16}$/);
  const again = { ...proof, count: 0 };
  for (const how of ['none', 'abandon', 'close'] as const) {
    if (how !== 'none') await shard.reopen(how);
    assert.deepEqual(await shard.engine.write('eraseUser', context, { userId: 'ada' }), again, how);
    const query = { query: 'canary', filter: {}, structural: false, limit: 20, candidateLimit: 100 };
    assert.deepEqual(
      shard.engine.read('recall', context, query).hits.map((hit) => hit.grain.hash),
      [kept],
    );
    assert.equal(shard.engine.read('statistics', context, {}).userCount, 1);
  }
  while (shard.engine.read('statistics', context, {}).purgePending! > 0) {
    shard.engine.maintain(50);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const unknown = await shard.engine.write('eraseUser', context, { userId: 'nobody' });
  assert.deepEqual([unknown.count, unknown.keyFingerprint], [0, '']);
  const { hash: later } = await shard.engine.write(
    'add',
    context,
    belief('s9', 'says', 'canary new', { user_id: 'ada' }),
  );
  assert.equal(shard.engine.read('get', context, { hash: later }).userId, 'ada');
});

test('an idempotency key repeats its answer and refuses another body', async (t) => {
  const shard = await setUp(t);
  const once = { ...context, idempotency: { key: 'k1', bodyHash: 'h1' } };
  const first = await shard.engine.write('add', once, belief('a', 'b', 'c'));
  await shard.reopen('abandon');
  assert.deepEqual(await shard.engine.write('add', once, belief('a', 'b', 'c')), first);
  const other = { ...context, idempotency: { key: 'k1', bodyHash: 'h2' } };
  await assert.rejects(shard.engine.write('add', other, belief('x', 'y', 'z')), code('VAL-E005'));
  assert.equal(shard.engine.read('statistics', context, {}).totalGrains, 1);
});

test('a batch under the key of another is refused as a whole, also while that one is being written', async (t) => {
  const { engine } = await setUp(t);
  const by = (bodyHash: string) => ({ ...context, idempotency: { key: 'k', bodyHash } });
  const batch = (...objects: string[]) => ({ items: objects.map((object) => belief('a', 'b', object)) });
  const first = engine.write('addBatch', by('h1'), batch('c'));
  const other = engine.write('addBatch', by('h2'), batch('c', 'd', 'e'));
  await assert.rejects(other, code('VAL-E005'));
  await assert.rejects(engine.write('add', by('h3'), belief('a', 'b', 'f')), code('VAL-E005'));
  assert.deepEqual(await engine.write('addBatch', by('h1'), batch('c')), await first);
  assert.equal(engine.read('statistics', context, {}).totalGrains, 1);
});

test('flushes, exports and imports are in the audit chain', async (t) => {
  const { engine } = await setUp(t);
  await engine.write('add', context, belief('a', 'b', 'c', { user_id: 'ada' }));
  await engine.write('note', context, { event: 'memory.flushed', details: { flushed: 1 } });
  await engine.write('note', { ...context, userId: 'ada' }, { event: 'export.file', details: { grains: 1 } });
  const { hash } = await engine.write('add', context, belief('d', 'e', 'f', { user_id: 'ada' }));
  const { blob } = engine.read('getRaw', context, { hash });
  await engine.write('forget', context, { hashes: [hash], check: false });
  await engine.write('importBlobs', context, { blobs: [blob], manifest: [] });
  const entries = [...engine.store.log.scan(1)].flatMap((record) => {
    const decoded = record instanceof CorruptRecord ? undefined : decodeRecord(record.bytes);
    return decoded?.kind === 'audit' ? decodeAuditBody(decoded.body) : [];
  });
  assert.deepEqual(
    entries.map(({ event }) => event),
    [
      'instance.created',
      'memory.added',
      'memory.flushed',
      'export.file',
      'memory.added',
      'memory.forgotten',
      'memory.read',
      'memory.imported',
    ],
  );
  const [, added, flushed, exported] = entries;
  assert.deepEqual([flushed?.actor, flushed?.subject, flushed?.details], [context.actor, '', '{"flushed":1}']);
  assert.deepEqual([exported?.subject, exported?.details], [added?.subject, '{"grains":1}']);
  assert.deepEqual((await engine.write('verifyAudit', context, {})).valid, true);
});

test('extracted grains have an audit event of their own, and are refused once their source is gone', async (t) => {
  const { engine } = await setUp(t);
  const said = { grainType: 'event', fields: { content: 'I live in Paris.', user_id: 'ada' } };
  const { hash } = await engine.write('add', context, { ...said, sync: false, event: 'memory.remembered' });
  const derived = (object: string) => {
    const item = belief('ada', 'lives_in', object, { user_id: 'ada', derived_from: hash });
    return { items: [{ ...item, event: 'memory.extracted' as const }] };
  };
  const [stored] = (await engine.write('addBatch', context, derived('Paris'))).outcomes;
  assert.ok(stored !== undefined && 'hash' in stored);
  const memory = engine.store.memory(1);
  const names = [hash, stored.hash].map((one) => engine.store.nameOfHash(memory, one));
  await engine.write('eraseUser', context, { userId: 'ada' });
  for (const _ of ['again', 'and again']) {
    const [refused] = (await engine.write('addBatch', context, derived('Rome'))).outcomes;
    assert.ok(refused !== undefined && 'error' in refused && refused.error.code === 'MEM-E001');
  }
  assert.equal(engine.read('statistics', context, {}).totalGrains, 0);
  const entries = [...engine.store.log.scan(1)].flatMap((record) => {
    const decoded = record instanceof CorruptRecord ? undefined : decodeRecord(record.bytes);
    return decoded?.kind === 'audit' ? decodeAuditBody(decoded.body) : [];
  });
  assert.deepEqual(
    entries.slice(1, 3).map(({ event, details }) => [event, JSON.parse(details).grain]),
    [
      ['memory.remembered', names[0]],
      ['memory.extracted', names[1]],
    ],
  );
});

test('a bad item of a batch does not affect the others', async (t) => {
  const { engine } = await setUp(t);
  const { outcomes } = await engine.write('addBatch', context, {
    items: [
      belief('a', 'b', 'c'),
      { grainType: 'belief', fields: { subject: 'no object', relation: 'r' } },
      { grainType: 'event', fields: { content: 'said', user_id: 'u' } },
      belief('a', 'b', 'c'),
      { grainType: 'nonsense', fields: {} },
    ],
  });
  assert.deepEqual(
    outcomes.map((outcome) => ('error' in outcome ? outcome.error.code : outcome.duplicate)),
    [false, 'VAL-E003', false, true, 'MEM-E005'],
  );
});

test('a dropped memory is gone at once and after a restart', async (t) => {
  const shard = await setUp(t);
  const { hash } = await shard.engine.write('add', context, belief('a', 'b', 'c', { user_id: 'u' }));
  const { keyFingerprint } = await shard.engine.write('dropMemory', context, {});
  assert.match(keyFingerprint, /^[0-9a-f]{16}$/);
  assert.throws(() => shard.engine.read('get', context, { hash }), code('MEM-E003'));
  await shard.reopen('abandon');
  // An interrupted deletion asks again.
  assert.deepEqual(await shard.engine.write('dropMemory', context, {}), { keyFingerprint });
  assert.throws(() => shard.engine.read('get', context, { hash }), code('MEM-E003'));
  for (let i = 0; i < 200; i++) {
    shard.engine.maintain(50);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const report = await shard.engine.write('verify', context, {});
  assert.deepEqual(report.findings, []);
});

test('verify passes over the remains of a dropped memory in the segments', async (t) => {
  const { engine } = await setUp(t);
  await engine.write('add', context, belief('a', 'b', 'c'));
  await engine.write('flush', context, {});
  await engine.write('dropMemory', context, {});
  const { findings, blocks } = await engine.write('verify', context, {});
  assert.deepEqual(findings, []);
  assert.ok(blocks > 0, 'its chunk is still there');
});

test('a file may contain a new version before the old one', async (t) => {
  const { engine } = await setUp(t);
  const { hash: a } = await engine.write('add', context, belief('Ada', 'lives_in', 'London'));
  const { newHash: b } = await engine.write('supersede', context, { oldHash: a, fields: { object: 'Paris' } });
  const blobs = [b, a].map((hash) => engine.read('getRaw', context, { hash }).blob);
  const other = { ...context, memory: 2 };
  await engine.write('attachMemory', other, { settings: settingsOf(2) });
  await engine.write('importBlobs', other, { blobs, manifest: [{ hash: a, supersededBy: b }] });
  for (const hash of [a, b]) {
    const { versions } = engine.read('history', other, { hash });
    assert.deepEqual(
      versions.map((version) => [version.hash, version.relation]),
      [
        [a, 'original'],
        [b, 'supersedes'],
      ],
    );
  }
});

test('a bound caller sees and writes only its namespace and user', async (t) => {
  const { engine } = await setUp(t);
  const bound = { ...context, namespace: 'mine', userId: 'u1' };
  const { hash: own } = await engine.write('add', bound, belief('a', 'b', 'c'));
  const { hash: foreign } = await engine.write('add', context, belief('d', 'e', 'f', { namespace: 'theirs' }));
  assert.equal(engine.read('get', bound, { hash: own }).namespace, 'mine');
  assert.throws(() => engine.read('get', bound, { hash: foreign }), code('MEM-E001'));
  await assert.rejects(engine.write('add', bound, belief('x', 'y', 'z', { namespace: 'theirs' })), code('AUT-E001'));
  assert.deepEqual(
    engine.read('list', bound, { filter: {}, limit: 10, order: 'desc' }).grains.map((grain) => grain.hash),
    [own],
  );
});

test('verify finds nothing wrong after seals, merges and removals', async (t) => {
  const shard = await setUp(t, { sealGrains: 50 });
  for (let round = 0; round < 12; round++) {
    const items = Array.from({ length: 50 }, (_, i) =>
      belief(`s${i}`, 'saw', `round ${round} item ${i}`, { user_id: `u${i % 3}` }),
    );
    await shard.engine.write('addBatch', context, { items });
    await shard.engine.write('flush', context, {});
  }
  await shard.engine.write('forget', context, { subject: 's7', check: false });
  while (shard.engine.maintain(20)) await new Promise((resolve) => setImmediate(resolve));
  const { totalGrains } = shard.engine.read('statistics', context, {});
  assert.equal(totalGrains, 12 * 49);
  assert.deepEqual((await shard.engine.write('verify', context, {})).findings, []);
  await shard.engine.write('compact', context, {});
  await shard.engine.write('rebuildIndexes', context, {});
  assert.deepEqual((await shard.engine.write('verify', context, {})).findings, []);
  assert.equal(shard.engine.read('statistics', context, {}).totalGrains, 12 * 49);
});

test('writes in the same group do not see what a forget or an erasure removed', async (t) => {
  const shard = await setUp(t);
  const item = belief('Ada', 'says', 'the same', { user_id: 'ada', created_at: 1_700_000_000 });
  const { hash } = await shard.engine.write('add', context, item);
  const [, again, refused] = await Promise.allSettled([
    shard.engine.write('forget', context, { hashes: [hash], check: false }),
    shard.engine.write('add', context, item),
    shard.engine.write('supersede', context, { oldHash: 'f'.repeat(64), fields: {} }),
  ]);
  assert.deepEqual(again.status === 'fulfilled' && again.value.duplicate, false);
  assert.equal(refused.status, 'rejected');
  const [, later] = await Promise.all([
    shard.engine.write('eraseUser', context, { userId: 'ada' }),
    shard.engine.write('add', context, belief('Ada', 'says', 'something new', { user_id: 'ada' })),
  ]);
  for (const how of ['none', 'abandon'] as const) {
    if (how !== 'none') await shard.reopen(how);
    assert.equal(shard.engine.read('get', context, { hash: later.hash }).userId, 'ada', how);
    assert.throws(() => shard.engine.read('get', context, { hash }), code(how === 'none' ? 'MEM-E006' : 'MEM-E001'));
  }
  const [, orphan] = await Promise.allSettled([
    shard.engine.write('dropMemory', context, {}),
    shard.engine.write('add', context, belief('a', 'b', 'c')),
  ]);
  assert.ok(orphan.status === 'rejected' && code('MEM-E003')(orphan.reason));
});

test('a crash right after a rebuild leaves the rebuilt segments in use', async (t) => {
  const shard = await setUp(t);
  const { hash } = await shard.engine.write('add', context, belief('a', 'b', 'c'));
  await shard.engine.write('flush', context, {});
  await shard.engine.write('rebuildIndexes', context, {});
  await shard.reopen('abandon');
  assert.deepEqual(shard.engine.read('health', context, {}).reasons, []);
  assert.equal(shard.engine.read('get', context, { hash }).hash, hash);
});

test('a backup opens with the segments that it was taken with, also after a rebuild', async (t) => {
  const { engine, directory } = await setUp(t);
  const { hash } = await engine.write('add', context, belief('a', 'b', 'c'));
  await engine.write('rebuildIndexes', context, {});
  const root = join(directory, 'copy');
  const [dataDirectory, keysDirectory] = [join(root, 'shard-0'), join(root, 'keys', 'shard-0')];
  await engine.write('backup', context, { dataDirectory, keysDirectory });
  const copy = await openShard(root);
  const { reasons, segments } = copy.read('health', context, {});
  const found = copy.read('get', context, { hash }).hash;
  await copy.close();
  assert.deepEqual({ reasons, segments, found }, { reasons: [], segments: 1, found: hash });
});

for (const method of ['flush', 'compact', 'rebuildIndexes'] as const)
  test(`${method} keeps files that the log may name until the next open when the sync of its transaction fails`, async (t) => {
    const store = new MemoryLogStore();
    let log = new FaultyLog(new MemoryLog(store));
    const shard = await setUp(t, { log: () => (log = new FaultyLog(new MemoryLog(store))) });
    const { hash } = await shard.engine.write('add', context, belief('a', 'b', 'c'));
    if (method === 'compact') {
      await shard.engine.write('flush', context, {});
      const other = await shard.engine.write('add', context, belief('d', 'e', 'f'));
      await shard.engine.write('forget', context, { hashes: [other.hash], check: false });
      await shard.engine.write('flush', context, {});
    }
    log.failNextSync({ written: true });
    await assert.rejects(shard.engine.write(method, context, {}), code('STO-E001'));
    await shard.reopen('abandon');
    assert.deepEqual(shard.engine.read('health', context, {}).reasons, []);
    assert.equal(shard.engine.read('get', context, { hash }).hash, hash);
  });

test('a compaction that the disk refuses does not block the next seal', async (t) => {
  const store = new MemoryLogStore();
  let log = new FaultyLog(new MemoryLog(store));
  const { engine } = await setUp(t, { log: () => (log = new FaultyLog(new MemoryLog(store))) });
  for (const name of ['a', 'b']) {
    await engine.write('add', context, belief(name, 'is', name));
    await engine.write('flush', context, {});
  }
  log.failNextAppend();
  await assert.rejects(engine.write('compact', context, {}), code('STO-E001'));
  await engine.write('add', context, belief('c', 'is', 'c'));
  assert.deepEqual(await engine.write('flush', context, {}), { flushed: 1, pending: 0 });
  await engine.write('compact', context, {});
  assert.equal(engine.read('health', context, {}).segments, 1);
});
