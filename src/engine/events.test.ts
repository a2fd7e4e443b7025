// Events of a memory in one partition: which changes make one, their numbers over crashes and rebuilds, and what a reader
// hears of them.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../test/support/shard.ts';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { EVENTS_EXAMINED_MAX, EVENTS_KEPT_MS } from './base/limits.ts';
import type { CallContext } from './calls/context.ts';
import type { EventView } from './calls/events.ts';
import type { Engine } from './engine.ts';
import type { JsonObject } from './grain/api/json-value.ts';

const context = contextOf(1);

interface Shard {
  engine: Engine;
  nowMs: number;
  reopen(how: 'close' | 'abandon'): Promise<void>;
}

async function begun(t: TestContext, policy?: JsonObject): Promise<Shard> {
  const root = temporaryDirectory(t);
  const open = () => openShard(root, { clock: { nowMs: () => shard.nowMs } });
  const shard: Shard = {
    nowMs: 1_760_000_000_000,
    // Set before anything reads it.
    engine: undefined as unknown as Engine,
    reopen: async (how) => {
      await shard.engine[how]();
      shard.engine = await open();
    },
  };
  shard.engine = await open();
  t.after(() => shard.engine.close());
  const sealed = policy === undefined ? {} : { policy: { presets: [], overrides: policy, sealedBy: 'test' } };
  await shard.engine.write('attachMemory', context, { settings: { ...settingsOf(1), ...sealed } });
  return shard;
}

function belief(object: string, more: JsonObject = {}) {
  return { grainType: 'belief', fields: { subject: 'Ada', relation: 'likes', object, ...more }, sync: false };
}

async function heard({ engine }: Shard, after = 0, caller: CallContext = context): Promise<readonly EventView[]> {
  return (await engine.write('events', caller, { after })).events;
}

const kindsOf = (events: readonly EventView[]): string[] => events.map(({ kind }) => kind);

test('each change makes its events, numbered from 1 without gaps', async (t) => {
  const shard = await begun(t);
  const { engine } = shard;
  const { hash } = await engine.write('add', context, belief('tea', { user_id: 'u1' }));
  await engine.write('add', context, belief('tea', { user_id: 'u1' }));
  const { newHash } = await engine.write('supersede', context, { oldHash: hash, fields: { object: 'coffee' } });
  await engine.write('forget', context, { hashes: [newHash], check: false });
  await engine.write('consent', context, { items: [{ userId: 'u1', purpose: 'ads', granted: true }] });
  await engine.write('restrict', context, { userId: 'u1', restricted: true });
  await engine.write('restrict', context, { userId: 'u1', restricted: true });
  await engine.write('restrict', context, { userId: 'u1', restricted: false });
  await engine.write('rotateKeys', context, { scope: 'memory' });
  const change = { presets: [], overrides: { retention: { default_ttl_days: 400 } }, reason: 'kept shorter' };
  await engine.write('setPolicy', { ...context, reason: 'kept shorter' }, { change, isAdmin: true });
  await engine.write('enforceRetention', context, { dryRun: false });
  await engine.write('note', context, { event: 'verify.run', details: { run_id: 'vrf_1', pass: 3 } });
  await engine.write('note', context, { event: 'memory.flushed', details: { flushed: 1 } });
  await engine.write('eraseUser', context, { userId: 'u1' });
  const events = await heard(shard);
  assert.deepEqual(kindsOf(events), [
    'grain_created',
    'grain_superseded',
    'grain_forgotten',
    ...['grain_created', 'consent_granted'],
    'processing_restricted',
    'processing_unrestricted',
    'key_rotated',
    'policy_changed',
    'retention_enforced',
    'verify_finished',
    'crypto_erase',
  ]);
  assert.deepEqual(
    events.map(({ sequence }) => sequence),
    events.map((_, i) => i + 1),
  );
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
  assert.deepEqual(events.find(({ kind }) => kind === 'verify_finished')?.details, { pass: 3, run_id: 'vrf_1' });
});

test('an event shows the grain as it is now', async (t) => {
  const shard = await begun(t);
  const { engine } = shard;
  const { hash } = await engine.write('add', context, belief('tea', { user_id: 'u1', namespace: 'n1' }));
  const { newHash } = await engine.write('supersede', context, { oldHash: hash, fields: { object: 'coffee' } });
  const [created, superseded] = await heard(shard);
  const grain = { grainType: 'belief', namespace: 'n1', subject: 'Ada', relation: 'likes', userId: 'u1' };
  const { id, ...told } = created!;
  assert.match(id, /^[0-9a-f]{32}$/);
  const kind = 'grain_created';
  assert.deepEqual(told, {
    ...grain,
    ...{ sequence: 1, kind, timestampMs: shard.nowMs, hash, object: 'tea', details: {} },
  });
  assert.deepEqual(
    [superseded?.hash, superseded?.oldHash, superseded?.object, superseded?.userId],
    [newHash, hash, 'coffee', 'u1'],
  );
  await engine.write('forget', context, { hashes: [hash, newHash], check: false });
  for (const event of await heard(shard)) {
    assert.equal(event.object, undefined, 'a forgotten grain is told by its hash alone');
    assert.equal(typeof event.hash, 'string');
  }
  await engine.write('eraseUser', context, { userId: 'u1' });
  const left = await heard(shard);
  assert.equal(left.length, 5);
  for (const { hash: told, oldHash, userId } of left)
    assert.deepEqual([told, oldHash, userId], [undefined, undefined, undefined]);
});

