// Events over HTTP: the stream, its cursors, the long-poll, and what ends it. On both listeners, with one partition and
// with four.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { HttpClient } from './conformance/http-client.ts';
import { EventClient } from './support/event-stream.ts';
import { LISTENER_PARTITIONS } from './support/listener-partitions.ts';
import { startTestServer, type TestServer } from './support/server.ts';

const JSON_ONLY = { accept: 'application/json' };

let made = 0;

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, () => {
    let server: TestServer;
    let http: HttpClient;
    before(async () => {
      server = await startTestServer({ shards: '4', workers: '2', http: listener });
      http = new HttpClient(server.http, server.key);
    });
    after(() => server.close());

    const memory = async (): Promise<string> => {
      const id = `m${++made}`;
      await http.post('/memories', { id, partitions });
      return `/memories/${id}`;
    };
    const stream = (path: string, headers: Readonly<Record<string, string>> = {}, key = server.key) =>
      EventClient.open(`${server.http}/api${path}`, { authorization: `Bearer ${key}`, ...headers });
    const add = (path: string, object: string, more: object = {}) =>
      http.post(`${path}/add`, { subject: object, relation: 'is', object, ...more });

    test('a stream begins with ready, tells what is added, and ends at its timeout', async () => {
      const m = await memory();
      await add(m, 'before');
      const client = await stream(`${m}/events?timeout_s=2`);
      assert.match(client.headers.get('content-type')!, /^text\/event-stream/);
      assert.equal(client.headers.get('cache-control'), 'no-cache, no-transform');
      assert.equal(client.headers.get('x-accel-buffering'), 'no');
      await client.until('it is ready', ({ frames }) => frames.length > 0);
      const { blob_hash: hash } = await add(m, 'tea', { user_id: 'u1', namespace: 'n1' });
      const last = await client.ended();
      assert.match(client.text, /^retry: 3000\n/);
      assert.deepEqual(
        client.frames.map(({ event }) => event),
        ['ready', 'grain_created', 'end'],
      );
      assert.equal(last?.data.reason, 'timeout');
      const [{ id, data }] = client.events as [(typeof client.events)[0]];
      assert.equal(last?.id, id);
      const { id: eventId, timestamp_ms: at, sequence, partition, ...rest } = data;
      assert.match(eventId, /^evt_[a-z2-7]{24}$/);
      assert.ok(Math.abs(Date.now() - at) < 600_000);
      assert.equal(typeof sequence, 'number');
      assert.equal(typeof partition, partitions === 1 ? 'undefined' : 'number');
      assert.deepEqual(rest, {
        ...{ memory_id: m.slice('/memories/'.length), event_type: 'grain_created', hash, grain_type: 'belief' },
        ...{ namespace: 'n1', subject: 'tea', relation: 'is', object: 'tea', user_id: 'u1', details: {} },
      });
    });

    test('a client that connects again gets each event once, in the order of its partition', async () => {
      const m = await memory();
      const hashes = new Set<string>();
      const first = await stream(`${m}/events`);
      await first.until('it is ready', ({ frames }) => frames.length > 0);
      const grains = (from: number) => ({
        grains: Array.from({ length: 40 }, (_, i) => ({
          grain_type: 'belief',
          fields: { subject: `s${from + i}`, relation: 'is', object: 'x', user_id: `u${i % 7}` },
        })),
      });
      await http.post(`${m}/batch-add`, grains(0));
      await first.until('some events came', ({ events }) => events.length >= 10);
      await first.close();
      await http.post(`${m}/batch-add`, grains(100));
      const heard = [...first.events];
      const again = await stream(`${m}/events`, { 'last-event-id': heard.at(-1)!.id });
      await http.post(`${m}/batch-add`, grains(200));
      await again.until('all came', ({ events }) => heard.length + events.length >= 120);
      await again.close();
      heard.push(...again.events);
      const sequences = new Map<number, number>();
      for (const { data } of heard) {
        const { partition = 0 } = data;
        assert.equal(data.sequence, (sequences.get(partition) ?? 0) + 1, 'no gap and no repeat');
        sequences.set(partition, data.sequence);
        hashes.add(data.hash);
      }
      assert.equal(sequences.size, partitions);
      assert.equal(hashes.size, 120);
    });

    test('a cursor that is no cursor is refused, and one from the future says so', async () => {
      const m = await memory();
      await add(m, 'tea');
      for (const bad of ['-1', 'nonsense', '1.5.', '9'.repeat(30), 'evt_abc', '1.1.1.1.1']) {
        const reply = await http.ask('GET', `${m}/events?since=${encodeURIComponent(bad)}`);
        assert.deepEqual([reply.status, reply.json.error.code], [400, 'VAL-E001'], bad);
        const header = await http.ask('GET', `${m}/events`, { headers: { 'last-event-id': bad } });
        assert.equal(header.json.error.details[0].field, 'last-event-id');
      }
      const future = new Array(partitions).fill(1_000_000).join('.');
      const client = await stream(`${m}/events`, { 'last-event-id': future });
      await client.until('the gap is told', ({ frames }) => frames.length >= 2);
      assert.deepEqual(
        client.frames.map(({ event, data }) => [event, data.reason]),
        [
          ['ready', undefined],
          ['gap', 'ahead'],
        ],
      );
      await add(m, 'coffee');
      await client.until('it goes on', ({ events }) => events.length === 1);
      assert.equal(client.events[0]!.data.object, 'coffee');
      await client.close();
    });

    test('types select events, and unknown names are refused', async () => {
      const m = await memory();
      const client = await stream(`${m}/events?types=grain_forgotten,%20key_rotated`);
      await client.until('it is ready', ({ frames }) => frames.length > 0);
      const { blob_hash: hash } = await add(m, 'tea');
      await http.post(`${m}/forget`, { hashes: [hash] }).catch(() => http.post(`${m}/forget`, { blob_hash: hash }));
      await client.until('it is told', ({ events }) => events.length > 0);
      assert.deepEqual([client.events[0]!.event, client.events[0]!.data.hash], ['grain_forgotten', hash]);
      await client.close();
      const unknown = await http.ask('GET', `${m}/events?types=grain_made`);
      assert.deepEqual([unknown.status, unknown.json.error.code], [400, 'HOK-E002']);
      const hook = await http.ask('GET', `${m}/events?hook_id=hook_none`);
      assert.deepEqual([hook.status, hook.json.error.code], [404, 'HOK-E003']);
      for (const timeout of ['0', '3601', 'x'])
        assert.ok((await http.ask('GET', `${m}/events?timeout_s=${timeout}`)).status >= 400, timeout);
    });

    test('a long-poll waits for an event, and answers empty at its timeout', async () => {
      const m = await memory();
      await add(m, 'old');
      const all = await http.get(`${m}/events?since=0`, { headers: JSON_ONLY });
      assert.deepEqual(
        all.events.map(({ object }: { object: string }) => object),
        ['old'],
      );
      assert.equal(typeof all.next, partitions === 1 ? 'number' : 'string');
      let isAnswered = false;
      const waiting = http.get(`${m}/events?since=${all.next}&timeout_s=60`, { headers: JSON_ONLY }).finally(() => {
        isAnswered = true;
      });
      await http.get(`${m}/stats`);
      assert.equal(isAnswered, false);
      await add(m, 'new');
      const answer = await waiting;
      assert.equal(answer.events[0].object, 'new');
      const none = await http.get(`${m}/events?since=${answer.next}&timeout_s=1`, { headers: JSON_ONLY });
      assert.deepEqual(none, { events: [], next: answer.next });
      const browser = await stream(`${m}/events`, { accept: 'application/json, */*' });
      assert.match(browser.headers.get('content-type')!, /^text\/event-stream/);
      await browser.close();
    });

    test('a bound caller hears nothing outside its binding, not even how much happens there', async () => {
      const m = await memory();
      const id = m.slice('/memories/'.length);
      const { raw_key: key } = await http.post('/auth/keys', { scopes: ['read'], memory_id: id, namespace: 'n1' });
      const client = await stream(`${m}/events`, {}, key);
      const narrowed = await stream(`${m}/events`, { 'x-user-id': 'u1' });
      await client.until('it is ready', ({ frames }) => frames.length > 0);
      await narrowed.until('it is ready', ({ frames }) => frames.length > 0);
      for (let i = 0; i < 5; i++) await add(m, `secret ${i}`, { namespace: 'n2', user_id: 'u2' });
      await http.post(`${m}/app/exec`, { command: 'rotate_keys', args: { scope: 'memory' } });
      await add(m, 'own', { namespace: 'n1', user_id: 'u1' });
      for (const one of [client, narrowed]) {
        await one.until('its own event came', ({ events }) => events.length > 0);
        assert.deepEqual(
          one.events.map(({ data }) => [data.object, data.sequence, data.partition]),
          [['own', undefined, undefined]],
        );
        assert.ok(!one.text.includes('secret'));
        for (const frame of one.frames) assert.match(frame.id, /^[\w-]{60,}$/, 'the cursor is sealed');
        await one.close();
      }
      const cursor = client.events[0]!.id;
      const again = await stream(`${m}/events`, { 'last-event-id': cursor }, key);
      await add(m, 'later', { namespace: 'n1' });
      await again.until('it goes on', ({ events }) => events.length > 0);
      assert.equal(again.events[0]!.data.object, 'later');
      await again.close();
      const other = await memory();
      const plain = await http.ask('GET', `${m}/events?since=3`, { key });
      const moved = await http.ask('GET', `${other}/events?since=${cursor}`, { headers: { 'x-namespace': 'n1' } });
      assert.deepEqual([plain.status, moved.status], [400, 400], 'a number, and a cursor of another memory');
    });

    test('a restriction counts for streams that are open already', async () => {
      const m = await memory();
      const client = await stream(`${m}/events`);
      await client.until('it is ready', ({ frames }) => frames.length > 0);
      await add(m, 'one', { user_id: 'u1' });
      await client.until('it is told', ({ events }) => events.length === 1);
      await http.post(`${m}/app/exec`, { command: 'restrict', args: { user_id: 'u1', reason: 'asked' } });
      await client.until('the restriction is told', ({ events }) => events.length === 2);
      assert.equal(client.events[1]!.event, 'processing_restricted');
      const replay = await http.get(`${m}/events?since=0`, { headers: JSON_ONLY });
      assert.deepEqual(
        replay.events.map(({ event_type: kind }: { event_type: string }) => kind),
        ['processing_restricted'],
      );
      await client.close();
    });

    test("an erased person's events name nobody", async () => {
      const m = await memory();
      await add(m, 'Zacharias', { user_id: 'Zacharias' });
      await http.post(`${m}/consent/grant`, { user_id: 'Zacharias', purpose: 'ads' });
      const before = await http.get(`${m}/events?since=0`, { headers: JSON_ONLY });
      assert.equal(before.events.length, 3);
      assert.ok(before.events.every(({ user_id: user }: { user_id: string }) => user === 'Zacharias'));
      await http.post(`${m}/forget`, { user_id: 'Zacharias' });
      const after = await http.ask('GET', `${m}/events?since=0`, { headers: JSON_ONLY });
      assert.ok(!after.text.includes('Zacharias'));
      type Erased = { event_type: string; count: number };
      const erased = after.json.events.filter(({ event_type: kind }: Erased) => kind === 'crypto_erase');
      // Each partition tells of its own part.
      const removed = erased.reduce((sum: number, { count }: Erased) => sum + count, 0);
      assert.equal(removed, 2, 'the belief and the consent');
      for (const event of after.json.events) assert.equal(event.hash, undefined);
    });

    test('a revoked key ends its streams, and the end of a memory ends all', async () => {
      const m = await memory();
      const { key_id: keyId, raw_key: key } = await http.post('/auth/keys', { scopes: ['read'] });
      const revoked = await stream(`${m}/events`, {}, key);
      const kept = await stream(`${m}/events`);
      for (const one of [revoked, kept]) await one.until('it is ready', ({ frames }) => frames.length > 0);
      const polling = http.ask('GET', `${m}/events?timeout_s=600`, { key, headers: JSON_ONLY });
      await http.call('DELETE', `/auth/keys/${keyId}`);
      await add(m, 'after');
      const last = await revoked.ended();
      assert.deepEqual([last?.event, last?.data.reason], ['end', 'refused']);
      assert.ok(!revoked.text.includes('after'));
      assert.equal((await polling).status, 401);
      await http.call('DELETE', m, { headers: { 'x-reason': 'over' } });
      assert.deepEqual([(await kept.ended())?.event, kept.events.length], ['end', 1]);
    });

    test('a goal that moves is told with both states', async () => {
      const m = await memory();
      const { blob_hash: goal } = await http.post(`${m}/sessions/s1/goals/create`, {
        ...{ description: 'drink tea', priority: 'high', criteria: 'it is drunk' },
      });
      const moved = await http.call('PUT', `${m}/goals/${goal}/state`, { json: { state: 'satisfied' } });
      const { events } = await http.get(`${m}/events?since=0`, { headers: JSON_ONLY });
      type Told = { event_type: string; hash: string; old_hash?: string; details: object };
      assert.deepEqual(
        events.map(({ event_type: kind, hash, old_hash: old, details }: Told) => [kind, hash, old, details]),
        [
          ['grain_created', goal, undefined, {}],
          ['goal_state_changed', moved.blob_hash, goal, { from: 'active', to: 'satisfied' }],
        ],
      );
    });

    test('HEAD gets the headers of a stream and no stream', async () => {
      const m = await memory();
      const reply = await fetch(`${server.http}/api${m}/events`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${server.key}` },
      });
      assert.equal(reply.status, 200);
      assert.match(reply.headers.get('content-type')!, /^text\/event-stream/);
      assert.equal(await reply.text(), '');
    });
  });

test('a shutdown ends the streams at once', async () => {
  for (const listener of ['uws', 'node']) {
    const server = await startTestServer({ http: listener });
    const headers = { authorization: `Bearer ${server.key}` };
    const client = await EventClient.open(`${server.http}/api/memories/default/events`, headers);
    await client.until('it is ready', ({ frames }) => frames.length > 0);
    await server.close();
    const last = await client.ended();
    assert.deepEqual([last?.event, last?.data.reason], ['end', 'shutdown']);
  }
});

test('a proxy that holds answers back passes a long-poll, and a stream at its end', async (t) => {
  const server = await startTestServer({});
  t.after(() => server.close());
  const proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, connection: 'close' };
    request(`${server.http}${incoming.url}`, { headers }, async (answer) => {
      const body = await buffer(answer);
      outgoing
        .writeHead(answer.statusCode ?? 500, { 'content-type': String(answer.headers['content-type']) })
        .end(body);
    }).end();
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => proxy.close());
  const { port } = proxy.address() as AddressInfo; // it listens on TCP
  const path = `http://127.0.0.1:${port}/api/memories/default/events`;
  const headers = { authorization: `Bearer ${server.key}` };
  const http = new HttpClient(server.http, server.key);
  const polling = fetch(`${path}?timeout_s=60&since=0`, { headers: { ...headers, ...JSON_ONLY } });
  await http.post('/memories/default/add', { subject: 'a', relation: 'b', object: 'c' });
  const { events } = (await (await polling).json()) as { events: { object: string }[] };
  assert.equal(events[0]?.object, 'c');
  const client = await EventClient.open(`${path}?timeout_s=1&since=0`, headers);
  await client.ended();
  assert.deepEqual(
    client.frames.map(({ event }) => event),
    ['ready', 'grain_created', 'end'],
  );
});
