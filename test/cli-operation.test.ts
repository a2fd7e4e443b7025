// Commands of operation: doctor, backups that rotate, and restores on trial.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { MOVED_FILE } from '../src/server/data-directory.ts';
import { granary, granaryJson } from './support/cli.ts';
import { granary as inThread } from './support/command-thread.ts';
import { memoryFolder } from './support/memory-files.ts';
import { MASTER, ON_POSTGRES } from './support/store.ts';

const root = memoryFolder();
process.on('exit', () => rmSync(root, { recursive: true, force: true }));
const data = join(root, 'data');
const backups = join(root, 'backups');
const TLS = join(import.meta.dirname, 'fixtures', 'tls');
const PORTS = ['--http-port', '0', '--grpc-port', '0', '--embedder', 'none'];

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly message: string;
  readonly action: string;
}

async function doctor(words: readonly string[], code: number): Promise<(check: string) => readonly Finding[]> {
  const { findings } = await granaryJson(['doctor', '--data-dir', data, ...PORTS, ...words], code);
  const all = findings as readonly Finding[];
  for (const { state, action } of all) assert.equal(state === 'ok', action === '');
  return (check) => all.filter((one) => one.check === check);
}

const states = (found: readonly Finding[]): readonly string[] => found.map(({ state }) => state);
const here = (...words: string[]): string[] => [...words, '--data-dir', data];

before(async () => {
  const line = JSON.stringify({ grain_type: 'belief', subject: 'ada', relation: 'likes', object: 'tea' });
  const file = join(root, 'one.jsonl');
  writeFileSync(file, `${line}\n`);
  const ran = await granary(here('import', file, '--memory', 'default'));
  assert.equal(ran.code, 0, ran.stderr);
});

test('backups rotate: older ones go, and nothing else does', async () => {
  mkdirSync(backups);
  const old = ['granary-20200101T000000Z', 'granary-20200102T000000Z'];
  for (const name of old) {
    mkdirSync(join(backups, name));
    writeFileSync(join(backups, name, 'backup.json'), JSON.stringify({ version: '0', shards: 2, takenAtMs: 1 }));
  }
  // Neither a backup that did not end, nor one of another name, nor a link is a backup of this command.
  mkdirSync(join(backups, 'granary-20200103T000000Z'));
  mkdirSync(join(backups, 'by-hand'));
  writeFileSync(join(backups, 'by-hand', 'backup.json'), JSON.stringify({ shards: 2, takenAtMs: 1 }));
  symlinkSync(join(backups, 'by-hand'), join(backups, 'granary-20200104T000000Z'));
  const { removed, path } = await granaryJson(here('backup', '--to', backups, '--keep', '2'));
  assert.deepEqual(removed, old.slice(0, 1));
  const left = [
    old[1],
    'granary-20200103T000000Z',
    'granary-20200104T000000Z',
    'by-hand',
    String(path).split('/').at(-1),
  ];
  assert.deepEqual(readdirSync(backups).sort(), left.sort());
  assert.ok(existsSync(join(backups, 'by-hand', 'backup.json')));
});

test('a backup stays where older ones seem newer, since the clock was wrong', async () => {
  const folder = join(root, 'future');
  const name = 'granary-29990101T000000Z';
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, 'backup.json'), JSON.stringify({ version: '0', shards: 2, takenAtMs: 1 }));
  const { removed, path } = await granaryJson(here('backup', '--to', folder, '--keep', '1'));
  assert.deepEqual(removed, [name]);
  assert.deepEqual(readdirSync(folder), [String(path).split('/').at(-1)]);
});

test('a backup that fails removes none', async () => {
  const folder = join(root, 'full');
  mkdirSync(join(folder, 'granary-20200101T000000Z'), { recursive: true });
  writeFileSync(join(folder, 'granary-20200101T000000Z', 'backup.json'), JSON.stringify({ shards: 2, takenAtMs: 1 }));
  const ran = await granary(['backup', '--to', folder, '--keep', '1', '--data-dir', join(root, 'one.jsonl')]);
  assert.notEqual(ran.code, 0);
  assert.deepEqual(readdirSync(folder), ['granary-20200101T000000Z']);
});

test('options of a backup that make no sense are refused', async () => {
  for (const words of [
    [],
    ['x', '--to', 'y'],
    ['x', '--keep', '2'],
    ['--to', 'y', '--keep', '0'],
    ['--to', 'y', '--keep', 'a'],
  ])
    assert.equal((await inThread(here('backup', ...words))).code, 2, words.join(' '));
});

test('a restore on trial reads a backup, and changes nothing', async () => {
  const newest = join(backups, readdirSync(backups).filter((name) => /^granary-202[1-9]/.test(name))[0] ?? '');
  const untouched = join(root, 'untouched');
  const report = await granaryJson(['restore', newest, '--dry-run', '--data-dir', untouched]);
  assert.deepEqual([report['grains'], report['finding_count']], [1, 0]);
  assert.ok(!existsSync(untouched));
  assert.deepEqual(states((await doctor(['--backup', backups], 0))('backup')), ['ok']);
  const none = await granary(['restore', root, '--dry-run']);
  assert.match(none.stderr, /no backup\.json/);
  rmSync(join(newest, 'keys', 'control.key'));
  const broken = (await doctor(['--backup', newest], 1))('backup');
  assert.deepEqual(states(broken), ['fail']);
  assert.match(broken[0]?.message ?? '', /cannot be restored/);
});

