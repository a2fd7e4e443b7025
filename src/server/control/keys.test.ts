import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StepClock } from '../../../test/support/step-clock.ts';
import { FaultyLog } from '../../engine/log/faulty.ts';
import { MemoryLog, MemoryLogStore } from '../../engine/log/memory.ts';
import { CONTROL_KEY } from '../testing/parts.ts';
import { eraseKey, Keys } from './keys.ts';
import { removedFromControl } from './removed-since.ts';
import { ControlStore } from './store.ts';

test('the time of a key’s last use is stored once the log accepts it', async () => {
  const clock = new StepClock();
  const disk = new MemoryLogStore();
  const log = new FaultyLog(new MemoryLog(disk));
  const store = ControlStore.open(log, CONTROL_KEY, clock);
  const keys = new Keys(store, clock);
  const { key, raw } = await keys.create({ name: 'one', scopes: ['read'] }, 'system');
  assert.ok(keys.authenticate(raw) !== undefined);
  log.failNextAppend();
  await assert.rejects(keys.writeUses({ all: true }), { code: 'STO-E001' });
  await keys.writeUses({ all: true });
  await store.close();
  const again = ControlStore.open(new MemoryLog(disk), CONTROL_KEY, clock);
  assert.equal(again.get('key', key.keyId)?.lastUsedAtMs, clock.now);
});

test('ended keys make room for new ones, the first to end first, and the trail keeps their entries', async () => {
  const clock = new StepClock();
  const store = ControlStore.open(new MemoryLog(new MemoryLogStore()), CONTROL_KEY, clock);
  const keys = new Keys(store, clock, { max: 4, removedMax: 1 });
  const make = async (name: string, expiresAtMs?: number) =>
    (await keys.create({ name, scopes: ['read'], expiresAtMs }, 'system')).key;
  // A start would make the first key again if its record were gone.
  await keys.setBootstrap(`gr_${'0'.repeat(64)}`);
  const first = keys.bootstrap() ?? assert.fail('there is a first key');
  await keys.revoke(first.keyId, 'system');
  const [late, early] = [await make('late', clock.now + 2_000), await make('early', clock.now + 1_000)];
  const revoked = await make('revoked');
  await assert.rejects(make('more'), { code: 'LIM-E002' });
  assert.equal(keys.list().length, 4);
  clock.now += 2_500;
  await keys.revoke(revoked.keyId, 'system');
  for (const ended of [early, late, revoked]) {
    await make(`in place of ${ended.name}`);
    assert.equal(keys.find(ended.keyId), undefined, ended.name);
    assert.equal(keys.list().length, 4);
  }
  await assert.rejects(make('more'), { code: 'LIM-E002' });
  assert.ok(keys.find(first.keyId) !== undefined);
  const made = [...store.auditEntries()].filter(({ event }) => event === 'auth.key_created');
  assert.equal(made.length, 7);
});

test('a copy does not bring back a key whose record has made room, nor the name of its person', async () => {
  const clock = new StepClock();
  const disk = new MemoryLogStore();
  const store = ControlStore.open(new MemoryLog(disk), CONTROL_KEY, clock);
  const keys = new Keys(store, clock, { max: 2, removedMax: 2 });
  const { key: revoked } = await keys.create({ name: 'revoked', scopes: ['read'] }, 'system');
  const { key: erased } = await keys.create({ name: 'of ann', scopes: ['read'], userId: 'ann' }, 'system');
  const copy = ControlStore.open(new MemoryLog(disk.clone()), CONTROL_KEY, clock);
  await keys.revoke(revoked.keyId, 'system');
  await store.commit((change) => eraseKey(change, erased, { actor: 'system', nowMs: clock.now }));
  await keys.create({ name: 'new', scopes: ['read'] }, 'system');
  assert.equal(keys.list().length, 1);
  const since = removedFromControl(copy, store);
  assert.deepEqual(
    [since.keys, since.erasedKeys].map((some) => some.map(({ keyId }) => keyId)),
    [[revoked.keyId], [erased.keyId]],
  );
});
