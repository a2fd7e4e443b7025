import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { USED_THREADS } from '../../test/support/used-threads.ts';
import { keyFolderOf } from '../engine/keys/key-files.ts';
import { KeyStore } from '../engine/keys/key-store.ts';
import { beginRotation, loadMasterKey, MasterKey } from '../engine/keys/master-key.ts';
import { readConfig } from './config.ts';
import { openControlKey } from './control/control-key.ts';
import { makeLog } from './log.ts';
import { startServer } from './main.ts';
import { rewrapProofKeys } from './proofs/proof-keys.ts';
import type { RunningServer } from './running-server.ts';

const EXEC = '/api/memories/default/app/exec';
const SHARDS = 2;

function start(dataDir: string, env: Record<string, string> = {}): Promise<RunningServer> {
  const config = readConfig(
    { dataDir, embedder: 'none', httpPort: '0', grpcPort: '0', shards: String(SHARDS), workers: '1' },
    env,
  );
  return startServer(config, { log: makeLog('silent'), threads: USED_THREADS });
}

function firstKey(dataDir: string): string {
  return readFileSync(join(dataDir, 'keys', 'bootstrap.key'), 'utf8').trim();
}

async function post(server: RunningServer, dataDir: string, path: string, body: unknown) {
  const response = await fetch(`${server.http}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${firstKey(dataDir)}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }; // an object on all paths
}

const rotate = { command: 'rotate_keys', args: { scope: 'kek' } };

async function addBelief(server: RunningServer, dataDir: string, object: string): Promise<void> {
  const { status } = await post(server, dataDir, '/api/memories/default/add', {
    subject: 'ann',
    relation: 'likes',
    object,
    user_id: object,
  });
  assert.equal(status, 200);
}

async function objects(server: RunningServer, dataDir: string): Promise<unknown[]> {
  const { body } = await post(server, dataDir, '/api/memories/default/recall', { subject: 'ann' });
  const results = body['results'] as { fields: { object: string } }[]; // hits of the contract
  return results.map(({ fields }) => fields.object).sort();
}

const keyFile = (dataDir: string) => readFileSync(join(dataDir, 'keys', 'master.key'), 'utf8');
const checkFile = (dataDir: string) => readFileSync(join(dataDir, 'keys', 'master.check'), 'utf8');
const lines = (text: string) => text.trim().split('\n');

/** Every key of the folder opens under `master` alone, and no rotation is pending. */
function assertRotated(dataDir: string, master: MasterKey): void {
  const loaded = loadMasterKey({ files: keyFolderOf(dataDir), value: undefined, file: undefined });
  assert.deepEqual([loaded.rotating, loaded.key.ids], [false, [master.id]]);
  openControlKey(keyFolderOf(dataDir), master, false);
  for (let shard = 0; shard < SHARDS; shard++) {
    const keys = KeyStore.open(join(dataDir, 'keys', `shard-${shard}`), master);
    assert.deepEqual(keys.verify(), []);
    keys.close();
  }
}

const ownKey = (dataDir: string): MasterKey =>
  MasterKey.of(...lines(keyFile(dataDir)).map((line) => Buffer.from(line, 'hex')));

const closed = mkdtempSync(join(tmpdir(), 'granary-master-keys-'));
before(async () => {
  const server = await start(closed);
  await addBelief(server, closed, 'tea');
  await server.close();
});
after(() => rmSync(closed, { recursive: true, force: true }));

/** A closed data directory with one grain, copied for this test. */
function prepared(t: TestContext): string {
  const dataDir = temporaryDirectory(t);
  cpSync(closed, dataDir, { recursive: true });
  return dataDir;
}

test('rotate_keys kek wraps every key under a new master key while the server serves', async (t) => {
  const dataDir = temporaryDirectory(t);
  const before = temporaryDirectory(t);
  const server = await start(dataDir);
  await addBelief(server, dataDir, 'tea');
  cpSync(join(dataDir, 'keys'), join(before, 'keys'), { recursive: true });
  const { body } = await post(server, dataDir, EXEC, rotate);
  const { rotated, fingerprint } = body['result'] as { rotated: number; fingerprint: string };
  // Blob, token and index key of the memory, a user's key, the scope's, and the control key.
  assert.equal(rotated, 6);
  assert.equal(ownKey(dataDir).id, fingerprint);
  assert.notEqual(keyFile(dataDir), keyFile(before));
  await addBelief(server, dataDir, 'coffee');
  assert.deepEqual(await objects(server, dataDir), ['coffee', 'tea']);
  await server.close();
  assertRotated(dataDir, ownKey(dataDir));
  assert.throws(() => KeyStore.open(join(dataDir, 'keys', 'shard-0'), ownKey(before)), { code: 'AUT-E003' });
  const again = await start(dataDir);
  assert.deepEqual(await objects(again, dataDir), ['coffee', 'tea']);
  await again.close();
});

/** States after a crash at each step of a rotation. */
const CUTS: Record<string, (dataDir: string, next: MasterKey) => void> = {
  'the new key is in the file, nothing else': (dataDir, next) => {
    const check = checkFile(dataDir);
    beginRotation(keyFolderOf(dataDir), next, true);
    writeFileSync(join(dataDir, 'keys', 'master.check'), check);
  },
  'both keys are named': (dataDir, next) => beginRotation(keyFolderOf(dataDir), next, true),
  'one shard is rewrapped': (dataDir, next) => {
    beginRotation(keyFolderOf(dataDir), next, true);
    const keys = KeyStore.open(join(dataDir, 'keys', 'shard-1'), next);
    keys.rewrap(next);
    keys.close();
  },
  'everything is rewrapped': (dataDir, next) => {
    beginRotation(keyFolderOf(dataDir), next, true);
    for (let shard = 0; shard < SHARDS; shard++)
      KeyStore.open(join(dataDir, 'keys', `shard-${shard}`), next).rewrap(next);
    openControlKey(keyFolderOf(dataDir), next, false);
    rewrapProofKeys(keyFolderOf(dataDir), next, next);
  },
  'the old key is still in the file': (dataDir, next) => {
    CUTS['everything is rewrapped']!(dataDir, next);
    writeFileSync(join(dataDir, 'keys', 'master.check'), `${next.id}\n`);
  },
};

for (const [cut, leave] of Object.entries(CUTS))
  test(`a rotation that ended when ${cut} is completed by the next start`, async (t) => {
    const dataDir = prepared(t);
    const next = MasterKey.random(ownKey(dataDir));
    leave(dataDir, next);
    const server = await start(dataDir);
    assert.deepEqual(server.warnings, []);
    assert.deepEqual(await objects(server, dataDir), ['tea']);
    await server.close();
    assertRotated(dataDir, next);
    assert.deepEqual(lines(checkFile(dataDir)), [next.id]);
  });

test('a wrong key is refused and leaves no check that refuses the right one', async (t) => {
  const dataDir = prepared(t);
  const right = lines(keyFile(dataDir))[0]!;
  rmSync(join(dataDir, 'keys', 'master.key'));
  rmSync(join(dataDir, 'keys', 'master.check'));
  for (const wrong of ['ab'.repeat(32), `${'ab'.repeat(32)},${'cd'.repeat(32)}`])
    await assert.rejects(start(dataDir, { GRANARY_MASTER_KEY: wrong }), { code: 'AUT-E003' });
  const server = await start(dataDir, { GRANARY_MASTER_KEY: right });
  assert.deepEqual(await objects(server, dataDir), ['tea']);
  await server.close();
  assert.deepEqual(lines(checkFile(dataDir)), [MasterKey.of(Buffer.from(right, 'hex')).id]);
});

test('a rotation whose check is lost is completed, and no key is dropped before', async (t) => {
  const dataDir = prepared(t);
  const next = MasterKey.random(ownKey(dataDir));
  CUTS['one shard is rewrapped']!(dataDir, next);
  rmSync(join(dataDir, 'keys', 'master.check'));
  const server = await start(dataDir);
  assert.deepEqual(await objects(server, dataDir), ['tea']);
  await server.close();
  assertRotated(dataDir, next);
});

test('an operator’s key is rotated by a start with the new key before the old one', async (t) => {
  const dataDir = prepared(t);
  const [old] = lines(keyFile(dataDir));
  copyFileSync(join(dataDir, 'keys', 'master.key'), join(dataDir, 'elsewhere'));
  const fresh = randomBytes(32).toString('hex');
  const held = await start(dataDir, { GRANARY_MASTER_KEY: old! });
  const refused = await post(held, dataDir, EXEC, rotate);
  assert.equal((refused.body['error'] as { code: string }).code, 'VAL-E001');
  await held.close();

  const server = await start(dataDir, { GRANARY_MASTER_KEY: `${fresh},${old}` });
  assert.ok(server.warnings.some((text) => text.includes('under the new master key')));
  await server.close();
  await assert.rejects(start(dataDir, { GRANARY_MASTER_KEY: old! }), { code: 'AUT-E003' });
  const alone = await start(dataDir, { GRANARY_MASTER_KEY: fresh });
  assert.deepEqual([alone.warnings, await objects(alone, dataDir)], [[], ['tea']]);
  await alone.close();
});

test('a bound key does not rotate the master key', async (t) => {
  const dataDir = temporaryDirectory(t);
  const server = await start(dataDir);
  const made = await post(server, dataDir, '/api/auth/keys', { scopes: ['admin'], memory_id: 'default' });
  const response = await fetch(`${server.http}${EXEC}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${made.body['raw_key']}`, 'content-type': 'application/json' },
    body: JSON.stringify(rotate),
  });
  assert.equal(response.status, 403);
  await server.close();
});
