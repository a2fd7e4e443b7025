import assert from 'node:assert/strict';
import fs, { closeSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { Random } from '../../../../test/support/random.ts';
import { runs } from '../../../../test/support/runs.ts';
import { smallDisk, temporaryDirectory } from '../../../../test/support/temporary.ts';
import { contentOf, crashCopy, openWorker, SHARDS, settle, tear, walFolder } from '../../../../test/support/wal.ts';
import { EngineError } from '../../base/errors.ts';
import { WAL_WAIT_AFTER_MS, WAL_WAIT_MS } from '../../base/limits.ts';
import type { Append, Log } from '../log.ts';
import { MemoryLog, MemoryLogStore } from '../memory.ts';
import { batchesOf, decodeHeader } from './batch.ts';
import { takeOwnership } from './owner.ts';
import { WalFile } from './wal-file.ts';

function storageFailure(pattern: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof EngineError && error.code === 'STO-E001' && pattern.test(error.message);
}

const text = (value: string): Append => ({ records: [Buffer.from(value)] });

/** An append of any shape. */
function anyAppend(random: Random, log: Log): Append {
  const known = (): number[] => Array.from({ length: random.int(3) }, () => random.between(1, log.nextSequence - 1));
  const bytes = (): Buffer => Buffer.alloc(random.pick([0, 10, 300, 3_000]), random.int(256));
  const has = log.nextSequence > 1;
  const replaced = has ? known().filter((sequence) => log.read(sequence) !== undefined) : [];
  return {
    records: Array.from({ length: random.int(5) }, bytes),
    replacements: [...new Set(replaced)].map((sequence) => [sequence, bytes()] as const),
    removals: has ? known().filter((sequence) => !replaced.includes(sequence)) : [],
    state: Array.from({ length: random.int(3) }, () => [
      random.pick(['a', 'b/1', 'b/2']),
      random.chance(0.3) ? null : bytes(),
    ]),
  };
}

test('after a crash at any moment every acknowledged append is there, and a torn write is there whole or not at all', async (t) => {
  const root = temporaryDirectory(t);
  const seed = Math.floor(Math.random() * 2 ** 32);
  t.diagnostic(`seed ${seed}`);
  const random = new Random(seed);
  for (let run = 0; run < runs(6); run++) {
    let at = join(root, `${run}`);
    // The thread may wait for single writes in half of the runs.
    const isAlone = (): boolean => run % 2 === 0;
    let worker = await openWorker(at, undefined, isAlone);
    let models = Array.from({ length: SHARDS }, () => new MemoryLogStore());
    for (let step = 0; step < 12; step++) {
      const shards = Array.from({ length: SHARDS }, (_, shard) => shard).filter(() => random.chance(0.6));
      const appends = shards.map((shard) => [shard, anyAppend(random, worker.logs[shard]!)] as const);
      const before = models.map((model) => model.clone());
      const [old, now] = [crashCopy(at, join(root, `${run}-${step}-old`)), join(root, `${run}-${step}-new`)];
      // They share one write.
      await Promise.all(appends.map(([shard, append]) => worker.logs[shard]!.append(append)));
      for (const [shard, append] of appends) await new MemoryLog(models[shard]!).append(append);
      const then = random.pick(['checkpoint', 'crash', 'nothing', 'nothing']);
      if (then === 'checkpoint') await worker.files.checkpoint();
      if (then === 'crash') {
        crashCopy(at, now);
        const isTorn = random.chance(0.7);
        if (isTorn) tear(old, now, random);
        await worker.close();
        worker = await openWorker(now, undefined, isAlone);
        at = now;
        const found = worker.logs.map(contentOf);
        const wanted = models.map((model) => contentOf(new MemoryLog(model)));
        const earlier = before.map((model) => contentOf(new MemoryLog(model)));
        const isEarlier = isTorn && JSON.stringify(found) !== JSON.stringify(wanted);
        assert.deepEqual(found, isEarlier ? earlier : wanted);
        if (isEarlier) models = before;
      }
    }
    await worker.close();
    assert.deepEqual(
      readdirSync(walFolder(at)).filter((name) => name !== 'owner'),
      [],
      'a clean end leaves no files',
    );
  }
});

test('a thread that has nothing else to do waits for a single write itself, after one that was quick', async (t) => {
  const root = temporaryDirectory(t);
  let isAlone = true;
  const worker = await openWorker(join(root, 'live'), undefined, () => isAlone);
  t.after(() => worker.close());
  /** True when the thread wrote by itself. */
  const wrote = async (...shards: readonly number[]): Promise<boolean> => {
    const here = t.mock.method(WalFile.prototype, 'writeHere');
    await Promise.all(shards.map((shard) => worker.logs[shard]!.append(text(`in ${shard}`))));
    here.mock.restore();
    return here.mock.callCount() > 0;
  };
  // Of a quick disk: the clock stands still during a write.
  t.mock.method(performance, 'now', () => ms);
  let ms = 10_000;
  assert.equal(await wrote(0), false, 'the first write also begins the file');
  assert.equal(await wrote(0), true);
  assert.equal(await wrote(0, 1), false, 'two');
  isAlone = false;
  assert.equal(await wrote(1), false, 'the thread has other work');
  isAlone = true;
  assert.equal(await wrote(1), true);
  ms += WAL_WAIT_AFTER_MS;
  assert.equal(await wrote(1), false, 'nobody knows how quick the disk is now');
  assert.equal(await wrote(1), true);
  const slow = t.mock.method(WalFile.prototype, 'write', async function (this: WalFile, parts: readonly Buffer[]) {
    ms += WAL_WAIT_MS;
    this.writeHere(parts);
  });
  isAlone = false;
  await worker.logs[2]!.append(text('slow'));
  slow.mock.restore();
  isAlone = true;
  assert.equal(await wrote(2), false, 'the disk is slow');
  assert.equal(await wrote(2), true);
  assert.deepEqual(
    worker.logs.map((log) => [...log.scan(1)].length),
    [3, 6 - 1, 3],
  );
});

for (const code of ['ENOSPC', 'EIO'] as const)
  test(`a write that fails with ${code} while the thread waits for it is not acknowledged`, async (t) => {
    const root = temporaryDirectory(t);
    const live = join(root, 'live');
    const worker = await openWorker(live, undefined, () => true);
    t.after(() => worker.close());
    const log = worker.logs[0]!;
    // Of a quick disk: the clock stands still during a write.
    t.mock.method(performance, 'now', () => 10_000);
    await log.append(text('first'));
    const whole = fs.writevSync;
    let writes = 0;
    // Half of the bytes reach the file.
    const failing = t.mock.method(fs, 'writevSync', (descriptor: number, parts: readonly Buffer[], at: number) => {
      writes += 1;
      if (writes > 1) throw Object.assign(new Error(`${code}: on purpose`), { code, errno: -1, syscall: 'writev' });
      const bytes = Buffer.concat(parts);
      return whole(descriptor, [bytes.subarray(0, bytes.length >> 1)], at);
    });
    syncBuiltinESMExports();
    try {
      await assert.rejects(log.append(text('second')), { code: 'STO-E001' });
    } finally {
      failing.mock.restore();
      syncBuiltinESMExports();
    }
    assert.equal(writes, 2);
    assert.equal(log.nextSequence, 2);
    assert.equal(log.read(2), undefined);
    if (code === 'ENOSPC') assert.equal(await log.append(text('third')), 2);
    else await assert.rejects(log.append(text('third')), storageFailure(/cannot write to it until it is opened again/));
    const copy = await openWorker(crashCopy(live, join(root, 'copy')), true);
    const found = Array.from({ length: copy.logs[0]!.nextSequence - 1 }, (_, i) =>
      Buffer.from(copy.logs[0]!.read(i + 1)!).toString(),
    );
    assert.deepEqual(found, code === 'ENOSPC' ? ['first', 'third'] : ['first']);
    await copy.close();
  });

test('a missing or damaged append in the middle is refused with its place, and reading goes on when it is put back', async (t) => {
  const root = temporaryDirectory(t);
  const worker = await openWorker(join(root, 'live'));
  for (const word of ['one', 'two', 'three']) await worker.logs[1]!.append(text(word));
  const copy = crashCopy(join(root, 'live'), join(root, 'copy'));
  await worker.close();

  const path = join(walFolder(copy), '0-of-1.a');
  const whole = readFileSync(path);
  const batches = [...batchesOf(whole, decodeHeader(whole)!.generation)];
  assert.equal(batches.length, 3);
  const damaged = Buffer.from(whole);
  damaged[batches[1]!.end - 6]! ^= 1;
  writeFileSync(path, damaged);
  const place = new RegExp(
    `2 acknowledged appends of shard 1 are missing.*damaged at byte ${batches[1]!.at}.*restore a backup`,
  );
  // The last append is there, but it cannot follow the first.
  await assert.rejects(openWorker(copy), storageFailure(place));

  // A damaged header hides nothing.
  const headless = Buffer.from(whole);
  headless[3]! ^= 1;
  writeFileSync(path, headless);
  let opened = await openWorker(copy);
  assert.equal(Buffer.from(opened.logs[1]!.read(3)!).toString(), 'three');
  await opened.close();

  opened = await openWorker(copy);
  assert.equal(opened.logs[1]!.nextSequence, 4);
  await opened.close();
});

test('what a shard appended is not lost when the file of another shard’s later append remains', async (t) => {
  const root = temporaryDirectory(t);
  const live = join(root, 'live');
  const worker = await openWorker(live);
  await worker.logs[0]!.append(text('in the first file'));
  // The next append goes to the other file, which knows what was appended before.
  const released = holdStores(worker.logs[0]!);
  const round = worker.files.checkpoint();
  await worker.logs[2]!.append(text('in the second file'));
  const copy = crashCopy(live, join(root, 'copy'));
  released();
  await round;
  await worker.close();
  rmSync(join(walFolder(copy), '0-of-1.a'));
  await assert.rejects(
    openWorker(copy),
    storageFailure(/1 acknowledged appends of shard 0 are missing.*file is missing/),
  );
});

for (const lost of [0, 2])
  test(`a start without the only append of shard ${lost} is refused each time, with any number of workers`, async (t) => {
    const root = temporaryDirectory(t);
    const live = join(root, 'live');
    const worker = await openWorker(live);
    await worker.logs[lost]!.append(text('damaged'));
    for (const log of worker.logs) if (log !== worker.logs[lost]) await log.append(text('later'));
    const copies = ['a', 'b'].map((name) => crashCopy(live, join(root, name)));
    await worker.close();
    const missing = storageFailure(new RegExp(`1 acknowledged appends of shard ${lost} are missing.*damaged at byte`));
    for (const copy of copies) {
      const path = join(walFolder(copy), '0-of-1.a');
      const bytes = readFileSync(path);
      const [first] = [...batchesOf(bytes, decodeHeader(bytes)!.generation)];
      bytes[first!.end - 6]! ^= 1;
      writeFileSync(path, bytes);
      // The other shards come up, and leave what shows the loss.
      for (const start of [() => settle(copy, 2), () => openWorker(copy)]) {
        await assert.rejects(start(), missing);
        await assert.rejects(start(), missing);
      }
    }
  });

/** Delays checkpoints of the log until the returned function is called. */
function holdStores(log: Log): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = log as Log & { checkpoint(): Promise<void> };
  const checkpoint = held.checkpoint.bind(log);
  held.checkpoint = async () => {
    await promise;
    await checkpoint();
  };
  return resolve;
}

