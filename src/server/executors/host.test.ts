import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { memoryFolder } from '../../../test/support/memory-files.ts';
import type { HostExecutor } from './executor-file.ts';
import { HostExecutors } from './host.ts';

const NEVER = new AbortController().signal;

function script(code: string, more: Partial<HostExecutor> = {}): HostExecutor {
  return {
    name: 'test',
    program: process.execPath,
    args: ['-e', code],
    env: { GREETING: 'hello' },
    timeoutMs: 20_000,
    outputBytesMax: 1_000,
    ...more,
  };
}

const ECHO = `
let text = '';
process.stdin.on('data', (chunk) => { text += chunk; });
process.stdin.on('end', () => process.stdout.write(JSON.stringify({ got: JSON.parse(text), env: Object.keys(process.env).sort() })));
`;

function runs(executor: HostExecutor, signal = NEVER, args: Record<string, unknown> = {}) {
  return new HostExecutors({ warn: () => undefined }).run(executor, { tool: 'test', arguments: args }, signal);
}

describe('a named executor', () => {
  test('reads the call from its input, and sees only its own environment', async () => {
    const args = { order: '17; rm -rf /', note: '$(id) `id` \'"' };
    const outcome = await runs(script(ECHO), NEVER, args);
    assert.deepEqual(outcome, { ok: true, output: { got: { tool: 'test', arguments: args }, env: ['GREETING'] } });
  });

  test('answers with text where it is not JSON', async () => {
    assert.deepEqual(await runs(script('console.log("sunny")')), { ok: true, output: 'sunny\n' });
  });

  test('that fails says so without its error output', async () => {
    const outcome = await runs(script('console.error("secret"); process.exit(3)'));
    assert.deepEqual(outcome, { ok: false, cause: 'executor_error', reason: 'the tool ended with status 3' });
  });

  test('that is not there fails', async () => {
    const outcome = await runs(script('', { program: '/nowhere/at/all' }));
    assert.deepEqual(outcome, { ok: false, cause: 'executor_error', reason: 'the tool could not be started (ENOENT)' });
  });

  test('whose folder is a file, or whose program lies below one, fails', async () => {
    const file = join(memoryFolder(), 'file');
    writeFileSync(file, '');
    for (const more of [{ directory: file }, { program: join(file, 'program') }]) {
      const executors = new HostExecutors({ warn: () => undefined });
      const outcome = await executors.run(script('', more), { tool: 'test', arguments: {} }, NEVER);
      const reason = 'the tool could not be started (ENOTDIR)';
      assert.deepEqual(outcome, { ok: false, cause: 'executor_error', reason });
      assert.equal(executors.running, 0);
    }
  });

  test('that answers too much is ended', async () => {
    const outcome = await runs(script('setInterval(() => process.stdout.write("x".repeat(4096)), 1)'));
    assert.match(outcome.ok ? '' : outcome.reason, /more than 1000 bytes/);
  });

  test('that takes too long is ended, with all that it started', async () => {
    const file = join(memoryFolder(), 'pid');
    const child = `require('node:fs').writeFileSync(${JSON.stringify(file)}, String(process.pid)); setInterval(() => {}, 1000)`;
    const parent = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'inherit' }); setInterval(() => {}, 1000)`;
    const aborting = new AbortController();
    const running = runs(script(parent), aborting.signal);
    await eventually('the helper runs', () => existsSync(file) && readFileSync(file, 'utf8') !== '');
    aborting.abort();
    const outcome = await running;
    assert.equal(outcome.ok, false);
    const pid = Number(readFileSync(file, 'utf8'));
    await eventually('the helper is gone', () => !isAlive(pid));
  });

  test('that does not end in time is ended', async () => {
    const outcome = await runs(script('setInterval(() => {}, 1000)', { timeoutMs: 50 }));
    assert.deepEqual(outcome, { ok: false, cause: 'timeout', reason: 'the tool did not finish within 0.05 seconds' });
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that nobody waits for stays as a zombie in some containers.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
