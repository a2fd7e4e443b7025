import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StepClock } from '../../../test/support/step-clock.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { KeyFolder } from '../../engine/keys/key-files.ts';
import { MasterKey } from '../../engine/keys/master-key.ts';
import {
  canonicalJson,
  checkProof,
  commitTo,
  type ProofStatement,
  type SignedProof,
  signedBytes,
  withoutPerson,
} from './erasure-proof.ts';
import { ProofKeys } from './proof-keys.ts';

function signed(directory: string): SignedProof {
  const keys = new ProofKeys({
    files: new KeyFolder(directory),
    master: () => MasterKey.of(Buffer.alloc(32, 3)),
    clock: new StepClock(),
  });
  keys.open();
  const [{ keyId, publicKey }] = keys.list() as [ReturnType<ProofKeys['list']>[0]];
  const { salt, commitment } = commitTo('ada');
  const entry = { partition: 0, seq: 7, count: 3, key_fingerprint: '0123456789abcdef', hash: 'a'.repeat(64) };
  const statement: ProofStatement = {
    format: 'granary-erasure-proof',
    version: 2,
    result: 'erased',
    memory: 'default',
    user_commitment: commitment,
    count: 3,
    key_fingerprint: entry.key_fingerprint,
    timestamp: 1_760_000_000,
    erased_at: '2025-10-09T08:53:20.000Z',
    audit_entry_hash: entry.hash,
    audit_entries: [entry],
    purge: { state: 'complete', partitions_pending: 0, redactions_pending: false, as_of: '2025-10-09T09:00:00.000Z' },
    issued_at: '2025-10-09T09:00:00.000Z',
    issuer: 'granary 0.0.0',
    key_id: keyId,
    public_key: publicKey,
  };
  return { ...statement, user_id: 'ada', salt, signature: keys.sign(signedBytes(statement)).signature };
}

test('a proof is valid, with its person and without, whatever the order of its members', (t) => {
  const proof = signed(temporaryDirectory(t));
  assert.equal(checkProof(JSON.stringify(proof)).is, 'valid');
  const reversed = Object.fromEntries(Object.entries(proof).reverse());
  assert.equal(checkProof(JSON.stringify(reversed, null, 4)).is, 'valid');
  const stripped = withoutPerson(proof);
  assert.doesNotMatch(JSON.stringify(stripped), /ada"|salt/);
  assert.equal(checkProof(JSON.stringify(stripped)).is, 'valid');
  const key = Buffer.from(proof.public_key, 'base64url');
  assert.equal(checkProof(JSON.stringify(proof), key).is, 'valid');
});

/** Values that differ from `value` in one leaf each. */
function changed(value: unknown): unknown[] {
  if (typeof value === 'string') return [`${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}`];
  if (typeof value === 'number') return [value + 1];
  if (typeof value === 'boolean') return [!value];
  if (Array.isArray(value)) return [[], ...changed(value[0]).map((one) => [one, ...value.slice(1)])];
  return Object.entries(value as object).flatMap(([name, member]) =>
    changed(member).map((one) => ({ ...(value as object), [name]: one })),
  );
}

test('a change of any member is noticed', (t) => {
  const proof = signed(temporaryDirectory(t));
  let count = 0;
  for (const other of changed(proof)) {
    const text = JSON.stringify(other);
    const { is } = checkProof(text);
    assert.ok(['tampered', 'malformed', 'unknown_version'].includes(is), `${is}: ${text}`);
    count += 1;
  }
  assert.ok(count > 20, String(count));
  for (const name of ['user_id', 'salt', 'signature', 'purge', 'count', 'issuer'] as const) {
    const { [name]: _, ...rest } = proof;
    assert.notEqual(checkProof(JSON.stringify(rest)).is, 'valid', `without ${name}`);
  }
  assert.equal(checkProof(JSON.stringify({ ...proof, added: 1 })).is, 'tampered');
});

test('a proof of another key, of an unknown version, and a file that is cut off are told apart', (t) => {
  const proof = signed(temporaryDirectory(t));
  const other = Buffer.from(signed(temporaryDirectory(t)).public_key, 'base64url');
  const wrong = checkProof(JSON.stringify(proof), other);
  assert.equal(wrong.is, 'wrong_key');
  assert.match('why' in wrong ? wrong.why : '', new RegExp(proof.key_id));
  assert.equal(checkProof(JSON.stringify({ ...proof, version: 4 })).is, 'unknown_version');
  assert.notEqual(checkProof(JSON.stringify({ ...proof, version: 3 })).is, 'valid');
  const text = JSON.stringify(proof);
  for (let length = 0; length < text.length; length += 50)
    assert.equal(checkProof(text.slice(0, length)).is, 'malformed', String(length));
  for (const odd of ['null', '[]', '"x"', '{}', '{"format":"other","version":2}'])
    assert.equal(checkProof(odd).is, 'malformed', odd);
});

test('a proof of version 1 is recognised as unsigned', () => {
  const proof = { memory: 'default', user_id: 'ada', count: 2, key_fingerprint: '0123456789abcdef', timestamp: 1 };
  assert.equal(checkProof(JSON.stringify(proof)).is, 'unsigned');
  assert.equal(checkProof(JSON.stringify({ ...proof, key_fingerprint: '' })).is, 'unsigned');
  assert.equal(checkProof(JSON.stringify({ ...proof, key_fingerprint: 'x' })).is, 'malformed');
});

test('canonical JSON orders the members of every object and writes no white space', () => {
  const value = { b: [{ d: 1, c: 'ä\n' }], a: false, absent: undefined };
  assert.equal(canonicalJson(value), '{"a":false,"b":[{"c":"ä\\n","d":1}]}');
});
