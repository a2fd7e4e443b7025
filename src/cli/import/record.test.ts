import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RecordOptions, readRecord } from './record.ts';
import { TurnTimes } from './turn-times.ts';

const FILE_SECONDS = 1_700_000_000;

function options(notes: string[] = []): RecordOptions {
  return {
    memory: 'm',
    times: new TurnTimes({ fallback: FILE_SECONDS, nowSeconds: FILE_SECONDS + 1_000 }),
    documentSeconds: FILE_SECONDS,
    note: (kind) => notes.push(kind),
  };
}

test('a number that is no time since 1970 is kept as a field, and no date', () => {
  for (const value of [0, 12.5, 20_240_315]) {
    const notes: string[] = [];
    const [turn] = readRecord({ role: 'user', text: 'hello', time: value }, options(notes));
    assert.deepEqual([turn?.fields['created_at'], turn?.fields['time']], [FILE_SECONDS, value]);
    assert.match(notes[0] ?? '', /`time` is not a recognised time/);
  }
  const [document] = readRecord({ text: 'hello', date: 20_240_315 }, options());
  assert.equal(document?.fields['created_at'], FILE_SECONDS);
});

test('a time since 1970 is a date, and created_at is one whatever its size', () => {
  const said = 1_650_000_000;
  for (const time of [said, said * 1_000, String(said)]) {
    const [turn] = readRecord({ role: 'user', text: 'hello', time }, options());
    assert.deepEqual([turn?.fields['created_at'], turn?.fields['time']], [said, undefined]);
  }
  const [turn] = readRecord({ role: 'user', text: 'hello', created_at: 5 }, options());
  assert.equal(turn?.fields['created_at'], 5);
});
