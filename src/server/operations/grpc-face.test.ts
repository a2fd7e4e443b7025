import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GetRequest, RecallResponse } from '../gen/memory/v1/memory.ts';
import { rpc } from './grpc-face.ts';

const face = rpc({
  rpc: 'Recall',
  request: GetRequest,
  response: RecallResponse,
  write: (output: { readonly count: number; readonly recallId: string }) => output,
});
const encode = (count: number, recallId: string): Uint8Array => face.encode({ count, recallId }, {}, []);

test('an answer keeps its bytes while others are encoded', () => {
  const ids = ['a', 'b'.repeat(2_000_000), 'c'.repeat(300), '', 'd'];
  const answers = ids.map((id, count) => encode(count, id));
  for (const [count, bytes] of answers.entries()) {
    const { recallId } = RecallResponse.decode(bytes);
    assert.equal(recallId, ids[count]);
    assert.equal(RecallResponse.decode(bytes).count, count);
    assert.ok(bytes.length < ids[count]!.length + 10);
  }
});

test('an answer that cannot be encoded leaves nothing in the next one', () => {
  assert.throws(() => encode(-1, 'none'));
  assert.deepEqual(encode(0, 'e'), RecallResponse.encode(RecallResponse.fromPartial({ recallId: 'e' })).finish());
});
