import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { EngineError } from '../errors.ts';
import { lockDirectory } from './directory-lock.ts';

const MODULE = pathToFileURL(join(import.meta.dirname, 'directory-lock.ts')).href;

/** A process that takes the lock of `directory`, says so, and holds it until its standard input ends. */
async function holder(directory: string): Promise<{ child: ChildProcess; said: string }> {
  const code = `
    import { lockDirectory } from ${JSON.stringify(MODULE)};
    let said = 'locked';
    try { lockDirectory(process.argv[1]); } catch (error) { said = error.message; }
    console.log(said);
    process.stdin.resume();
  `;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', code, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [said] = await once(child.stdout!, 'data');
  return { child, said: String(said).trim() };
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

function refusal(pattern: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof EngineError && error.code === 'STO-E001' && pattern.test(error.message);
}

test('a directory is locked once in a process, and free again after its release', (t) => {
  const directory = temporaryDirectory(t);
  const lock = lockDirectory(directory);
  assert.throws(
    () => lockDirectory(directory),
    refusal(new RegExp(`${directory} is in use by this process \\(${process.pid}\\)`)),
  );
  lock.release();
  assert.deepEqual(readdirSync(directory), []);
  const again = lockDirectory(directory);
  // A second release of the first lock does not give away the second.
  lock.release();
  assert.throws(() => lockDirectory(directory), refusal(/in use/));
  again.release();
});

test('another thread of the process is refused too', async (t) => {
  const directory = temporaryDirectory(t);
  const lock = lockDirectory(directory);
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     import(workerData.module).then(({ lockDirectory }) => {
       try { lockDirectory(workerData.directory); parentPort.postMessage('locked'); }
       catch (error) { parentPort.postMessage(error.message); }
     });`,
    { eval: true, workerData: { module: MODULE, directory } },
  );
  const [said] = await once(worker, 'message');
  await worker.terminate();
  assert.match(said, /in use by this process/);
  lock.release();
});

test('a second process is refused by the first one’s number; a killed one’s lock is taken over', async (t) => {
  const directory = temporaryDirectory(t);
  const first = await holder(directory);
  assert.equal(first.said, 'locked');
  assert.throws(() => lockDirectory(directory), refusal(new RegExp(`in use by process ${first.child.pid};`)));
  const second = await holder(directory);
  assert.match(second.said, new RegExp(`STO-E001: ${directory} is in use by process ${first.child.pid};`));
  await kill(second.child);
  await kill(first.child);
  const lock = lockDirectory(directory);
  assert.deepEqual(readdirSync(directory), ['granary.lock']);
  lock.release();
});

test('of several processes that find a dead lock, one gets it', async (t) => {
  const directory = temporaryDirectory(t);
  const dead = await holder(directory);
  await kill(dead.child);
  const rivals = await Promise.all(Array.from({ length: 4 }, () => holder(directory)));
  const winners = rivals.filter(({ said }) => said === 'locked');
  assert.equal(winners.length, 1, rivals.map(({ said }) => said).join('; '));
  await Promise.all(rivals.map(({ child }) => kill(child)));
});

test('a lock of a process number that now belongs to another process, or of no readable content, is stale', (t) => {
  const directory = temporaryDirectory(t);
  const path = join(directory, 'granary.lock');
  const contents = process.platform === 'linux' ? [{ pid: process.pid, started: 'an earlier boot/1', nonce: 'x' }] : [];
  for (const content of [...contents.map((holder) => JSON.stringify(holder)), '', '{"pid":"x"}', 'null']) {
    writeFileSync(path, content);
    lockDirectory(directory).release();
    assert.deepEqual(readdirSync(directory), [], content);
  }
});
