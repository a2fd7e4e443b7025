import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { LAYOUT_FILE, openLayout } from './data-directory.ts';

test('a directory counts as new until it holds data, also after an interrupted first start', (t) => {
  const directory = temporaryDirectory(t);
  assert.deepEqual(openLayout(directory, 3, 8), { shards: 3, isNew: true });
  assert.deepEqual(openLayout(directory, undefined, 8), { shards: 3, isNew: true });
  mkdirSync(join(directory, 'control'));
  assert.deepEqual(openLayout(directory, 3, 8), { shards: 3, isNew: false });
  assert.throws(() => openLayout(directory, 4, 8), { code: 'VAL-E001' });
});

test('an unreadable layout is rejected by name and left unchanged', (t) => {
  const directory = temporaryDirectory(t);
  openLayout(directory, 3, 8);
  const path = join(directory, LAYOUT_FILE);
  const whole = readFileSync(path);
  const newer = Buffer.from('{"format":2,"shards":3}\n');
  for (const [bytes, name] of [
    [newer, 'a newer format'],
    [whole.subarray(0, 9), 'cut short'],
    [Buffer.alloc(0), 'empty'],
    [Buffer.from('{"format":1,"shards":0}'), 'no shards'],
  ] as const) {
    writeFileSync(path, bytes);
    assert.throws(
      () => openLayout(directory, undefined, 8),
      (error: Error & { code?: string }) => error.code === 'STO-E001' && error.message.includes(path),
      name,
    );
    assert.deepEqual(readFileSync(path), bytes, name);
  }
});
