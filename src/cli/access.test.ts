import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathLines } from './access.ts';

test('a path reads from the object to the subject', () => {
  assert.deepEqual(
    pathLines([
      { object: 'namespace:acme', relation: 'editor', subject: 'group:eng#member' },
      { object: 'group:eng', relation: 'member', subject: 'user:ann' },
    ]),
    ['  namespace:acme has the editor group:eng#member', '  group:eng has the member user:ann'],
  );
  assert.deepEqual(pathLines(['depth_exceeded']), ['  The search stopped at its limit of 25 steps.']);
});
