import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { smallDisk, temporaryDirectory } from '../../../test/support/temporary.ts';
import { EngineError, type ErrorCode } from '../base/errors.ts';
import { bucketFileName } from './bucket-files.ts';
import { KeyStore, MissingKey } from './key-store.ts';
import { MasterKey } from './master-key.ts';
import { SLOT_BYTES, SLOTS_PER_BUCKET, slotOffset } from './slot.ts';

const master = MasterKey.of(Buffer.alloc(32, 1));

function withCode(code: ErrorCode, pattern?: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof EngineError && error.code === code && (pattern?.test(error.message) ?? true);
}

/** A store with `count` flushed user keys, and their values by id. */
function filled(directory: string, count: number): { store: KeyStore; keys: Map<number, string> } {
  const store = KeyStore.open(directory, master, { name: 'shard-0' });
  const keys = new Map<number, string>();
  for (let i = 0; i < count; i++) {
    const { id, key } = store.allocate('user');
    keys.set(id, key.toString('hex'));
  }
  store.flush();
  return { store, keys };
}

test('keys get dense ids from 1 and come back after the store is opened again, over several buckets', (t) => {
  const directory = temporaryDirectory(t);
  const { keys } = filled(directory, SLOTS_PER_BUCKET * 2 + 3);
  assert.deepEqual(
    [...keys.keys()],
    Array.from({ length: SLOTS_PER_BUCKET * 2 + 3 }, (_, i) => i + 1),
  );
  assert.deepEqual(readdirSync(directory).sort(), [0, 1, 2].map(bucketFileName));
  const again = KeyStore.open(directory, master, { name: 'shard-0' });
  for (const [id, key] of keys) assert.equal(again.get(id).toString('hex'), key);
  assert.equal(again.liveCount, keys.size);
  assert.equal(again.nextId, keys.size + 1);
  assert.equal(again.kind(1), 'user');
  assert.deepEqual(again.verify(), []);
});

test('a staged key can be used, and is on disk only after the flush', (t) => {
  const directory = temporaryDirectory(t);
  const store = KeyStore.open(directory, master, { name: 'shard-0' });
  const { id, key } = store.allocate('blob');
  assert.deepEqual(store.get(id), key);
  assert.equal(store.state(id), 'live');
  const before = KeyStore.open(directory, master, { name: 'shard-0' });
  assert.equal(before.state(id), 'missing');
  assert.throws(() => before.get(id), MissingKey);
  store.flush();
  assert.deepEqual(KeyStore.open(directory, master, { name: 'shard-0' }).get(id), key);
});

test('changing a copy of a key does not change the store', (t) => {
  const { store, keys } = filled(temporaryDirectory(t), 1);
  store.get(1).fill(0);
  assert.equal(store.get(1).toString('hex'), keys.get(1));
});

test('a destroyed key leaves its fingerprint and time, once, and nothing of its wrapped bytes in any file', (t) => {
  const directory = temporaryDirectory(t);
  const { store, keys } = filled(directory, 3);
  const path = join(directory, bucketFileName(0));
  const wrapped = readFileSync(path).subarray(slotOffset(2) + 24, slotOffset(2) + 84);
  const fingerprint = createHash('sha256')
    .update(Buffer.from(keys.get(2)!, 'hex'))
    .digest('hex')
    .slice(0, 16);
  assert.equal(store.fingerprint(2), fingerprint);
  assert.deepEqual(store.destroy([2], 1_000), [{ id: 2, fingerprint }]);
  for (const opened of [store, KeyStore.open(directory, master, { name: 'shard-0' })]) {
    assert.equal(opened.state(2), 'destroyed');
    assert.throws(() => opened.get(2), withCode('CRY-E002'));
    assert.equal(opened.tombstone(2)?.destroyedMs, 1_000);
    assert.equal(opened.fingerprint(2), fingerprint);
    assert.equal(opened.get(1).toString('hex'), keys.get(1));
    assert.equal(opened.get(3).toString('hex'), keys.get(3));
    assert.equal(opened.liveCount, 2);
  }
  for (const file of readdirSync(directory)) assert.equal(readFileSync(join(directory, file)).includes(wrapped), false);
  assert.deepEqual(store.destroy([2, 3, 3], 2_000)[0], { id: 2, fingerprint });
  assert.equal(store.tombstone(2)?.destroyedMs, 1_000);
  assert.deepEqual(
    [...store.tombstones()].map(({ id, kind, destroyedMs }) => [id, kind, destroyedMs]),
    [
      [2, 'user', 1_000],
      [3, 'user', 2_000],
    ],
  );
  assert.throws(() => store.destroy([99], 3_000), MissingKey);
});

