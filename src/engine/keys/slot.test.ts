import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyBucket, readSlot, readState, SLOT_BYTES, slotOffset, writeDestroyed, writeLive } from './slot.ts';

test('the state of a slot is read without its content, and any changed bit shows', () => {
  const bytes = emptyBucket(0, 'shard-0');
  writeLive(bytes, 1, { kind: 'user', createdMs: 5, masterId: '0123456789abcdef', wrapped: Buffer.alloc(60, 9) });
  writeDestroyed(bytes, 2, { kind: 'scope', createdMs: 5, fingerprint: '0123456789abcdef', destroyedMs: 6 });
  writeLive(bytes, 3, { kind: 'user', createdMs: 5, masterId: '0123456789abcdef', wrapped: Buffer.alloc(60, 9) });
  bytes.copy(bytes, slotOffset(4), slotOffset(3), slotOffset(4));
  const states = [1, 2, 3, 4, 5].map((id) => readState(bytes, id));
  assert.deepEqual(states, ['live', 'destroyed', 'live', 'damaged', 'unused']);
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((id) => readSlot(bytes, id).state),
    states,
  );
  for (const id of [1, 2])
    for (let bit = 0; bit < SLOT_BYTES * 8; bit++) {
      const at = slotOffset(id) + (bit >>> 3);
      bytes[at]! ^= 1 << (bit & 7);
      assert.equal(readState(bytes, id), 'damaged', `key ${id}, bit ${bit}`);
      bytes[at]! ^= 1 << (bit & 7);
    }
});
