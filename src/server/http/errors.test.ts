import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import { respondError } from './errors.ts';
import { fakeRequest } from './fake-request.ts';

test('an error is its status and the contract’s body', () => {
  const request = fakeRequest({});
  const error = new EngineError('POL-E001', 'deletion requires a reason', {
    details: [{ field: 'reason', issue: 'required' }],
  });
  respondError(request, error, 'req_1', [['x-request-id', 'req_1']]);
  assert.equal(request.response?.status, 403);
  assert.deepEqual(request.response.headers, [
    ['content-type', 'application/json'],
    ['x-request-id', 'req_1'],
  ]);
  assert.equal(
    request.response.body,
    '{"error":{"code":"POL-E001","message":"POL-E001: deletion requires a reason",' +
      '"details":[{"field":"reason","issue":"required"}],"request_id":"req_1"}}',
  );
});
