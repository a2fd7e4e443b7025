import assert from 'node:assert/strict';
import fs, { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { smallDisk, temporaryDirectory } from '../../../../test/support/temporary.ts';
import { EngineError } from '../../base/errors.ts';
import { SCAN_PAGE_BYTES, SCAN_PAGE_RECORDS } from '../../base/limits.ts';
import { logConformance } from '../log.conformance.ts';
import { CorruptRecord } from '../log.ts';
import { PAGE_BYTES } from './environment.ts';
import { type LogStamp, openLmdbLog } from './lmdb-log.ts';

const stamp: LogStamp = { formatVersion: 1, shard: 0, shards: 8 };
/** Small, so that the tests force the map to grow. */
const MAP_BYTES = 1_048_576;

logConformance('lmdb', { open: (directory) => openLmdbLog(directory, { stamp, mapSizeBytes: MAP_BYTES }) });

function storageFailure(pattern: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof EngineError && error.code === 'STO-E001' && pattern.test(error.message);
}

test('a log of another version, number of shards or shard is refused with both named', async (t) => {
  const directory = temporaryDirectory(t);
  await openLmdbLog(directory, { stamp: { formatVersion: 2, shard: 3, shards: 8 } }).close();
  const open = (wanted: LogStamp) => () => openLmdbLog(directory, { stamp: wanted });
  assert.throws(
    open({ formatVersion: 1, shard: 3, shards: 8 }),
    storageFailure(/format version 2, this server reads version 1: it was written by a newer version/),
  );
  assert.throws(open({ formatVersion: 3, shard: 3, shards: 8 }), storageFailure(/version 2.*version 3.*older version/));
  assert.throws(
    open({ formatVersion: 4, readsFrom: 3, shard: 3, shards: 8 }),
    storageFailure(/version 2.*version 4.*older version/),
  );
  assert.throws(open({ formatVersion: 2, shard: 3, shards: 4 }), storageFailure(/of 8 shards, not 4/));
  assert.throws(open({ formatVersion: 2, shard: 1, shards: 8 }), storageFailure(/is shard 3, not shard 1/));
  const log = openLmdbLog(directory, { stamp: { formatVersion: 2, shard: 3, shards: 8 } });
  assert.equal(await log.append({ records: [Buffer.from('a')] }), 1);
  await log.close();
  // A log of a readable older version is stamped again, because new records have the newer version.
  await openLmdbLog(directory, { stamp: { formatVersion: 3, readsFrom: 2, shard: 3, shards: 8 } }).close();
  assert.throws(open({ formatVersion: 2, shard: 3, shards: 8 }), storageFailure(/version 3.*version 2.*newer version/));
});

test('a file that is not a log, or has damaged first pages, is refused', async (t) => {
  const directory = temporaryDirectory(t);
  const path = join(directory, 'data.mdb');
  writeFileSync(path, Buffer.alloc(8_192, 7));
  assert.throws(() => openLmdbLog(directory, { stamp }), storageFailure(/is not a log/));
  rmSync(path);
  await openLmdbLog(directory, { stamp }).close();
  const whole = readFileSync(path);
  const pageBytes = whole.readUInt32LE(48);
  const damages: readonly [RegExp, (data: Buffer) => Buffer][] = [
    [/is not a log/, (data) => data.fill(0, 24, 28)],
    [/LMDB data version 3, this server reads 2/, (data) => data.fill(3, 28, 29)],
    [/cut short/, (data) => data.subarray(0, pageBytes + 100)],
    [/second page/, (data) => data.fill(0xff, pageBytes, pageBytes * 2)],
  ];
  for (const [pattern, damage] of damages) {
    writeFileSync(path, damage(Buffer.from(whole)));
    assert.throws(() => openLmdbLog(directory, { stamp }), storageFailure(pattern));
  }
  writeFileSync(path, whole);
  await openLmdbLog(directory, { stamp }).close();
});

test('on a full disk a new log is refused; an existing one opens and reads', async (t) => {
  const disk = smallDisk(t, 1_048_576);
  if (disk === undefined) return;
  const log = openLmdbLog(join(disk, 'log'), { stamp });
  await log.append({ records: [Buffer.from('a')] });
  await log.close();
  const ballast = openSync(join(disk, 'ballast'), 'w');
  assert.throws(() => {
    for (let i = 0; i < 1_000; i++) writeSync(ballast, Buffer.alloc(4_096));
  }, /ENOSPC/);
  closeSync(ballast);
  assert.throws(
    () => openLmdbLog(join(disk, 'new'), { stamp: { ...stamp, shard: 1 } }),
    storageFailure(/disk is full/),
  );
  const again = openLmdbLog(join(disk, 'log'), { stamp });
  assert.equal(Buffer.from(again.read(1)!).toString(), 'a');
  await assert.rejects(again.append({ records: [Buffer.alloc(50_000)] }), storageFailure(/no room/));
  rmSync(join(disk, 'ballast'));
  assert.equal(await again.append({ records: [Buffer.alloc(50_000)] }), 2);
  await again.close();
});

test('a thread can open a log only once', async (t) => {
  const directory = temporaryDirectory(t);
  const log = openLmdbLog(directory, { stamp });
  assert.throws(() => openLmdbLog(directory, { stamp }), { name: 'AssertionError' });
  await log.close();
  await openLmdbLog(directory, { stamp }).close();
});

test('a record whose bytes changed on disk is corrupt, and the rest reads on', async (t) => {
  const directory = temporaryDirectory(t);
  const log = openLmdbLog(directory, { stamp });
  await log.append({ records: [Buffer.from('first record'), Buffer.from('second record'), Buffer.from('third')] });
  await log.append({ records: [], state: [['name', Buffer.from('a state value')]] });
  await log.close();

  const path = join(directory, 'data.mdb');
  const data = readFileSync(path);
  // Older copies may remain in pages that were copied on write, so every copy is changed.
  for (const word of ['second record', 'a state value'])
    for (let at = data.indexOf(word); at >= 0; at = data.indexOf(word, at + 1)) data[at + 3]! ^= 0x10;
  writeFileSync(path, data);

  const again = openLmdbLog(directory, { stamp });
  assert.equal(Buffer.from(again.read(1)!).toString(), 'first record');
  assert.throws(
    () => again.read(2),
    (error) => error instanceof CorruptRecord && error.sequence === 2,
  );
  assert.deepEqual(
    [...again.scan(1)].map((record) => [record.sequence, record instanceof CorruptRecord]),
    [
      [1, false],
      [2, true],
      [3, false],
    ],
  );
  assert.throws(() => again.getState('name'), storageFailure(/"name".*checksum/));
  // The corrupt record can still be removed, and appends go on.
  assert.equal(await again.append({ records: [Buffer.from('fourth')], removals: [2] }), 4);
  assert.equal(again.read(2), undefined);
  await again.close();
});

test('logs of one thread commit side by side', async (t) => {
  const directory = temporaryDirectory(t);
  const logs = [0, 1, 2, 3].map((shard) => openLmdbLog(join(directory, String(shard)), { stamp: { ...stamp, shard } }));
  for (let round = 0; round < 20; round++) {
    const firsts = await Promise.all(logs.map((log, i) => log.append({ records: [Buffer.from(`${i}/${round}`)] })));
    assert.deepEqual(firsts, [round + 1, round + 1, round + 1, round + 1]);
  }
  for (const [i, log] of logs.entries()) {
    assert.deepEqual(
      [...log.scan(1)].map((record) => (record instanceof CorruptRecord ? '' : Buffer.from(record.bytes).toString())),
      Array.from({ length: 20 }, (_, round) => `${i}/${round}`),
    );
    await log.close();
  }
});

test('closing waits for the append that is under way', async (t) => {
  const directory = temporaryDirectory(t);
  const log = openLmdbLog(directory, { stamp });
  const append = log.append({ records: [Buffer.from('last')] });
  await log.close();
  assert.equal(await append, 1);
  const again = openLmdbLog(directory, { stamp });
  assert.equal(Buffer.from(again.read(1)!).toString(), 'last');
  await again.close();
});

test('a backup into a place that cannot be written is STO-E001, and the log goes on', async (t) => {
  const directory = temporaryDirectory(t);
  const log = openLmdbLog(join(directory, 'log'), { stamp });
  await log.append({ records: [Buffer.alloc(600_000, 1)] });
  const disk = smallDisk(t, 65_536);
  if (disk !== undefined) {
    await assert.rejects(log.backup(disk), storageFailure(/backup of/));
    assert.equal(await log.append({ records: [Buffer.from('on')] }), 2);
  }
  await log.close();
});

test('on a full disk appends are STO-E001, reads go on, and appends work again when there is room', async (t) => {
  const disk = smallDisk(t, 2 * 1_048_576);
  if (disk === undefined) return;
  const log = openLmdbLog(join(disk, 'log'), { stamp });
  const ballast = join(disk, 'ballast');
  writeFileSync(ballast, Buffer.alloc(512 * 1024));
  const record = Buffer.alloc(10_000, 1);
  let appended = 0;
  let refusal: unknown;
  while (refusal === undefined && appended < 1_000) {
    try {
      await log.append({ records: [record], state: [['appended', Buffer.from(String(appended + 1))]] });
      appended += 1;
    } catch (error) {
      refusal = error;
    }
  }
  assert.ok(storageFailure(/no room in/)(refusal), String(refusal));
  assert.ok(refusal instanceof EngineError && refusal.retryable);
  assert.equal(log.poisoned, undefined);
  // Repeated, since a refusal must not disturb the next one.
  for (let i = 0; i < 5; i++)
    await assert.rejects(log.append({ records: [Buffer.alloc(200_000, 2), record] }), storageFailure(/no room in/));
  assert.equal(log.nextSequence, appended + 1);
  const check = (): void => {
    assert.equal([...log.scan(1)].length, appended);
    assert.equal(Buffer.from(log.getState('appended')!).toString(), String(appended));
    assert.ok(record.equals(log.read(appended)!));
    assert.equal(log.read(appended + 1), undefined);
  };
  check();

  rmSync(ballast);
  assert.equal(
    await log.append({ records: [record], state: [['appended', Buffer.from(String(appended + 1))]] }),
    appended + 1,
  );
  appended += 1;
  check();
  await log.close();
  const again = openLmdbLog(join(disk, 'log'), { stamp });
  assert.equal([...again.scan(1)].length, appended);
  await again.close();
});

test('a disk that does not say how much is free takes no append, and the log goes on', async (t) => {
  const log = openLmdbLog(temporaryDirectory(t), { stamp });
  const failing = t.mock.method(fs, 'statfsSync', () => {
    throw Object.assign(new Error('EIO: on purpose'), { code: 'EIO', errno: -5, syscall: 'statfs' });
  });
  syncBuiltinESMExports();
  try {
    assert.throws(() => log.checkRoom(1), storageFailure(/EIO: on purpose/));
    await assert.rejects(log.append({ records: [Buffer.alloc(300)] }), storageFailure(/EIO: on purpose/));
  } finally {
    failing.mock.restore();
    syncBuiltinESMExports();
  }
  assert.equal(log.poisoned, undefined);
  assert.equal(await log.append({ records: [Buffer.alloc(300)] }), 1);
  await log.close();
});

test('the folder of a log may have a dot in its name', async (t) => {
  const directory = join(temporaryDirectory(t), 'data.dir');
  mkdirSync(directory);
  const log = openLmdbLog(directory, { stamp });
  await log.append({ records: [Buffer.from('a')] });
  await log.close();
  assert.ok(readFileSync(join(directory, 'data.mdb')).length > 0);
});

test('the files are checked while appends go on, and a damaged page is described', async (t) => {
  const directory = temporaryDirectory(t);
  const log = openLmdbLog(directory, { stamp });
  const append = async (): Promise<void> => {
    for (let i = 0; log.nextSequence < 300; i++) {
      const removals = i > 2 ? [i, i + 1] : [];
      await log.append({ records: [Buffer.alloc(9_000, i), Buffer.alloc(300, i), Buffer.alloc(300, i)], removals });
    }
  };
  let isDone = false;
  const appending = append().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    for (const steps = log.checkFiles!(); ; ) {
      const step = steps.next();
      if (step.done === true) {
        assert.equal(step.value, undefined);
        break;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  await appending;
  // Every page claims another page number.
  const path = join(directory, 'data.mdb');
  const bytes = readFileSync(path);
  const fd = openSync(path, 'r+');
  for (let page = 2; page < bytes.length / PAGE_BYTES; page++) writeSync(fd, Buffer.of(0xee), 0, 1, page * PAGE_BYTES);
  closeSync(fd);
  let said: string | undefined;
  for (const steps = log.checkFiles!(); said === undefined; ) {
    const step = steps.next();
    if (step.done === true) said = step.value ?? 'nothing';
  }
  assert.match(said, /page \d+ of .*data.mdb is damaged/);
  await log.close();
});

for (const [code, isDamage] of [
  ['EMFILE', false],
  ['EIO', true],
] as const)
  test(`a check of the files that ends with ${code} ${isDamage ? 'names damage' : 'is no sign of damage'}`, async (t) => {
    const log = openLmdbLog(temporaryDirectory(t), { stamp });
    await log.append({ records: [Buffer.alloc(300)] });
    const failing = t.mock.method(fs, 'openSync', () => {
      throw Object.assign(new Error(`${code}: on purpose`), { code, errno: -1, syscall: 'open' });
    });
    syncBuiltinESMExports();
    try {
      assert.match(log.checkFiles!().next().value ?? '', new RegExp(`cannot be read.*${code}`));
    } finally {
      failing.mock.restore();
      syncBuiltinESMExports();
    }
    assert.equal(log.damaged !== undefined, isDamage);
    await log.close();
  });

test('a page of state says that no other follows, unless it is full', async (t) => {
  const log = openLmdbLog(temporaryDirectory(t), { stamp });
  const keys = Array.from({ length: SCAN_PAGE_RECORDS + 1 }, (_, i) => `many/${String(i).padStart(4, '0')}`);
  const large = Buffer.alloc(SCAN_PAGE_BYTES);
  await log.append({
    records: [],
    state: [...['few/1', 'few/2', ...keys].map((key) => [key, Buffer.of(1)] as const), ['large/1', large]],
  });
  const lastOf = (prefix: string, after?: string) => log.statePage(prefix, after).last;
  assert.deepEqual(
    [lastOf('none/'), lastOf('few/'), lastOf('many/'), lastOf('many/', keys[0]), lastOf('many/', keys[1])],
    [undefined, undefined, keys.at(-2), keys.at(-1), undefined],
  );
  assert.equal(lastOf('large/'), 'large/1');
  assert.deepEqual(log.statePage('large/', 'large/1'), { entries: [], last: undefined });
  await log.close();
});
