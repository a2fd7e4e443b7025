import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Float } from '../value.ts';
import { decodeGrain, encodeGrain } from './blob.ts';
import { commitmentTo, discloses, elide, isViewOf } from './disclosure.ts';

const ORIGINAL = encodeGrain(
  'belief',
  {
    subject: 'alice-123',
    relation: 'has',
    object: { k: 'v' },
    confidence: 1,
    created_at: 1768471200000,
    namespace: 'shared',
    provenance_chain: [{ method: 'user_input', weight: 1 }],
    structural_tags: ['pii:name'],
  },
  { sensitivity: 3 },
);

test('commitments equal the published ones', () => {
  const published = {
    'alice-123': 'sha256:48f1cf08a5b4ebe54182773c4345c19fb3a069740daeba7c4707b0e790745280',
    '0.95': 'sha256:a4fcbfe47197bdc15995838fffb6e8edf23efcc824da5c23b8e988eec2fefc70',
    map: 'sha256:0452c8dd07ca67da09e5336950ee5c2d377f3b74d15efde70dfaade5d2d729d8',
  };
  assert.equal(commitmentTo('subject', 'alice-123'), published['alice-123']);
  assert.equal(commitmentTo('confidence', 0.95), published['0.95']);
  assert.equal(commitmentTo('object', { k: 'v' }), published.map);
});

test('a commitment is made over the stored form', () => {
  assert.notEqual(commitmentTo('provenance_chain', [{ weight: 1 }]), commitmentTo('unknown', [{ weight: 1 }]));
  assert.equal(commitmentTo('provenance_chain', [{ weight: 1 }]), commitmentTo('unknown', [{ weight: new Float(1) }]));
});

test('a view hides fields, keeps the rest and can be opened field by field', () => {
  const view = elide(ORIGINAL.blob, ['subject', 'object', 'namespace', 'structural_tags', 'provenance_chain']);
  const grain = decodeGrain(view.blob, { verifyReencode: true });
  assert.equal(grain.fields['subject'], undefined);
  assert.equal(grain.fields['relation'], 'has');
  assert.equal(grain.fields['_disclosure_of'], ORIGINAL.address);
  assert.equal(grain.header.namespaceHash, 0, 'the header reveals nothing about hidden fields');
  assert.equal(grain.header.flags >>> 6, 3, 'a view is as sensitive as its original');
  assert.ok(isViewOf(grain, ORIGINAL.blob));
  assert.ok(discloses(grain, 'subject', 'alice-123'));
  assert.ok(discloses(grain, 'provenance_chain', [{ method: 'user_input', weight: 1 }]));
  assert.ok(!discloses(grain, 'subject', 'alice-124'));
  assert.ok(!discloses(grain, 'relation', 'has'), 'a visible field has no commitment');
});

test('other objects are not taken for a view', () => {
  const grain = decodeGrain(elide(ORIGINAL.blob, ['subject']).blob);
  const { confidence: _, ...rest } = grain.fields;
  const forged = decodeGrain(encodeGrain('belief', { ...rest, confidence: 0.5 }, { sensitivity: 3 }).blob);
  assert.ok(!isViewOf(forged, ORIGINAL.blob));
  const other = encodeGrain('belief', { subject: 'x', relation: 'r', object: 'o', confidence: 1, created_at: 0 });
  assert.ok(!isViewOf(grain, other.blob));
});

test('fields that must not be hidden are refused', () => {
  const refused = (names: string[], blob = ORIGINAL.blob): void => {
    assert.throws(() => elide(blob, names), { code: 'ERR_SCHEMA' });
  };
  for (const name of ['relation', 'confidence', 'created_at', 'type', 'author_did', 'unheard_of']) refused([name]);
  refused(['user_id']);
  refused(['object'], elide(ORIGINAL.blob, ['subject']).blob);
});

test('naming a required field in _elided does not excuse fields that must stay visible', () => {
  const commitment = commitmentTo('confidence', 1);
  const fields = { subject: 's', relation: 'r', object: 'o', created_at: 0, _elided: { confidence: commitment } };
  assert.throws(() => encodeGrain('belief', fields), { code: 'ERR_SCHEMA' });
});
