// Write-ahead files that kill -9 left, as a start, a start with other workers, and a restore find them.
import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { granaryJson } from '../support/cli.ts';
import { ask, NotStarted, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const M = '/memories/default';
const flags = ['--shards', '2', '--workers', '2', '--embedder', 'none'];
const restart = (directory: string, workers = '2') =>
  startServerProcess({ directory, flags: ['--workers', workers, '--embedder', 'none'] });

/** LMDB follows the write-ahead files in a second, and a busy machine may need longer for all writes: then again. */
const TRIES_MAX = 20;

/** Kills a server after five acknowledged writes; resolves to their hashes. */
async function killed(t: TestContext, data: string): Promise<readonly string[]> {
  const server = await startServerProcess({ directory: data, flags });
  t.after(() => server.kill());
  const hashes: string[] = [];
  // Each one is a write of its own.
  for (let i = 0; i < 5; i++) {
    const { body } = await ask(server, 'POST', `${M}/add`, { subject: 's', relation: 'r', object: `grain ${i}` });
    hashes.push(body.blob_hash);
  }
  await server.kill();
  return hashes;
}

/** Damages the first batch of a write-ahead file, in a copy of the data. Later ones reveal it. */
function damaged(data: string, copy: string): void {
  const [file] = readdirSync(join(data, 'wal')).filter(
    (name) => /\.[ab]$/.test(name) && holdsBatches(join(data, 'wal', name)),
  );
  assert.ok(file, 'the writes are in a write-ahead file');
  cpSync(data, copy, { recursive: true });
  const bytes = readFileSync(join(copy, 'wal', file));
  bytes[bytes.indexOf('GRWB') + 30]! ^= 0xff;
  writeFileSync(join(copy, 'wal', file), bytes);
}

/** The refusal of a start; undefined if it starts. */
async function refusalOf(directory: string): Promise<unknown> {
  try {
    await (await restart(directory)).kill();
    return undefined;
  } catch (error) {
    return error;
  }
}

test('what was acknowledged before kill -9 is there with any number of workers, and damage in it is refused by its place', async (t) => {
  const root = temporaryDirectory(t);
  let data = '';
  let hashes: readonly string[] = [];
  let refusal: unknown;
  for (let tries = 0; tries < TRIES_MAX && refusal === undefined; tries++) {
    data = join(root, `data ${tries}`);
    hashes = await killed(t, data);
    damaged(data, join(root, `damaged ${tries}`));
    refusal = await refusalOf(join(root, `damaged ${tries}`));
  }
  assert.ok(refusal instanceof NotStarted && refusal.exitCode === 1, String(refusal));
  assert.match(refusal.output, /STO-E001.*acknowledged appends of shard \d are missing.*damaged at byte 64/);

  for (const workers of ['2', '1', '0']) {
    const copy = join(root, `with ${workers}`);
    cpSync(data, copy, { recursive: true });
    const again = await restart(copy, workers);
    for (const [i, hash] of hashes.entries()) {
      const { status, body } = await ask(again, 'GET', `${M}/grains/${hash}`);
      assert.deepEqual([status, body.fields?.object], [200, `grain ${i}`]);
    }
    assert.equal((await ask(again, 'GET', `${M}/audit?verify=true`)).body.chain_valid, true);
    assert.equal(await again.stop(), 0);
    assert.deepEqual(readdirSync(join(copy, 'wal')), ['owner'], 'a clean end leaves no files');
  }
});

test('a restore repeats a removal that only the write-ahead files of a killed server hold', async (t) => {
  const root = temporaryDirectory(t);
  const data = join(root, 'data');
  const first = await startServerProcess({ directory: data, flags });
  t.after(() => first.kill());
  for (const user of ['ann', 'bob'])
    await ask(first, 'POST', `${M}/add`, { subject: user, relation: 'likes', object: 'tea', user_id: user });
  const forgotten = await ask(first, 'POST', `${M}/add`, { subject: 'cleo', relation: 'likes', object: 'tea' });
  await granaryJson(['backup', join(root, 'later'), '--data-dir', data]);
  assert.equal((await ask(first, 'POST', `${M}/forget`, { hash: forgotten.body.blob_hash })).status, 200);
  await first.kill();
  assert.ok(existsSync(join(data, 'wal', 'owner')));
  await granaryJson(['restore', join(root, 'later'), '--yes', '--data-dir', data]);
  const again = await restart(data);
  t.after(() => again.kill());
  const { results } = (await ask(again, 'POST', `${M}/recall`, { query: 'tea' })).body;
  assert.deepEqual(results.map(({ fields }: { fields: { subject: string } }) => fields.subject).sort(), ['ann', 'bob']);
});

function holdsBatches(path: string): boolean {
  return readFileSync(path).includes('GRWB');
}
