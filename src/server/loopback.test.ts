import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLoopback } from './loopback.ts';

test('loopback addresses are those that only this machine reaches', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1', '[::1]'])
    assert.equal(isLoopback(host), true, host);
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', '127.0.0.1.example', ''])
    assert.equal(isLoopback(host), false, host);
});
