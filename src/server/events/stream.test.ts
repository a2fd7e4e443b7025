// Streams and feeds over made-up events: what a client gets that is slow, silent, or gone.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { eventually } from '../../../test/support/eventually.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  EVENT_KEEP_ALIVE_MS,
  EVENT_STREAMS_CALLER_MAX,
  EVENTS_QUEUED_BYTES_MAX,
  EVENTS_QUEUED_MAX,
} from '../../engine/base/limits.ts';
import type { EventView } from '../../engine/calls/events.ts';
import { fakeRequest } from '../http/fake-request.ts';
import type { HttpRequest, ResponseStream } from '../http/listener.ts';
import type { CursorSeal } from '../operations/cursor-seal.ts';
import type { Shards } from '../shards.ts';
import { EventHub } from './hub.ts';
import type { EventCaller, EventsQuery } from './subscription.ts';

const MEMORY = { id: 'm', number: 1, partitions: 1 };
const PAGE = 100;

/** A memory whose events a test makes, and a client that takes what the test lets it. */
class Bench {
  events = 0;
  reads = 0;
  /** Length of each event's object. */
  length = 10;
  failure: EngineError | undefined;
  isLive = true;
  /** The object that the events show. */
  object = 'x';
  /** Set: reads are answered when it resolves, with what they found before. */
  held: Promise<void> | undefined;
  #ring: () => void = () => undefined;
  readonly hub: EventHub;

  constructor(t: TestContext) {
    const callPartition = async (
      _method: string,
      _context: unknown,
      { after, limit = PAGE }: { after: number; limit?: number },
    ) => {
      this.reads += 1;
      if (this.failure !== undefined) throw this.failure;
      const next = Math.max(after, Math.min(this.events, after + limit));
      const events = Array.from({ length: next - after }, (_, i) => this.#event(after + i + 1));
      await this.held;
      return { events, next, newest: this.events, oldest: 1, isPartial: false, forkedAt: [] };
    };
    this.hub = new EventHub({
      shards: { callPartition: callPartition as unknown as Shards['callPartition'] }, // it answers one method
      bells: {
        watch: (_, ring) => {
          this.#ring = ring;
          return () => undefined;
        },
      },
      memories: { find: () => MEMORY as ReturnType<ConstructorParameters<typeof EventHub>[0]['memories']['find']> }, // what is asked of it
      keys: { isLive: () => this.isLive },
      cursors: {} as CursorSeal, // nobody is bound
      restores: [],
      clock: { nowMs: () => 0 },
    });
    t.after(() => this.hub.close());
  }

  #event(sequence: number): EventView {
    const id = sequence.toString(16).padStart(32, '0');
    return {
      sequence,
      id,
      kind: 'grain_created',
      timestampMs: 0,
      object: this.object.repeat(this.length),
      details: {},
    };
  }

  add(count: number): void {
    this.events += count;
    this.#ring();
  }

  async open(client: SlowClient, more: Partial<EventsQuery> = {}, keyId = 'key_1'): Promise<void> {
    const caller: EventCaller = {
      memory: MEMORY,
      principal: { actor: 'ann', scope: 'read', keyId },
      requestId: 'req',
      namespace: undefined,
      userId: undefined,
    };
    const opened = await this.hub.open(caller, { kinds: [], since: undefined, ...more });
    this.hub.stream(opened, client.request, { headers: [], requestId: 'req', timeoutMs: 300_000 });
  }
}

/** It takes a write when the test says so; from the start, each at once. */
class SlowClient {
  text = '';
  isSlow = false;
  isEnded = false;
  isCut = false;
  writes = 0;
  #held: (() => void)[] = [];
  #over: () => void = () => undefined;
  readonly request: HttpRequest;

