// `granary proof` against a server: a proof is verified without it and with it, and each kind of wrong proof gets an exit
// code and a reason of its own.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { type SignedProof, type SignedRemoval, signedBytes } from '../src/server/proofs/erasure-proof.ts';
import { servedForFile } from './support/cli.ts';
import { granary, granaryJson } from './support/command-thread.ts';
import { eventually } from './support/eventually.ts';

const { directory, here } = servedForFile();
const path = (name: string): string => join(directory, name);
const PROOF = path('proof.json');

function changedProof(name: string, change: (proof: Record<string, unknown>) => unknown): string {
  const proof = JSON.parse(readFileSync(PROOF, 'utf8')) as Record<string, unknown>;
  writeFileSync(path(name), JSON.stringify(change(proof)));
  return path(name);
}

before(async () => {
  await granaryJson(here('add', 'ada', 'likes', 'tea', '--user', 'ada'));
  await granaryJson(here('forget', '--user', 'ada', '--yes', '--proof', PROOF));
});

test('a proof is verified offline, and the output says what that shows', async () => {
  const alone = await granary(['proof', 'verify', PROOF]);
  assert.equal(alone.code, 0, alone.stderr);
  assert.match(alone.stdout, /person +ada/);
  assert.match(alone.stdout, /not who signed it/);
  const { keys } = (await granaryJson(here('proof', 'keys'))) as { keys: { public_key: string; pem: string }[] };
  const [key] = keys;
  assert.ok(key !== undefined);
  writeFileSync(path('key.pem'), key.pem);
  for (const given of [key.public_key, path('key.pem')]) {
    const trusted = await granary(['proof', 'verify', PROOF, '--public-key', given]);
    assert.equal(trusted.code, 0, trusted.stderr);
    assert.match(trusted.stdout, /its holder signed this proof/);
  }
  const bad = await granary(['proof', 'verify', PROOF, '--public-key', PROOF]);
  assert.deepEqual([bad.code, /no Ed25519 public key/.test(bad.stderr)], [2, true]);
});

test('with a server, the proof is looked up in the audit chain', async () => {
  const { result, verified, explanation } = await granaryJson(here('proof', 'verify', PROOF, '--with-server'));
  assert.doesNotMatch(String(explanation), /ask the server/);
  assert.deepEqual([result, verified], ['in_trail', true]);
  assert.match(String(explanation), /audit chain of the server has the erasure/);
});

test('every wrong proof gets its own answer and exit code', async () => {
  const text = readFileSync(PROOF, 'utf8');
  writeFileSync(path('short.json'), text.slice(0, text.length / 2));
  writeFileSync(path('empty.json'), '');
  const otherKey = Buffer.alloc(32, 1).toString('base64url');
  const cases: readonly (readonly [string, readonly string[], number, RegExp])[] = [
    ['tampered', [changedProof('t.json', (proof) => ({ ...proof, count: 7 }))], 3, /changed after it was signed/],
    ['other person', [changedProof('p.json', (proof) => ({ ...proof, user_id: 'bob' }))], 3, /another person/],
    ['wrong key', [PROOF, '--public-key', otherKey], 4, /signed with the key [0-9a-f]{16}, and the key that you gave/],
    ['unknown version', [changedProof('v.json', (proof) => ({ ...proof, version: 9 }))], 5, /version 9/],
    ['cut off', [path('short.json')], 6, /cut off/],
    ['empty', [path('empty.json')], 6, /not JSON/],
    ['something else', [changedProof('o.json', () => ({ hello: 1 }))], 6, /members of a proof/],
  ];
  for (const [name, words, code, says] of cases) {
    const ran = await granary(['proof', 'verify', ...words]);
    assert.equal(ran.code, code, `${name}: ${ran.stdout}${ran.stderr}`);
    assert.match(ran.stdout, says, name);
    const json = await granaryJson(['proof', 'verify', ...words], code);
    assert.equal(json['verified'], false, name);
  }
  const missing = await granary(['proof', 'verify', path('absent.json')]);
  assert.deepEqual([missing.code, /^granary: FILE: cannot read/.test(missing.stderr)], [1, true]);
});

