import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containsTest } from './contains.ts';
import { grain } from './testing/hits.ts';

const ada = grain({ fields: { subject: 'Ada Lovelace', object: 'Élan vital' } });

test('subject_contains matches a part of the subject, in any case', () => {
  assert.equal(containsTest({ subjectContains: 'LOVE' })?.(ada), true);
  assert.equal(containsTest({ subjectContains: 'bob' })?.(ada), false);
  assert.equal(containsTest({ subjectContains: 'a' })?.(grain({ fields: {} })), false);
});

test('object_contains matches a part of the object, composed or not, together with subject_contains', () => {
  assert.equal(containsTest({ objectContains: 'e\u0301LAN' })?.(ada), true);
  assert.equal(containsTest({ objectContains: 'vital', subjectContains: 'ada' })?.(ada), true);
  assert.equal(containsTest({ objectContains: 'vital', subjectContains: 'bob' })?.(ada), false);
});

test('empty parts exclude nothing, and parts are not patterns', () => {
  assert.equal(containsTest({ subjectContains: '', objectContains: '' }), undefined);
  assert.equal(containsTest({ subjectContains: '.*' })?.(ada), false);
  assert.equal(containsTest({ subjectContains: '__proto__' })?.(ada), false);
  assert.equal(containsTest({ subjectContains: 'x' })?.(grain({ fields: { subject: 5 } })), false);
});
