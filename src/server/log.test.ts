// The log of a process whose stderr takes nothing.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

test('a line that a full disk does not take is no error of the code that logs it', async (t) => {
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  const code = `
    const { makeLog } = await import(${JSON.stringify(new URL('log.ts', import.meta.url).href)});
    const log = makeLog('info');
    for (const line of ['one', 'two', 'three']) log.info(line);
    process.stdout.write('it goes on');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', full] });
  const [said] = await Promise.all([text(child.stdout!), once(child, 'close')]);
  assert.deepEqual([said, child.exitCode], ['it goes on', 0]);
});
