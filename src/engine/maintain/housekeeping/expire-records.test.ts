import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { addBelief, contextOf, openShard, settingsOf, until } from '../../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { IDEMPOTENCY_KEEP_MS, RECALL_RECORD_DAYS } from '../../base/limits.ts';
import type { Engine } from '../../engine.ts';
import { FaultyLog } from '../../log/faulty.ts';
import { MemoryLog } from '../../log/memory.ts';
import type { RecordKind } from '../../record/record.ts';
import { RECORD_KINDS } from '../../record/record.ts';

const context = contextOf(1);
const DAY_MS = 86_400_000;

async function setUp(t: TestContext) {
  const clock = { now: 1_700_000_000_000, nowMs: (): number => clock.now };
  const log = new FaultyLog(new MemoryLog());
  const engine = await openShard(temporaryDirectory(t), { clock, log });
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  return { engine, log, clock };
}

const claim = (engine: Engine, key: string): Promise<unknown> =>
  engine.write('claim', { ...context, idempotency: { key, bodyHash: 'b' } }, { release: false });

function recordsOf(log: FaultyLog, kind: RecordKind): number[] {
  return [...log.scan(1)].flatMap((item) =>
    'bytes' in item && item.bytes[0] === RECORD_KINDS[kind] ? [item.sequence] : [],
  );
}

test('stored replies leave the log when they expire, however many there are', async (t) => {
  const { engine, log, clock } = await setUp(t);
  await Promise.all(Array.from({ length: 5_000 }, (_, i) => claim(engine, `key ${i}`)));
  clock.now += IDEMPOTENCY_KEEP_MS - 1;
  await claim(engine, 'young');
  assert.equal(recordsOf(log, 'reply').length, 5_001);
  clock.now += 3_600_000;
  await until(engine, () => recordsOf(log, 'reply').length === 1);
  await claim(engine, 'young');
  await assert.rejects(
    engine.write('claim', { ...context, idempotency: { key: 'young', bodyHash: 'other' } }, { release: false }),
    { code: 'VAL-E005' },
  );
});

test('an unreadable recall record delays neither the others nor their expiry', async (t) => {
  const { engine, log, clock } = await setUp(t);
  await addBelief(engine, 1, { subject: 'tea', object: 'hot' });
  const wanted = { query: 'tea', filter: {}, structural: false, limit: 5, candidateLimit: 50 };
  const keep = async (): Promise<string> => {
    const { recallId } = engine.read('recall', context, { ...wanted, record: { asked: true } });
    await engine.write('flush', context, {});
    assert.ok(recallId !== undefined);
    return recallId;
  };
  const ids = [await keep(), await keep(), await keep()];
  const [, second] = recordsOf(log, 'recall');
  log.corrupt(second!);
  const input = { filter: {}, limit: 10, order: 'asc' } as const;
  const listed = await engine.write('recallRecords', context, input);
  assert.deepEqual(
    listed.records.map(({ recallId }) => recallId),
    [ids[0], ids[2]],
  );
  assert.equal((await engine.write('recallTotals', context, {})).totalRecords, 2);
  clock.now += (RECALL_RECORD_DAYS + 1) * DAY_MS;
  await until(engine, () => recordsOf(log, 'recall').length === 0);
  assert.deepEqual((await engine.write('recallRecords', context, input)).records, []);
});
