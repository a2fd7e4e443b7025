import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { chosen, isLong, LONG, shareOf } from '../scripts/long-tests.ts';

const ROOT = join(import.meta.dirname, '..');
const FILES = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: ROOT }).toSorted();

test('every name among the long tests is that of a file or folder', () => {
  for (const name of LONG)
    assert.ok(
      FILES.some((file) => file.startsWith(name)),
      name,
    );
});

test('long tests and the others are all tests, and no test is both', () => {
  const long = chosen(FILES, 'only');
  const others = chosen(FILES, 'none');
  assert.ok(long.length > 0 && others.length > 0);
  assert.deepEqual([...long, ...others].toSorted(), FILES);
});

test('the shares take each long test once, and all other tests', () => {
  const shares = [1, 2, 3, 4, 5, 6].map((number) => chosen(FILES, `${number}/6`));
  for (const share of shares)
    assert.deepEqual(
      share.filter((file) => !isLong(file)),
      chosen(FILES, 'none'),
    );
  const long = shares.map((share) => share.filter(isLong));
  assert.deepEqual(long.flat().toSorted(), chosen(FILES, 'only'));
  const sizes = long.map((share) => share.length);
  assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1, sizes.join(' '));
});

test('a share that does not exist is refused', () => {
  for (const share of ['0/6', '7/6', '1/0', '3', 'all', '1.5/6', '-1/6'])
    assert.throws(() => shareOf(FILES, share), /a share is a number of a count/, share);
  assert.throws(() => chosen(FILES, 'some'), /a share is a number of a count/);
});
