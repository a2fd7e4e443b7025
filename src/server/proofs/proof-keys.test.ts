import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { StepClock } from '../../../test/support/step-clock.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { KeyFolder } from '../../engine/keys/key-files.ts';
import { MasterKey } from '../../engine/keys/master-key.ts';
import { carryProofKeys, isSignedBy, keyIdOf, PROOF_KEY_FILE, ProofKeys, pemOf, rawPublicKey } from './proof-keys.ts';

const clock = new StepClock();
const MASTER = MasterKey.of(Buffer.alloc(32, 3));
const BYTES = Buffer.from('a statement');

function opened(t: TestContext, { directory = temporaryDirectory(t), master = MASTER } = {}) {
  const keys = new ProofKeys({ files: new KeyFolder(directory), master: () => master, clock });
  keys.open();
  return { directory, path: join(directory, PROOF_KEY_FILE), keys };
}

test('a key is made once, is readable by its owner alone, and signs the same after a restart', (t) => {
  const { directory, path, keys } = opened(t);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const before = keys.sign(BYTES);
  const { keys: again } = opened(t, { directory });
  assert.deepEqual(again.sign(BYTES), before);
  assert.ok(isSignedBy(before.publicKey, BYTES, before.signature));
  assert.ok(!isSignedBy(before.publicKey, Buffer.from('another statement'), before.signature));
  assert.ok(!isSignedBy(opened(t).keys.list()[0]!.publicKey, BYTES, before.signature));
  assert.equal(keyIdOf(Buffer.from(before.publicKey, 'base64url')), before.keyId);
});

test('a rotation drops the old seed, keeps the public key, and old signatures stay valid', async (t) => {
  const { path, keys } = opened(t);
  const old = keys.sign(BYTES);
  const next = await keys.rotate();
  assert.notEqual(next.keyId, old.keyId);
  assert.equal(keys.sign(BYTES).keyId, next.keyId);
  const [current, retired] = keys.list();
  assert.equal(current?.retiredAtMs, undefined);
  assert.equal(retired?.keyId, old.keyId);
  assert.ok(retired?.retiredAtMs !== undefined);
  assert.ok(isSignedBy(retired.publicKey, BYTES, old.signature));
  const stored = JSON.parse(readFileSync(path, 'utf8')) as { keys: { wrapped?: string }[] };
  assert.deepEqual(
    stored.keys.map(({ wrapped }) => wrapped !== undefined),
    [true, false],
  );
});

test('a new master key wraps the same key again, and another master key does not open it', (t) => {
  const { directory, keys } = opened(t);
  const before = keys.sign(BYTES);
  const next = MasterKey.random(MASTER);
  assert.deepEqual(opened(t, { directory, master: next }).keys.sign(BYTES), before);
  const alone = opened(t, { directory, master: next.alone() }).keys;
  assert.deepEqual(alone.sign(BYTES), before);
  assert.throws(() => opened(t, { directory }), { code: 'AUT-E003' });
});

test('keys of today take the place of those of a backup, under the master key of the backup', (t) => {
  const { directory, keys } = opened(t);
  const { publicKey } = keys.sign(BYTES);
  const other = MasterKey.of(Buffer.alloc(32, 8));
  const backup = temporaryDirectory(t);
  assert.ok(
    carryProofKeys(
      { files: new KeyFolder(directory), master: MASTER },
      { files: new KeyFolder(backup), master: other },
    ),
  );
  assert.equal(opened(t, { directory: backup, master: other }).keys.sign(BYTES).publicKey, publicKey);
  const empty = temporaryDirectory(t);
  assert.ok(
    !carryProofKeys({ files: new KeyFolder(empty), master: MASTER }, { files: new KeyFolder(backup), master: other }),
  );
});

test('a damaged file is named, and no key takes its place', (t) => {
  const { directory, path } = opened(t);
  for (const bytes of ['', '{"keys":[]}', '{"keys":[{"keyId":"x"}]}', readFileSync(path, 'utf8').slice(0, 40)]) {
    writeFileSync(path, bytes);
    assert.throws(() => opened(t, { directory }), { code: 'CRY-E001', message: new RegExp(PROOF_KEY_FILE) }, bytes);
    assert.equal(readFileSync(path, 'utf8'), bytes);
  }
});

test('a public key is read as PEM, base64url and hex', (t) => {
  const { publicKey } = opened(t).keys.sign(BYTES);
  const raw = Buffer.from(publicKey, 'base64url');
  for (const text of [publicKey, `${publicKey}=\n`, raw.toString('hex'), pemOf(publicKey)])
    assert.deepEqual(rawPublicKey(text), raw, text);
  for (const text of ['', 'abc', pemOf(publicKey).slice(0, 60), raw.toString('hex').slice(2)])
    assert.equal(rawPublicKey(text), undefined, text);
  assert.equal(createPublicKey(pemOf(publicKey)).asymmetricKeyType, 'ed25519');
});

test('Python’s cryptography and openssl accept a signature, and refuse it for other bytes', async (t) => {
  const { directory, keys } = opened(t);
  const { publicKey, signature } = keys.sign(BYTES);
  const file = (name: string, bytes: Uint8Array | string): string => {
    const path = join(directory, name);
    writeFileSync(path, bytes);
    return path;
  };
  const paths = [
    file('key.pem', pemOf(publicKey)),
    file('signature', Buffer.from(signature, 'base64url')),
    file('bytes', BYTES),
    file('others', 'another statement'),
  ];
  const [pem, signed, right, wrong] = paths as [string, string, string, string];
  await t.test('cryptography', (t) => {
    if (spawnSync('python3', ['-c', 'import cryptography']).status !== 0) return t.skip('python3 has no cryptography');
    const program = [
      'import sys',
      'from cryptography.hazmat.primitives.serialization import load_pem_public_key',
      'pem, signature, message = (open(name, "rb").read() for name in sys.argv[1:])',
      'load_pem_public_key(pem).verify(signature, message)',
    ].join('\n');
    assert.equal(spawnSync('python3', ['-c', program, pem, signed, right]).status, 0);
    assert.notEqual(spawnSync('python3', ['-c', program, pem, signed, wrong]).status, 0);
  });
  await t.test('openssl', (t) => {
    if (spawnSync('openssl', ['version']).status !== 0) return t.skip('there is no openssl');
    const check = (message: string) =>
      spawnSync('openssl', [
        ...['pkeyutl', '-verify', '-pubin', '-inkey', pem, '-rawin'],
        ...['-in', message, '-sigfile', signed],
      ]).status;
    assert.equal(check(right), 0);
    assert.notEqual(check(wrong), 0);
  });
});
