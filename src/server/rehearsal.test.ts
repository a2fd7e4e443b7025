import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { rehearse } from './rehearsal.ts';

test('a rehearsal finds what it adds, and leaves nothing', async (t) => {
  const root = temporaryDirectory(t);
  mkdirSync(join(root, 'shard-3'));
  // As a killed process leaves it.
  mkdirSync(join(root, 'rehearsal-3'));
  writeFileSync(join(root, 'rehearsal-3', 'lock'), '');
  const hits = await rehearse({ directory: join(root, 'shard-3'), shard: 3, shards: 4 });
  // Two grains of the round itself, for each interface.
  assert.ok(hits >= 5 * 2 * 2, `${hits} hits`);
  assert.deepEqual(readdirSync(root), ['shard-3']);
});
