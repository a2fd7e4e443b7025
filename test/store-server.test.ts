// A server whose data lie in PostgreSQL, as its users see it: processes over HTTP and the command line.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Database } from '../src/engine/log/postgres/database.ts';
import { SCHEMA_SERVES_FROM, SCHEMA_VERSION } from '../src/engine/log/postgres/schema.ts';
import { environment, granary } from './support/cli.ts';
import { eventually } from './support/eventually.ts';
import { NO_POSTGRES, PostgresInstance, savedState, type TestDatabase, testDatabase } from './support/postgres.ts';
import { MAIN } from './support/program.ts';
import { ask, NotStarted, type ServerProcess, startServerProcess } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

const MASTER = 'c0ffee0123456789'.repeat(4);
const M = '/memories/default';
const FLAGS = ['--shards', '2', '--workers', '1', '--log-level', 'info'];

interface Started {
  readonly url: string;
  readonly directory: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}

function start({ url, directory, env = {}, flags = [] }: Started): Promise<ServerProcess> {
  return startServerProcess({
    directory,
    flags: [...FLAGS, ...flags],
    env: { GRANARY_STORE: url, GRANARY_MASTER_KEY: MASTER, ...env },
  });
}

/** Ends the server after the test, however it ends. */
async function started(t: TestContext, options: Started): Promise<ServerProcess> {
  const server = await start(options);
  t.after(() => server.kill());
  return server;
}

async function refusal(options: Started): Promise<NotStarted> {
  try {
    const server = await start(options);
    await server.kill();
  } catch (error) {
    if (error instanceof NotStarted) return error;
    throw error;
  }
  return assert.fail('it started');
}

