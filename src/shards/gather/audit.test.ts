// Pages of the audit trail over several partitions: bounded in entries and bytes, whatever the offset, and without a gap.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANSWER_BYTES_MAX, PAGE_LIMIT_MAX } from '../../engine/base/limits.ts';
import type { AuditView, Input, Output, ShardCaller } from '../protocol.ts';
import { gatherAuditPage } from './audit.ts';
import { Fan } from './fan.ts';

const PARTITIONS = 3;
const ENTRIES = 400;

function entry(partition: number, seq: number, text: string): AuditView {
  const [timestamp, details] = [1_000 + 2 * seq + partition, { text }];
  return {
    partition,
    seq,
    timestamp,
    eventType: 'memory.added',
    actor: 'a',
    subject: '',
    details,
    prevHash: '',
    hash: '',
  };
}

/** Each partition has a chain of entries with details of that length, and records its requests. */
function trail(chars: number, length = ENTRIES) {
  const asked: Input<'auditPage'>[] = [];
  const call = async (_: string, context: { partition: number }, input: Input<'auditPage'>) => {
    asked.push(input);
    const { partition } = context;
    const page: Output<'auditPage'> = { entries: [], total: length };
    const entries: AuditView[] = [];
    const step = input.order === 'asc' ? 1 : -1;
    const start = input.from?.[partition] ?? (step === 1 ? 0 : length - 1);
    let bytes = 0;
    for (let seq = start; seq >= 0 && seq < length; seq += step) {
      bytes += chars;
      if (entries.length === input.limit || (entries.length > 0 && bytes > (input.bytesMax ?? ANSWER_BYTES_MAX)))
        return { ...page, entries, next: [seq] };
      entries.push(entry(partition, seq, 'x'.repeat(chars)));
    }
    return { ...page, entries };
  };
  const shards = Array.from({ length: PARTITIONS }, () => ({ call }) as unknown as ShardCaller); // the only call
  const fan = new Fan({ memory: 1, actor: 'key:test', requestId: 'req' }, shards);
  return { fan, asked };
}

async function walked(fan: Fan, input: Pick<Input<'auditPage'>, 'limit' | 'order' | 'offset'>) {
  const pages: Output<'auditPage'>[] = [];
  let from: readonly number[] | undefined;
  let { offset = 0 } = input;
  do {
    const page = await gatherAuditPage(fan, { filter: {}, ...input, offset, ...(from && { from }) });
    pages.push(page);
    from = page.next;
    offset = 0;
  } while (from !== undefined);
  return pages;
}

for (const order of ['asc', 'desc'] as const)
  test(`every entry comes once and in order, ${order}`, async () => {
    const { fan } = trail(10);
    for (const offset of [0, 7, 700]) {
      const pages = await walked(fan, { limit: 90, order, offset });
      const times = pages.flatMap(({ entries }) => entries.map(({ timestamp }) => timestamp));
      assert.equal(times.length, PARTITIONS * ENTRIES - offset);
      assert.deepEqual(
        times,
        times.toSorted((a, b) => (order === 'asc' ? a - b : b - a)),
      );
      assert.ok(pages.every(({ total }) => total === PARTITIONS * ENTRIES));
    }
  });

test('a page of large entries ends at the room of an answer, and the next one continues', async () => {
  const { fan } = trail(200_000, 100);
  const pages = await walked(fan, { limit: 500, order: 'desc' });
  for (const { entries } of pages) assert.ok(JSON.stringify(entries).length <= ANSWER_BYTES_MAX);
  assert.equal(pages.flatMap(({ entries }) => entries).length, PARTITIONS * 100);
});

test('no partition is asked for more than its part, however far the offset goes', async () => {
  const { fan, asked } = trail(20_000);
  await gatherAuditPage(fan, { filter: {}, limit: 1, order: 'desc', offset: 10_000 });
  for (const { limit, bytesMax = Number.POSITIVE_INFINITY, offset } of asked) {
    assert.ok(limit <= PAGE_LIMIT_MAX);
    assert.ok(bytesMax <= Math.ceil((2 * ANSWER_BYTES_MAX) / PARTITIONS));
    assert.equal(offset, undefined);
  }
  assert.ok(asked.length >= PARTITIONS);
});
