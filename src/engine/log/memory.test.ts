import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { logConformance } from './log.conformance.ts';
import { CorruptRecord } from './log.ts';
import { MemoryLog, MemoryLogStore } from './memory.ts';

const stores = new Map<string, MemoryLogStore>();
logConformance('memory', {
  open(directory) {
    const known = stores.get(directory);
    const store =
      known ?? (existsSync(join(directory, 'log.bin')) ? MemoryLogStore.restore(directory) : new MemoryLogStore());
    stores.set(directory, store);
    return new MemoryLog(store);
  },
});

test('an append that was not committed when the process died is not in the store', async () => {
  const store = new MemoryLogStore();
  let commit = (): void => undefined;
  const log = new MemoryLog(store, {
    commitDelay: () =>
      new Promise((resolve) => {
        commit = resolve;
      }),
  });
  const append = log.append({ records: [Buffer.from('a')] });
  const after = new MemoryLog(store.clone());
  assert.deepEqual([...after.scan(1)], []);
  assert.equal(after.nextSequence, 1);
  commit();
  assert.equal(await append, 1);
  assert.equal([...log.scan(1)].length, 1);
});

test('a record whose stored bytes changed is corrupt, and the others can be read', async () => {
  const store = new MemoryLogStore();
  const log = new MemoryLog(store);
  await log.append({ records: [Buffer.from('a'), Buffer.from('b')] });
  store.records.get(1)![0]! ^= 1;
  assert.throws(() => log.read(1), CorruptRecord);
  const [first, second] = [...log.scan(1)];
  assert.ok(first instanceof CorruptRecord);
  assert.ok(second !== undefined && !(second instanceof CorruptRecord) && second.sequence === 2);
});
