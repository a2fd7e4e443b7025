// A deployment moves from a data directory into PostgreSQL and back, by the command line.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Database } from '../src/engine/log/postgres/database.ts';
import { readKeyFiles } from '../src/engine/log/postgres/key-files.ts';
import { migrate } from '../src/engine/log/postgres/migrate.ts';
import { CONTROL_SHARD } from '../src/server/control/open.ts';
import { checked, moveIntoStore } from '../src/server/store/into-store.ts';
import { digestOfStored } from '../src/server/store/log-digest.ts';
import { moveOutOfStore } from '../src/server/store/out-of-store.ts';
import { granary } from './support/cli.ts';
import { testDatabase } from './support/postgres.ts';
import { ask, NotStarted, type ServerProcess, startServerProcess } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

const M = '/memories/default';
const FLAGS = ['--shards', '2', '--workers', '1'];

async function started(
  t: TestContext,
  directory: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const server = await startServerProcess({ directory, flags: FLAGS, env });
  t.after(() => server.kill());
  return server;
}

async function asked(server: ServerProcess, verb: string, path: string, json?: unknown) {
  const { status, body } = await ask(server, verb, path, json);
  assert.ok(status < 300, `${verb} ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

async function add(server: ServerProcess, object: string, userId: string): Promise<string> {
  const fields = { subject: 'ann', relation: 'likes', object };
  return (await asked(server, 'POST', `${M}/add`, { grain_type: 'belief', fields, user_id: userId })).blob_hash;
}

async function found(server: ServerProcess): Promise<readonly string[]> {
  const { results } = await asked(server, 'POST', `${M}/recall`, { query: 'tea' });
  return (results as { readonly hash: string }[]).map(({ hash }) => hash).sort();
}

/** A data directory with grains, one of them erased. Its server has ended. */
async function deployment(t: TestContext, directory: string): Promise<readonly string[]> {
  const server = await started(t, directory);
  const hashes = [await add(server, 'smoked tea', 'ann'), await add(server, 'green tea', 'bob')];
  await add(server, 'white tea', 'cal');
  await asked(server, 'POST', `${M}/forget`, { user_id: 'cal', reason: 'asked' });
  await server.stop();
  return hashes.sort();
}

test('a deployment moves into a database and back, whole', { timeout: 240_000 }, async (t) => {
  const database = await testDatabase(t);
  if (database === undefined) return;
  const { url } = database;
  const root = temporaryDirectory(t);
  const [directory, back] = [join(root, 'one'), join(root, 'back')];
  const hashes = await deployment(t, directory);
  const master = readFileSync(join(directory, 'keys', 'master.key'), 'utf8').trim();
  const key = readFileSync(join(directory, 'keys', 'bootstrap.key'), 'utf8');

  // Not while a server has the directory.
  const running = await started(t, directory);
  const env = { GRANARY_STORE: url };
  const refused = await granary(['store', 'import', directory], { env });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /is in use|is running|locked/i);
  await running.stop();
  const wrong = await granary(['store', 'import', directory], { env: { ...env, GRANARY_MASTER_KEY: 'ab'.repeat(32) } });
  assert.match(wrong.stderr, /AUT-E003/);

  const moved = await granary(['store', 'import', directory, '--json'], { env });
  assert.equal(moved.code, 0, moved.stderr);
  const { logs } = JSON.parse(moved.stdout) as {
    readonly logs: readonly { readonly log: string; readonly records: number; readonly checksum: string }[];
  };
  assert.deepEqual(
    logs.map(({ log }) => log),
    ['shard-0', 'shard-1', 'control'],
  );
  assert.ok(logs.some(({ records }) => records > 3));
  // Neither does a second server get the data, nor is the database filled twice.
  await assert.rejects(
    started(t, directory),
    (error) => error instanceof NotStarted && /was moved into a database/.test(error.output),
  );
  const again = await granary(['store', 'import', directory], { env });
  assert.match(again.stderr, /holds a deployment already/);

  const node = await started(t, join(root, 'node'), { ...env, GRANARY_MASTER_KEY: master });
  assert.equal(readFileSync(join(root, 'node', 'keys', 'bootstrap.key'), 'utf8'), key);
  assert.deepEqual(await found(node), hashes);
  assert.equal((await granary(['verify', '--data-dir', join(root, 'node')])).code, 0);
  const more = [...hashes, await add(node, 'black tea', 'ann')].sort();
  // Nor may the way back begin while a node serves.
  const served = await granary(['store', 'export', back], { env: { ...env, GRANARY_MASTER_KEY: master } });
  assert.match(served.stderr, /STO-E002.*is held by node/);
  await node.stop();

  const full = join(root, 'full');
  mkdirSync(full);
  writeFileSync(join(full, 'file'), '');
  const notEmpty = await granary(['store', 'export', full], { env: { ...env, GRANARY_MASTER_KEY: master } });
  assert.match(notEmpty.stderr, /is not empty/);
  // A slash at the end, as shells complete it, names the same folder.
  const returned = await granary(['store', 'export', `${back}/`], { env: { ...env, GRANARY_MASTER_KEY: master } });
  assert.equal(returned.code, 0, returned.stderr);
  assert.match(returned.stdout, /shard-0 .*\n.*shard-1 .*\n.*control /);
  assert.ok(!existsSync(`${back}.unfinished`) && !existsSync(join(back, 'keys', 'master.key')));
  const server = await started(t, back, { GRANARY_MASTER_KEY: master });
  assert.equal(readFileSync(join(back, 'keys', 'bootstrap.key'), 'utf8'), key);
  assert.deepEqual(await found(server), more);
  assert.equal((await granary(['verify', '--data-dir', back])).code, 0);
  await add(server, 'mint tea', 'bob');
  await server.stop();
});

test('an import that was interrupted is no deployment, and the next one begins anew', {
  timeout: 120_000,
}, async (t) => {
  const database = await testDatabase(t);
  if (database === undefined) return;
  const { url } = database;
  const root = temporaryDirectory(t);
  const directory = join(root, 'one');
  const hashes = await deployment(t, directory);
  // Left by a crash within the replacement of the file, and by an operator: neither is a file of keys for the database.
  const left = readFileSync(join(directory, 'keys', 'master.key'));
  for (const name of ['master.key.tmp', 'master.key.old']) writeFileSync(join(directory, 'keys', name), left);
  const options = { directory, url, masterKey: undefined, masterKeyFile: undefined, keyUrl: undefined };
  const cut = moveIntoStore({
    ...options,
    onMoved: (name) => {
      if (name === 'shard-1') throw new Error('cut');
    },
  });
  await assert.rejects(cut, /cut/);
  const env = {
    GRANARY_STORE: url,
    GRANARY_MASTER_KEY: readFileSync(join(directory, 'keys', 'master.key'), 'utf8').trim(),
  };
  for (const refused of [
    await granary(['store', 'check'], { env }),
    await granary(['store', 'migrate'], { env }),
    await granary(['store', 'export', join(root, 'back')], { env }),
  ])
    assert.match(refused.stderr, /STO-E001.*an import into this database was not completed/);
  await assert.rejects(
    started(t, join(root, 'node'), env),
    (error) => error instanceof NotStarted && /was not completed/.test(error.output),
  );

  const moved: string[] = [];
  await moveIntoStore({ ...options, onMoved: (name) => void moved.push(name) });
  assert.deepEqual(moved, ['shard-0', 'shard-1', 'control']);
  const reader = await Database.open(url);
  t.after(() => reader.close());
  const files = await readKeyFiles(reader, CONTROL_SHARD);
  assert.deepEqual(
    files.map(([name]) => name),
    ['bootstrap.wrapped', 'control.key', 'master.check', 'proof.key'],
  );
  const second = await testDatabase(t);
  await assert.rejects(
    moveIntoStore({ ...options, url: second!.url, onMoved: () => undefined }),
    /STO-E001.*was moved into another database/,
  );
  // A way back that fails leaves what somebody has put into its place meanwhile, and no keys.
  const back = join(root, 'back');
  const failing = moveOutOfStore({
    ...options,
    directory: back,
    masterKey: env.GRANARY_MASTER_KEY,
    onMoved: () => {
      mkdirSync(back, { recursive: true });
      writeFileSync(join(back, 'kept'), '');
    },
  });
  await assert.rejects(failing, /ENOTEMPTY/);
  assert.deepEqual([readdirSync(back), existsSync(`${back}.unfinished`)], [['kept'], false]);
  const node = await started(t, join(root, 'node'), env);
  assert.deepEqual(await found(node), hashes);
  await node.stop();
});

test('an import that was interrupted begins anew with its key store', { timeout: 120_000 }, async (t) => {
  const [database, keys] = [await testDatabase(t), await testDatabase(t)];
  if (database === undefined || keys === undefined) return;
  const root = temporaryDirectory(t);
  const [other, directory] = [join(root, 'other'), join(root, 'one')];
  const options = { url: database.url, keyUrl: keys.url, masterKey: undefined, masterKeyFile: undefined };
  await deployment(t, other);
  const cut = moveIntoStore({
    ...options,
    directory: other,
    onMoved: (name) => {
      if (name === 'shard-1') throw new Error('cut');
    },
  });
  await assert.rejects(cut, /cut/);
  // Keys of the first one have the numbers of others.
  const hashes = await deployment(t, directory);
  await moveIntoStore({ ...options, directory, onMoved: () => undefined });
  const master = readFileSync(join(directory, 'keys', 'master.key'), 'utf8').trim();
  const env = { GRANARY_STORE: database.url, GRANARY_KEY_STORE: keys.url, GRANARY_MASTER_KEY: master };
  const node = await started(t, join(root, 'node'), env);
  assert.deepEqual(await found(node), hashes);
  assert.equal((await granary(['verify', '--data-dir', join(root, 'node')])).code, 0);
  await node.stop();
});

test('a deployment moves with its keys in a key store, and back', { timeout: 240_000 }, async (t) => {
  const [database, keys] = [await testDatabase(t), await testDatabase(t)];
  if (database === undefined || keys === undefined) return;
  const root = temporaryDirectory(t);
  const directory = join(root, 'one');
  const hashes = await deployment(t, directory);
  const master = readFileSync(join(directory, 'keys', 'master.key'), 'utf8').trim();
  const env = { GRANARY_STORE: database.url, GRANARY_KEY_STORE: keys.url, GRANARY_MASTER_KEY: master };
  const moved = await granary(['store', 'import', directory], { env });
  assert.equal(moved.code, 0, moved.stderr);
  const checkedNow = await granary(['store', 'check'], { env });
  assert.match(checkedNow.stdout, /keys are in a key store/);
  const { GRANARY_KEY_STORE: _, ...without } = env;
  const refused = await granary(['store', 'check'], { env: without });
  assert.match(refused.stderr, /set GRANARY_KEY_STORE/);
  await assert.rejects(
    started(t, join(root, 'node'), without),
    (error) => error instanceof NotStarted && /set GRANARY_KEY_STORE/.test(error.output),
  );
  const node = await started(t, join(root, 'node'), env);
  assert.deepEqual(await found(node), hashes);
  await asked(node, 'POST', `${M}/forget`, { user_id: 'ann', reason: 'asked' });
  await node.stop();
  const back = join(root, 'back');
  const returned = await granary(['store', 'export', back], { env });
  assert.equal(returned.code, 0, returned.stderr);
  const server = await started(t, back, { GRANARY_MASTER_KEY: master });
  assert.equal((await found(server)).length, 1);
  assert.equal((await granary(['verify', '--data-dir', back])).code, 0);
  await server.stop();
});

test('a moved log that differs in one byte is told', async (t) => {
  const found = await testDatabase(t);
  if (found === undefined) return;
  const database = await Database.open(found.url);
  t.after(() => database.close());
  await migrate(database, 1);
  await database.ask((sql) => sql`INSERT INTO granary_records VALUES (0, 1, ${Buffer.from('one')}), (0, 2, NULL)`);
  await database.ask(
    (sql) => sql`INSERT INTO granary_state VALUES (0, ${Buffer.from('audit-head/1')}, ${Buffer.from('two')}, 1)`,
  );
  const before = await digestOfStored(database, 0, []);
  assert.deepEqual({ ...before, checksum: '' }, { records: 1, auditHeads: 1, keys: 0, checksum: '' });
  assert.deepEqual(checked('shard-0', before, await digestOfStored(database, 0, [])), before);
  await database.ask((sql) => sql`UPDATE granary_state SET frame = ${Buffer.from('twO')}`);
  const after = await digestOfStored(database, 0, []);
  assert.throws(() => checked('shard-0', before, after), {
    code: 'STO-E001',
    message: /shard-0 differs after the move/,
  });
});