test('a proof of version 1 is no more than it is: unsigned, and confirmed by the trail alone', async () => {
  const v1 = changedProof('v1.json', ({ memory, user_id, count, key_fingerprint, timestamp, audit_entry_hash }) => ({
    ...{ memory, user_id, count, key_fingerprint, timestamp, audit_entry_hash },
  }));
  const alone = await granary(['proof', 'verify', v1]);
  assert.equal(alone.code, 7);
  assert.match(alone.stdout, /has no signature/);
  const { result } = await granaryJson(here('proof', 'verify', v1, '--with-server'));
  assert.equal(result, 'in_trail');
  const other = changedProof('v1-other.json', ({ user_id, key_fingerprint, timestamp, audit_entry_hash }) => ({
    ...{ user_id, count: 5, key_fingerprint, timestamp, audit_entry_hash },
  }));
  const refused = await granary(here('proof', 'verify', other, '--with-server'));
  assert.equal(refused.code, 8, refused.stdout);
});

test('a proof that another server signed is no proof of this one', async () => {
  const foreign = join(directory, 'other');
  const there = (...words: string[]): string[] => [...words, '--data-dir', foreign];
  await granaryJson(there('add', 'ada', 'likes', 'tea', '--user', 'ada'));
  await granaryJson(there('forget', '--user', 'ada', '--yes', '--proof', path('foreign.json')));
  assert.equal((await granary(['proof', 'verify', path('foreign.json')])).code, 0);
  const ran = await granary(here('proof', 'verify', path('foreign.json'), '--with-server'));
  assert.equal(ran.code, 4, ran.stdout);
  assert.match(ran.stdout, /did not issue this proof/);
});

test('after a rotation the old proof stays verifiable, and new ones have the new key', async () => {
  const { key_id } = await granaryJson(here('proof', 'rotate-key'));
  const ran = await granary(here('proof', 'verify', PROOF, '--with-server'));
  assert.equal(ran.code, 0, ran.stdout);
  assert.match(ran.stdout, /signing key was replaced at/);
  const proof = await granaryJson(here('proof', 'get', '--user', 'ada', '--out', path('again.json')));
  assert.equal(proof['key_id'], key_id);
  assert.equal((await granary(here('proof', 'verify', path('again.json'), '--with-server'))).code, 0);
  const nobody = await granary(here('proof', 'get', '--user', 'nobody'));
  assert.match(nobody.stderr, /^granary: DSR-E003: /);
});

test('the erasure of a scope is proven: offline, in the trail, and again when it is repeated', async () => {
  const add = (object: string, namespace: string) =>
    granaryJson(here('add', 'ada', 'reads', object, '--namespace', namespace));
  for (const [object, namespace] of [
    ['maps', 'acme/prod'],
    ['logs', 'acme/prod/eu'],
    ['news', 'other'],
  ] as const)
    await add(object, namespace);
  const file = path('scope.json');
  await granaryJson(here('scopes', 'erase', 'acme/prod', '--yes', '--proof', file));
  const proof = JSON.parse(readFileSync(file, 'utf8')) as SignedRemoval;
  assert.deepEqual([proof.of, proof.scope_path, proof.count, proof.result], ['scope', 'acme/prod', 2, 'erased']);
  assert.deepEqual(proof.audit_entries.map(({ scope_path }) => scope_path).sort(), ['acme/prod', 'acme/prod/eu']);
  const alone = await granary(['proof', 'verify', file]);
  assert.equal(alone.code, 0, alone.stdout);
  assert.match(alone.stdout, /the scope acme\/prod, with those below it/);
  const { result } = await granaryJson(here('proof', 'verify', file, '--with-server'));
  assert.equal(result, 'in_trail');
  for (const [name, change] of [
    ['count', (proof: Record<string, unknown>) => ({ ...proof, count: 3 })],
    ['path', (proof: Record<string, unknown>) => ({ ...proof, scope_path: 'other' })],
    ['entries', (proof: Record<string, unknown>) => ({ ...proof, audit_entries: [] })],
  ] as const) {
    writeFileSync(path('scope-changed.json'), JSON.stringify(change({ ...proof })));
    assert.equal((await granary(['proof', 'verify', path('scope-changed.json')])).code, 3, name);
  }
  await granaryJson(here('scopes', 'erase', 'acme/prod', '--yes', '--proof', path('scope-again.json')));
  const again = JSON.parse(readFileSync(path('scope-again.json'), 'utf8')) as SignedRemoval;
  assert.deepEqual([again.result, again.key_fingerprints], ['erased', [proof.key_fingerprints[0]]]);
  assert.equal((await granary(here('proof', 'verify', path('scope-again.json'), '--with-server'))).code, 0);
});

