import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinedHeader } from './header-list.ts';

test('a header that several proxies add is one list, in their order', () => {
  const list = ['Host', 'a', 'X-Forwarded-For', '1, 2', 'x-forwarded-for', '3', 'Forwarded', 'for=4'];
  assert.equal(joinedHeader(list, 'x-forwarded-for'), '1, 2, 3');
  assert.equal(joinedHeader(list, 'forwarded'), 'for=4');
  assert.equal(joinedHeader(list, 'x-real-ip'), undefined);
});
