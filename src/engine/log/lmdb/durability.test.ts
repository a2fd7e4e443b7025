// Observes with strace (skipped without it) and by killing a writer what reaches the disk, and what happens when a
// write fails.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { PAGE_BYTES } from './environment.ts';
import { type LogStamp, openLmdbLog } from './lmdb-log.ts';

const stamp: LogStamp = { formatVersion: 1, shard: 0, shards: 1 };
const MODULE = pathToFileURL(join(import.meta.dirname, 'lmdb-log.ts')).href;

/**
 * Appends three times, reports each outcome, then reads. One pool thread makes all commits, so that its calls can be
 * counted.
 */
const PROGRAM = `
  import { writeSync } from 'node:fs';
  import { openLmdbLog } from ${JSON.stringify(MODULE)};
  const log = openLmdbLog(process.argv[1], { stamp: ${JSON.stringify(stamp)} });
  for (let i = 1; i <= 3; i++) {
    writeSync(1, 'begin ' + i + '\\n');
    const outcome = await log.append({ records: [Buffer.alloc(300, i)] }).then(() => 'done', (error) => error.message);
    writeSync(1, outcome + '\\n');
  }
  const read = [...log.scan(1)].map(({ sequence }) => sequence).join();
  writeSync(1, 'records ' + read + ' next ' + log.nextSequence + ' poisoned ' + (log.poisoned !== undefined) + '\\n');
  await log.close();
`;

interface Traced {
  /** The program's output, a line each. */
  readonly said: readonly string[];
  readonly trace: readonly string[];
}

/** Runs the program on the log in `directory`. Without strace: skips the test and returns undefined. */
function runTraced(t: TestContext, directory: string, inject: readonly string[] = []): Traced | undefined {
  const traceFile = `${directory}.trace`;
  const calls = 'trace=openat,pwrite64,pwritev,writev,write,fdatasync';
  const node = [process.execPath, '--input-type=module-typescript', '-e', PROGRAM, directory];
  const result = spawnSync('strace', ['-f', '-o', traceFile, '-e', calls, ...inject, ...node], {
    env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
    encoding: 'utf8',
  });
  if (result.error !== undefined || /ptrace/i.test(result.stderr)) {
    t.skip('strace is missing or not permitted');
    return undefined;
  }
  assert.equal(result.status, 0, result.stderr);
  return { said: result.stdout.trim().split('\n'), trace: readFileSync(traceFile, 'utf8').split('\n') };
}

async function prepare(directory: string): Promise<void> {
  const log = openLmdbLog(directory, { stamp });
  await log.append({ records: [Buffer.from('first')] });
  await log.close();
}

/** True for a write of whole pages. */
function writesPage(line: string): boolean {
  return /pwrite64\(|pwritev\(|writev\(\d/.test(line) && new RegExp(`(?:, |iov_len=)${PAGE_BYTES}`).test(line);
}

test('an append resolves after its pages are synced and its meta page is written through', async (t) => {
  const run = runTraced(t, join(temporaryDirectory(t), 'log'));
  if (run === undefined) return;
  assert.deepEqual(run.said.slice(-1), ['records 1,2,3 next 4 poisoned false']);
  const dsync = run.trace
    .map((line) => /data\.mdb", .*O_DSYNC.* = (\d+)$/.exec(line)?.[1])
    .find((fd) => fd !== undefined);
  assert.ok(dsync !== undefined, 'the meta page has a descriptor of its own that writes through');
  for (const i of [1, 2, 3]) {
    const begin = run.trace.findIndex((line) => line.includes(`"begin ${i}\\n"`));
    const end = run.trace.findIndex((line, at) => at > begin && line.includes('"done\\n"'));
    const calls: string[] = run.trace.slice(begin + 1, end).flatMap((line) => {
      // Another thread's call may cut its line in two.
      if (/fdatasync(?:\(| resumed)/.test(line) && line.endsWith('= 0')) return 'sync';
      if (line.includes(`pwrite64(${dsync},`)) return 'meta';
      return writesPage(line) ? 'pages' : [];
    });
    assert.deepEqual(calls.slice(-3), ['pages', 'sync', 'meta'], run.trace.slice(begin, end + 1).join('\n'));
  }
});

for (const [title, inject] of [
  // The second append's call: each append writes pages, syncs, and writes the meta page.
  ['a failed sync', 'inject=fdatasync:error=EIO:when=2'],
  ['a meta page that could not be written', 'inject=pwrite64:error=EIO:when=4'],
] as const)
  test(`${title} poisons the log; reads go on, and every acknowledged append is there when it is opened again`, async (t) => {
    const directory = join(temporaryDirectory(t), 'log');
    // The log is created beforehand, so that only appends write in the traced process.
    await prepare(directory);
    const run = runTraced(t, directory, ['-e', inject]);
    if (run === undefined) return;
    assert.equal(run.said[1], 'done');
    assert.match(run.said[3] ?? '', /^STO-E001: .*refuses writes until it is opened again: Input\/output error/);
    assert.match(run.said[5] ?? '', /^STO-E001: .*refuses writes/);
    assert.equal(run.said[6], 'records 1,2 next 3 poisoned true');
    const again = openLmdbLog(directory, { stamp });
    assert.deepEqual(
      [...again.scan(1)].slice(0, 2).map(({ sequence }) => sequence),
      [1, 2],
    );
    assert.equal(again.poisoned, undefined);
    assert.ok((await again.append({ records: [Buffer.from('on')] })) >= 3);
    await again.close();
  });

test('every append that a killed process had acknowledged is there and complete', async (t) => {
  const directory = join(temporaryDirectory(t), 'log');
  const program = `
    import { writeSync } from 'node:fs';
    import { openLmdbLog } from ${JSON.stringify(MODULE)};
    const log = openLmdbLog(process.argv[1], { stamp: ${JSON.stringify(stamp)} });
    for (let i = 1; ; i++) {
      await log.append({ records: [Buffer.alloc(i % 900, i), Buffer.alloc(5_000, i)], state: [['appends', Buffer.from(String(i))]] });
      writeSync(1, i + '\\n');
    }
  `;
  for (const acknowledgements of [20, 45]) {
    const child = spawn(
      process.execPath,
      ['--input-type=module-typescript', '-e', program, `${directory}-${acknowledgements}`],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let said = '';
    for await (const chunk of child.stdout) {
      said += String(chunk);
      if (said.split('\n').length > acknowledgements) break;
    }
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    const acknowledged = said.split('\n').length - 1;
    const log = openLmdbLog(`${directory}-${acknowledgements}`, { stamp });
    const appends = Number(Buffer.from(log.getState('appends')!).toString());
    assert.ok(appends >= acknowledged, `${appends} of ${acknowledged}`);
    const records = [...log.scan(1)];
    assert.equal(records.length, appends * 2);
    for (const record of records) {
      assert.ok(!(record instanceof Error), String(record));
      const i = Math.ceil(record.sequence / 2);
      const expected = record.sequence % 2 === 1 ? Buffer.alloc(i % 900, i) : Buffer.alloc(5_000, i);
      assert.ok(expected.equals(record.bytes), `record ${record.sequence}`);
    }
    assert.equal(await log.append({ records: [Buffer.from('on')] }), appends * 2 + 1);
    await log.close();
  }
});