test('the erasure of a scope over several partitions names the entries of each', async () => {
  await granaryJson(here('memories', 'create', 'wide', '--partitions', '2'));
  for (const user of ['a', 'b', 'c', 'd', 'e'])
    await granaryJson(here('add', user, 'reads', 'maps', '--namespace', 'acme', '--user', user, '--memory', 'wide'));
  const file = path('wide.json');
  await granaryJson(here('scopes', 'erase', 'acme', '--yes', '--proof', file, '--memory', 'wide'));
  const proof = JSON.parse(readFileSync(file, 'utf8')) as SignedRemoval;
  assert.deepEqual([proof.count, proof.audit_entries.map(({ partition }) => partition)], [5, [0, 1]]);
  const { result } = await granaryJson(here('proof', 'verify', file, '--with-server'));
  assert.equal(result, 'in_trail');
});

test('the deletion of a memory is proven by the key that signs', async () => {
  await granaryJson(here('memories', 'create', 'brief'));
  await granaryJson(here('add', 'ada', 'likes', 'tea', '--memory', 'brief'));
  const file = path('memory.json');
  const answer = await granaryJson(here('memories', 'delete', 'brief', '--yes', '--proof', file));
  const proof = JSON.parse(readFileSync(file, 'utf8')) as SignedRemoval;
  assert.deepEqual([proof.of, proof.memory, proof.key_fingerprints], ['memory', 'brief', [answer['key_fingerprint']]]);
  assert.equal(proof.audit_entries.length, 1);
  assert.equal((await granary(['proof', 'verify', file])).code, 0);
  const { result } = await granaryJson(here('proof', 'verify', file, '--with-server'));
  assert.equal(result, 'memory_deleted');
  await granaryJson(here('memories', 'create', 'brief'));
  assert.equal((await granary(here('proof', 'verify', file, '--with-server'))).code, 8);
});

test('the state of the purge in a proof becomes complete', async () => {
  await eventually('the purge is complete', async () => {
    const { stdout } = await granary(here('proof', 'get', '--user', 'ada'));
    const { purge } = JSON.parse(stdout) as SignedProof;
    assert.match(purge.as_of, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    return purge.state === 'complete' && purge.partitions_pending === 0;
  });
});

test('another implementation of Ed25519 verifies the proof by the rule of the documents', (t) => {
  if (spawnSync('python3', ['-c', 'import cryptography']).status !== 0) return t.skip('python3 has no cryptography');
  const program = /```python\n([\s\S]*?)```/.exec(
    readFileSync(new URL('../docs/erasure.md', import.meta.url), 'utf8'),
  )?.[1];
  assert.ok(program !== undefined, 'docs/erasure.md has a program');
  writeFileSync(path('verify.py'), program);
  const right = spawnSync('python3', [path('verify.py'), PROOF], { encoding: 'utf8' });
  assert.deepEqual([right.status, right.stderr], [0, '']);
  const wrong = changedProof('python.json', (proof) => ({ ...proof, count: 7 }));
  assert.notEqual(spawnSync('python3', [path('verify.py'), wrong]).status, 0);
  const proof = JSON.parse(readFileSync(PROOF, 'utf8')) as SignedProof;
  assert.match(signedBytes(proof).toString('utf8'), /^granary-erasure-proof-v2\n\{"audit_entries":/);
});