/** In a run on PostgreSQL the keys lie in a database. */
const NO_KEY_FILES = ON_POSTGRES ? 'there are no key files' : undefined;

test('the doctor tries a backup with the master key of --master-key-file, as a server takes it', {
  skip: NO_KEY_FILES,
}, async () => {
  const apart = join(root, 'apart');
  const file = join(root, 'master.key');
  writeFileSync(file, MASTER, { mode: 0o600 });
  const env = { GRANARY_MASTER_KEY_FILE: file };
  const words = ['--data-dir', apart];
  for (const made of [
    ['import', join(root, 'one.jsonl'), '--memory', 'default'],
    ['backup', join(root, 'apart-backup')],
  ])
    assert.equal((await granary([...made, ...words], { env })).code, 0);
  const tried = ['doctor', '--backup', join(root, 'apart-backup'), ...words, ...PORTS];
  const { findings } = await granaryJson([...tried, '--master-key-file', file]);
  const of = (check: string) => (findings as readonly Finding[]).filter((one) => one.check === check);
  assert.deepEqual([...states(of('keys')), ...states(of('backup'))], ['ok', 'ok'], JSON.stringify(findings));
  assert.match(of('backup')[0]?.message ?? '', /can be restored: 1 grain, no problem found/);
  // The variables of a node with a model of its own say nothing of the restored copy.
  const node = { GRANARY_STORE: 'postgres://nobody@127.0.0.1:1/none', GRANARY_NODE_LISTEN: '127.0.0.1:0' };
  const model = { GRANARY_EMBEDDER: 'onnx', GRANARY_EMBEDDER_MODEL: 'mine' };
  for (const more of [node, model]) {
    const ran = await granary(['restore', tried[2]!, '--dry-run', ...words], { env: { ...env, ...more } });
    assert.equal(ran.code, 0, ran.stderr);
  }
  const without = await granaryJson(tried, 1);
  assert.match(JSON.stringify(without['findings']), /cannot be restored: AUT-E003.*give --master-key-file/);
});

test('the doctor finds nothing to mend in a new deployment, and says where its key lies', {
  skip: NO_KEY_FILES,
}, async () => {
  const of = await doctor([], 0);
  for (const check of ['clock', 'disk', 'embedder', 'listener', 'permissions'])
    assert.ok(
      states(of(check)).every((state) => state !== 'fail'),
      check,
    );
  assert.deepEqual(states(of('keys')), ['warn']);
  assert.match(of('keys')[0]?.action ?? '', /--master-key-file/);
  const text = await granary(here('doctor', ...PORTS));
  assert.equal(text.code, 0);
  assert.match(text.stdout, /^warn {2}keys: /m);
  assert.match(text.stdout, /^0 problems to fix, \d warnings?\.$/m);
});

test('the doctor says that a master key in the data directory lies beside the data, however it is named', {
  skip: NO_KEY_FILES,
}, async () => {
  const named = (await doctor(['--master-key-file', join(data, 'keys', 'master.key')], 0))('keys');
  assert.deepEqual(states(named), ['warn']);
  assert.match(named[0]?.message ?? '', /master\.key is stored beside the data/);
  const apart = join(root, 'master.key');
  writeFileSync(apart, '0123456789abcdef'.repeat(4), { mode: 0o600 });
  assert.deepEqual(states((await doctor(['--master-key-file', apart], 0))('keys')), ['ok']);
});

test('the doctor finds a directory on which no server starts', { skip: NO_KEY_FILES }, async () => {
  const moved = join(data, MOVED_FILE);
  writeFileSync(moved, '{}\n');
  try {
    const found = (await doctor([], 1))('directory');
    assert.match(found[0]?.message ?? '', /was moved into a database/);
  } finally {
    rmSync(moved);
  }
});

test('the doctor finds open keys, files of the future, taken ports, and certificates that end', {
  skip: NO_KEY_FILES,
}, async () => {
  const key = join(data, 'keys', 'control.key');
  const later = Date.now() / 1000 + 3_600;
  chmodSync(key, 0o644);
  utimesSync(key, later, later);
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const address = taken.address();
  const port = typeof address === 'object' ? String(address?.port) : '';
  try {
    const of = await doctor(
      ['--http-port', port, '--tls-cert', join(TLS, 'cert.pem'), '--tls-key', join(TLS, 'rsa-key.pem')],
      1,
    );
    assert.match(of('permissions').find(({ state }) => state === 'fail')?.action ?? '', /chmod 600 .*control\.key/);
    assert.deepEqual(states(of('clock')), ['fail']);
    assert.ok(states(of('listener')).includes('fail'));
    assert.match(of('certificate')[0]?.message ?? '', /is not the key of/);
  } finally {
    taken.close();
    chmodSync(key, 0o600);
    utimesSync(key, new Date(), new Date());
  }
  const of = await doctor(['--tls-cert', join(TLS, 'cert.pem'), '--tls-key', join(TLS, 'key.pem')], 0);
  assert.deepEqual(states(of('certificate')), ['ok']);
});
