import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { EngineError } from '../base/errors.ts';
import { keyFolderOf } from './key-files.ts';
import { KeyStore } from './key-store.ts';
import { beginRotation, finishRotation, loadMasterKey, MasterKey } from './master-key.ts';

const hexA = 'aa'.repeat(32);
const hexB = 'bb'.repeat(32);

function authError(pattern: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof EngineError && error.code === 'AUT-E003' && pattern.test(error.message);
}

test('the first start makes a key file of mode 600 and says so; the next one reads it', (t) => {
  const dataDirectory = temporaryDirectory(t);
  const messages: string[] = [];
  const first = loadMasterKey({ files: keyFolderOf(dataDirectory), warn: (text) => messages.push(text) });
  assert.equal(first.source, 'created');
  assert.match(messages.join(), /a master key was created in .*master\.key/);
  const path = join(dataDirectory, 'keys', 'master.key');
  assert.match(readFileSync(path, 'utf8'), /^[0-9a-f]{64}\n$/);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const second = loadMasterKey({ files: keyFolderOf(dataDirectory) });
  assert.equal(second.source, 'file');
  assert.equal(second.key.id, first.key.id);
  assert.equal(second.rotating, false);
});

test('a given value is accepted, and from then on a wrong one is refused by id', (t) => {
  const dataDirectory = temporaryDirectory(t);
  const { key, source } = loadMasterKey({ files: keyFolderOf(dataDirectory), value: hexA });
  assert.equal(source, 'env');
  const other = MasterKey.of(Buffer.from(hexB, 'hex'));
  assert.throws(
    () => loadMasterKey({ files: keyFolderOf(dataDirectory), value: hexB }),
    authError(new RegExp(`under ${key.id}, but ${other.id} was given`)),
  );
  assert.throws(
    () => loadMasterKey({ files: keyFolderOf(dataDirectory) }),
    authError(/is missing, and neither GRANARY_MASTER_KEY nor/),
  );
});

test('the refusal of a malformed key says what is wrong and hides its value', (t) => {
  const dataDirectory = temporaryDirectory(t);
  for (const value of ['', 'abc', 'zz'.repeat(32), hexA.slice(1), `${hexA}0`])
    assert.throws(
      () => loadMasterKey({ files: keyFolderOf(dataDirectory), value }),
      (error) =>
        authError(/64 hex digits|holds 0 master keys/)(error) && (value === '' || !String(error).includes(`${value} `)),
    );
});

test('a key file in another place is read; a missing one is refused', (t) => {
  const dataDirectory = temporaryDirectory(t);
  const file = join(dataDirectory, 'elsewhere.key');
  assert.throws(
    () => loadMasterKey({ files: keyFolderOf(dataDirectory), file }),
    authError(/elsewhere\.key does not exist/),
  );
  writeFileSync(file, `${hexA}\n`, { mode: 0o600 });
  assert.equal(
    loadMasterKey({ files: keyFolderOf(dataDirectory), file }).key.id,
    MasterKey.of(Buffer.from(hexA, 'hex')).id,
  );
});

test('a key file that others can read causes a warning', (t) => {
  const dataDirectory = temporaryDirectory(t);
  loadMasterKey({ files: keyFolderOf(dataDirectory) });
  const messages: string[] = [];
  chmodSync(join(dataDirectory, 'keys', 'master.key'), 0o644);
  loadMasterKey({ files: keyFolderOf(dataDirectory), warn: (text) => messages.push(text) });
  assert.match(messages.join(), /mode 644/);
});

test('no new master key is made over keys that an older one wrapped', (t) => {
  const dataDirectory = temporaryDirectory(t);
  const { key } = loadMasterKey({ files: keyFolderOf(dataDirectory) });
  const store = KeyStore.open(join(dataDirectory, 'keys', 'shard-0'), key);
  store.allocate('blob');
  store.flush();
  rmSync(join(dataDirectory, 'keys', 'master.key'));
  rmSync(join(dataDirectory, 'keys', 'master.check'));
  assert.throws(() => loadMasterKey({ files: keyFolderOf(dataDirectory) }), authError(/is missing/));
});

test('a rotation needs both keys until it is finished, and is reported as under way', (t) => {
  const dataDirectory = temporaryDirectory(t);
  const old = loadMasterKey({ files: keyFolderOf(dataDirectory) }).key;
  const store = KeyStore.open(join(dataDirectory, 'keys', 'shard-0'), old);
  const { id, key } = store.allocate('blob');
  store.flush();

  const next = MasterKey.random(old);
  beginRotation(keyFolderOf(dataDirectory), next, true);
  const cutOff = loadMasterKey({ files: keyFolderOf(dataDirectory) });
  assert.equal(cutOff.rotating, true);
  assert.deepEqual(cutOff.key.ids, [next.id, old.id]);
  KeyStore.open(join(dataDirectory, 'keys', 'shard-0'), cutOff.key).rewrap(cutOff.key);
  finishRotation(keyFolderOf(dataDirectory), cutOff.key, true);

  const done = loadMasterKey({ files: keyFolderOf(dataDirectory) });
  assert.equal(done.rotating, false);
  assert.deepEqual(done.key.ids, [next.id]);
  assert.deepEqual(KeyStore.open(join(dataDirectory, 'keys', 'shard-0'), done.key).get(id), key);
});

test('rotating a key that the operator holds: first both keys are given, then the new one', (t) => {
  const dataDirectory = temporaryDirectory(t);
  loadMasterKey({ files: keyFolderOf(dataDirectory), value: hexA });
  assert.throws(() => loadMasterKey({ files: keyFolderOf(dataDirectory), value: hexB }), authError(/wrong master key/));
  const { key, rotating } = loadMasterKey({ files: keyFolderOf(dataDirectory), value: `${hexB},${hexA}` });
  assert.equal(rotating, true);
  beginRotation(keyFolderOf(dataDirectory), key, false);
  assert.throws(() => loadMasterKey({ files: keyFolderOf(dataDirectory), value: hexB }), authError(/wrong master key/));
  finishRotation(keyFolderOf(dataDirectory), key, false);
  assert.equal(loadMasterKey({ files: keyFolderOf(dataDirectory), value: hexB }).rotating, false);
});

test('a check file that holds something else is refused', (t) => {
  const dataDirectory = temporaryDirectory(t);
  mkdirSync(join(dataDirectory, 'keys'));
  writeFileSync(join(dataDirectory, 'keys', 'master.check'), 'hello');
  assert.throws(
    () => loadMasterKey({ files: keyFolderOf(dataDirectory), value: hexA }),
    authError(/does not hold ids/),
  );
});

test('a key with a pattern is distinguished from a random one and causes a warning', (t) => {
  const keyOf = (bytes: readonly number[]) => MasterKey.of(Uint8Array.from(bytes));
  const bytes = Array.from({ length: 32 }, (_, at) => at);
  for (const guessable of [bytes.map(() => 0), bytes, bytes.map((at) => 255 - at), bytes.map((at) => at % 8)])
    assert.equal(keyOf(guessable).isGuessable, true, guessable.join(' '));
  for (let at = 0; at < 200; at++) assert.equal(MasterKey.random().isGuessable, false);
  const warnings: string[] = [];
  loadMasterKey({
    files: keyFolderOf(temporaryDirectory(t)),
    value: '0'.repeat(64),
    warn: (text) => warnings.push(text),
  });
  assert.match(warnings.join(), /the master key is a pattern/);
});
