import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answersAtOnce, CALL_ROWS, type Call, isReadCall, isRecordCall, MEMORY_ROWS, METHODS } from './protocol.ts';

test('every method has one kind', () => {
  const kinds = METHODS.map((method) => {
    const call = { method, input: {} } as Call; // its input is not read
    const isOther = /^(write|long|host)$/.test(CALL_ROWS[method].kind);
    assert.equal([isReadCall(call), isRecordCall(call), isOther].filter(Boolean).length, 1, method);
    return CALL_ROWS[method].kind;
  });
  assert.equal(kinds.filter((kind) => kind === 'host').length, 1);
});

test('a call of a memory is not a call of a shard, nor in two groups', () => {
  const shardWide = METHODS.filter((method) => !Object.hasOwn(MEMORY_ROWS, method));
  assert.deepEqual(shardWide.sort(), [
    'awaitEvents',
    'backup',
    'counters',
    'embedPages',
    'fault',
    'health',
    'keepVectors',
    'openTurns',
    'rewrapKeys',
    'takeStages',
    'verify',
  ]);
});

test('reads and the record of a recall are answered without waiting for a write', () => {
  const atOnce = METHODS.filter(answersAtOnce);
  assert.deepEqual(
    atOnce.filter((method) => CALL_ROWS[method].kind !== 'read'),
    ['keepRecall'],
  );
  assert.ok(METHODS.every((method) => CALL_ROWS[method].kind !== 'read' || atOnce.includes(method)));
});