test('a slot torn by a crash counts as unused, and its id is given again', (t) => {
  const directory = temporaryDirectory(t);
  const { keys } = filled(directory, 5);
  const path = join(directory, bucketFileName(0));
  const bytes = readFileSync(path);
  bytes.fill(0xa5, slotOffset(5) + 40, slotOffset(5) + 60);
  writeFileSync(path, bytes);
  const store = KeyStore.open(directory, master, { name: 'shard-0' });
  assert.equal(store.state(5), 'missing');
  assert.deepEqual(store.verify(), []);
  const { id, key } = store.allocate('scope');
  assert.equal(id, 5);
  store.flush();
  assert.deepEqual(KeyStore.open(directory, master, { name: 'shard-0' }).get(5), key);
  assert.equal(store.get(4).toString('hex'), keys.get(4));
});

test('a bucket file that a crash truncates anywhere loses at most the slots past the cut', (t) => {
  const directory = temporaryDirectory(t);
  const { keys } = filled(directory, 6);
  const path = join(directory, bucketFileName(0));
  const whole = readFileSync(path);
  for (let length = 0; length <= slotOffset(7); length += 37) {
    writeFileSync(path, whole);
    truncateSync(path, length);
    const store = KeyStore.open(directory, master, { name: 'shard-0' });
    const kept = Math.min(6, Math.max(0, Math.floor((length - slotOffset(1)) / SLOT_BYTES)));
    assert.equal(store.nextId, kept + 1, `${length} bytes`);
    const { id, key } = store.allocate('user');
    store.flush();
    const again = KeyStore.open(directory, master, { name: 'shard-0' });
    assert.deepEqual(again.get(id), key);
    for (let i = 1; i <= kept; i++) assert.equal(again.get(i).toString('hex'), keys.get(i));
    assert.deepEqual(again.verify(), []);
  }
});

test('verify names a damaged slot and a key that does not unwrap', (t) => {
  const directory = temporaryDirectory(t);
  const { store, keys } = filled(directory, 4);
  store.copyTo(join(directory, 'other'));
  const path = join(directory, bucketFileName(0));
  const bytes = readFileSync(path);
  bytes[slotOffset(2) + 50]! ^= 1;
  writeFileSync(path, bytes);
  const again = KeyStore.open(directory, master, { name: 'shard-0' });
  assert.deepEqual(again.verify(), [{ bucket: 0, id: 2, problem: 'the slot is damaged' }]);
  assert.throws(() => again.get(2), MissingKey);
  assert.equal(again.get(3).toString('hex'), keys.get(3));
});

test('a bucket of another store, of another number or of another format is refused by name', (t) => {
  const directory = temporaryDirectory(t);
  const { store } = filled(directory, SLOTS_PER_BUCKET + 1);
  store.copyTo(join(directory, 'copy'));
  const copy = join(directory, 'copy');
  assert.throws(
    () => KeyStore.open(copy, master, { name: 'shard-1' }),
    withCode('STO-E001', /"shard-0", not .* "shard-1"/),
  );
  writeFileSync(join(copy, bucketFileName(0)), readFileSync(join(copy, bucketFileName(1))));
  assert.throws(() => KeyStore.open(copy, master, { name: 'shard-0' }), withCode('STO-E001', /is bucket 1 of/));
});

test('a wrong master key is refused at open, by id', (t) => {
  const directory = temporaryDirectory(t);
  filled(directory, 1);
  const other = MasterKey.of(Buffer.alloc(32, 2));
  assert.throws(
    () => KeyStore.open(directory, other, { name: 'shard-0' }),
    withCode('AUT-E003', new RegExp(`${master.id}, but ${other.id} was given`)),
  );
});

test('rewrap: both master keys are needed until it has ended, then only the new one', (t) => {
  const directory = temporaryDirectory(t);
  const { store, keys } = filled(directory, SLOTS_PER_BUCKET * 2 + 5);
  store.destroy([7], 1_000);
  const next = MasterKey.random();
  const both = next.accepting(master);
  const slices = store.rewrapSlices(next);
  slices.next();
  // A key created during the rotation is wrapped under the new master key.
  const { id, key } = store.allocate('user');
  store.flush();
  const cutOff = KeyStore.open(directory, both, { name: 'shard-0' });
  assert.deepEqual(cutOff.get(id), key);
  assert.equal(cutOff.get(300).toString('hex'), keys.get(300));
  assert.equal(cutOff.get(1).toString('hex'), keys.get(1));
  assert.throws(() => KeyStore.open(directory, master, { name: 'shard-0' }), withCode('AUT-E003'));
  assert.throws(() => KeyStore.open(directory, next, { name: 'shard-0' }), withCode('AUT-E003'));
  // A second run after a crash completes the remaining keys, and only those.
  assert.equal(cutOff.rewrap(next), SLOTS_PER_BUCKET + 5);
  const done = KeyStore.open(directory, next, { name: 'shard-0' });
  for (const [known, value] of keys) if (known !== 7) assert.equal(done.get(known).toString('hex'), value);
  assert.equal(done.state(7), 'destroyed');
  assert.deepEqual(done.verify(), []);
  assert.equal(done.rewrap(next), 0);
});

