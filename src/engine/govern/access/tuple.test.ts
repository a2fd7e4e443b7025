import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../base/errors.ts';
import { subjectOf } from './caller.ts';
import { checkTuple } from './tuple.ts';

const BAD: readonly (readonly [subject: string, relation: string, object: string, field: string])[] = [
  ['alice', 'viewer', 'memory:m', 'subject'],
  ['robot:x', 'viewer', 'memory:m', 'subject'],
  ['user:', 'viewer', 'memory:m', 'subject'],
  [`user:${'x'.repeat(257)}`, 'viewer', 'memory:m', 'subject'],
  ['user:a\u0000b', 'viewer', 'memory:m', 'subject'],
  ['user:a#member', 'viewer', 'memory:m', 'subject'],
  ['group:a#viewer', 'viewer', 'memory:m', 'subject'],
  ['group:a#', 'viewer', 'memory:m', 'subject'],
  ['group:*#member', 'viewer', 'memory:m', 'subject'],
  ['user:a', 'member', 'memory:m', 'relation'],
  ['user:a', 'owner', 'namespace:a', 'relation'],
  ['user:a', 'toString', 'memory:m', 'relation'],
  ['user:a', 'viewer', 'user:b', 'object'],
  ['user:a', 'viewer', 'memory:*', 'object'],
  ['user:a', 'viewer', 'namespace', 'object'],
  ['user:a', 'parent', 'namespace:a', 'subject'],
  ['namespace:a', 'parent', 'namespace:a', 'subject'],
  ['group:a#member', 'parent', 'namespace:a', 'subject'],
];

for (const [subject, relation, object, field] of BAD)
  test(`${JSON.stringify(subject)} ${relation} ${object} is refused for its ${field}`, () => {
    assert.throws(
      () => checkTuple({ subject, relation, object }),
      (error) => error instanceof EngineError && error.code === 'VAL-E001' && error.details?.[0]?.field === field,
    );
  });

test('a name may hold colons, slashes and spaces, and is kept in NFC', () => {
  const tuple = checkTuple({ subject: 'user:did:web:x', relation: 'viewer', object: 'namespace:Cafe\u0301/my space' });
  assert.equal(tuple.object, 'namespace:Café/my space');
});

/** A principal, and the subject that it is in tuples. */
const PRINCIPALS: readonly (readonly [principal: string, subject: string | undefined])[] = [
  ['user:ann', 'user:ann'],
  ['agent:bot', 'agent:bot'],
  ['service:etl', 'service:etl'],
  ['ann', 'user:ann'],
  ['key:key_abc', 'service:key_abc'],
  ['group:eng', 'user:group:eng'],
  ['group:eng#member', undefined],
  ['user:*', undefined],
  ['anonymous', undefined],
  ['system', undefined],
];

for (const [principal, subject] of PRINCIPALS)
  test(`the principal ${principal} is ${subject ?? 'no subject'}`, () => {
    assert.equal(subjectOf({ actor: principal }), subject);
  });
