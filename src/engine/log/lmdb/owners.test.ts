// Two owners of one log. The lock of the data directory normally keeps them apart; these tests bypass it, as a file
// system without working locks does. One owner must not overwrite appends that the other was acknowledged.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { CorruptRecord } from '../log.ts';
import { type LogStamp, openLmdbLog } from './lmdb-log.ts';

const stamp: LogStamp = { formatVersion: 1, shard: 0, shards: 1 };
const MODULE = pathToFileURL(join(import.meta.dirname, 'lmdb-log.ts')).href;
/**
 * Opens the log and obeys one-word commands: append a record, append a state, or append as many records as possible.
 */
const OWNER = `
  const { openLmdbLog } = await import(${JSON.stringify(MODULE)});
  const log = openLmdbLog(directory, { stamp: ${JSON.stringify(stamp)} });
  const tell = (words) => say(words.join(' '));
  const attempt = (append) => log.append(append).then((sequence) => ['done', sequence], (error) => ['refused', error.message]);
  tell(['open', log.nextSequence]);
  hear(async (word) => {
    if (word === 'close') return log.close().then(() => tell(['closed']));
    if (word.startsWith('state')) return tell(await attempt({ records: [], state: [['word', Buffer.from(word)]] }));
    if (!word.startsWith('flood')) return tell([...(await attempt({ records: [Buffer.from(word)] })), '|', log.poisoned]);
    const acknowledged = [];
    for (let i = 0; i < 60; i++) {
      const [told, sequence] = await attempt({ records: [Buffer.from(word + i)] });
      if (told !== 'done') break;
      acknowledged.push(sequence + '=' + word + i);
    }
    tell(['acknowledged', ...acknowledged]);
  });
`;

interface Owner {
  /** The next line of its output. */
  heard(): Promise<string>;
  /** Sends it a command and resolves to its answer. */
  ask(word: string): Promise<string>;
}

function ownerOf(send: (word: string) => void, listen: (heard: (line: string) => void) => void): Owner {
  const lines: string[] = [];
  let wake = (): void => undefined;
  listen((line) => {
    lines.push(line);
    wake();
  });
  const heard = async (): Promise<string> => {
    while (lines.length === 0)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    return lines.shift()!;
  };
  return {
    heard,
    ask: (word) => {
      send(word);
      return heard();
    },
  };
}

function inProcess(t: TestContext, directory: string): Owner {
  const program = `
    import { createInterface } from 'node:readline';
    const directory = process.argv[1];
    const say = (line) => process.stdout.write(line + '\\n');
    const hear = (take) => createInterface({ input: process.stdin }).on('line', take);
    ${OWNER}
  `;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  return ownerOf(
    (word) => void child.stdin.write(`${word}\n`),
    (heard) => void createInterface({ input: child.stdout }).on('line', heard),
  );
}

function inThread(t: TestContext, directory: string): Owner {
  const program = `
    const { parentPort, workerData: { directory } } = require('node:worker_threads');
    const say = (line) => parentPort.postMessage(line);
    const hear = (take) => parentPort.on('message', take);
    (async () => {${OWNER}})();
  `;
  const worker = new Worker(program, { eval: true, workerData: { directory } });
  t.after(() => worker.terminate());
  return ownerOf(
    (word) => worker.postMessage(word),
    (heard) => void worker.on('message', heard),
  );
}

const MOVED = /^refused STO-E001: .*written by another/;

for (const [where, openOwner] of [
  ['processes', inProcess],
  ['threads', inThread],
] as const) {
  test(`of two owners in ${where} the first to append continues, and the other is refused and poisoned`, async (t) => {
    const directory = join(temporaryDirectory(t), 'log');
    const [first, second] = [openOwner(t, directory), openOwner(t, directory)];
    assert.deepEqual([await first.heard(), await second.heard()], ['open 1', 'open 1']);
    assert.match(await first.ask('one'), /^done 1 /);
    const refused = await second.ask('other');
    assert.match(refused, MOVED);
    assert.match(refused, /\| .*written by another/, 'it is poisoned');
    assert.match(await second.ask('again'), MOVED);
    assert.match(await first.ask('two'), /^done 2 /);

    // An append of state alone also moves the append counter.
    const third = openOwner(t, directory);
    assert.equal(await third.heard(), 'open 3');
    assert.match(await third.ask('state'), /^done/);
    assert.match(await first.ask('three'), MOVED);
    assert.match(await third.ask('three'), /^done 3 /);
    for (const owner of [first, second, third]) assert.equal(await owner.ask('close'), 'closed');
    assert.deepEqual(await recordsOf(directory), ['1=one', '2=two', '3=three']);
  });

  test(`when two owners in ${where} append concurrently, every acknowledged append is there`, async (t) => {
    const directory = join(temporaryDirectory(t), 'log');
    const owners = [openOwner(t, directory), openOwner(t, directory)];
    for (const owner of owners) assert.equal(await owner.heard(), 'open 1');
    const answers = await Promise.all(owners.map((owner, i) => owner.ask(`flood${i}-`)));
    const acknowledged = answers.flatMap((line) => line.split(' ').slice(1));
    assert.ok(acknowledged.length >= 60, answers.join('\n'));
    for (const owner of owners) assert.equal(await owner.ask('close'), 'closed');
    assert.deepEqual(await recordsOf(directory), acknowledged);
  });
}

test('an owner recognises its own append at every moment', async (t) => {
  const log = openLmdbLog(join(temporaryDirectory(t), 'log'), { stamp });
  let asked = 0;
  for (let i = 0; i < 50; i++) {
    let isDone = false;
    const append = log.append({ records: [Buffer.alloc(100)] }).finally(() => {
      isDone = true;
    });
    // Repeated while the writer thread commits.
    while (!isDone) {
      log.checkOwner?.();
      asked += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await append;
  }
  assert.ok(asked > 50, `${asked} times`);
  // A busy thread learns late of its commit, so the counter on disk is ahead of it here.
  const before = log.nextSequence;
  const append = log.append({ records: [Buffer.alloc(100)] });
  // The writer begins in a later turn.
  await new Promise((resolve) => setImmediate(resolve));
  for (const endMs = performance.now() + 60_000; log.read(before) === undefined && performance.now() < endMs; )
    log.checkOwner?.();
  assert.ok(log.read(before) !== undefined && log.nextSequence === before, 'it is on disk and not yet acknowledged');
  log.checkOwner?.();
  await append;
  assert.equal(log.poisoned, undefined);
  await log.close();
});

async function recordsOf(directory: string): Promise<string[]> {
  const log = openLmdbLog(directory, { stamp });
  const records = [...log.scan(1)].map((record) => {
    assert.ok(!(record instanceof CorruptRecord));
    return `${record.sequence}=${Buffer.from(record.bytes).toString()}`;
  });
  await log.close();
  return records;
}
