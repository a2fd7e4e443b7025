import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkMemory, ModelMemory } from './testing/model.ts';
import { grainOf, openShard, StateOnly, sealAll, temporaryDirectory } from './testing/shard.ts';

test('tails and chunks answer alike', () => {
  const log = new StateOnly();
  const directory = temporaryDirectory();
  const shard = openShard(directory, log);
  const model = new ModelMemory();
  for (let ordinal = 1; ordinal <= 300; ordinal++) {
    const grain = grainOf(ordinal, (ordinal * 7919) % 1000);
    shard.publish(5, grain);
    model.grains.set(ordinal, grain);
  }
  checkMemory(shard.memory(5), model, { isRemoved: () => false });
  sealAll(shard, log);
  assert.equal(shard.tailGrains, 0);
  checkMemory(shard.memory(5), model, { isRemoved: () => false });
  shard.close();
  const again = openShard(directory, log);
  assert.equal(again.sealedSequence, 300);
  checkMemory(again.memory(5), model, { isRemoved: () => false });
  again.close();
});
