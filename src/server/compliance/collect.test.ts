import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { makeParts } from '../testing/parts.ts';
import { deploymentEvidence } from './collect.ts';

test('a master key file counts by its real location', async (t) => {
  const root = temporaryDirectory(t);
  const dataDir = join(root, 'data');
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'my.key'), 'x');
  writeFileSync(join(root, 'my.key'), 'x');
  symlinkSync(join(dataDir, 'my.key'), join(root, 'link.key'));
  for (const [masterKeyFile, beside] of [
    [join(root, 'my.key'), false],
    [join(dataDir, 'my.key'), true],
    [join(root, 'link.key'), true],
    [join(root, 'gone.key'), true],
  ] as const) {
    const { services, close } = await makeParts({ flags: { dataDir, masterKeyFile } });
    const memory = services.memories.get('default');
    const { masterKeyInDataDirectory, masterKeySource } = deploymentEvidence({ services, memory }, undefined);
    assert.deepEqual([masterKeySource, masterKeyInDataDirectory], ['file', beside], masterKeyFile);
    await close();
  }
});
