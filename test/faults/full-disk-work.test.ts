// A full disk during other work than appends: merges, key destruction, backups, the start itself.
import assert from 'node:assert/strict';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import { KeyStore } from '../../src/engine/keys/key-store.ts';
import { MasterKey } from '../../src/engine/keys/master-key.ts';
import { ask, NotStarted, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { addBelief, codeOf, contextOf, openShard, recalled, settingsOf, until } from '../support/shard.ts';
import { smallDisk } from '../support/temporary.ts';

const MIB = 1_048_576;
const DISK_BYTES = 16 * MIB;
const WORDS = 'and so on, '.repeat(300);

/** Fills the disk, then frees `leave` bytes. */
function fillUp(disk: string, leave: number): string {
  const filler = join(disk, 'filler');
  writeFileSync(filler, '');
  for (let bytes = 256 * 1_024; bytes >= 4_096; bytes /= 2)
    for (;;) {
      try {
        appendFileSync(filler, Buffer.alloc(bytes, 1));
      } catch {
        break;
      }
    }
  if (leave > 0) {
    const spare = join(disk, 'spare');
    rmSync(filler);
    writeFileSync(spare, Buffer.alloc(leave));
    fillUp(disk, 0);
    rmSync(spare);
  }
  return filler;
}

async function fill(engine: Engine): Promise<string[]> {
  await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
  const hashes: string[] = [];
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 40; i++) {
      const user = i % 4 === 0 ? { user_id: `u${i}` } : {};
      hashes.push(await addBelief(engine, 1, { subject: `s${i}`, object: `harbour ${round} ${i} ${WORDS}`, ...user }));
    }
    await engine.write('flush', contextOf(1), {});
  }
  return hashes;
}

function assertReads(engine: Engine, hashes: readonly string[]): void {
  for (const hash of hashes) assert.equal(engine.read('get', contextOf(1), { hash }).hash, hash);
  assert.equal(recalled(engine, 1, 'harbour').length, hashes.length);
}

test('on a full disk merges, rebuilds, backups and erasures are refused, reads continue, and all work again with room', async (t) => {
  const disk = smallDisk(t, DISK_BYTES);
  if (disk === undefined) return;
  const root = join(disk, 'root');
  const engine = await openShard(root);
  const hashes = await fill(engine);
  // Enough room for a shard to refuse, but not for a file.
  const filler = fillUp(disk, 0);
  for (const [what, call] of [
    ['a compaction', () => engine.write('compact', contextOf(1), {})],
    ['a rebuild', () => engine.write('rebuildIndexes', contextOf(1), {})],
    ['a backup', () => engine.write('backup', contextOf(0), backupInto(join(disk, 'backup')))],
    [
      'a new master key',
      () => engine.write('rewrapKeys', contextOf(0), { masterKeys: [Buffer.alloc(32, 8), Buffer.alloc(32, 7)] }),
    ],
    ['an erasure', () => engine.write('eraseUser', contextOf(1), { userId: 'u0' })],
    ['a write', () => addBelief(engine, 1, { subject: 's', object: WORDS.repeat(20), user_id: 'new' })],
  ] as const) {
    assert.equal(await codeOf(call), 'STO-E001', what);
    assertReads(engine, hashes);
  }
  const refusing = engine.read('health', contextOf(0), {});
  assert.ok(!refusing.ok && refusing.reasons.some((reason) => /^writes are refused: no room in /.test(reason)));

  rmSync(filler);
  assert.ok(engine.read('health', contextOf(0), {}).ok);
  assert.equal((await engine.write('eraseUser', contextOf(1), { userId: 'u0' })).count, 3);
  const left = hashes.filter((_, i) => i % 40 !== 0);
  await engine.write('rewrapKeys', contextOf(0), { masterKeys: [Buffer.alloc(32, 8), Buffer.alloc(32, 7)] });
  await engine.write('compact', contextOf(1), {});
  await engine.write('rebuildIndexes', contextOf(1), {});
  rmSync(join(disk, 'backup'), { recursive: true, force: true });
  await engine.write('backup', contextOf(0), backupInto(join(disk, 'backup')));
  left.push(await addBelief(engine, 1, { subject: 's', object: 'harbour again', user_id: 'new' }));
  assertReads(engine, left);
  assert.deepEqual((await engine.write('verify', contextOf(0), {})).findings, []);
  await engine.close();
  const again = await openShard(root, { masterKeys: [Buffer.alloc(32, 8)] });
  assertReads(again, left);
  await until(again, () => again.store.purgePending.size === 0);
  await again.close();
});

