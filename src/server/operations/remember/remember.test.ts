// Remembering and extraction over engines with in-memory logs: failures, repeats and limits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineError } from '../../../engine/base/errors.ts';
import { AddRequest, BatchAddRequest } from '../../gen/memory/v1/memory.ts';
import type { TextOutcome } from '../../jobs/read-text.ts';
import readText from '../../jobs/read-text-thread.ts';
import { ADMIN, ask, makeParts, type Parts, type PartsOptions } from '../../testing/parts.ts';
import { addAsks, batchAsks, jsonAsks } from './asks-extraction.ts';

const M = '/memories/default';
const TEXT = 'I live in Paris. I work at Acme.';

const post = async (parts: Parts, path: string, json: unknown, key?: string) =>
  (
    await ask(parts, 'POST', `${M}/${path}`, {
      key: ADMIN,
      json,
      headers: key === undefined ? {} : { 'idempotency-key': key },
    })
  ).body;

/** Parts whose texts are read only when the returned function is called. */
async function heldParts(options: PartsOptions = {}) {
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  const parts = await makeParts({ readText: (task) => held.then(() => readText(task)), ...options });
  return { parts, go };
}

const failing = (): Promise<TextOutcome> => Promise.reject(new EngineError('SYS-E005', 'extraction took too long'));
const adds = (parts: Parts) =>
  parts.engines.flatMap(({ calls }) => calls.filter(({ method }) => method === 'addBatch'));

test('an extraction outlives its request, and a repeated request starts no second one', async () => {
  const { parts, go } = await heldParts();
  const request = { text: TEXT, user_id: 'ada' };
  const reply = await post(parts, 'remember', request);
  assert.deepEqual([reply['marker_status'], reply['mode'], reply['status']], ['pending', 'async', 'remembered']);
  const again = await post(parts, 'remember', request);
  assert.deepEqual([again['marker_status'], again['source_hash']], ['pending', reply['source_hash']]);
  // Long after the request's deadline.
  parts.clock.now += 3_600_000;
  go();
  await parts.finishExtractions();
  assert.equal(adds(parts).length, 1);
  assert.deepEqual(
    parts.services.extractions.markerOf(parts.services.memories.get('default').number, String(reply['source_hash']))
      ?.hashes.length,
    2,
  );
});

test('a source that cannot be read is kept and reported as failed, and is read on a repeated request', async () => {
  let broken = true;
  const parts = await makeParts({ readText: (task) => (broken ? failing() : readText(task)) });
  const request = { text: TEXT, extract_mode: 'sync', keep_source: false };
  const reply = await post(parts, 'remember', request, 'k');
  assert.deepEqual([reply['marker_status'], reply['source_forgotten'], reply['extracted_count']], ['failed', false, 0]);
  assert.match(String(reply['warnings']), /extraction: SYS-E005: extraction took too long/);
  broken = false;
  const again = await post(parts, 'remember', request, 'k');
  assert.deepEqual([again['marker_status'], again['source_forgotten'], again['extracted_count']], ['done', true, 2]);
  assert.equal(again['source_hash'], reply['source_hash']);
});

