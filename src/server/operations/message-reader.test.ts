import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import { REQUEST_MEMBERS_MAX } from '../../engine/base/limits.ts';
import { BatchAddRequest, type MessageFns, RecallRequest } from '../gen/memory/v1/memory.ts';
import { decodeMessage } from './message-reader.ts';

const refusedWith = (code: string) => (error: unknown) => error instanceof EngineError && error.code === code;
const read = <T>(codec: MessageFns<T>, bytes: Uint8Array): T => decodeMessage(codec, bytes, []);
const tags = (count: number): Uint8Array =>
  RecallRequest.encode(
    RecallRequest.fromPartial({ query: 'a', tags: Array.from({ length: count }, () => 'x') }),
  ).finish();

test('a message with the allowed number of members is read, and one with more is not', () => {
  assert.equal(read(RecallRequest, tags(REQUEST_MEMBERS_MAX - 1)).tags.length, REQUEST_MEMBERS_MAX - 1);
  assert.throws(() => read(RecallRequest, tags(REQUEST_MEMBERS_MAX + 1)), refusedWith('VAL-E001'));
});

test('members of nested messages count, and so do unknown ones and packed numbers', () => {
  const emptyItems = Buffer.alloc(4 * REQUEST_MEMBERS_MAX, Buffer.of(0x0a, 0x00));
  assert.throws(() => read(BatchAddRequest, emptyItems), refusedWith('VAL-E001'));
  const unknown = Buffer.alloc(6 * REQUEST_MEMBERS_MAX, Buffer.of(0xc2, 0x3e, 0x00));
  assert.throws(() => read(RecallRequest, unknown), refusedWith('VAL-E001'));
  const embedding = RecallRequest.encode(
    RecallRequest.fromPartial({ embedding: Array.from({ length: 3 * REQUEST_MEMBERS_MAX }, () => 1) }),
  ).finish();
  assert.throws(() => read(RecallRequest, embedding), refusedWith('VAL-E001'));
});

test('text that is not UTF-8 is passed on while it is short, and refused when it is long', () => {
  const query = (length: number): Buffer => {
    const text = Buffer.alloc(length, 0xff);
    const head = [0x0a];
    for (let left = length; ; left >>>= 7) {
      head.push(left > 0x7f ? (left & 0x7f) | 0x80 : left);
      if (left <= 0x7f) return Buffer.concat([Buffer.from(head), text]);
    }
  };
  assert.equal(read(RecallRequest, query(3)).query, '\ud800\ud800\ud800');
  assert.throws(() => read(RecallRequest, query(1_000_000)), refusedWith('VAL-E003'));
});

test('texts of every script are read as they were sent, also those with a replacement character', () => {
  for (const query of [
    '',
    'a',
    'ASCII '.repeat(100),
    'Zürich',
    '東京',
    '\u{1f600}',
    '\ufffd',
    '\ufeffmark',
    'a\ufffdb',
  ]) {
    const bytes = RecallRequest.encode(RecallRequest.fromPartial({ query })).finish();
    assert.equal(read(RecallRequest, bytes).query, query);
    // A view into a larger buffer, as a worker has it.
    const within = Buffer.concat([Buffer.of(1, 2, 3), bytes, Buffer.of(4)]);
    assert.equal(read(RecallRequest, new Uint8Array(within.buffer, within.byteOffset + 3, bytes.length)).query, query);
  }
});

test('a text that ends behind its message is refused', () => {
  assert.throws(() => read(RecallRequest, Buffer.of(0x0a, 5, 0x61, 0x62)), refusedWith('VAL-E003'));
});
