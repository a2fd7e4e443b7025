import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { eventually } from '../../../../test/support/eventually.ts';
import { addBelief, contextOf, openShard, settingsOf } from '../../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { EngineError } from '../../base/errors.ts';
import { decodeRecord } from '../../record/record-codec.ts';

test('a backup has the keys of the grains that it copied, whatever a compaction seals again meanwhile', async (t) => {
  const root = temporaryDirectory(t);
  const engine = await openShard(join(root, 'now'));
  t.after(() => engine.close());
  const context = contextOf(1);
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const hash = await addBelief(engine, 1, { subject: 'ada', object: 'tea' });
  const { store } = engine;
  const ordinal = store.findOrdinal(1, hash)!;
  const keyOf = (): number => {
    const record = decodeRecord(store.log.read(ordinal)!);
    return record.kind === 'grain' ? record.key : 0;
  };
  const former = keyOf();
  await engine.write('rotateKeys', context, { scope: 'memory' });

  // The log is copied, and its keys are not.
  const [copied, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const copyLog = store.log.backup.bind(store.log);
  t.mock.method(store.log, 'backup', async (directory: string) => {
    await copyLog(directory);
    copied.resolve();
    await goesOn.promise;
  });
  const copy = join(root, 'copy');
  const backup = engine.write('backup', contextOf(0), {
    dataDirectory: join(copy, 'shard-0'),
    keysDirectory: join(copy, 'keys', 'shard-0'),
  });
  await copied.promise;
  const compaction = engine.write('compact', context, {});
  await eventually('the grain is sealed again', () => keyOf() !== former);
  for (let turns = 0; turns < 100; turns++) await turn();
  goesOn.resolve();
  await Promise.all([backup, compaction]);
  assert.equal(store.keys.state(former), 'destroyed');

  const restored = await openShard(copy);
  t.after(() => restored.close());
  assert.equal(restored.read('get', context, { hash }).hash, hash);
});

test('a backup is made on a disk where vectors find no room any more', async (t) => {
  const root = temporaryDirectory(t);
  const engine = await openShard(join(root, 'now'));
  t.after(() => engine.close());
  await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
  const hash = await addBelief(engine, 1, { subject: 'ada', object: 'tea' });
  const { vectors } = engine.store;
  vectors.add(1, engine.store.findOrdinal(1, hash)!, [Float32Array.of(1)]);
  const sealing = t.mock.method(vectors, 'seal', () => {
    throw new EngineError('STO-E001', 'no room: the disk is full');
  });
  const copy = join(root, 'copy');
  await engine.write('backup', contextOf(0), {
    dataDirectory: join(copy, 'shard-0'),
    keysDirectory: join(copy, 'keys', 'shard-0'),
  });
  assert.equal(sealing.mock.callCount(), 1);
  sealing.mock.restore();
  const restored = await openShard(copy);
  t.after(() => restored.close());
  assert.equal(restored.read('get', contextOf(1), { hash }).hash, hash);
});
