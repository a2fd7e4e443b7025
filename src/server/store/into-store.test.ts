import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { LAYOUT_FILE, layoutFile, RESTORE_FOLDER, RESTORE_READY_FILE } from '../data-directory.ts';
import { moveIntoStore } from './into-store.ts';

test('a directory whose restore was cut off, which holds parts of two deployments, is not moved', async (t) => {
  const directory = temporaryDirectory(t);
  mkdirSync(join(directory, RESTORE_FOLDER));
  writeFileSync(join(directory, RESTORE_FOLDER, RESTORE_READY_FILE), '');
  writeFileSync(join(directory, LAYOUT_FILE), layoutFile(1));
  const moving = moveIntoStore({
    directory,
    url: 'postgres://127.0.0.1:1/none',
    keyUrl: undefined,
    masterKey: undefined,
    masterKeyFile: undefined,
    onMoved: () => undefined,
  });
  await assert.rejects(moving, { code: 'STO-E001', message: /restore into .* was interrupted/ });
});