test('files of another number of workers are written to their logs before the workers start', async (t) => {
  const root = temporaryDirectory(t);
  const worker = await openWorker(join(root, 'live'));
  for (const log of worker.logs) await log.append(text('kept'));
  const copy = crashCopy(join(root, 'live'), join(root, 'copy'));
  await worker.close();
  await settle(copy, 1);
  assert.ok(readdirSync(walFolder(copy)).includes('0-of-1.a'), 'the files of this number of workers stay');
  await settle(copy, 2);
  assert.deepEqual(readdirSync(walFolder(copy)), ['owner']);
  const opened = await openWorker(copy);
  for (const log of opened.logs) assert.equal(Buffer.from(log.read(1)!).toString(), 'kept');
  await opened.close();
});

test('when another process takes the files, the next append is not acknowledged', async (t) => {
  const root = temporaryDirectory(t);
  const worker = await openWorker(root);
  await worker.logs[0]!.append(text('mine'));
  takeOwnership(walFolder(root));
  assert.throws(() => worker.logs[1]!.checkOwner?.(), storageFailure(/taken by another process/));
  await assert.rejects(worker.logs[0]!.append(text('not mine')), storageFailure(/taken by another process/));
  assert.match(worker.logs[2]!.poisoned ?? '', /taken by another process/);
  assert.equal(worker.logs[0]!.nextSequence, 2);
  assert.equal(Buffer.from(worker.logs[0]!.read(1)!).toString(), 'mine');
  await worker.close();
  assert.ok(readdirSync(walFolder(root)).includes('0-of-1.a'), 'the files belong to the other process');
});

