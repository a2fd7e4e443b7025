import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StepClock } from '../../../test/support/step-clock.ts';
import { FaultyLog } from '../../engine/log/faulty.ts';
import { MemoryLog, MemoryLogStore } from '../../engine/log/memory.ts';
import { CONTROL_KEY } from '../testing/parts.ts';
import { Keys } from './keys.ts';
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