  constructor(unreportedBytes = 0) {
    const stream: ResponseStream = {
      unreportedBytes,
      write: (chunk) => {
        assert.equal(this.#held.length, 0, 'one write at a time');
        this.writes += 1;
        this.text += chunk.toString();
        if (!this.isSlow) return Promise.resolve();
        return new Promise((resolve) => this.#held.push(resolve));
      },
      end: () => {
        this.isEnded = true;
      },
    };
    this.request = {
      ...fakeRequest({ method: 'GET' }),
      stream: () => stream,
      whenOver: (over) => {
        this.#over = over;
      },
      cut: () => {
        this.isCut = true;
      },
    };
  }

  /** Takes what it was sent. */
  take(): void {
    for (const resolve of this.#held.splice(0)) resolve();
  }

  leave(): void {
    this.#over();
  }

  get ids(): number[] {
    return [...this.text.matchAll(/^id: (\d+)\nevent: grain_created$/gm)].map(([, id]) => Number(id));
  }

  /** The kinds of frames, without repeats. */
  get kinds(): string[] {
    return [...new Set([...this.text.matchAll(/^event: (\w+)$/gm)].map(([, kind]) => kind!))];
  }
}

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

test('many streams of one reach cost one read', async (t) => {
  const bench = new Bench(t);
  const clients = Array.from({ length: 600 }, () => new SlowClient());
  for (const client of clients) await bench.open(client);
  await turn();
  const before = bench.reads;
  bench.add(3);
  await eventually('all have them', () => clients.every(({ ids }) => ids.length === 3));
  assert.equal(bench.reads - before, 1);
});

test('a slow client gets what it can take, then overflow with the id to go on from, and holds up nobody', async (t) => {
  const bench = new Bench(t);
  const [slow, quick] = [new SlowClient(), new SlowClient()];
  await bench.open(slow);
  await bench.open(quick);
  await turn();
  slow.isSlow = true;
  bench.add(50);
  await eventually('the quick one has them', () => quick.ids.length === 50);
  const held = slow.ids.length;
  for (let i = 0; i < 12; i++) {
    bench.add(PAGE);
    await eventually('the quick one has them', () => quick.ids.length === bench.events);
  }
  assert.deepEqual(quick.ids, numbers(1, bench.events));
  assert.equal(slow.ids.length, held, 'nothing is sent to a client that takes nothing');
  slow.isSlow = false;
  slow.take();
  await eventually('it is told', () => slow.isEnded);
  assert.deepEqual(slow.kinds, ['ready', 'grain_created', 'overflow']);
  const last = slow.text.slice(slow.text.lastIndexOf('id: '));
  assert.equal(last, `id: ${held}\nevent: overflow\ndata: {"sequence":${held}}\n\n`);
  const again = new SlowClient();
  await bench.open(again, { since: { text: String(held), field: 'since' } });
  await eventually('it has caught up', () => again.ids.at(-1) === bench.events);
  assert.deepEqual(again.ids, numbers(held + 1, bench.events));
});

test('a client that lags within the bound loses nothing', async (t) => {
  const bench = new Bench(t);
  const [slow, quick] = [new SlowClient(), new SlowClient()];
  await bench.open(slow);
  await bench.open(quick);
  await turn();
  slow.isSlow = true;
  for (let i = 0; i < EVENTS_QUEUED_MAX / PAGE; i++) {
    bench.add(PAGE);
    await eventually('the quick one has them', () => quick.ids.length === bench.events);
  }
  for (let takes = 0; slow.ids.length < bench.events && takes < 1_000; takes++) {
    slow.take();
    await turn();
  }
  assert.deepEqual(slow.kinds, ['ready', 'grain_created']);
  assert.deepEqual(slow.ids, numbers(1, bench.events));
});

for (const since of [undefined, '0'])
  test(`a slow client gets nothing that was read before an erasure, since ${since ?? 'now'}`, async (t) => {
    const bench = new Bench(t);
    const [slow, quick] = [new SlowClient(), new SlowClient()];
    // Some chunks of the first page.
    bench.length = 5_000;
    const asked = since === undefined ? {} : { since: { text: since, field: 'since' } };
    if (since !== undefined) bench.events = PAGE;
    slow.isSlow = since !== undefined;
    for (const client of [slow, quick]) await bench.open(client, asked);
    await turn();
    slow.isSlow = true;
    bench.add(1);
    await eventually('the quick one has it', () => quick.ids.length === bench.events);
    if (since !== undefined) slow.take();
    await eventually('a write waits for the slow one', () => slow.text.includes('xxx'));
    bench.add(PAGE - 1);
    await eventually('the quick one has them', () => quick.ids.length === bench.events);
    const before = slow.text.length;
    bench.object = 'y';
    bench.hub.reread(MEMORY.number);
    for (let takes = 0; slow.ids.length < bench.events && takes < 1_000; takes++) {
      slow.take();
      await turn();
    }
    assert.deepEqual(slow.ids, numbers(1, bench.events), 'each event once');
    assert.ok(!slow.text.slice(before).includes('xxx'), 'what it had not been sent was read again');
    assert.ok(slow.text.includes('yyy'));
    bench.add(1);
    slow.isSlow = false;
    slow.take();
    await eventually('it hears on', () => slow.ids.at(-1) === bench.events);
    assert.deepEqual(quick.ids, numbers(1, bench.events));
  });

test('a page that was found before an erasure and arrives after it is read again', async (t) => {
  const bench = new Bench(t);
  const client = new SlowClient();
  await bench.open(client);
  await turn();
  const { promise, resolve } = Promise.withResolvers<void>();
  bench.held = promise;
  bench.add(3);
  await turn();
  bench.object = 'y';
  bench.hub.reread(MEMORY.number);
  bench.held = undefined;
  resolve();
  await eventually('all have arrived', () => client.ids.length === 3);
  assert.ok(client.text.includes('yyy') && !client.text.includes('xxx'));
});

test('what waits for a slow client is bounded in bytes too', async (t) => {
  const bench = new Bench(t);
  bench.length = 10_000;
  const [slow, quick] = [new SlowClient(), new SlowClient()];
  await bench.open(slow);
  await bench.open(quick);
  await turn();
  slow.isSlow = true;
  const count = Math.ceil(EVENTS_QUEUED_BYTES_MAX / bench.length) + PAGE;
  assert.ok(count < EVENTS_QUEUED_MAX);
  for (let i = 0; i < count; i += PAGE) {
    bench.add(PAGE);
    await eventually('the quick one has them', () => quick.ids.length === bench.events);
  }
  slow.isSlow = false;
  slow.take();
  await eventually('it is told', () => slow.isEnded);
  assert.ok(slow.kinds.includes('overflow'));
});

test('old events are read at the pace of the client, and joined to new ones without a repeat', async (t) => {
  const bench = new Bench(t);
  bench.add(5 * PAGE);
  const client = new SlowClient();
  client.isSlow = true;
  await bench.open(client, { since: { text: '0', field: 'since' } });
  await turn();
  const before = bench.reads;
  for (let i = 0; i < 20; i++) {
    bench.add(10);
    await turn();
  }
  assert.equal(client.ids.length, 0, 'it took nothing but the first frame');
  assert.ok(bench.reads - before <= 21, 'nothing is read ahead of it');
  client.isSlow = false;
  client.take();
  await eventually('it has caught up', () => client.ids.length >= bench.events);
  bench.add(7);
  await eventually('it hears on', () => client.ids.length >= bench.events);
  assert.deepEqual(client.ids, numbers(1, bench.events));
});

test('a stream without events is kept open, and ends at its time', async (t) => {
  const bench = new Bench(t);
  const client = new SlowClient();
  await bench.open(client);
  await turn();
  const nowMs = performance.now();
  bench.hub.look(nowMs + EVENT_KEEP_ALIVE_MS + 1_000);
  assert.match(client.text, /\n\n: keep-alive\n\n$/);
  bench.hub.look(nowMs + 301_000);
  await eventually('it ends', () => client.isEnded);
  assert.match(client.text, /event: end\ndata: \{"reason":"timeout","sequence":0\}\n\n$/);
  assert.equal(bench.hub.size, 0);
});

test('where the listener reports only long writes, some are made long', async (t) => {
  const bench = new Bench(t);
  const client = new SlowClient(16_384);
  await bench.open(client);
  await turn();
  for (let i = 0; i < 30; i++) {
    bench.length = 10_000;
    bench.add(1);
    await eventually('it has it', () => client.ids.length === bench.events);
  }
  assert.ok(/: {16384}\n\n/.test(client.text), 'it is asked whether it takes them');
  const sent = client.text.replaceAll(/: {16384}\n\n/g, '');
  assert.ok(client.text.length - sent.length < sent.length / 2);
});

test('a caller has a bounded number of streams, and gives its places back', async (t) => {
  const bench = new Bench(t);
  const clients = Array.from({ length: EVENT_STREAMS_CALLER_MAX }, () => new SlowClient());
  for (const client of clients) await bench.open(client);
  const refused = (error: unknown) => error instanceof EngineError && error.code === 'LIM-E002';
  await assert.rejects(bench.open(new SlowClient()), refused);
  await bench.open(new SlowClient(), {}, 'key_2');
  clients[0]!.leave();
  await bench.open(new SlowClient());
  assert.equal(bench.hub.size, EVENT_STREAMS_CALLER_MAX + 1);
});

test('a revoked key hears nothing more, and a reader that is refused ends its streams', async (t) => {
  const bench = new Bench(t);
  const client = new SlowClient();
  await bench.open(client);
  await turn();
  bench.isLive = false;
  bench.add(1);
  await eventually('it ends', () => client.isEnded);
  assert.deepEqual([client.kinds, client.ids], [['ready', 'end'], []]);
  bench.isLive = true;
  const other = new SlowClient();
  await bench.open(other);
  await turn();
  bench.failure = new EngineError('POL-E008', 'restricted');
  bench.add(1);
  await eventually('it ends', () => other.isEnded);
  assert.match(other.text, /"reason":"refused","code":"POL-E008"/);
});

test('a shutdown ends streams, and cuts off those that take nothing', async (t) => {
  const bench = new Bench(t);
  const [quick, slow] = [new SlowClient(), new SlowClient()];
  await bench.open(quick);
  await bench.open(slow);
  await turn();
  slow.isSlow = true;
  bench.add(1);
  await turn();
  await bench.hub.close();
  assert.match(quick.text, /"reason":"shutdown"/);
  assert.ok(quick.isEnded && slow.isCut && !slow.isEnded);
  await assert.rejects(bench.open(new SlowClient()));
});
