// A disk that fills up under a server: writes are refused with the reason, reads continue, nothing acknowledged is
// lost, and writes continue when there is room.
import assert from 'node:assert/strict';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EngineError } from '../../src/engine/base/errors.ts';
import { keyFolderOf } from '../../src/engine/keys/key-files.ts';
import { loadMasterKey } from '../../src/engine/keys/master-key.ts';
import { openEngine } from '../../src/engine/open.ts';
import { eventually } from '../support/eventually.ts';
import { ask, startServerProcess } from '../support/server-process.ts';
import { openFaultyShard } from '../support/shard.ts';
import { smallDisk, temporaryDirectory } from '../support/temporary.ts';

const MIB = 1_048_576;
const DISK_BYTES = 48 * MIB;
/** Space left for the server after the rest is filled. */
const ROOM_BYTES = 1 * MIB;
const BATCHES_MAX = 400;

test('a full disk refuses writes with STO-E001, and later serves and accepts writes again', async (t) => {
  const disk = smallDisk(t, DISK_BYTES);
  if (disk === undefined) return;
  const directory = join(disk, 'data');
  const filler = join(disk, 'filler');
  const flags = ['--shards', '1', '--workers', '1'];
  const server = await startServerProcess({ directory, flags });
  t.after(() => server.kill());
  const M = '/memories/default';
  const hashes: string[] = [];
  let made = 0;
  /** A batch of large grains, each of a different user; returns the error code. */
  const write = async (): Promise<string | undefined> => {
    const grains = Array.from({ length: 20 }, () => {
      made += 1;
      return {
        grain_type: 'event',
        fields: { content: `event ${made} ${'harbour '.repeat(600)}`, user_id: `u${made}` },
      };
    });
    const answer = await ask(server, 'POST', `${M}/batch-add`, { grains });
    if (answer.status >= 300) {
      assert.equal(answer.status, 500);
      return answer.code;
    }
    hashes.push(...answer.body.added.map(({ blob_hash: hash }: { blob_hash: string }) => hash));
    return answer.body.errors[0]?.code;
  };
  const readAll = async (): Promise<void> => {
    for (const hash of hashes) assert.equal((await ask(server, 'GET', `${M}/grains/${hash}`)).status, 200);
  };
  assert.equal(await write(), undefined);

  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(filler, Buffer.alloc(bavail * bsize - ROOM_BYTES));
  let refusal: string | undefined;
  for (let batches = 0; refusal === undefined; batches++) {
    assert.ok(batches < BATCHES_MAX, 'the disk fills up');
    refusal = await write();
  }
  assert.equal(refusal, 'STO-E001');
  // Sealing lacks space too and reports it, or had nothing left to do; the server continues.
  const flushed = await ask(server, 'POST', `${M}/flush`);
  assert.ok(flushed.status === 200 || flushed.code === 'STO-E001', JSON.stringify(flushed.body));
  await readAll();
  const found = await ask(server, 'POST', `${M}/recall`, { query: 'harbour', limit: 5 });
  assert.equal(found.body.results.length, 5);
  // A seal that was under way gives its room back, and health forgets a refusal after a while.
  await eventually('health reports a write that is refused', async () => {
    const code = await write();
    const { status, body } = await ask(server, 'GET', '/health');
    const told = /shard 0: writes are refused: no room in /;
    return code === 'STO-E001' && status === 503 && told.test(body.reasons.join());
  });
  assert.equal((await ask(server, 'GET', '/health/live')).status, 200);
  const erased = await ask(server, 'POST', `${M}/forget`, { user_id: 'u1' });
  assert.ok(erased.status === 200 || erased.code === 'STO-E001', JSON.stringify(erased.body));
  const gone = hashes.shift();

  rmSync(filler);
  assert.equal(await write(), undefined);
  // A refused erasure may have begun; then the server completes it. A repetition completes it in any case.
  if (erased.status !== 200)
    await eventually('the erasure is complete', async () => {
      const { status } = await ask(server, 'POST', `${M}/forget`, { user_id: 'u1' });
      return status === 200;
    });
  assert.equal((await ask(server, 'GET', `${M}/grains/${gone}`)).status, 410);
  await eventually('health is well again', async () => (await ask(server, 'GET', '/health')).status === 200);
  assert.equal((await ask(server, 'POST', `${M}/flush`)).status, 200);
  await readAll();
  const verified = await ask(server, 'POST', `${M}/app/exec`, { command: 'verify', args: {} });
  assert.deepEqual(verified.body.result.findings, []);
  await server.kill();
  // The disk holds the acknowledged grains.
  const master = loadMasterKey({
    files: keyFolderOf(directory),
    value: undefined,
    file: undefined,
    warn: () => undefined,
  });
  const engine = await openEngine({
    directory: join(directory, 'shard-0'),
    keysDirectory: join(directory, 'keys', 'shard-0'),
    shard: 0,
    shards: 1,
    masterKeys: [Buffer.from(master.key.toText().trim(), 'hex')],
    indexHeapBytes: 16 << 20,
  });
  const context = { memory: 1, partition: 0, actor: 'key:test', requestId: 'req_test' };
  assert.equal(engine.read('statistics', context, {}).totalGrains, hashes.length);
  for (const hash of hashes) assert.equal(engine.read('get', context, { hash }).hash, hash);
  await engine.close();
});

test('a refused append refuses its group alone, and a failed sync every write until the shard is opened again', async (t) => {
  const root = temporaryDirectory(t);
  const context = { memory: 1, partition: 0, actor: 'key:test', requestId: 'req_test' };
  const settings = { number: 1, id: 'm', partitions: 1, language: 'en', dedup: 'exact', dedupThreshold: 0.85 } as const;
  let { engine, log } = await openFaultyShard(root);
  await engine.write('attachMemory', context, { settings: { ...settings, createdAtMs: 1_700_000_000_000 } });
  const add = (object: string): Promise<string | undefined> =>
    engine
      .write('add', context, {
        grainType: 'belief',
        fields: { subject: 's', relation: 'r', object, user_id: object },
        sync: false,
      })
      .then(
        () => undefined,
        (error: EngineError) => error.code,
      );
  const there = (): string[] =>
    engine
      .read('list', context, { filter: {}, limit: 50, order: 'asc' })
      .grains.map((grain) => String(grain.fields['object']))
      .sort();
  assert.equal(await add('a'), undefined);
  log.failNextAppend();
  assert.deepEqual(await Promise.all([add('b'), add('c')]), ['STO-E001', 'STO-E001']);
  assert.deepEqual(there(), ['a']);
  assert.deepEqual(await Promise.all([add('b'), add('d')]), [undefined, undefined]);
  assert.deepEqual(there(), ['a', 'b', 'd']);
  for (const written of [false, true]) {
    log.failNextSync({ written });
    assert.equal(await add(`sync ${written}`), 'STO-E001');
    assert.equal(await add('e'), 'STO-E001');
    // It was not acknowledged.
    assert.ok(!there().includes(`sync ${written}`));
    const { ok, reasons } = engine.read('health', context, {});
    assert.ok(!ok && reasons.length > 0);
    await engine.close();
    ({ engine, log } = await openFaultyShard(root));
    assert.equal(there().includes(`sync ${written}`), written);
    assert.equal(await add(`after ${written}`), undefined);
    assert.deepEqual((await engine.write('verify', context, {})).findings, []);
    assert.equal((await engine.write('verifyAudit', context, {})).valid, true);
  }
  assert.deepEqual(there(), ['a', 'after false', 'after true', 'b', 'd', 'sync true']);
  await engine.close();
});