test('numbers go on after a restart, a crash and a rebuild, and the events read alike', async (t) => {
  const shard = await begun(t);
  for (let i = 0; i < 3; i++) await shard.engine.write('add', context, belief(`tea ${i}`));
  const before = [...(await heard(shard))];
  for (const how of ['close', 'abandon'] as const) {
    await shard.reopen(how);
    assert.deepEqual(await heard(shard), before, how);
    await shard.engine.write('add', context, belief(`after ${how}`));
    const [event] = await heard(shard, before.length);
    assert.equal(event?.object, `after ${how}`);
    await shard.engine.write('forget', context, { hashes: [event!.hash!], check: false });
    before.push(...(await heard(shard, before.length)));
    assert.equal(before.at(-1)?.sequence, before.length);
  }
  await shard.engine.write('rebuildIndexes', context, {});
  assert.deepEqual(await heard(shard), before);
});

test('reads that are audited make no event, and do not hold up the numbers', async (t) => {
  const shard = await begun(t, { audit: { reads: true } });
  const { hash } = await shard.engine.write('add', context, belief('one'));
  for (let i = 0; i < 5; i++) {
    shard.engine.read('get', context, { hash });
    await shard.engine.write('flush', context, {});
  }
  await shard.engine.write('add', context, belief('two'));
  assert.deepEqual(
    (await heard(shard, 1)).map(({ object }) => object),
    ['two'],
  );
  const { entries } = await shard.engine.write('auditPage', context, {
    filter: { events: ['memory.read'] },
    limit: 100,
    order: 'asc',
  });
  assert.deepEqual(entries.at(-1)?.details, { count: 1 }, 'a page of events is audited as a read');
});

test('a page is bounded, and the next one continues', async (t) => {
  const shard = await begun(t);
  const count = EVENTS_EXAMINED_MAX + 10;
  for (let from = 0; from < count; from += 500) {
    const items = Array.from({ length: 500 }, (_, i) => belief(`tea ${from + i}`));
    await shard.engine.write('addBatch', context, { items });
  }
  await shard.engine.write('rotateKeys', context, { scope: 'memory' });
  const rare = await shard.engine.write('events', context, { after: 0, kinds: ['key_rotated'] });
  assert.deepEqual([rare.events.length, rare.next], [0, EVENTS_EXAMINED_MAX]);
  const rest = await shard.engine.write('events', context, { after: rare.next, kinds: ['key_rotated'] });
  assert.deepEqual(kindsOf(rest.events), ['key_rotated']);
  assert.deepEqual([rest.next, rest.newest], [rest.newest, rest.events[0]?.sequence]);
  let seen = 0;
  for (let after = 0; ; ) {
    const page = await shard.engine.write('events', context, { after, limit: 77 });
    assert.ok(page.events.length <= 77);
    for (const { sequence } of page.events) assert.equal(sequence, ++seen);
    after = page.next;
    if (after === page.newest) break;
  }
  assert.equal(seen, rest.newest);
  const small = await shard.engine.write('events', context, { after: 0, bytesMax: 1 });
  assert.equal(small.events.length, 1, 'the first event always fits');
});

test('events older than a week are gone, and the page says where the kept ones begin', async (t) => {
  const shard = await begun(t);
  await shard.engine.write('add', context, belief('old'));
  await shard.engine.write('add', context, belief('old too'));
  shard.nowMs += EVENTS_KEPT_MS + 1;
  assert.deepEqual(await shard.engine.write('events', context, { after: 0 }), {
    ...{ events: [], next: 2, newest: 2, oldest: 3, isPartial: false, forkedAt: [] },
  });
  await shard.engine.write('add', context, belief('new'));
  const page = await shard.engine.write('events', context, { after: 0 });
  assert.deepEqual([page.events.map(({ object }) => object), page.oldest, page.newest], [['new'], 3, 3]);
});

