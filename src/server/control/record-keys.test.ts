// Records that name a person are sealed under keys of their own: deleting the record destroys the key.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { StepClock } from '../../../test/support/step-clock.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { open } from '../../engine/crypto/envelope.ts';
import { MasterKey } from '../../engine/keys/master-key.ts';
import { CorruptRecord } from '../../engine/log/log.ts';
import { MemoryLog, MemoryLogStore } from '../../engine/log/memory.ts';
import { CONTROL_KEY } from '../testing/parts.ts';
import { endKey, Keys } from './keys.ts';
import { RecordKeys } from './record-keys.ts';
import { UNDER_OWN_KEY } from './records.ts';
import { ControlStore } from './store.ts';

const clock = new StepClock();
const MASTER = MasterKey.of(Buffer.alloc(32, 9));
const AAD = Buffer.from('control key');

function setUp(t: TestContext) {
  const directory = join(temporaryDirectory(t), 'control');
  const disk = new MemoryLogStore();
  const recordKeys = (master = MASTER) => new RecordKeys(directory, master, CONTROL_KEY);
  const reopened = (master = MASTER) => ControlStore.open(new MemoryLog(disk), CONTROL_KEY, clock, recordKeys(master));
  return { directory, disk, recordKeys, reopened };
}

/** API key records as stored in the log. */
const keyRecords = (disk: MemoryLogStore): Buffer[] =>
  [...new MemoryLog(disk.clone()).scan(1)]
    .flatMap((item) => (item instanceof CorruptRecord ? [] : [Buffer.from(item.bytes)]))
    .filter((bytes) => (bytes[0]! & 127) === 2);

test('a record that is renewed gets a key of its own, and its former versions cannot be opened', async (t) => {
  const { disk, recordKeys, reopened } = setUp(t);
  const store = reopened();
  const keys = new Keys(store, clock);
  const { key } = await keys.create({ name: 'of ann', scopes: ['read'], userId: 'ann' }, 'system');
  const [former] = keyRecords(disk);
  assert.ok(former !== undefined);
  const record = store.get('key', key.keyId)!;
  await store.commit((change) => change.renew('key', { ...record, name: 'renewed' }));
  assert.throws(() => open(recordKeys().get(former.readUInt32BE(1)), former.subarray(5), AAD), { code: 'CRY-E002' });
  await store.close();
  const again = reopened();
  assert.equal(again.get('key', key.keyId)?.name, 'renewed');
  await again.close();
});

test('once its key is erased, no version of a bound key’s record can be opened', async (t) => {
  const { disk, recordKeys, reopened } = setUp(t);
  const store = reopened();
  const keys = new Keys(store, clock);
  const { key, raw } = await keys.create({ name: 'of ann', scopes: ['read'], userId: 'ann' }, 'system');
  await keys.create({ name: 'of nobody', scopes: ['read'] }, 'system');
  const versions = keyRecords(disk).filter(([kind]) => kind! >= UNDER_OWN_KEY);
  // A use rewrites the record; the old bytes may stay on disk for long.
  assert.ok(keys.authenticate(raw) !== undefined);
  await keys.writeUses({ all: true });
  versions.push(...keyRecords(disk).filter(([kind]) => kind! >= UNDER_OWN_KEY));
  assert.equal(versions.length, 2);
  const older = disk.clone();
  const read = (own: RecordKeys): string[] =>
    versions.map((bytes) => open(own.get(bytes.readUInt32BE(1)), bytes.subarray(5), AAD).toString());
  assert.ok(read(recordKeys()).every((text) => text.includes('"ann"')));
  for (const bytes of versions) {
    assert.throws(() => open(CONTROL_KEY, bytes.subarray(5), AAD), { code: 'CRY-E001' });
    assert.throws(() => open(CONTROL_KEY, bytes.subarray(1), AAD), { code: 'CRY-E001' });
  }

  await store.commit((change) => endKey(change, store.get('key', key.keyId)!, { actor: 'system', nowMs: clock.now }));
  assert.throws(() => read(recordKeys()), { code: 'CRY-E002' });
  assert.ok(keyRecords(disk).every(([kind]) => kind! < UNDER_OWN_KEY));
  await store.close();
  const again = reopened();
  assert.deepEqual([again.get('key', key.keyId)?.erased, again.count('key')], [true, 2]);
  assert.deepEqual((await again.verify()).findings, []);
  await again.close();

  // An older copy of the log with current keys: the record is skipped, the rest is read.
  const restored = ControlStore.open(new MemoryLog(older), CONTROL_KEY, clock, recordKeys());
  assert.deepEqual(
    [...restored.values('key')].map(({ name }) => name),
    ['of nobody'],
  );
  assert.deepEqual((await restored.verify()).findings, []);
});

test('the next start destroys the key of a record deleted by an interrupted change; others open under a new master key', async (t) => {
  const { recordKeys, reopened } = setUp(t);
  const store = reopened();
  const { key } = await new Keys(store, clock).create({ name: 'of ann', scopes: ['read'], userId: 'ann' }, 'system');
  await store.close();
  const cut = recordKeys();
  const left = cut.make();
  cut.flush();
  cut.close();
  const next = MasterKey.of(Buffer.alloc(32, 8), Buffer.alloc(32, 9));
  const again = reopened(next);
  assert.equal(await again.rewrapKeys(next), 1);
  await again.close();
  const alone = next.alone();
  assert.equal(recordKeys(alone).isDestroyed(left), true);
  const last = reopened(alone);
  assert.equal(last.get('key', key.keyId)?.userId, 'ann');
});

test('the error for a lost record key names its folder', async (t) => {
  const { directory, reopened } = setUp(t);
  const store = reopened();
  await new Keys(store, clock).create({ name: 'of ann', scopes: ['read'], userId: 'ann' }, 'system');
  await store.close();
  rmSync(directory, { recursive: true });
  assert.throws(
    () => reopened(),
    (error) => error instanceof EngineError && error.code === 'STO-E001' && error.message.includes(directory),
  );
});
