// Followers that are ahead of their feed in one partition and behind it in another.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { eventually } from '../../../test/support/eventually.ts';
import type { EventView } from '../../engine/calls/events.ts';
import { type FakeRequest, fakeRequest } from '../http/fake-request.ts';
import type { CursorSeal } from '../operations/cursor-seal.ts';
import type { Shards } from '../shards.ts';
import { EventHub } from './hub.ts';
import type { EventCaller, Opened } from './subscription.ts';

const MEMORY = { id: 'm', number: 1, partitions: 2 };
const CALLER: EventCaller = {
  memory: MEMORY,
  principal: { actor: 'ann', scope: 'read', keyId: 'key_1' },
  requestId: 'req',
  namespace: undefined,
  userId: undefined,
};
const OPTIONS = { headers: [], requestId: 'req', timeoutMs: 300_000 };

/** A memory of two partitions with made-up events. */
class Source {
  readonly counts = [0, 0];
  isLive = true;
  ring: () => void = () => undefined;
  readonly hub: EventHub;

  constructor() {
    const callPartition = async (
      _method: string,
      { partition }: { partition: number },
      { after }: { after: number },
    ) => {
      const count = this.counts[partition]!;
      const events = Array.from({ length: Math.max(0, count - after) }, (_, i) => eventOf(after + i + 1));
      return { events, next: Math.max(after, count), newest: count, oldest: 1, isPartial: false, forkedAt: [] };
    };
    this.hub = new EventHub({
      shards: { callPartition: callPartition as unknown as Shards['callPartition'] }, // it answers one method
      bells: {
        watch: (_, ring) => {
          this.ring = ring;
          return () => undefined;
        },
      },
      memories: { find: () => MEMORY as ReturnType<ConstructorParameters<typeof EventHub>[0]['memories']['find']> }, // the hub reads its number
      keys: { isLive: () => this.isLive },
      cursors: {} as CursorSeal, // nobody is bound
      restores: [],
      clock: { nowMs: () => 0 },
    });
  }

  open(since?: string): Promise<Opened> {
    return this.hub.open(CALLER, {
      kinds: [],
      since: since === undefined ? undefined : { text: since, field: 'since' },
    });
  }

  /** Opens a stream; returns the ids of its events so far. */
  async stream(): Promise<() => string[]> {
    let text = '';
    const stream = {
      unreportedBytes: 0,
      write: async (chunk: Uint8Array) => {
        text += chunk.toString();
      },
      end: () => undefined,
    };
    const request = { ...fakeRequest({ method: 'GET' }), stream: () => stream, whenOver: () => undefined };
    this.hub.stream(await this.open(), request, OPTIONS);
    return () => [...text.matchAll(/^id: (.+)\nevent: grain_created$/gm)].map(([, id]) => id!);
  }

  poll(opened: Opened): FakeRequest {
    const request = fakeRequest({ method: 'GET' });
    // A copy would keep the response of the time of the copy.
    request.whenOver = () => undefined;
    this.hub.poll(opened, request, OPTIONS);
    return request;
  }
}

function eventOf(sequence: number): EventView {
  const id = sequence.toString(16).padStart(32, '0');
  return { sequence, id, kind: 'grain_created', timestampMs: 0, details: {} };
}

test('a follower ahead of the feed in one partition gets no event again', async (t) => {
  const source = new Source();
  t.after(() => source.hub.close());
  const first = await source.stream();
  await turn();
  // The feed does not know yet of five events, which the others skip: they ask for new events only.
  source.counts[1] = 5;
  const second = await source.stream();
  const polling = source.poll(await source.open());
  await turn();
  source.counts[0] = 1;
  source.ring();
  await eventually('all were sent', () => first().length === 6 && polling.response !== undefined);
  assert.deepEqual(second(), ['1.5'], 'and its id is the place in both partitions');
  const { events, next } = JSON.parse(String(polling.response?.body)) as { events: unknown[]; next: string };
  assert.deepEqual([events.length, next], [1, '1.5']);
  source.counts[1] = 6;
  source.ring();
  await eventually('the next is sent', () => second().length === 2);
  assert.deepEqual(second(), ['1.5', '1.6']);
  assert.equal(first().length, 7);
});

test('a long-poll of a revoked key gets no event that it would have to read first', async (t) => {
  const source = new Source();
  t.after(() => source.hub.close());
  source.counts[0] = 3;
  const opened = await source.open('0');
  const polling = source.poll(opened);
  source.isLive = false;
  await eventually('it is answered', () => polling.response !== undefined);
  assert.equal(polling.response?.status, 401);
  assert.doesNotMatch(String(polling.response?.body), /grain_created/);
});
