import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { memoryFolder } from '../../../test/support/memory-files.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { executorsOf, readExecutors } from './executor-file.ts';

test('an executor has a program, its arguments and its bounds', () => {
  const found = executorsOf({ weather: { command: ['/usr/bin/env', 'true'], env: { TOKEN: 'x' }, timeout_ms: 1_000 } });
  assert.deepEqual(found.get('weather'), {
    name: 'weather',
    program: '/usr/bin/env',
    args: ['true'],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', TOKEN: 'x' },
    directory: undefined,
    timeoutMs: 1_000,
    outputBytesMax: 262_144,
  });
  assert.equal(readExecutors(undefined).size, 0);
});

const WRONG: readonly (readonly [about: string, file: unknown, issue: RegExp])[] = [
  ['no object', [], /object of executors/],
  ['a name with a slash', { 'a/b': { command: ['/bin/true'] } }, /a name has/],
  ['a shell line', { a: { command: '/bin/true; rm -rf /' } }, /must be a list of strings/],
  ['a program to be looked up', { a: { command: ['true'] } }, /absolute path/],
  ['no command', { a: {} }, /must be a list of strings/],
  ['an unknown member', { a: { command: ['/bin/true'], shell: true } }, /unknown member shell/],
  ['a number in the environment', { a: { command: ['/bin/true'], env: { A: 1 } } }, /`env`/],
  ['a time that is too long', { a: { command: ['/bin/true'], timeout_ms: 1e9 } }, /`timeout_ms`/],
  ['no output', { a: { command: ['/bin/true'], output_bytes_max: 0 } }, /`output_bytes_max`/],
  ['a relative directory', { a: { command: ['/bin/true'], directory: 'tmp' } }, /`directory`/],
];
for (const [about, file, issue] of WRONG)
  test(`a file with ${about} is refused at start`, () => {
    assert.throws(
      () => executorsOf(file),
      (error: unknown) => error instanceof EngineError && error.code === 'VAL-E001' && issue.test(error.message),
    );
  });

test('a file that is not there, or is not JSON, is refused at start', () => {
  const folder = memoryFolder();
  const file = join(folder, 'executors.json');
  assert.throws(() => readExecutors(file), /VAL-E001|cannot be read/);
  writeFileSync(file, '{');
  assert.throws(() => readExecutors(file), /is not JSON/);
});
