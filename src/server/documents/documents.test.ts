import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { EngineError, type ErrorCode } from '../../engine/base/errors.ts';
import { DOCUMENTS_WAITING_MAX, HANDED_OVER_BYTES } from '../../engine/base/limits.ts';
import type { JsonObject } from '../../shards/protocol.ts';
import { itemsOf } from './chunk-batch.ts';
import { grainOfChunk } from './chunk-grain.ts';
import { type ChunkWindow, chunksOf } from './chunks.ts';
import { Documents, type DocumentsOptions } from './documents.ts';
import { parseDocument } from './parse.ts';

const opened: Documents[] = [];
function documents(options: DocumentsOptions = {}): Documents {
  const made = new Documents(options);
  opened.push(made);
  return made;
}
after(async () => {
  for (const each of opened) await each.close();
});

const hostile = new URL('./testing/hostile-document-thread.ts', import.meta.url);
const bytes = (text: string): Uint8Array => Buffer.from(text);
const refusedWith =
  (code: ErrorCode, words = /./) =>
  (error: unknown) =>
    error instanceof EngineError && error.code === code && words.test(error.message);

const plain = (value: object): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject; // plain data

async function textIn(reader: Documents, content: Uint8Array, name: string) {
  const { json, ...head } = await reader.text(content, name);
  return { ...head, text: JSON.parse(Buffer.from(json).toString()) as string }; // a JSON string
}

const FIELDS = { namespace: 'books', tags: ['a'], confidence: 0.5, createdAt: 1_750_000_000 };
const wanted = (size: number, overlap = 0, from?: number) => ({
  window: { size, overlap } satisfies ChunkWindow,
  fileName: 'kept.md',
  fields: FIELDS,
  from,
});

const HANDBOOK = bytes(`# Leave\n${'Everyone has thirty days. '.repeat(4_000)}\n## Sick leave\nStay at home.\n`);

test('a thread gives the same text and chunks as a direct call', async () => {
  const reader = documents();
  const direct = await parseDocument(HANDBOOK, 'a.md');
  const { text, kind, mimeType, characters } = await textIn(reader, HANDBOOK, 'a.md');
  assert.deepEqual([text, kind, mimeType], [direct.text, 'markdown', 'text/markdown']);
  assert.equal(characters, text.length);
  const wants = wanted(200, 20);
  const chunks = chunksOf(direct, wants.window);
  for (const from of [0, 7, chunks.length]) {
    const chunked = await reader.chunks(HANDBOOK, 'a.md', { ...wants, from });
    assert.equal(chunked.count, chunks.length);
    const file = { fileName: 'kept.md', sha256: chunked.sha256 };
    let next = from;
    for await (const batch of chunked.batches) {
      assert.equal(batch.from, next);
      const expected = chunks.slice(next, next + batch.count).map((chunk) => grainOfChunk(chunk, file, FIELDS));
      assert.deepEqual(itemsOf(batch.bytes).map(plain), expected.map(plain));
      assert.ok(batch.count > 0 && batch.count < chunks.length - 7, `${batch.count} chunks`);
      next += batch.count;
    }
    chunked.close();
    assert.equal(next, chunks.length);
  }
  await assert.rejects(textIn(reader, bytes('\x7fELF'), 'a'), refusedWith('IMP-E001'));
  assert.ok(HANDBOOK.length > 0, 'the caller keeps its bytes');
});

test('a large file is handed to its thread, unless its buffer holds more', async () => {
  const reader = documents();
  const whole = new Uint8Array(HANDED_OVER_BYTES).fill(0x61);
  const part = new Uint8Array(3 * HANDED_OVER_BYTES).fill(0x61).subarray(0, HANDED_OVER_BYTES);
  for (const [given, left] of [
    [whole, 0],
    [part, HANDED_OVER_BYTES],
  ] as const) {
    assert.equal((await textIn(reader, given, 'a.txt')).characters, HANDED_OVER_BYTES);
    assert.equal(given.length, left);
  }
});

test('a reader that stops early gives its thread back', async () => {
  const reader = documents({ threads: 1 });
  const first = await reader.chunks(HANDBOOK, 'a.md', wanted(20));
  const waiting = textIn(reader, bytes('next'), 'b.txt');
  for await (const batch of first.batches) {
    assert.ok(batch.count > 0);
    break;
  }
  first.close();
  assert.equal((await waiting).text, 'next');
  const unread = await reader.chunks(HANDBOOK, 'a.md', wanted(20));
  unread.close();
  assert.equal((await textIn(reader, bytes('last'), 'b.txt')).text, 'last');
});

for (const [fate, code, words] of [
  ['spin', 'IMP-E004', /takes longer/],
  ['heap', 'IMP-E004', /memory/],
  ['buffers', 'IMP-E004', /memory/],
  ['die', 'IMP-E004', /cannot be read/],
  ['throw', 'IMP-E004', /cannot be read/],
] as const)
  test(`after a document whose thread ends (${fate}), the next one is read`, async () => {
    const failures: unknown[] = [];
    const reader = documents({
      entry: hostile,
      threads: 1,
      // Only the endless one has to wait for it.
      readMs: fate === 'spin' ? 3_000 : 600_000,
      memoryBytes: 200 * 1_048_576,
      onError: (error) => failures.push(error),
    });
    const [bad, next] = await Promise.allSettled([
      textIn(reader, bytes(fate), 'a'),
      textIn(reader, bytes('four'), 'b'),
    ]);
    assert.ok(bad.status === 'rejected' && refusedWith(code, words)(bad.reason), JSON.stringify(bad));
    // On a busy machine a thread may take longer to start than the endless document may take.
    if (fate !== 'spin') assert.ok(next.status === 'fulfilled' && next.value.text === '4', JSON.stringify(next));
    await eventually('a document is read', async () => {
      const { text } = await textIn(reader, bytes('four'), 'b').catch(() => ({ text: '' }));
      return text === '4';
    });
    assert.equal(failures.length, fate === 'die' || fate === 'throw' ? 1 : 0);
  });

test('documents beyond the queue are refused, and a closed reader refuses all', async () => {
  const failures: unknown[] = [];
  const reader = documents({ threads: 1, onError: (error) => failures.push(error) });
  const held = await reader.chunks(HANDBOOK, 'a.md', wanted(200));
  const queued = Array.from({ length: DOCUMENTS_WAITING_MAX }, () => textIn(reader, bytes('x'), 'a.txt'));
  await assert.rejects(textIn(reader, bytes('x'), 'a.txt'), refusedWith('LIM-E001'));
  held.close();
  assert.deepEqual(new Set((await Promise.all(queued)).map(({ text }) => text)), new Set(['x']));
  const open = await reader.chunks(HANDBOOK, 'a.md', wanted(200));
  const behind = textIn(reader, bytes('x'), 'a.txt');
  behind.catch(() => undefined);
  await reader.close();
  await assert.rejects(behind, refusedWith('SYS-E005'));
  await assert.rejects(textIn(reader, bytes('x'), 'a.txt'), refusedWith('SYS-E005'));
  open.close();
  assert.deepEqual(failures, [], 'a thread that is ended at the close has not failed');
});

test('threads end when no documents come', async () => {
  const reader = documents({ idleMs: 50 });
  await textIn(reader, bytes('one'), 'a.txt');
  await eventually('no thread is left', () => reader.threads === 0);
});
