import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EngineError } from '../base/errors.ts';
import { FaultyLog } from './faulty.ts';
import { logConformance } from './log.conformance.ts';
import { CorruptRecord } from './log.ts';
import { MemoryLog, MemoryLogStore } from './memory.ts';

const stores = new Map<string, MemoryLogStore>();
logConformance('faulty (no fault set)', {
  open(directory) {
    const known = stores.get(directory);
    const store =
      known ?? (existsSync(join(directory, 'log.bin')) ? MemoryLogStore.restore(directory) : new MemoryLogStore());
    stores.set(directory, store);
    return new FaultyLog(new MemoryLog(store));
  },
});

const storageFailure = (error: unknown): boolean => error instanceof EngineError && error.code === 'STO-E001';

test('a refused append writes nothing and the next one works', async () => {
  const log = new FaultyLog(new MemoryLog());
  log.failNextAppend();
  await assert.rejects(log.append({ records: [Buffer.from('a')] }), storageFailure);
  assert.equal(log.poisoned, undefined);
  assert.equal(await log.append({ records: [Buffer.from('b')] }), 1);
});

test('a failed sync poisons the log until it is opened again, and the append may be on disk or not', async () => {
  for (const written of [false, true]) {
    const store = new MemoryLogStore();
    const log = new FaultyLog(new MemoryLog(store));
    await log.append({ records: [Buffer.from('a')] });
    log.failNextSync({ written });
    await assert.rejects(log.append({ records: [Buffer.from('b')] }), storageFailure);
    await assert.rejects(log.append({ records: [Buffer.from('c')] }), storageFailure);
    assert.match(log.poisoned ?? '', /sync failed/);
    assert.equal(Buffer.from(log.read(1)!).toString(), 'a');
    const again = new MemoryLog(store.clone());
    assert.equal([...again.scan(1)].length, written ? 2 : 1);
  }
});

test('faults that have not occurred yet can be disarmed', async () => {
  const log = new FaultyLog(new MemoryLog());
  log.failNextAppend();
  log.failNextSync({ written: true });
  log.disarm();
  assert.equal(await log.append({ records: [Buffer.from('a')] }), 1);
  assert.equal(log.poisoned, undefined);
});

test('held appends commit when they are released', async () => {
  const log = new FaultyLog(new MemoryLog());
  const release = log.holdAppends();
  const append = log.append({ records: [Buffer.from('a')] });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(log.nextSequence, 1);
  release();
  assert.equal(await append, 1);
});

test('records read corrupt or changed until they are healed', async () => {
  const log = new FaultyLog(new MemoryLog());
  await log.append({ records: [Buffer.from('a'), Buffer.from('b')] });
  log.corrupt(1);
  log.flipByte(2, 0);
  assert.throws(() => log.read(1), CorruptRecord);
  assert.equal(Buffer.from(log.read(2)!).toString(), 'c');
  assert.ok([...log.scan(1)][0] instanceof CorruptRecord);
  log.heal();
  assert.equal(Buffer.from(log.read(1)!).toString(), 'a');
});
