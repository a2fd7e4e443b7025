import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { EngineError } from '../engine/base/errors.ts';
import { LOCK_FILE, lockDirectory, tryLockDirectory } from './directory-lock.ts';
import { removeServerFile, writeServerFile } from './server-file.ts';

const MODULE = pathToFileURL(join(import.meta.dirname, 'directory-lock.ts')).href;
const HOLD = `
  import { lockDirectory } from ${JSON.stringify(MODULE)};
  let said = 'locked';
  try { lockDirectory(process.argv[1]); } catch (error) { said = error.message; }
  console.log(said + ' ' + process.pid);
  process.stdin.resume();
`;
const NODE = [process.execPath, '--input-type=module-typescript', '-e', HOLD];

interface Holder {
  readonly child: ChildProcess;
  /** `locked` or the error, and the process id as the process knows it. */
  readonly said: string;
}

/** A process that locks `directory`, reports it, and holds the lock until it is killed. */
async function holder(t: TestContext, directory: string, before: readonly string[] = []): Promise<Holder> {
  const [command, ...words] = [...before, ...NODE, directory];
  const child = spawn(command!, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
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

test('a directory is locked once per process, by any path, and free again after release', (t) => {
  const directory = join(temporaryDirectory(t), 'data');
  const lock = lockDirectory(directory);
  symlinkSync(directory, `${directory}-link`);
  for (const path of [directory, `${directory}-link`]) {
    assert.throws(() => lockDirectory(path, 0), refusal(/is in use by another process; only one server at a time/));
    assert.equal(tryLockDirectory(path), undefined);
  }
  lock.release();
  assert.deepEqual(readdirSync(directory), [LOCK_FILE]);
  const again = lockDirectory(directory);
  // A second release of the first lock does not release the second lock.
  lock.release();
  assert.equal(tryLockDirectory(directory), undefined);
  again.release();
  assert.equal(statSync(join(directory, LOCK_FILE)).size, 0);
});

test('another thread of the process is rejected, and its attempt leaves the lock in place', async (t) => {
  const directory = temporaryDirectory(t);
  const lock = lockDirectory(directory);
  const attempt = async (): Promise<string> => {
    const worker = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads');
       import(workerData.module).then(({ lockDirectory }) => {
         try { lockDirectory(workerData.directory, 0); parentPort.postMessage('locked'); }
         catch (error) { parentPort.postMessage(error.message); }
       });`,
      { eval: true, workerData: { module: MODULE, directory } },
    );
    const [said] = await once(worker, 'message');
    await worker.terminate();
    return String(said);
  };
  assert.match(await attempt(), /in use/);
  // Closing a file releases all fcntl locks of the process on it: other processes must still be rejected.
  assert.match((await holder(t, directory)).said, /in use/);
  lock.release();
  assert.equal(await attempt(), 'locked');
  // The lock ended with the thread.
  lockDirectory(directory).release();
});

test('a second process is rejected; the lock of a killed one is free at once, even while it is a zombie', async (t) => {
  const directory = temporaryDirectory(t);
  const first = await holder(t, directory);
  assert.match(first.said, /^locked/);
  assert.equal(tryLockDirectory(directory), undefined);
  assert.match((await holder(t, directory)).said, /^STO-E001: .* is in use/);
  await kill(first.child);
  lockDirectory(directory).release();

  if (process.platform === 'win32') return t.skip('no zombies here');
  // A parent that never waits for its child.
  const orphanage = ['sh', '-c', '"$@" & exec sleep 600', 'sh'];
  const { child, said } = await holder(t, directory, orphanage);
  const pid = Number(said.split(' ').at(-1));
  assert.match(said, /^locked/);
  process.kill(pid, 'SIGKILL');
  // The kernel closes its files before it becomes a zombie.
  while (!isZombie(pid)) await new Promise((resolve) => setImmediate(resolve));
  const lock = lockDirectory(directory);
  process.kill(pid, 0);
  lock.release();
  await kill(child);
});

function isZombie(pid: number): boolean {
  return spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.startsWith('Z');
}

test('process ids of two containers are unrelated, and only one container gets the directory', async (t) => {
  const container = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
  if (spawnSync(container[0]!, [...container.slice(1), 'true']).status !== 0)
    return t.skip('this user may not make a PID namespace');
  const directory = temporaryDirectory(t);
  const first = await holder(t, directory, container);
  const second = await holder(t, directory, container);
  assert.equal(first.said, 'locked 1');
  assert.match(second.said, /^STO-E001: .* in use by another process.* 1$/);
  await Promise.all([kill(first.child), kill(second.child)]);
});

test('of several processes that find a killed process’s lock, one gets it', async (t) => {
  const directory = temporaryDirectory(t);
  await kill((await holder(t, directory)).child);
  const rivals = await Promise.all(Array.from({ length: 4 }, () => holder(t, directory)));
  const winners = rivals.filter(({ said }) => said.startsWith('locked'));
  assert.equal(winners.length, 1, rivals.map(({ said }) => said).join('; '));
});

test('the error reports the holder from server.json, and depends only on the lock', (t) => {
  const directory = temporaryDirectory(t);
  const addresses = { http: 'http://127.0.0.1:1', grpc: '127.0.0.1:2', secret: 'ab'.repeat(32) };
  // A killed server left it: no process holds the directory.
  writeServerFile(directory, addresses);
  const lock = lockDirectory(directory);
  const message = new RegExp(`in use by another server: process ${process.pid}, at http://127.0.0.1:1;`);
  assert.throws(() => lockDirectory(directory, 0), refusal(message));
  for (const content of ['', '{"http":', 'null', '{"http":1,"grpc":"x","pid":1,"host":"h","secret":"s"}']) {
    writeFileSync(join(directory, 'server.json'), content);
    assert.throws(() => lockDirectory(directory, 0), refusal(/in use by another process;/), content);
  }
  removeServerFile(directory);
  lock.release();
});

test('an invalid lock file gives a readable error', (t) => {
  const directory = temporaryDirectory(t);
  // Neither a lock file of SQLite nor an empty file.
  writeFileSync(
    join(directory, LOCK_FILE),
    'something else entirely, as long as a header of a database would be. '.repeat(20),
  );
  assert.throws(() => lockDirectory(directory), refusal(new RegExp(`cannot lock .*${LOCK_FILE}: `)));
});

test('a folder without write access gives a readable error', {
  skip: process.getuid?.() === 0 && 'root may write everywhere',
}, (t) => {
  const closed = join(temporaryDirectory(t), 'closed');
  mkdirSync(closed, { mode: 0o500 });
  assert.throws(() => lockDirectory(closed), refusal(/cannot create /));
});

test('locking prints nothing on stderr, and no other source names the lock file', async (t) => {
  const { stderr, stdout } = spawnSync(NODE[0]!, [...NODE.slice(1), temporaryDirectory(t)], {
    input: '',
    encoding: 'utf8',
  });
  assert.deepEqual([stdout.split(' ')[0], stderr], ['locked', '']);
  // Any other code that opens and closes the file would release the lock of its process.
  const root = join(import.meta.dirname, '..');
  const naming = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (name) =>
      name.endsWith('.ts') && !name.endsWith('.test.ts') && readFileSync(join(root, name), 'utf8').includes(LOCK_FILE),
  );
  assert.deepEqual(naming, [join('server', 'directory-lock.ts')]);
});
