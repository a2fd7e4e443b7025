// The contract of every log, as a test suite: an implementation's own test calls `logConformance('memory', …)`.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { SCAN_PAGE_RECORDS } from '../base/limits.ts';
import { type Append, CorruptRecord, type Log, type LogRecord } from './log.ts';

export interface LogHarness {
  /** Opens the log of the folder: a new log, one that was closed there, or one that `backup` wrote. */
  open(directory: string): Log | Promise<Log>;
}

function bytes(text: string): Uint8Array {
  return Buffer.from(text);
}

function text(value: Uint8Array | undefined): string | undefined {
  return value === undefined ? undefined : Buffer.from(value).toString();
}

/** The record; fails the test when it is corrupt. */
function whole(record: LogRecord | CorruptRecord): LogRecord {
  assert.ok(!(record instanceof CorruptRecord), String(record));
  return record;
}

function scanned(log: Log, from = 0, to?: number): [number, string][] {
  return [...log.scan(from, to)]
    .map(whole)
    .map(({ sequence, bytes: value }) => [sequence, Buffer.from(value).toString()]);
}

export function logConformance(name: string, harness: LogHarness): void {
  const suite = (title: string, run: (log: Log, directory: string) => Promise<void>): void => {
    test(`${name} log: ${title}`, async (t) => {
      const directory = join(temporaryDirectory(t), 'log');
      const log = await harness.open(directory);
      try {
        await run(log, directory);
      } finally {
        await log.close();
      }
    });
  };

  suite('records get ascending sequences from 1 and read back', async (log) => {
    assert.equal(log.nextSequence, 1);
    assert.equal(await log.append({ records: [bytes('a'), bytes('b')] }), 1);
    assert.equal(log.nextSequence, 3);
    assert.equal(await log.append({ records: [bytes('c')] }), 3);
    assert.deepEqual(
      [1, 2, 3, 4].map((sequence) => text(log.read(sequence))),
      ['a', 'b', 'c', undefined],
    );
  });

  suite('an append without records returns the next sequence and moves nothing', async (log) => {
    assert.equal(await log.append({ records: [] }), 1);
    assert.equal(await log.append({ records: [], state: [['k', bytes('v')]] }), 1);
    assert.equal(log.nextSequence, 1);
    assert.equal(text(log.getState('k')), 'v');
  });

  suite('records of every size, from empty to larger than a page, come back complete', async (log) => {
    const sizes = [0, 1, 3, 250, 4_095, 4_096, 70_000, 1_100_000];
    const records = sizes.map((size, i) => Buffer.alloc(size, i + 1));
    await log.append({ records });
    for (let i = 0; i < sizes.length; i++) assert.ok(records[i]!.equals(log.read(i + 1)!), `${sizes[i]} bytes`);
    const back = [...log.scan(1)].map(whole);
    assert.deepEqual(
      back.map((record) => record.bytes.length),
      sizes,
    );
  });

  suite('a replacement takes the place of its record, in the transaction of the append', async (log, directory) => {
    await log.append({ records: [bytes('a'), bytes('b'), bytes('c')] });
    await log.append({ records: [bytes('d')], replacements: [[2, bytes('longer than b')]], removals: [1] });
    assert.equal(text(log.read(2)), 'longer than b');
    assert.equal(await log.append({ records: [], replacements: [[4, bytes('')]] }), 5);
    await log.close();
    const again = await harness.open(directory);
    try {
      assert.deepEqual(scanned(again), [
        [2, 'longer than b'],
        [3, 'c'],
        [4, ''],
      ]);
      assert.equal(again.nextSequence, 5);
    } finally {
      await again.close();
    }
  });

  suite('a removed record leaves a gap, and its sequence number is never given again, even after reopening', async (log, directory) => {
    await log.append({ records: [bytes('a'), bytes('b'), bytes('c')] });
    await log.append({ records: [], removals: [2, 3] });
    assert.deepEqual(scanned(log), [[1, 'a']]);
    assert.equal(log.read(3), undefined);
    await log.close();
    const again = await harness.open(directory);
    try {
      assert.equal(again.nextSequence, 4);
      assert.equal(await again.append({ records: [bytes('d')] }), 4);
      assert.deepEqual(scanned(again), [
        [1, 'a'],
        [4, 'd'],
      ]);
      // Removing a removed record is not an error.
      await again.append({ records: [], removals: [2, 4] });
      assert.deepEqual(scanned(again), [[1, 'a']]);
    } finally {
      await again.close();
    }
  });

  suite('state is set, replaced and deleted, and scanned by prefix in key order', async (log, directory) => {
    await log.append({ records: [], state: [['b/2', bytes('x')], ['a/1', bytes('1')], ['b/10', bytes('y')], ['c', new Uint8Array(0)]] }); // biome-ignore format: one row
    await log.append({ records: [], state: [['b/2', bytes('z')], ['a/1', null], ['none', null]] }); // biome-ignore format: one row
    const state = (opened: Log, prefix: string) =>
      [...opened.scanState(prefix)].map(([key, value]) => [key, text(value)]);
    const check = (opened: Log): void => {
      assert.equal(opened.getState('a/1'), undefined);
      assert.equal(text(opened.getState('b/2')), 'z');
      assert.equal(text(opened.getState('c')), '');
      assert.deepEqual(state(opened, 'b/'), [
        ['b/10', 'y'],
        ['b/2', 'z'],
      ]);
      assert.deepEqual(state(opened, ''), [
        ['b/10', 'y'],
        ['b/2', 'z'],
        ['c', ''],
      ]);
      assert.deepEqual(state(opened, 'd'), []);
    };
    check(log);
    await log.close();
    const again = await harness.open(directory);
    check(again);
    await again.close();
  });

  suite('more state than a page is scanned whole', async (log) => {
    const keys = Array.from({ length: SCAN_PAGE_RECORDS * 2 + 7 }, (_, i) => `page/${String(i).padStart(5, '0')}`);
    await log.append({ records: [], state: keys.map((key) => [key, bytes(key)] as const) });
    assert.deepEqual(
      [...log.scanState('page/')].map(([key]) => key),
      keys,
    );
  });

  suite('a scan stays within its bounds and in order, across pages and gaps', async (log) => {
    const count = SCAN_PAGE_RECORDS * 2 + 50;
    await log.append({ records: Array.from({ length: count }, (_, i) => bytes(String(i + 1))) });
    const removals = Array.from({ length: count }, (_, i) => i + 1).filter((sequence) => sequence % 3 === 0);
    await log.append({ records: [], removals });
    const expected = Array.from({ length: count }, (_, i) => i + 1).filter((sequence) => sequence % 3 !== 0);
    assert.deepEqual(
      scanned(log).map(([sequence]) => sequence),
      expected,
    );
    for (const [
      from,
      to,
    ] of [[1, 1], [2, 3], [3, 4], [500, 520], [count - 1, undefined], [count + 5, undefined]] as const) // biome-ignore format: one row
      assert.deepEqual(
        scanned(log, from, to).map(([sequence]) => sequence),
        expected.filter((sequence) => sequence >= from && sequence < (to ?? Number.POSITIVE_INFINITY)),
        `${from} to ${to}`,
      );
  });

  suite('records may be appended and removed while a scan is under way', async (log) => {
    const count = SCAN_PAGE_RECORDS + 20;
    await log.append({ records: Array.from({ length: count }, (_, i) => bytes(String(i + 1))) });
    const seen: number[] = [];
    for (const record of log.scan(1)) {
      seen.push(record.sequence);
      if (seen.length === 5) await log.append({ records: [bytes('late')], removals: [count] });
    }
    assert.deepEqual(seen, [...Array.from({ length: count - 1 }, (_, i) => i + 1), count + 1]);
  });

  suite('bytes given and bytes returned are the caller’s own', async (log) => {
    const given = Buffer.from('given');
    const value = Buffer.from('value');
    const done = log.append({ records: [given], state: [['k', value]] });
    given.fill(0);
    value.fill(0);
    await done;
    const first = log.read(1)!;
    const state = log.getState('k')!;
    const [fromScan] = [...log.scan(1)].map(whole);
    assert.equal(text(first), 'given');
    await log.append({ records: [Buffer.alloc(100_000, 1)] });
    log.read(2);
    assert.deepEqual([text(first), text(state), text(fromScan?.bytes)], ['given', 'value', 'given']);
    first.fill(0);
    state.fill(0);
    assert.deepEqual([text(log.read(1)), text(log.getState('k'))], ['given', 'value']);
  });

  suite('the next sequence moves when an append resolves; a second append meanwhile is a bug', async (log) => {
    const first = log.append({ records: [bytes('a')] });
    assert.equal(log.nextSequence, 1);
    await assert.rejects(log.append({ records: [bytes('b')] }), { name: 'AssertionError' });
    assert.equal(await first, 1);
    assert.equal(log.nextSequence, 2);
    assert.deepEqual(scanned(log), [[1, 'a']]);
  });

  suite('removing what was never written is a bug, and writes nothing', async (log) => {
    await log.append({ records: [bytes('a')] });
    for (const sequence of [0, 2, 1.5])
      await assert.rejects(log.append({ records: [bytes('b')], removals: [sequence] }), { name: 'AssertionError' });
    assert.deepEqual(scanned(log), [[1, 'a']]);
    assert.equal(log.nextSequence, 2);
  });

  suite('a backup taken while appends go on holds complete appends up to some point', async (log, directory) => {
    const appendOne = (i: number): Promise<number> =>
      log.append({
        records: [Buffer.alloc(1_000, i), Buffer.alloc(2_000, i)],
        removals: i > 3 ? [i] : [],
        state: [['appends', bytes(String(i))]],
      });
    for (let i = 1; i <= 200; i++) await appendOne(i);
    const copy = `${directory}-copy`;
    mkdirSync(copy);
    let done = false;
    const backup = log.backup(copy).then(() => {
      done = true;
    });
    let appended = 200;
    while (!done && appended < 2_000) await appendOne(++appended);
    await backup;
    await appendOne(++appended);

    const restored = await harness.open(copy);
    try {
      const appends = Number(text(restored.getState('appends')));
      assert.ok(appends >= 200 && appends < appended, `${appends} of ${appended}`);
      assert.equal(restored.nextSequence, appends * 2 + 1);
      const expected = Array.from({ length: appends * 2 }, (_, i) => i + 1).filter((s) => s <= 3 || s > appends);
      assert.deepEqual(
        [...restored.scan(1)].map(whole).map(({ sequence }) => sequence),
        expected,
      );
      assert.equal(await restored.append({ records: [bytes('on')] }), appends * 2 + 1);
    } finally {
      await restored.close();
    }
    assert.equal(Number(text(log.getState('appends'))), appended);
  });

  suite('it reports its bytes on disk', async (log) => {
    await log.append({ records: [Buffer.alloc(500_000, 7)] });
    assert.ok(log.bytesOnDisk() >= 500_000);
  });

  test(`${name} log: any order of appends gives the same as a Map, across reopening`, async (t) => {
    const directory = temporaryDirectory(t);
    const append = fc.record({
      records: fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 6 }),
      removals: fc.array(fc.nat({ max: 100 }), { maxLength: 3 }),
      state: fc.array(fc.tuple(fc.constantFrom('a', 'b/1', 'b/2'), fc.option(fc.uint8Array({ maxLength: 50 }))), {
        maxLength: 3,
      }),
      reopen: fc.boolean(),
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(append, { maxLength: 12 }), async (steps) => {
        const at = join(directory, String(run++));
        let log = await harness.open(at);
        const records = new Map<number, Uint8Array>();
        const state = new Map<string, Uint8Array>();
        let next = 1;
        for (const step of steps) {
          const removals = step.removals.filter((sequence) => sequence > 0 && sequence < next);
          const change: Append = { records: step.records, removals, state: step.state };
          assert.equal(await log.append(change), next);
          for (const record of step.records) records.set(next++, record);
          for (const sequence of removals) records.delete(sequence);
          for (const [key, value] of step.state) {
            if (value === null) state.delete(key);
            else state.set(key, value);
          }
          if (step.reopen) {
            await log.close();
            log = await harness.open(at);
          }
          assert.equal(log.nextSequence, next);
        }
        const plain = (value: Uint8Array): number[] => [...value];
        assert.deepEqual(
          [...log.scan(1)].map(whole).map(({ sequence, bytes: value }) => [sequence, plain(value)]),
          [...records].sort(([a], [b]) => a - b).map(([sequence, value]) => [sequence, plain(value)]),
        );
        assert.deepEqual(
          [...log.scanState('')].map(([key, value]) => [key, plain(value)]),
          [...state].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => [key, plain(value)]),
        );
        await log.close();
      }),
      { numRuns: runs(25) },
    );
  });
}