test('a failure after the answer is reported too, once, and then retried', async () => {
  let broken = true;
  const parts = await makeParts({ readText: (task) => (broken ? failing() : readText(task)) });
  const reply = async (): Promise<Record<string, unknown>> => {
    for (let asked = 0; asked < 100; asked++) {
      const answer = await post(parts, 'remember', { text: TEXT });
      if (answer['marker_status'] !== 'pending') return answer;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return assert.fail('it stays pending');
  };
  const failed = await reply();
  assert.equal(failed['marker_status'], 'failed');
  assert.match(String(failed['warnings']), /took too long/);
  broken = false;
  const done = await reply();
  assert.deepEqual([done['marker_status'], done['extracted_count']], ['done', 2]);
  assert.equal(done['source_hash'], failed['source_hash']);
});

test('a repeated request sees relative dates from when it was first sent', async () => {
  let broken = true;
  const tasks: number[] = [];
  const parts = await makeParts({
    readText: (task) => {
      tasks.push(task.nowMs);
      return broken ? failing() : readText(task);
    },
  });
  const request = { text: TEXT, extract_mode: 'sync', created_at: null };
  await post(parts, 'remember', request, 'k');
  broken = false;
  parts.clock.now += 7_200_000;
  assert.equal((await post(parts, 'remember', request, 'k'))['extracted_count'], 2);
  assert.equal(tasks.length, 2);
  assert.equal(tasks[1], tasks[0]);
});

test('a date that cannot be read refuses the request before anything is stored; memories only warn', async () => {
  const parts = await makeParts({ readText: failing });
  const belief = { subject: 'a', relation: 'b', object: 'c' };
  const dated = await post(parts, 'add', { ...belief, options: { extract_event_date: true } });
  assert.equal(dated['code'], 'SYS-E005');
  assert.equal(parts.engines.flatMap(({ calls }) => calls.filter(({ method }) => method === 'add')).length, 0);
  const added = await post(parts, 'add', { ...belief, options: { extract_memories: true } });
  assert.deepEqual([added['status'], added['extracted_count']], ['added', 0]);
  assert.match(String(added['warnings']), /took too long/);
});

test('a remember is refused before it is stored when too many extractions wait', async () => {
  const parts = await makeParts();
  await parts.finishExtractions();
  const reply = await post(parts, 'remember', { text: TEXT });
  assert.equal(reply['code'], 'LIM-E001');
  assert.equal(parts.engines.flatMap(({ calls }) => calls.filter(({ method }) => method === 'add')).length, 0);
  assert.equal((await post(parts, 'remember', { text: TEXT, extract_mode: 'sync' }))['extracted_count'], 2);
});

test('a batch whose time is over reports how much of it was not read', async () => {
  const parts = await makeParts({
    readText: async (task) => {
      parts.clock.now += 13_000;
      return readText(task);
    },
  });
  const grains = ['Ada', 'Bob', 'Cleo'].map((name) => ({
    grain_type: 'event',
    fields: { content: `${name} lives in Paris.` },
  }));
  const reply = await post(parts, 'batch-add', { grains, options: { extract_memories: true } });
  assert.deepEqual([reply['total_added'], reply['extracted_count']], [3, 2]);
  assert.deepEqual(reply['warnings'], ['extraction: no time was left for 1 of 3 grains']);
});

test('a clock that is set while a request runs takes none of its time', async () => {
  const parts = await makeParts({
    readText: async (task) => {
      parts.clock.set(parts.clock.now + 86_400_000);
      return readText(task);
    },
  });
  const grains = ['Ada', 'Bob', 'Cleo'].map((name) => ({
    grain_type: 'event',
    fields: { content: `${name} lives in Paris.` },
  }));
  const reply = await post(parts, 'batch-add', { grains, options: { extract_memories: true } });
  assert.deepEqual([reply['total_added'], reply['extracted_count'], reply['warnings']], [3, 3, undefined]);
});

test('requests for extraction or relations are recognised by their bytes', () => {
  const names = ['extractEventDate', 'autoRelate', 'extractMemories', 'sync'] as const;
  const options = fc.uniqueArray(fc.tuple(fc.constantFrom(...names), fc.boolean()), { selector: ([name]) => name });
  const item = fc.record({ grainType: fc.string(), fieldsJson: fc.string(), options: fc.option(options) });
  const messageOf = ({ options, ...rest }: { readonly options: readonly (readonly [string, boolean])[] | null }) =>
    AddRequest.fromPartial({ ...rest, ...(options === null ? {} : { options: Object.fromEntries(options) }) });
  const wantsExtraction = ({ options }: AddRequest) =>
    options?.extractEventDate === true || options?.extractMemories === true || options?.autoRelate === true;
  fc.assert(
    fc.property(fc.array(item, { maxLength: 4 }), (drawn) => {
      const items = drawn.map(messageOf);
      for (const one of items) assert.equal(addAsks(AddRequest.encode(one).finish()), wantsExtraction(one));
      assert.equal(batchAsks(BatchAddRequest.encode({ items }).finish()), items.some(wantsExtraction));
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      assert.equal(typeof addAsks(bytes), 'boolean');
      assert.equal(typeof batchAsks(bytes), 'boolean');
    }),
  );
  assert.equal(jsonAsks(Buffer.from('{"options":{"extract_memories":true}}')), true);
  assert.equal(jsonAsks(Buffer.from('{"options":{"auto_relate":true}}')), true);
  assert.equal(jsonAsks(Buffer.from('{"options":{"sync":true}}').subarray(2)), false);
});

test('a JSON body that asks is found at any length and behind any number of underscores', () => {
  for (const word of ['extract_event_date', 'extract_memories', 'auto_relate'])
    for (const underscores of [0, 1, 7, 8, 9, 500])
      for (const letters of [0, 2_000]) {
        const text = `${'_'.repeat(underscores)}${'x'.repeat(letters)}`;
        const about = `${word} ${underscores} ${letters}`;
        assert.equal(jsonAsks(Buffer.from(JSON.stringify({ text, options: { [word]: true } }))), true, about);
        assert.equal(jsonAsks(Buffer.from(JSON.stringify({ options: { [word]: true }, text }))), true, about);
        assert.equal(jsonAsks(Buffer.from(JSON.stringify({ text, into_to: '_', extract: 'auto' }))), false, about);
      }
});

test('a JSON body that asks is found with escaped letters in its names', () => {
  for (const word of ['extract_event_date', 'extract_memories', 'auto_relate'])
    for (let at = 0; at < word.length; at++) {
      const escaped = `\\u00${word.charCodeAt(at).toString(16)}`;
      const name = `${word.slice(0, at)}${escaped}${word.slice(at + 1)}`;
      assert.deepEqual(JSON.parse(`{"${name}":true}`), { [word]: true });
      assert.equal(jsonAsks(Buffer.from(`{"text":"${'x'.repeat(at * 200)}","options":{"${name}":true}}`)), true, name);
    }
  // As Python writes texts.
  assert.equal(
    jsonAsks(Buffer.from('{"text":"\\u00e9t\\u00e9 \\u4e2d\\u6587 \\u000a","options":{"sync":true}}')),
    false,
  );
});

test('a long JSON body of other escapes is not looked through', (t) => {
  const body = Buffer.from(`{"text":"${'\\u00e9'.repeat(100_000)}"}`);
  const looks = t.mock.method(Buffer.prototype, 'indexOf');
  assert.equal(jsonAsks(body), true);
  assert.ok(looks.mock.callCount() < 10_000, `${looks.mock.callCount()} searches`);
});