test('current tombstones destroy the keys that a restored backup brings back', (t) => {
  const directory = temporaryDirectory(t);
  const { store, keys } = filled(join(directory, 'now'), SLOTS_PER_BUCKET + 4);
  const restoredAt = join(directory, 'restored');
  store.copyTo(restoredAt);
  const late = store.allocate('user').id;
  store.flush();
  store.destroy([3, SLOTS_PER_BUCKET + 2, late], 5_000);
  const restored = KeyStore.open(restoredAt, master, { name: 'shard-0' });
  assert.equal(restored.get(3).toString('hex'), keys.get(3));
  assert.equal(restored.applyTombstones(store.tombstones()), 3);
  assert.equal(restored.applyTombstones(store.tombstones()), 0);
  for (const opened of [restored, KeyStore.open(restoredAt, master, { name: 'shard-0' })]) {
    assert.deepEqual([...opened.tombstones()], [...store.tombstones()]);
    assert.throws(() => opened.get(3), withCode('CRY-E002'));
    assert.equal(opened.get(4).toString('hex'), keys.get(4));
    assert.equal(opened.nextId, late + 1);
    assert.equal(opened.liveCount, SLOTS_PER_BUCKET + 2);
  }
});

test('ids that a log names are not given again by a store that lost them', (t) => {
  const { store } = filled(temporaryDirectory(t), 2);
  store.reserve(10);
  store.reserve(4);
  assert.equal(store.allocate('user').id, 11);
  store.flush();
  assert.throws(() => store.get(10), MissingKey);
});

test('half-written files of a crash are deleted at open', (t) => {
  const directory = temporaryDirectory(t);
  filled(directory, 1);
  writeFileSync(join(directory, `${bucketFileName(0)}.tmp`), 'half');
  KeyStore.open(directory, master, { name: 'shard-0' });
  assert.deepEqual(readdirSync(directory), [bucketFileName(0)]);
});

test('on a full disk a flush is STO-E001, drops the staged keys, and works again when there is room', (t) => {
  const disk = smallDisk(t, 112 * 1024);
  if (disk === undefined) return;
  const store = KeyStore.open(join(disk, 'shard-0'), master);
  for (let i = 0; i < SLOTS_PER_BUCKET; i++) store.allocate('user');
  store.flush();
  const kept = store.get(1);
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(72 * 1024));
  const { id } = store.allocate('user');
  assert.throws(() => store.flush(), withCode('STO-E001', /disk is full/));
  assert.equal(store.state(id), 'missing');
  assert.deepEqual(store.get(1), kept);
  // Destruction needs no room either: it writes in place.
  store.destroy([2], 1_000);
  assert.equal(store.state(2), 'destroyed');
  rmSync(join(disk, 'ballast'));
  assert.equal(store.allocate('user').id, id);
  store.flush();
  store.destroy([1], 1_000);
  const again = KeyStore.open(join(disk, 'shard-0'), master);
  assert.equal(again.state(id), 'live');
  assert.equal(again.state(1), 'destroyed');
  assert.equal(again.state(2), 'destroyed');
});

test('any order of calls gives the same as a Map, across reopening', (t) => {
  const directory = temporaryDirectory(t);
  let run = 0;
  const command = fc.oneof(
    { weight: 4, arbitrary: fc.constant('allocate' as const) },
    { weight: 2, arbitrary: fc.constant('flush' as const) },
    { weight: 2, arbitrary: fc.nat({ max: 1_000 }) },
    { weight: 1, arbitrary: fc.constant('reopen' as const) },
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      const at = join(directory, String(run++));
      let store = KeyStore.open(at, master, { name: 's' });
      const durable = new Map<number, string | 'destroyed'>();
      let staged = new Map<number, string>();
      for (const step of commands) {
        if (step === 'allocate') {
          const { id, key } = store.allocate('index');
          staged.set(id, key.toString('hex'));
        } else if (step === 'reopen') {
          store = KeyStore.open(at, master, { name: 's' });
          staged = new Map();
        } else {
          store.flush();
          for (const [id, key] of staged) durable.set(id, key);
          staged = new Map();
          if (step === 'flush' || durable.size === 0) continue;
          const id = (step % durable.size) + 1;
          store.destroy([id], step);
          durable.set(id, 'destroyed');
        }
        assert.equal(store.nextId, durable.size + staged.size + 1);
      }
      for (const [id, value] of [...durable, ...staged]) {
        if (value === 'destroyed') assert.equal(store.state(id), 'destroyed');
        else assert.equal(store.get(id).toString('hex'), value);
      }
      assert.equal(store.liveCount, [...durable.values()].filter((value) => value !== 'destroyed').length);
    }),
    { numRuns: runs(20) },
  );
});