test('a scrub leaves removed and replaced values in no file', async (t) => {
  const root = temporaryDirectory(t);
  const worker = await openWorker(root);
  const secret = 'canary-4d1f';
  const [log] = worker.logs;
  await log!.append({ records: [Buffer.from(secret), Buffer.from(secret)], state: [['s', Buffer.from(secret)]] });
  const holds = (): string[] =>
    readdirSync(walFolder(root)).filter((name) => readFileSync(join(walFolder(root), name)).includes(secret));
  assert.deepEqual(holds(), ['0-of-1.a']);
  await worker.files.checkpoint();
  await log!.append({
    records: [Buffer.from(secret)],
    removals: [1],
    replacements: [[2, Buffer.from('x')]],
    state: [['s', null]],
  });
  await log!.append({ records: [], removals: [3] });
  assert.deepEqual(holds(), ['0-of-1.a', '0-of-1.b']);
  const other = worker.logs[1]!.append(text('beside it'));
  await log!.scrub?.();
  await other;
  assert.deepEqual(holds(), []);
  assert.deepEqual([...log!.scan(1)].length, 1);
  assert.equal(Buffer.from(worker.logs[1]!.read(1)!).toString(), 'beside it');
  await worker.close();
});

test('on a full disk appends are STO-E001, reads go on, and appends work again when there is room', async (t) => {
  const disk = smallDisk(t, 40 * 1_048_576);
  if (disk === undefined) return;
  const worker = await openWorker(disk);
  await worker.logs[0]!.append(text('before'));
  const filler = join(disk, 'filler');
  fill(filler);
  await assert.rejects(worker.logs[0]!.append({ records: [Buffer.alloc(900_000)] }), storageFailure(/no room|full/));
  assert.match(worker.logs[0]!.refusing ?? '', /no room|full/);
  assert.equal(Buffer.from(worker.logs[0]!.read(1)!).toString(), 'before');
  // Acknowledged appends wait in the file until their log has room.
  assert.ok(readdirSync(walFolder(disk)).includes('0-of-1.a'));
  rmSync(filler);
  assert.equal(await worker.logs[0]!.append({ records: [Buffer.alloc(900_000)] }), 2);
  assert.equal(worker.logs[0]!.refusing, undefined);
  assert.equal(worker.logs[0]!.poisoned, undefined);
  await worker.close();
  const again = await openWorker(disk);
  assert.equal(again.logs[0]!.nextSequence, 3);
  await again.close();
});

/** Leaves no room on the disk of `path`. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(65_536));
  } catch (error) {
    assert.match(String(error), /ENOSPC/);
  } finally {
    closeSync(file);
  }
}