function backupInto(directory: string): { dataDirectory: string; keysDirectory: string } {
  return { dataDirectory: join(directory, 'data', 'shard-0'), keysDirectory: join(directory, 'keys', 'shard-0') };
}

test('a key is destroyed in its place when there is no room for a second file', (t) => {
  const disk = smallDisk(t, MIB);
  if (disk === undefined) return;
  const master = MasterKey.of(Buffer.alloc(32, 7));
  const directory = join(disk, 'shard-0');
  const keys = KeyStore.open(directory, master);
  const made = Array.from({ length: 5 }, () => keys.allocate('user'));
  keys.flush();
  fillUp(disk, 0);
  const { fingerprint } = keys.destroy([2, 4], 1_000)[1]!;
  assert.throws(() => keys.rewrap(MasterKey.of(Buffer.alloc(32, 8))), { code: 'STO-E001' });
  for (const store of [keys, KeyStore.open(directory, master)]) {
    assert.deepEqual(
      [1, 2, 3, 4, 5].map((id) => store.state(id)),
      ['live', 'destroyed', 'live', 'destroyed', 'live'],
    );
    assert.equal(store.tombstone(4)?.fingerprint, fingerprint);
    assert.deepEqual(store.get(5), made[4]!.key);
    assert.deepEqual(store.verify(), []);
  }
});

test('a start on a full disk is refused by name, or serves reads, and accepts writes when there is room', async (t) => {
  const disk = smallDisk(t, DISK_BYTES);
  if (disk === undefined) return;
  const directory = join(disk, 'data');
  const flags = ['--shards', '1', '--workers', '1'];
  const first = await startServerProcess({ directory, flags });
  t.after(() => first.kill());
  const M = '/memories/default';
  const { body } = await ask(first, 'POST', `${M}/add`, { subject: 'a', relation: 'is', object: 'here' });
  await first.kill();
  let server: ServerProcess | undefined;
  for (const room of [0, 4_096, 8_192, 16_384, 65_536]) {
    fillUp(disk, room);
    server = await startServerProcess({ directory, flags }).catch((error: unknown) => {
      assert.ok(error instanceof NotStarted && error.signal === null, String(error));
      assert.match(error.output, /STO-E001: .*the disk is full/);
      return undefined;
    });
    if (server !== undefined) break;
  }
  assert.ok(server !== undefined, 'little room is enough to serve reads');
  const running = server;
  t.after(() => running.kill());
  assert.equal((await ask(server, 'GET', `${M}/grains/${body.blob_hash}`)).status, 200);
  const large = { subject: 'b', relation: 'is', object: WORDS.repeat(40), user_id: 'ann' };
  const refused = await ask(server, 'POST', `${M}/add`, large);
  assert.equal(refused.code, 'STO-E001');
  assert.ok(!JSON.stringify(refused.body).includes(directory), JSON.stringify(refused.body));
  assert.equal((await ask(server, 'GET', `${M}/export-file`)).status, 200);
  assert.equal((await ask(server, 'GET', '/health')).status, 503);
  rmSync(join(disk, 'filler'));
  assert.equal((await ask(server, 'POST', `${M}/add`, large)).status, 200);
  assert.equal((await ask(server, 'POST', `${M}/flush`)).status, 200);
  assert.equal(await server.stop(), 0);
});
