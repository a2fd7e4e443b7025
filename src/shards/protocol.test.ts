import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LONG_METHODS, METHOD_KINDS, METHODS, READ_METHODS, WRITE_METHODS } from './protocol.ts';

test('every method is of one kind', () => {
  const kinds: readonly ReadonlySet<string>[] = [READ_METHODS, WRITE_METHODS, LONG_METHODS];
  for (const method of METHODS) {
    const count = kinds.filter((kind) => kind.has(method)).length;
    assert.equal(count, METHOD_KINDS[method] === 'host' ? 0 : 1, method);
  }
  assert.equal(READ_METHODS.size + WRITE_METHODS.size + LONG_METHODS.size, METHODS.length - 1);
});
