// Lists over several partitions, of which one has grains that cannot be read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GrainView, Input, Output, ShardCaller } from '../protocol.ts';
import { Fan } from './fan.ts';
import { gatherList } from './pages.ts';
import { GatherRoom } from './room.ts';

interface Stored {
  readonly createdAtMs: number;
  readonly hash: string;
  readonly isReadable: boolean;
}

function viewOf({ createdAtMs, hash }: Stored): GrainView {
  const createdAt = createdAtMs / 1_000;
  return { hash, grainType: 'belief', fields: {}, createdAt, createdAtMs, namespace: 'default', sizeBytes: 1 };
}

/** The oldest first. It answers as a partition does: its pages go on behind grains that cannot be read. */
function partitionOf(grains: readonly Stored[]): ShardCaller {
  const call = async (_: string, __: unknown, { limit, after }: Input<'list'>): Promise<Output<'list'>> => {
    const rest = grains.filter(({ createdAtMs }) => createdAtMs > (after?.createdAtMs ?? 0));
    const page = rest.slice(0, limit);
    const shown = page.filter(({ isReadable }) => isReadable).map(viewOf);
    const answer = { grains: shown, total: grains.length, more: rest.length > limit };
    return answer.more ? { ...answer, next: page.at(-1)! } : answer;
  };
  return { call } as unknown as ShardCaller; // the only call
}

test('pages of grains that cannot be read hide none of the grains behind them', async () => {
  const stored = Array.from({ length: 12 }, (_, at) => ({
    createdAtMs: (at + 1) * 1_000,
    hash: String(at).padStart(64, '0'),
    // One of the first partition, and all of the second.
    isReadable: at === 4 || at >= 6,
  }));
  const partitions = [partitionOf(stored.slice(0, 6)), partitionOf(stored.slice(6))];
  const fan = new Fan({ memory: 1, actor: 'key:test', requestId: 'req' }, partitions);
  const listed: string[] = [];
  let after: Input<'list'>['after'];
  do {
    const page = await new GatherRoom().run((held) =>
      gatherList(fan, { filter: {}, limit: 1, order: 'asc', ...(after && { after }) }, held),
    );
    listed.push(...page.grains.map(({ hash }) => hash));
    after = page.next;
  } while (after !== undefined);
  assert.deepEqual(
    listed,
    stored.filter(({ isReadable }) => isReadable).map(({ hash }) => hash),
  );
});
