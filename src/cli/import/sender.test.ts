import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../failure.ts';
import { type ItemResult, type Outgoing, Sender } from './sender.ts';

const OK: ItemResult = { hash: 'h', duplicate: false, errorCode: '', errorMessage: '' };
const BUSY: ItemResult = { ...OK, errorCode: 'LIM-E001', errorMessage: 'busy' };
const item = (line: number, memory = 'm'): Outgoing => ({ memory, grainType: 'event', fieldsJson: '{}', line });

function sender(send: (memory: string, items: readonly Outgoing[]) => Promise<readonly ItemResult[]>) {
  const results = new Map<number, string>();
  const made = new Sender({
    send,
    onResult: ({ line }, { errorCode }) => {
      assert.ok(!results.has(line), `line ${line} is answered once`);
      results.set(line, errorCode);
    },
    batchItemsMax: 3,
    batchBytesMax: 1_000,
    inFlightMax: 2,
    backOff: async () => undefined,
  });
  return { made, results };
}

test('items leave in batches per memory, with a bounded number in flight, and each is answered once', async () => {
  let inFlight = 0;
  let most = 0;
  const { made, results } = sender(async (memory, items) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    assert.ok(items.length <= 3 && items.every((one) => one.memory === memory));
    await new Promise(setImmediate);
    inFlight -= 1;
    return items.map(() => OK);
  });
  for (let line = 1; line <= 50; line += 1) await made.add(item(line, `m${line % 4}`));
  await made.finish();
  assert.deepEqual([results.size, most, made.firstUnanswered], [50, 2, undefined]);
});

test('items rejected because the server is busy are sent again, and no others', async () => {
  const sent: number[][] = [];
  const { made, results } = sender(async (_, items) => {
    sent.push(items.map(({ line }) => line));
    if (sent.length === 1) throw new Failure('LIM-E001', 'busy', true);
    return items.map(({ line }) => (line === 2 && sent.length === 2 ? BUSY : OK));
  });
  for (const line of [1, 2, 3]) await made.add(item(line));
  await made.finish();
  assert.deepEqual(sent, [[1, 2, 3], [1, 2, 3], [2]]);
  assert.deepEqual([...results.keys()].sort(), [1, 2, 3]);
});

test('a batch error applies to each of its items; a lost server ends the import and reports the line to continue from', async () => {
  const refused = sender(async () => {
    throw new Failure('MEM-E003', 'no such memory');
  });
  await refused.made.add(item(1));
  await refused.made.finish();
  assert.deepEqual([...refused.results], [[1, 'MEM-E003']]);
  const gone = sender(async () => {
    throw new Failure('NO-SERVER', 'gone', true);
  });
  await gone.made.add(item(7));
  await gone.made.add(item(8));
  await assert.rejects(gone.made.finish(), { code: 'NO-SERVER' });
  assert.deepEqual([gone.results.size, gone.made.firstUnanswered], [0, 7]);
});

test('a failed import ends even with many items gathered, and those stay unanswered', async () => {
  let fail = (): void => undefined;
  const refused = new Promise<never>((_, reject) => {
    fail = () => reject(new Failure('AUT-E004', 'unknown key'));
  });
  const { made, results } = sender(() => refused);
  const large = (line: number): Outgoing => ({ ...item(line, `m${line}`), fieldsJson: 'x'.repeat(6 * 1_048_576) });
  // The third and fourth exceed the gathering limit, so two leave. The fifth has to wait for one of them.
  for (let line = 1; line <= 4; line += 1) await made.add(large(line));
  const waits = made.add(large(5));
  fail();
  await assert.rejects(waits, { code: 'AUT-E004' });
  await assert.rejects(made.finish(), { code: 'AUT-E004' });
  assert.deepEqual([results.size, made.firstUnanswered], [0, 1]);
});
