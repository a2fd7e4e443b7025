import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REPORT_ACTS_MAX } from '../../engine/base/limits.ts';
import type { AuditView, Input } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';
import { actsOf } from './acts.ts';

test('an erasure is known behind more acts than are gathered', async () => {
  const entry = (eventType: string, seq: number): AuditView => ({
    partition: 0,
    seq,
    timestamp: 1_000 + seq,
    eventType,
    actor: 'key:a',
    subject: 'user:ann',
    details: {},
    prevHash: '',
    hash: '',
  });
  const trail = [
    ...Array.from({ length: REPORT_ACTS_MAX + 1 }, (_, at) => entry('memory.corrected', at + 2)).reverse(),
    entry('user.erased', 1),
  ];
  const call = async (_: string, { filter, limit }: Input<'auditPage'>) => {
    const entries =
      filter.actor === undefined ? trail.filter(({ eventType }) => filter.events?.includes(eventType)) : [];
    return { entries: entries.slice(0, limit), total: entries.length };
  };
  const context = { call } as unknown as Context; // all that it asks
  const { acts, isErased } = await actsOf(context, 'ann', { receivedAtMs: 0, openedAtMs: 0 });
  assert.deepEqual([acts.length, isErased], [1, true]);
});
