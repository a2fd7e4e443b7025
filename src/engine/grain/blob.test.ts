import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeGrain, encodeGrain } from './blob.ts';

test('vector 1', () => {
  const g = encodeGrain('fact', {
    subject: 'user',
    relation: 'prefers',
    object: 'dark mode',
    confidence: 0.9,
    source_type: 'user_explicit',
    created_at: 1768471200000,
    namespace: 'shared',
    author_did: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
  });
  assert.equal(g.address, '3288d0d41cf49a1d428e404f0b6a6fe60388be9536937557f6139b813d53a520');
  assert.deepEqual(decodeGrain(g.blob, { verifyReencode: true }).fields.subject, 'user');
});