async function asked(server: ServerProcess, verb: string, path: string, json?: unknown) {
  const { status, body } = await ask(server, verb, path, json);
  assert.ok(status < 300, `${verb} ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

const belief = (subject: string, object: string, userId: string) => ({
  grain_type: 'belief',
  fields: { subject, relation: 'likes', object },
  user_id: userId,
});

async function found(server: ServerProcess, query: string): Promise<readonly string[]> {
  const { results } = await asked(server, 'POST', `${M}/recall`, { query });
  return (results as { readonly hash: string }[]).map(({ hash }) => hash);
}

/** A hash for each belief. */
async function fill(server: ServerProcess): Promise<{ readonly ann: string; readonly bob: string }> {
  const [ann, bob] = [
    await asked(server, 'POST', `${M}/add`, belief('ann', 'smoked tea', 'ann')),
    await asked(server, 'POST', `${M}/add`, belief('bob', 'green tea', 'bob')),
  ];
  return { ann: ann.blob_hash, bob: bob.blob_hash };
}

test('a server on a database adds, recalls, forgets with a proof, and is whole again on an empty folder', async (t) => {
  const database = await testDatabase(t);
  if (database === undefined) return;
  const { url } = database;
  const directory = join(temporaryDirectory(t), 'data');
  const proof = join(temporaryDirectory(t), 'proof.json');
  let server = await started(t, { url, directory });
  const { key } = server;
  assert.match(key, /^gr_[0-9a-f]{64}$/);
  const { ann, bob } = await fill(server);
  assert.deepEqual((await found(server, 'tea')).toSorted(), [ann, bob].toSorted());
  const cal = await asked(server, 'POST', `${M}/app/exec`, {
    command: 'cal',
    args: { query: 'RECALL beliefs WHERE subject = "bob"' },
  });
  assert.match(JSON.stringify(cal), new RegExp(bob));
  const erased = await granary(['forget', '--user', 'ann', '--yes', '--proof', proof, '--url', server.http], {
    env: { GRANARY_API_KEY: key },
  });
  assert.equal(erased.code, 0, erased.stderr);

  const isWhole = async () => {
    assert.equal(server.key, key);
    assert.deepEqual(await found(server, 'tea'), [bob]);
    // 410 until the purge has ended.
    assert.match(String((await ask(server, 'GET', `${M}/grains/${ann}`)).status), /404|410/);
    const words = ['proof', 'verify', proof, '--with-server', '--url', server.http];
    const verified = await granary(words, { env: { GRANARY_API_KEY: key } });
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
  };
  await isWhole();
  assert.equal(await server.stop(), 0);
  server = await started(t, { url, directory });
  await isWhole();
  assert.equal(await server.stop(), 0);
  rmSync(directory, { recursive: true });
  server = await started(t, { url, directory });
  await isWhole();
  const report = await asked(server, 'POST', `${M}/app/exec`, { command: 'verify', args: {} });
  assert.equal(report.result.finding_count, 0, JSON.stringify(report));

  // No password in anything that it says, and no key of data in its folder.
  const { password } = new URL(url);
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    names.filter((name) => /key/.test(name)),
    ['keys', join('keys', 'bootstrap.key')],
  );
  const health = await ask(server, 'GET', '/health');
  const config = await ask(server, 'GET', '/config');
  const metrics = await ask(server, 'GET', '/metrics');
  const said = [server.output(), JSON.stringify([health.body, config.body]), String(metrics.body)].join('\n');
  assert.ok(!said.includes(password) && !said.includes(MASTER));
  assert.equal(await server.stop(), 0);
});

test('a server whose database was restored to an older state says so once, and has the keys of that state', async (t) => {
  const database = await testDatabase(t);
  if (database === undefined) return;
  const { url } = database;
  const directory = join(temporaryDirectory(t), 'data');
  const direct = await Database.open(url);
  t.after(() => direct.close());
  let server = await started(t, { url, directory });
  assert.equal(await server.stop(), 0);
  const restore = await savedState(direct);
  server = await started(t, { url, directory });
  const { raw_key: late } = await asked(server, 'POST', '/auth/keys', { name: 'late', scopes: ['read'] });
  assert.equal((await ask(server, 'GET', `${M}/stats`, undefined, { authorization: `Bearer ${late}` })).status, 200);
  assert.equal(await server.stop(), 0);
  await restore();
  const WENT_BACK = /the control log in the database is older than it was.*Repeat the changes of keys/;
  server = await started(t, { url, directory });
  assert.match(server.output(), WENT_BACK);
  assert.equal((await ask(server, 'GET', `${M}/stats`, undefined, { authorization: `Bearer ${late}` })).status, 401);
  assert.equal(await server.stop(), 0);
  server = await started(t, { url, directory });
  assert.doesNotMatch(server.output(), WENT_BACK);
});

test('a password in --store is taken from the command line that others see', async (t) => {
  if (process.platform !== 'linux') return t.skip('command lines are read from /proc');
  const database = await testDatabase(t);
  if (database === undefined) return;
  const { url } = database;
  const directory = join(temporaryDirectory(t), 'data');
  const server = await startServerProcess({
    directory,
    flags: [...FLAGS, '--store', url],
    env: { GRANARY_MASTER_KEY: MASTER },
  });
  t.after(() => server.kill());
  assert.ok(!readFileSync(`/proc/${server.child.pid}/cmdline`, 'utf8').includes(new URL(url).password));
  assert.match(server.output(), /--store contains a password/);
  assert.ok(!server.output().includes(new URL(url).password));
});

test('commands that look at a store take a password from their command line too', async (t) => {
  if (process.platform !== 'linux') return t.skip('command lines are read from /proc');
  // A database that does not answer.
  const silent = createServer((socket) => socket.on('error', () => undefined).resume());
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  const url = (password: string): string => `postgres://granary:${password}@127.0.0.1:${port}/granary?sslmode=disable`;
  const words = [
    'store',
    'import',
    join(temporaryDirectory(t), 'data'),
    '--store',
    url('one'),
    '--key-store',
    url('two'),
  ];
  const looking = ['nodes', 'doctor', 'upgrade --check'].map((name) => [...name.split(' '), '--store', url('one')]);
  for (const wanted of [words, ...looking, ['doctor', `--store=${url('one')}`]]) {
    const child = spawn(process.execPath, [MAIN, ...wanted], {
      env: environment(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    t.after(() => child.kill('SIGKILL'));
    child.stderr.setEncoding('utf8');
    let said = '';
    child.stderr.on('data', (text: string) => (said += text));
    const warnings = wanted.filter((word) => /^--(key-)?store/.test(word)).length;
    await eventually('it says so', () => said.split('contains a password').length - 1 === warnings);
    if (child.exitCode === null) assert.doesNotMatch(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8'), /:one@|:two@/);
    assert.doesNotMatch(said, /:one@|:two@/);
    child.kill('SIGKILL');
  }
});

test('no command repeats a password that is in the wrong place', async () => {
  const url = 'postgres://granary:one@127.0.0.1:1/granary?sslmode=disable';
  for (const words of [
    ['upgrade', '--check', url],
    ['doctor', '--data-dir', url],
    ['store', 'check', url],
    ['stats', '--data-dir', url],
    ['nodes', '--store', 'postgres://granary:1?one@h/granary'],
  ]) {
    const { code, stdout, stderr } = await granary([...words, '--json']);
    assert.notEqual(code, 0);
    assert.notEqual(stderr, '');
    assert.doesNotMatch(stdout + stderr, /one@/, words.join(' '));
  }
});

test('a start that cannot be right is refused, and says why and what to do', async (t) => {
  const database = await testDatabase(t);
  if (database === undefined) return;
  const { url } = database;
  const root = temporaryDirectory(t);
  const directory = join(root, 'data');
  const server = await started(t, { url, directory });
  await fill(server);
  assert.equal(await server.stop(), 0);
  const wrong = new URL(url);
  wrong.password = 'not-the-password';
  const closed = new URL(url);
  closed.port = '1';
  writeFileSync(join(directory, 'my.key'), `${MASTER}\n`, { mode: 0o600 });
  const ofFile = { GRANARY_MASTER_KEY: undefined as never, GRANARY_MASTER_KEY_FILE: join(directory, 'my.key') };
  const oneBox = join(root, 'one-box');
  const other = await startServerProcess({ directory: oneBox, flags: FLAGS });
  await other.stop();

  const cases: readonly (readonly [string, Partial<Started>, RegExp])[] = [
    ['no master key', { env: { GRANARY_MASTER_KEY: undefined as never } }, /AUT-E003.*GRANARY_MASTER_KEY/],
    ['a master key in the cache', { env: ofFile }, /AUT-E003.*is in the data directory/],
    ['another master key', { env: { GRANARY_MASTER_KEY: 'ab'.repeat(32) } }, /AUT-E003.*wrong master key/],
    ['another number of shards', { flags: ['--shards', '3'] }, /VAL-E001: --shards 3.*created with 2 shards/],
    ['wrong password', { url: wrong.href }, /STO-E001.*password authentication failed/],
    [
      'no database',
      { url: closed.href, flags: ['--store-start-ms', '700'] },
      /STO-E001.*ECONNREFUSED.*tried for 0\.7 s/,
    ],
    ['a directory with data', { directory: oneBox }, /STO-E001.*without a store/],
    [
      'a URL that is none',
      { url: 'mysql://localhost/x' },
      /VAL-E001: GRANARY_STORE \(--store\) must be a URL: postgres/,
    ],
  ];
  for (const [name, options, says] of cases) {
    const { exitCode, output } = await refusal({ url, directory, ...options });
    assert.equal(exitCode, 1, name);
    assert.match(output, says, name);
    assert.ok(!output.includes('not-the-password') && !output.includes(new URL(url).password), name);
  }
  await assert.rejects(startServerProcess({ directory, flags: FLAGS }), (error) => {
    assert.match(String(error), /STO-E001.*cache of a node.*GRANARY_STORE/);
    return true;
  });
  await eventually('the directory opens again', async () => {
    const again = await start({ url, directory });
    await again.stop();
    return true;
  });
});

test('a new master key is taken over by starts with both, and the former one opens nothing then', async (t) => {
  const database = await testDatabase(t);
  if (database === undefined) return;
  const { url } = database;
  const directory = join(temporaryDirectory(t), 'data');
  let server = await started(t, { url, directory });
  const { key } = server;
  const { bob } = await fill(server);
  assert.equal(await server.stop(), 0);
  const next = 'feedface98765432'.repeat(4);
  server = await started(t, { url, directory, env: { GRANARY_MASTER_KEY: `${next},${MASTER}` } });
  await eventually('every key is wrapped again', () =>
    /every key is wrapped under the new master key/.test(server.output()),
  );
  assert.equal(await server.stop(), 0);
  assert.match((await refusal({ url, directory })).output, /AUT-E003.*wrong master key/);
  rmSync(directory, { recursive: true });
  server = await started(t, { url, directory, env: { GRANARY_MASTER_KEY: next } });
  assert.equal(server.key, key);
  assert.deepEqual(await found(server, 'green'), [bob]);
  const rotated = await asked(server, 'POST', '/proof-keys/rotate', {});
  assert.equal(await server.stop(), 0);
  server = await started(t, { url, directory, env: { GRANARY_MASTER_KEY: next } });
  const { keys } = await asked(server, 'GET', '/proof-keys');
  assert.deepEqual([keys.length, keys[0].key_id], [2, rotated.key_id]);
});

test('the tables of another version are refused until they are migrated, and none are migrated under a node', async (t) => {
  const database = await testDatabase(t);
  if (database === undefined) return;
  const { url } = database;
  const env = { GRANARY_STORE: url };
  const empty = await granary(['store', 'migrate'], { env });
  assert.deepEqual([empty.code, /holds no store/.test(empty.stderr)], [1, true]);
  const directory = join(temporaryDirectory(t), 'data');
  const server = await started(t, { url, directory });
  const sql = await Database.open(url);
  t.after(() => sql.close());
  const setVersion = (version: number) => sql.ask((ask) => ask`UPDATE granary_store SET version = ${version}`);
  const held = await granary(['store', 'check'], { env });
  assert.match(held.stdout, new RegExp(`version ${SCHEMA_VERSION}.*2 shards[^]*[0-9A-Z]{26} +2 +yes `));
  // Later steps only add, and may run while nodes serve.
  await setVersion(SCHEMA_SERVES_FROM - 1);
  const served = await granary(['store', 'migrate'], { env });
  assert.deepEqual([served.code, /serves .*stop all nodes/.test(served.stderr)], [1, true], served.stderr);
  await setVersion(SCHEMA_VERSION);
  await server.stop();

  await sql.ask(
    (ask) => ask`UPDATE granary_store SET version = ${SCHEMA_VERSION + 1}, serves_from = ${SCHEMA_VERSION + 1}`,
  );
  const newer = await refusal({ url, directory });
  assert.match(newer.output, /STO-E001.*made by a newer version of this server/);
  const checked = await granary(['store', 'check'], { env });
  assert.deepEqual([checked.code, /newer version/.test(checked.stderr)], [1, true]);
  await setVersion(SCHEMA_VERSION);
  const same = await granary(['store', 'migrate', '--json'], { env });
  assert.deepEqual(JSON.parse(same.stdout), { from: SCHEMA_VERSION, to: SCHEMA_VERSION });
});

test('commands of files refuse a store, and say what does it', async (t) => {
  const env = { GRANARY_STORE: 'postgres://nobody@localhost:1/none' };
  const root = temporaryDirectory(t);
  for (const [words, says] of [
    [['restore', root, '--data-dir', join(root, 'data')], /USAGE: .*database from its own backup/],
    [['upgrade', root, '--check'], /USAGE: .*granary store check/],
  ] as const) {
    const ran = await granary(words, { env });
    assert.deepEqual([ran.code, says.test(ran.stderr)], [2, true], ran.stderr);
  }
});

test('a backup of a server on a database is restored into a directory without one', async (t) => {
  const database = await testDatabase(t);
  if (database === undefined) return;
  const root = temporaryDirectory(t);
  const [directory, copy, restored] = ['data', 'copy', 'restored'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  const server = await started(t, { url: database.url, directory });
  const { bob } = await fill(server);
  const { key } = server;
  await asked(server, 'POST', `${M}/app/exec`, { command: 'backup', args: { path: copy } });
  await server.stop();
  const env = { GRANARY_MASTER_KEY: MASTER };
  const ran = await granary(['restore', copy, '--data-dir', restored], { env });
  assert.equal(ran.code, 0, ran.stderr);
  const alone = await startServerProcess({ directory: restored, flags: FLAGS, env });
  t.after(() => alone.kill());
  assert.equal(alone.key, key);
  assert.deepEqual(await found(alone, 'green'), [bob]);
  const report = await asked(alone, 'POST', `${M}/app/exec`, { command: 'verify', args: {} });
  assert.equal(report.result.finding_count, 0, JSON.stringify(report));
});

test('a shard that another owner took and left is opened again', async (t) => {
  const database = await testDatabase(t);
  if (database === undefined) return;
  const directory = join(temporaryDirectory(t), 'data');
  const server = await started(t, { url: database.url, directory });
  const { ann, bob } = await fill(server);
  const sql = await Database.open(database.url);
  t.after(() => sql.close());
  // As an owner does that takes both shards and gives them back.
  await sql.ask((ask) => ask`UPDATE granary_shards SET token = token + 1, owner = NULL WHERE shard < 2`);
  await sql.ask(
    (ask) => ask`INSERT INTO granary_owners SELECT shard, token, '\\x00', appends FROM granary_shards WHERE shard < 2`,
  );
  await eventually('a write is taken again', async () => {
    const { status } = await ask(server, 'POST', `${M}/add`, belief('carl', 'black tea', 'carl'));
    assert.ok([200, 201, 500, 503].includes(status), String(status));
    return status < 300;
  });
  const hashes = await found(server, 'tea');
  assert.ok([ann, bob].every((hash) => hashes.includes(hash)) && hashes.length === 3, hashes.join());
  assert.equal(await server.stop(), 0);
});

test('a control log that another owner took and left is opened again, with its keys and on the same ports', async (t) => {
  const database = await testDatabase(t);
  if (database === undefined) return;
  const directory = join(temporaryDirectory(t), 'data');
  const server = await started(t, { url: database.url, directory });
  const { ann } = await fill(server);
  const sql = await Database.open(database.url);
  t.after(() => sql.close());
  await sql.ask((ask) => ask`UPDATE granary_shards SET token = token + 1, owner = NULL WHERE shard = 64`);
  await sql.ask(
    (ask) => ask`INSERT INTO granary_owners SELECT shard, token, '\\x00', appends FROM granary_shards WHERE shard = 64`,
  );
  await eventually('a memory can be made again', async () => {
    const answer = await ask(server, 'POST', '/memories', { id: 'later' }).catch(() => undefined);
    // Its port is closed for a moment.
    if (answer === undefined) return false;
    assert.ok([201, 500, 503].includes(answer.status), String(answer.status));
    return answer.status === 201;
  });
  assert.deepEqual(await found(server, 'tea').then((hashes) => hashes.includes(ann)), true);
  assert.match(server.output(), /the control log accepts no more writes.*the server is running again/s);
  assert.equal(await server.stop(), 0);
});

test('without its database a server answers 503 and goes on by itself when it is back', {
  skip: NO_POSTGRES,
}, async (t) => {
  const instance = await PostgresInstance.start({ isDurable: true });
  const { url }: TestDatabase = await instance.database();
  const directory = join(temporaryDirectory(t), 'data');
  const server = await started(t, { url, directory, flags: ['--store-lease-ms', '1000'] });
  const { bob } = await fill(server);
  instance.kill();
  await eventually(
    'the lease ends',
    async () => (await ask(server, 'POST', `${M}/recall`, { query: 'tea' })).status === 503,
  );
  const response = await fetch(`${server.http}/api${M}/add`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(belief('carl', 'tea', 'carl')),
  });
  assert.equal(response.status, 503);
  assert.equal(response.headers.get('retry-after'), '1');
  assert.match(await response.text(), /STO-E002/);
  const health = await ask(server, 'GET', '/health');
  assert.deepEqual(
    [health.status, /lease/.test(JSON.stringify(health.body))],
    [503, true],
    JSON.stringify(health.body),
  );
  assert.equal((await ask(server, 'GET', '/health/live')).status, 200);
  instance.restart();
  await eventually('it serves again', async () => (await ask(server, 'GET', '/health')).status === 200);
  assert.deepEqual(await found(server, 'green'), [bob]);
  await asked(server, 'POST', `${M}/add`, belief('carl', 'tea', 'carl'));

  // It ends without the database too, with a write under way whose outcome nobody knows.
  instance.kill();
  const unknown = ask(server, 'POST', `${M}/add`, belief('dora', 'tea', 'dora')).catch(() => undefined);
  await eventually('the lease ends', async () => (await ask(server, 'GET', '/health')).status === 503);
  const toldMs = performance.now();
  assert.equal(await server.stop(), 0);
  t.diagnostic(`it ended ${Math.round((performance.now() - toldMs) / 1_000)} s after it was told to`);
  await unknown;
  assert.doesNotMatch(server.output(), /abandoned|closed log|"problem"/);
});
