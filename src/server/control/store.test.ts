import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { StepClock } from '../../../test/support/step-clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { checkChain, GENESIS } from '../../engine/govern/trail/audit.ts';
import type { Append } from '../../engine/log/log.ts';
import { MemoryLog, MemoryLogStore } from '../../engine/log/memory.ts';
import { CONTROL_KEY } from '../testing/parts.ts';
import { ControlStore } from './store.ts';

const clock = new StepClock();
const setting = (name: string, value: number) => ({ name, value });

/** A log that rejects every append while `full`. */
class RefusingLog extends MemoryLog {
  full = false;
  override append(append: Append): Promise<number> {
    return this.full ? Promise.reject(new EngineError('STO-E001', 'no room')) : super.append(append);
  }
}

test('committed changes are there after a reopen, and the log holds nothing else', async () => {
  const disk = new MemoryLogStore();
  const store = ControlStore.open(new MemoryLog(disk), CONTROL_KEY, clock);
  for (let round = 0; round < 5; round += 1) {
    await store.commit((change) => {
      change.put('setting', setting('a', round));
      change.put('setting', setting('b', round));
      if (round === 3) change.remove('setting', 'b');
    });
  }
  await store.close();
  assert.equal(disk.records.size, 2);
  const again = ControlStore.open(new MemoryLog(disk), CONTROL_KEY, clock);
  assert.deepEqual([...again.values('setting')], [setting('a', 4), setting('b', 4)]);
});

test('any changes leave the same state as a Map, before and after a reopen', async () => {
  const steps = fc.array(
    fc.record({
      // Changes of one transaction; a plan that throws at the end changes nothing.
      puts: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.option(fc.nat(9))), { maxLength: 4 }),
      throws: fc.boolean(),
      waits: fc.boolean(),
    }),
    { maxLength: 12 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const disk = new MemoryLogStore();
      const store = ControlStore.open(new MemoryLog(disk), CONTROL_KEY, clock);
      const model = new Map<string, number>();
      const commits: Promise<unknown>[] = [];
      for (const { puts, throws, waits } of script) {
        const commit = store.commit((change) => {
          for (const [name, value] of puts)
            if (value === null) change.remove('setting', name);
            else change.put('setting', setting(name, value));
          if (throws) throw new EngineError('VAL-E001');
        });
        commits.push(throws ? assert.rejects(commit) : commit);
        if (!throws) for (const [name, value] of puts) value === null ? model.delete(name) : model.set(name, value);
        if (waits) await commit.catch(() => undefined);
      }
      await Promise.all(commits);
      const settingsOf = (from: ControlStore) =>
        new Map([...from.values('setting')].map((one) => [one.name, one.value]));
      assert.deepEqual(settingsOf(store), model);
      await store.close();
      assert.deepEqual(settingsOf(ControlStore.open(new MemoryLog(disk), CONTROL_KEY, clock)), model);
    }),
    { numRuns: runs(200) },
  );
});

test('a rejected append undoes the whole group, and watchers hear of it', async () => {
  const log = new RefusingLog();
  const store = ControlStore.open(log, CONTROL_KEY, clock);
  const seen: unknown[] = [];
  store.watch('setting', (name, value) => seen.push([name, value?.value]));
  await store.commit((change) => change.put('setting', setting('a', 1)));
  log.full = true;
  const group = [2, 3].map((value) => store.commit((change) => change.put('setting', setting('a', value))));
  for (const result of await Promise.allSettled(group)) {
    assert.equal(result.status, 'rejected');
    assert.equal(result.reason instanceof EngineError && result.reason.code, 'STO-E001');
  }
  assert.deepEqual(store.get('setting', 'a'), setting('a', 1));
  assert.deepEqual(seen.at(-1), ['a', 1]);
  log.full = false;
  await store.commit((change) => change.put('setting', setting('a', 4)));
  assert.deepEqual(store.get('setting', 'a'), setting('a', 4));
});

test('the log holds no plaintext, and another key opens nothing', async () => {
  const disk = new MemoryLogStore();
  const store = ControlStore.open(new MemoryLog(disk), CONTROL_KEY, clock);
  await store.commit((change) => change.put('setting', { name: 'swordfish', value: 'swordfish' }));
  await store.close();
  for (const bytes of [...disk.records.values(), ...disk.state.values()])
    assert.equal(Buffer.from(bytes).includes('swordfish'), false);
  const other = createSecretKey(Buffer.alloc(32, 8));
  assert.throws(() => ControlStore.open(new MemoryLog(disk), other, clock), { code: 'CRY-E001' });
});

test('audit entries form one chain over groups and reopens', async () => {
  const disk = new MemoryLogStore();
  for (let opened = 0; opened < 3; opened += 1) {
    const store = ControlStore.open(new MemoryLog(disk), CONTROL_KEY, clock);
    await Promise.all(
      [1, 2].map((count) =>
        store.commit((change) =>
          change.audit({ event: 'auth.failed', actor: 'system', subject: '', details: { count } }),
        ),
      ),
    );
    const entries = [...store.auditEntries()];
    assert.equal(entries.length, 2 * (opened + 1));
    assert.ok('head' in checkChain(GENESIS, entries));
    await store.close();
  }
});

test('memory numbers are never reused, even after deletion and reopen', async () => {
  const disk = new MemoryLogStore();
  const given = new Set<number>();
  for (let opened = 0; opened < 3; opened += 1) {
    const store = ControlStore.open(new MemoryLog(disk), CONTROL_KEY, clock);
    for (let round = 0; round < 3; round += 1) {
      const number = await store.commit((change) => {
        change.put('setting', setting('x', round));
        return change.takeMemoryNumber();
      });
      assert.ok(!given.has(number));
      given.add(number);
    }
    await store.close();
  }
  assert.equal(given.size, 9);
});

test('a verification finds a record that does not open and a missing audit entry', async () => {
  const disk = new MemoryLogStore();
  const store = ControlStore.open(new MemoryLog(disk), CONTROL_KEY, clock);
  for (let round = 0; round < 3; round += 1)
    await store.commit((change) => {
      change.put('setting', setting(`s${round}`, round));
      change.audit({ event: 'settings.changed', actor: 'key:k', subject: '', details: { round } });
    });
  assert.deepEqual(await store.verify(), { records: 6, auditEntries: 3, findings: [] });
  const sequences = [...disk.records.keys()];
  const damaged = disk.records.get(sequences[0]!)!;
  damaged[damaged.length - 1]! ^= 1;
  disk.records.delete(sequences[3]!);
  const { records, findings } = await store.verify();
  assert.equal(records, 5);
  assert.deepEqual(
    findings.map(({ kind, where }) => [kind, where]),
    [
      ['record', 'sequence 1'],
      ['audit', 'seq 3'],
    ],
  );
});
