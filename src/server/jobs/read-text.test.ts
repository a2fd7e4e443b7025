import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { EngineError, type ErrorCode } from '../../engine/base/errors.ts';
import { EXTRACT_READS_WAITING_MAX } from '../../engine/base/limits.ts';
import { type TextOutcome, TextReader, type TextTask } from './read-text.ts';
import readText from './read-text-thread.ts';

const NOW = Date.UTC(2024, 5, 14, 12);
const task = (text: string, wants: TextTask['wants'] = 'beliefs'): TextTask => ({ text, wants, nowMs: NOW });
const refusedWith = (code: ErrorCode) => (error: unknown) => error instanceof EngineError && error.code === code;

const hostile = new URL('./testing/hostile-text-thread.ts', import.meta.url);
const readers: TextReader[] = [];
function readerOf(options: ConstructorParameters<typeof TextReader>[0]): TextReader {
  const reader = new TextReader(options);
  readers.push(reader);
  return reader;
}
after(async () => {
  for (const reader of readers) await reader.close();
});

test('the thread returns the same as a direct call', async () => {
  const reader = readerOf({});
  for (const wanted of [
    task('My name is Ada and I live in Paris. Do I like tea?'),
    task('We met on 14 May 2023.', 'date'),
    task('Nothing.', 'date'),
    { ...task('I work at Acme.'), speaker: 'Bob' },
  ])
    assert.deepEqual(await reader.read(wanted), await readText(wanted));
  assert.deepEqual(await reader.read(task('We met on 14 May 2023.', 'date')), {
    beliefs: [],
    dateMs: Date.UTC(2023, 4, 14),
  });
});

/** The result, repeated until it arrives in time. */
async function firstInTime(reader: TextReader, text: string): Promise<TextOutcome | undefined> {
  let outcome: TextOutcome | undefined;
  await eventually('a text is read in time', async () => {
    outcome = await reader.read(task(text)).catch((error: unknown) => {
      if (refusedWith('SYS-E005')(error)) return undefined;
      throw error;
    });
    return outcome !== undefined;
  });
  return outcome;
}

test('a text that takes too long ends the thread, and the next one gets a new thread', async () => {
  const reader = readerOf({ entry: hostile, readMs: 2_000 });
  const [slow, behind] = await Promise.allSettled([reader.read(task('spin')), reader.read(task('four'))]);
  assert.ok(slow.status === 'rejected' && refusedWith('SYS-E005')(slow.reason), String(slow.status));
  // On a busy machine a thread may take longer to start than a text's time limit: then the next text uses it.
  const isLate = behind.status === 'rejected' && refusedWith('SYS-E005')(behind.reason);
  const next = isLate ? await firstInTime(reader, 'four') : behind.status === 'fulfilled' && behind.value;
  assert.deepEqual(next, { beliefs: [], dateMs: 4 });
});

test('a thread that dies or throws over a text affects only that text, and its error is reported', async () => {
  const logged: unknown[] = [];
  const reader = readerOf({ entry: hostile, onError: (error) => logged.push(error) });
  for (const text of ['die', 'throw']) {
    await assert.rejects(reader.read(task(text)), refusedWith('SYS-E001'));
    assert.deepEqual(await reader.read(task('six...')), { beliefs: [], dateMs: 6 });
  }
  assert.equal(logged.length, 2);
});

test('the queue of texts is bounded, and a closed reader reads none', async () => {
  const reader = readerOf({ entry: hostile });
  const reads = Array.from({ length: EXTRACT_READS_WAITING_MAX }, (_, at) => reader.read(task('x'.repeat(at))));
  await assert.rejects(reader.read(task('more')), refusedWith('LIM-E001'));
  const outcomes = await Promise.all(reads);
  assert.deepEqual(
    outcomes.map(({ dateMs }) => dateMs),
    reads.map((_, at) => at),
  );
  assert.equal((await reader.read(task('more'))).dateMs, 4);
  await reader.close();
  await assert.rejects(reader.read(task('more')), refusedWith('SYS-E005'));
});