test('a caller hears nothing outside its binding', async (t) => {
  const shard = await begun(t);
  const { engine } = shard;
  const inside = await engine.write('add', context, belief('in', { namespace: 'n1', user_id: 'u1' }));
  const outside = await engine.write('add', context, belief('out', { namespace: 'n2', user_id: 'u2' }));
  await engine.write('consent', context, { items: [{ userId: 'u2', purpose: 'ads', granted: true }] });
  await engine.write('restrict', context, { userId: 'u3', restricted: true });
  await engine.write('rotateKeys', context, { scope: 'memory' });
  await engine.write('forget', context, { hashes: [inside.hash, outside.hash], check: false });
  for (const binding of [{ namespace: 'n1' }, { userId: 'u1' }, { namespace: 'n1', userId: 'u1' }]) {
    const told = await heard(shard, 0, { ...context, ...binding });
    assert.deepEqual(kindsOf(told), ['grain_created', 'grain_forgotten'], JSON.stringify(binding));
    for (const { hash } of told) assert.equal(hash, inside.hash);
  }
  const other = { ...context, userId: 'u2' };
  const known = ['grain_created', 'grain_created', 'consent_granted', 'grain_forgotten'];
  assert.deepEqual(kindsOf(await heard(shard, 0, other)), known);
  await engine.write('eraseUser', context, { userId: 'u2' });
  assert.deepEqual(kindsOf(await heard(shard, 0, other)), ['consent_granted', 'crypto_erase']);
});

test('a restricted person is not heard of, except that the restriction began', async (t) => {
  const shard = await begun(t);
  const { engine } = shard;
  await engine.write('add', context, belief('tea', { user_id: 'u1' }));
  const { hash } = await engine.write('add', context, belief('gone', { user_id: 'u1' }));
  await engine.write('forget', context, { hashes: [hash], check: false });
  await engine.write('restrict', context, { userId: 'u1', restricted: true });
  assert.deepEqual(kindsOf(await heard(shard)), ['processing_restricted']);
  await engine.write('restrict', context, { userId: 'u1', restricted: false });
  assert.equal((await heard(shard)).length, 5);
});

test('without free egress an event names no person and says nothing of the grain', async (t) => {
  const shard = await begun(t, { pii: { egress_action: 'redact' } });
  await shard.engine.write('add', context, belief('tea', { user_id: 'u1' }));
  await shard.engine.write('consent', context, { items: [{ userId: 'u1', purpose: 'ads', granted: true }] });
  const told = JSON.stringify(await heard(shard));
  for (const word of ['Ada', 'likes', 'tea', 'u1']) assert.ok(!told.includes(`"${word}"`), word);
  assert.match(told, /"namespace":"default"/);
});

test('a long text is left out, and the event says so', async (t) => {
  const shard = await begun(t);
  await shard.engine.write('add', context, belief('x'.repeat(100_000)));
  const [event] = await heard(shard);
  assert.deepEqual([event?.object, event?.omitted, event?.subject], [undefined, ['object'], 'Ada']);
});

test('a listener hears which memories have new events, and misses none', async (t) => {
  const shard = await begun(t);
  const { engine } = shard;
  await engine.write('attachMemory', context, { settings: settingsOf(2) });
  const start = await engine.write('awaitEvents', context, {});
  assert.equal(start.memories, undefined);
  const waiting = engine.write('awaitEvents', context, { after: start });
  assert.equal(engine.pendingWrites, 0, 'a listener is no unfinished work');
  await engine.write('flush', context, {});
  await engine.write('add', context, belief('tea'));
  const first = await waiting;
  assert.deepEqual(first.memories, [1]);
  await engine.write('add', contextOf(2), belief('tea'));
  await engine.write('add', context, belief('more tea'));
  const both = await engine.write('awaitEvents', context, { after: first });
  assert.deepEqual(both.memories, [2, 1]);
  const last = engine.write('awaitEvents', context, { after: both });
  await shard.reopen('close');
  assert.deepEqual((await last).memories, []);
  assert.equal((await shard.engine.write('awaitEvents', context, { after: both })).memories, undefined);
});

test('relations that the server found, extractions and imports have events of their own', async (t) => {
  const shard = await begun(t);
  const { engine } = shard;
  await engine.write('add', context, { ...belief('tea'), related: 3 });
  await engine.write('note', context, { event: 'memory.extracted', details: { count: 2 } });
  await engine.write('note', context, { event: 'memory.imported', details: { imported: 4, duplicates: 1, errors: 0 } });
  const [created, related, extracted, imported] = await heard(shard);
  assert.deepEqual(
    [created?.kind, related?.kind, extracted?.kind],
    ['grain_created', 'auto_related', 'memories_extracted'],
  );
  assert.deepEqual([related?.hash, related?.details], [created?.hash, { related: 3 }]);
  assert.equal(extracted?.count, 2);
  assert.deepEqual([imported?.kind, imported?.details], ['import_finished', { duplicates: 1, errors: 0, imported: 4 }]);
});
