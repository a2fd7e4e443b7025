// Concurrent recalls and lists over several partitions: the bytes that they hold together are bounded, none is refused,
// and each finds what it finds alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GATHER_SMALL_BYTES, GATHERS_LARGE_MAX, GATHERS_MAX, RECALL_HELD_BYTES_MAX } from '../../engine/base/limits.ts';
import type { Candidate, GrainView, Input, ShardCaller } from '../protocol.ts';
import { Turns } from '../turns.ts';
import { Fan } from './fan.ts';
import { GATHER } from './gather.ts';
import { GatherRoom } from './room.ts';

const PARTITIONS = 4;
const LARGE_BYTES = 900_000;

/** Bytes given to unfinished requests. */
class HeldBytes {
  readonly #of = new Map<string, number>();
  #now = 0;
  /** The limit at any time. */
  most = 0;

  give(request: string, bytes: number): void {
    this.#of.set(request, (this.#of.get(request) ?? 0) + bytes);
    this.#now += bytes;
    this.most = Math.max(this.most, this.#now);
  }

  end(request: string): void {
    this.#now -= this.#of.get(request) ?? 0;
  }
}

/** A memory whose grains report that size. */
function memory(sizeBytes: number, grainsOfEach: number) {
  const held = new HeldBytes();
  const grains = Array.from({ length: PARTITIONS }, (_, partition) =>
    Array.from(
      { length: grainsOfEach },
      (_, at): GrainView => ({
        ...{ hash: `${partition}-${at}`.padStart(64, '0'), grainType: 'event', fields: {}, namespace: '' },
        ...{ createdAt: 1, createdAtMs: 1_000 * at + partition, sizeBytes },
      }),
    ),
  );
  const grainsOf = (partition: number): GrainView[] => grains[partition]!;
  const withinBytes = (request: string, grains: GrainView[], bytesMax: number): GrainView[] => {
    const some = grains.slice(0, Math.max(1, Math.floor(bytesMax / sizeBytes)));
    held.give(request, some.length * sizeBytes);
    return some;
  };
  const answers = {
    recallCandidates: (partition: number) => {
      const candidates = grainsOf(partition).map(
        (grain, ordinal): Partial<Candidate> => ({ ...grain, ordinal, structural: true }),
      );
      return { candidates, total: candidates.length, termShares: [] };
    },
    fetch: (_: number, { hashes, bytesMax = 0 }: Input<'fetch'>, request: string) => {
      const all = hashes.map((hash) => grainsOf(Number(hash.replace(/^0*(?=\d-)/, '').split('-')[0]))[0]!);
      const wanted = all.map((grain, at) => ({ ...grain, hash: hashes[at]! }));
      return { grains: withinBytes(request, wanted, bytesMax) };
    },
    list: (partition: number, { limit, after, bytesMax = 0 }: Input<'list'>, request: string) => {
      const rest = grainsOf(partition).filter(({ createdAtMs }) => createdAtMs > (after?.createdAtMs ?? -1));
      const grains = withinBytes(request, rest.slice(0, limit), bytesMax);
      const last = grains.at(-1);
      const more = grains.length < rest.length;
      return { grains, total: grainsOfEach, more, ...(more && last ? { next: last } : {}) };
    },
  };
  const call = async (method: keyof typeof answers, at: { partition: number; requestId: string }, input: never) => {
    await new Promise((answer) => setImmediate(answer));
    return answers[method](at.partition, input, at.requestId);
  };
  const shards = Array.from({ length: PARTITIONS }, () => ({ call }) as unknown as ShardCaller); // the only call
  return { held, fanOf: (requestId: string) => new Fan({ memory: 1, actor: 'key:test', requestId }, shards) };
}

const RECALL: Input<'recall'> = { filter: { subject: 'a' }, structural: true, limit: 100, candidateLimit: 100 };
const LIST: Input<'list'> = { filter: {}, limit: 100, order: 'asc' };
const ASKED = {
  recall: (fan: Fan, tools: Parameters<typeof GATHER.recall>[2]) =>
    GATHER.recall(fan, RECALL, tools).then(({ hits }) => hits.length),
  list: (fan: Fan, tools: Parameters<typeof GATHER.list>[2]) =>
    GATHER.list(fan, LIST, tools).then(({ grains }) => grains.length),
};

for (const [name, ask] of Object.entries(ASKED)) {
  /** Runs that many at once; returns the maximum held at a time, and what each found. */
  const flood = async (requests: number, sizeBytes: number, grainsOfEach: number) => {
    const { held, fanOf } = memory(sizeBytes, grainsOfEach);
    const room = new GatherRoom();
    const tools = {
      placementOf: () => ({ grainType: '', fields: {} }),
      turns: new Turns(),
      room,
      dedup: 'none',
    } as const;
    const found = await Promise.all(
      Array.from({ length: requests }, async (_, at) => {
        const count = await ask(fanOf(`${at}`), tools);
        held.end(`${at}`);
        return count;
      }),
    );
    return { most: held.most, found: [...new Set(found)] };
  };

  test(`${name}: large gathers wait for each other`, async () => {
    const alone = await flood(1, LARGE_BYTES, 20);
    const { most, found } = await flood(150, LARGE_BYTES, 20);
    assert.deepEqual(found, alone.found);
    // Each partition returns one grain, however large, and the bytes of a gather's last request are added.
    const small = GATHER_SMALL_BYTES + PARTITIONS * LARGE_BYTES;
    assert.ok(most <= GATHERS_MAX * small + GATHERS_LARGE_MAX * 2 * RECALL_HELD_BYTES_MAX, `${most} bytes`);
    assert.ok(most < (150 * RECALL_HELD_BYTES_MAX) / 4, `${most} bytes`);
  });

  test(`${name}: small gathers run concurrently`, async () => {
    const { found } = await flood(500, 1_000, 20);
    assert.deepEqual(found, [4 * 20]);
  });
}

test('a gather that fails releases its place', async () => {
  const room = new GatherRoom();
  for (let at = 0; at < 3 * GATHERS_MAX; at += 1) {
    const failing = room.run(async (held) => {
      await held.grow();
      throw new Error('gone');
    });
    await assert.rejects(failing, /gone/);
  }
  assert.equal(await room.run(async (held) => held.room(5)), 5);
});
