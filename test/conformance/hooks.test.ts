// Hooks over HTTP: deliveries to receivers of the test, their order, signature and retries, over restarts and with several
// partitions; and the refusal of URLs.
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { refused } from './contract.ts';
import { serveSuite } from './http-suite.ts';

interface Arrived {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: {
    readonly event_type: string;
    readonly object?: string;
    readonly partition?: number;
    readonly sequence: number;
  };
}

interface Receiver {
  readonly url: string;
  readonly arrived: Arrived[];
  /** The status of the next answers; 200 without it. */
  answer: (arrived: Arrived) => number | 'nothing';
  /** Keeps answers back until the returned function is called. */
  readonly hold: () => () => void;
}

async function receiver(t: TestContext): Promise<Receiver> {
  const arrived: Arrived[] = [];
  let held: Promise<void> = Promise.resolve();
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      const one = { headers: request.headers, body, event: JSON.parse(body) };
      arrived.push(one);
      const status = made.answer(one);
      if (status === 'nothing') return;
      void held.then(() => response.writeHead(status).end());
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`; // it listens on a port
  const hold = (): (() => void) => {
    let release: () => void = () => undefined;
    held = new Promise((resolve) => {
      release = resolve;
    });
    return () => release();
  };
  const made: Receiver = { url, arrived, answer: () => 200, hold };
  return made;
}

async function hmac(secret: string, text: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  return Buffer.from(await crypto.subtle.sign('HMAC', key, encoder.encode(text))).toString('hex');
}

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, { concurrency: 4 }, () => {
    const { http, memory } = serveSuite(listener, partitions);
    const believe = (path: string, object: string, more: object = {}) =>
      http.post(`${path}/add`, { subject: 'ann', relation: 'likes', object, ...more });
    const hookOf = async (path: string, id: string) =>
      (await http.get(`${path}/hooks`)).hooks.find(({ hook_id }: { readonly hook_id: string }) => hook_id === id);

    test('events arrive once, signed, in order within a partition, and only those that the hook selects', async (t) => {
      const path = await memory();
      const to = await receiver(t);
      await believe(path, 'before the hook');
      const hook = await http.post(`${path}/hooks`, {
        url: to.url,
        event_filters: ['grain_created'],
        generate_secret: true,
      });
      assert.match(hook.secret, /^whsec_[0-9a-f]{64}$/);
      assert.deepEqual(
        [hook.delivery_mode, hook.active, hook.has_secret, hook.name],
        ['webhook', true, true, hook.hook_id],
      );
      for (let i = 0; i < 20; i++) await believe(path, `thing ${i}`);
      const { blob_hash: hash } = await believe(path, 'the last');
      await http.post(`${path}/forget`, { blob_hash: hash, reason: 'a mistake' });
      await eventually('all arrive', () => to.arrived.length >= 21);
      await eventually('the hook passes over what it does not want', async () => {
        const { deliveries } = await hookOf(path, hook.hook_id);
        return deliveries === 21;
      });
      const objects = to.arrived.map(({ event }) => event.object);
      // The last grain may have been forgotten before its event was read.
      const named = [...Array.from({ length: 20 }, (_, i) => `thing ${i}`)];
      assert.deepEqual(objects.filter((object) => object?.startsWith('thing')).sort(), named.sort());
      for (let partition = 0; partition < partitions; partition++) {
        const of = to.arrived
          .filter(({ event }) => (event.partition ?? 0) === partition)
          .map(({ event }) => event.sequence);
        assert.deepEqual(
          of,
          [...of].sort((a, b) => a - b),
        );
      }
      for (const { headers, body, event } of to.arrived) {
        assert.equal(event.event_type, 'grain_created');
        assert.equal(headers['x-memory-event'], 'grain_created');
        assert.equal(headers['x-memory-hook'], hook.hook_id);
        const [, seconds, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-memory-signature'])) ?? [];
        assert.equal(v1, await hmac(hook.secret, `${seconds}.${body}`));
      }
      assert.equal(new Set(to.arrived.map(({ headers }) => headers['x-memory-delivery'])).size, 21);
      const shown = await hookOf(path, hook.hook_id);
      assert.equal(shown.secret, undefined);
      assert.equal(JSON.stringify(shown).includes(hook.secret), false);
    });

    test('a refused event is given up, a receiver that is gone pauses the hook, and a resumed hook goes on', async (t) => {
      const path = await memory();
      const to = await receiver(t);
      const { hook_id: id } = await http.post(`${path}/hooks`, { url: to.url, event_filters: ['grain_created'] });
      to.answer = ({ event }) => (event.object === 'bad' ? 422 : event.object === 'gone' ? 410 : 200);
      await believe(path, 'bad');
      await eventually('it is given up', async () => (await hookOf(path, id)).dead_letters.length === 1);
      const [letter] = (await hookOf(path, id)).dead_letters;
      assert.deepEqual([letter.event_type, letter.attempts, letter.reason], ['grain_created', 1, 'it answered 422']);
      await believe(path, 'gone');
      await eventually('the hook is paused', async () => (await hookOf(path, id)).active === false);
      assert.equal((await hookOf(path, id)).paused_reason, 'it answered 410');
      to.answer = () => 200;
      await http.post(`${path}/app/exec`, { command: 'hook_resume', args: { hook_id: id } });
      await eventually('it goes on', async () => (await hookOf(path, id)).deliveries === 1);
      assert.deepEqual(
        to.arrived.map(({ event }) => event.object),
        ['bad', 'gone', 'gone'],
      );
      const { entries } = await http.get(`${path}/audit?event_type=hook.*&order=asc`);
      assert.deepEqual(
        entries.map(({ event_type }: { readonly event_type: string }) => event_type),
        ['hook.created', 'hook.dead_lettered', 'hook.paused', 'hook.resumed'],
      );
    });

    test('a hook that is resumed several times at once sends each event once, and none after it is deleted', async (t) => {
      const path = await memory();
      const to = await receiver(t);
      const { hook_id: id } = await http.post(`${path}/hooks`, { url: to.url, event_filters: ['grain_created'] });
      const resume = () => http.post(`${path}/app/exec`, { command: 'hook_resume', args: { hook_id: id } });
      const send = async (object: string) => {
        await believe(path, object);
        await eventually('it arrives', () => to.arrived.some(({ event }) => event.object === object));
      };
      const release = to.hold();
      await send('before');
      // The first call waits for the delivery that is under way.
      const resumed = [resume(), resume(), resume()];
      release();
      await Promise.all(resumed);
      for (let i = 0; i < 5; i++) await send(`after ${i}`);
      await eventually('all are counted', async () => (await hookOf(path, id)).deliveries === 6);
      assert.equal(to.arrived.length, 6);
      const releaseAgain = to.hold();
      await send('under way');
      const late = resume().catch(() => undefined);
      await http.call('DELETE', `${path}/hooks/${id}`);
      releaseAgain();
      await late;
      const other = await receiver(t);
      await http.post(`${path}/hooks`, { url: other.url, event_filters: ['grain_created'] });
      await believe(path, 'nobody hears');
      await eventually('another hook hears', () => other.arrived.length === 1);
      assert.equal(to.arrived.length, 7);
    });

    test('a dead receiver holds up nobody else', async (t) => {
      const path = await memory();
      const [dead, well] = [await receiver(t), await receiver(t)];
      dead.answer = () => 'nothing';
      for (let i = 0; i < 49; i++) await http.post(`${path}/hooks`, { url: dead.url });
      await http.post(`${path}/hooks`, { url: well.url, event_filters: ['grain_created'] });
      for (const object of ['tea', 'coffee', 'milk']) await believe(path, object);
      await eventually('the well one hears', () => well.arrived.length === 3);
      assert.deepEqual(
        dead.arrived.map(({ event }) => event.object ?? 'tea'),
        dead.arrived.map(() => 'tea'),
        'an event that is not answered holds up the later ones of its hook',
      );
    });

    test('a reading hook gives its events page by page', async () => {
      const path = await memory();
      const hook = await http.post(`${path}/hooks`, {
        name: 'index',
        delivery_mode: 'log',
        event_filters: ['grain_created'],
      });
      assert.deepEqual([hook.delivery_mode, hook.name, hook.url], ['cdc', 'index', undefined]);
      for (let i = 0; i < 7; i++) await believe(path, `thing ${i}`);
      const read = async (args: object) =>
        (await http.post(`${path}/app/exec`, { command: 'cdc_read', args: { hook_id: hook.hook_id, ...args } })).result;
      const objects: string[] = [];
      let after: unknown;
      for (let pages = 0; pages < 10; pages++) {
        const { events, next } = await read({ limit: 3, ...(after === undefined ? {} : { after }) });
        if (events.length === 0) break;
        assert.ok(events.length <= 3);
        objects.push(...events.map(({ object }: { readonly object: string }) => object));
        after = next;
      }
      assert.deepEqual(
        objects.sort(),
        Array.from({ length: 7 }, (_, i) => `thing ${i}`),
      );
      // An admin owns the memory, also where access tuples decide.
      await http.call('PUT', `${path}/policy`, { json: { overrides: { 'access.authz_required': true } } });
      const { events: stillRead } = await read({ limit: 7 });
      assert.equal(stillRead.length, 7);
      const since = await http.get(`${path}/events?hook_id=${hook.hook_id}&since=0`, {
        headers: { accept: 'application/json' },
      });
      assert.equal(since.events.length, 7);
      await refused(http.post(`${path}/app/exec`, { command: 'cdc_read', args: { hook_id: 'hook_none' } }), 'HOK-E003');
      const future = partitions === 1 ? 1_000_000 : new Array(partitions).fill(1_000_000).join('.');
      const ahead = await read({ after: future });
      assert.deepEqual([ahead.events, ahead.gap.reason], [[], 'ahead']);
      assert.equal((await read({ after: 0 })).gap, undefined);
      await believe(path, 'coffee');
      const { events: later, gap: told } = await read({ after: ahead.next });
      assert.deepEqual([later.map(({ object }: { object: string }) => object), told], [['coffee'], undefined]);
    });

    test('bad hooks are refused, and a memory has fifty', async () => {
      const path = await memory();
      const create = (json: object) => http.post(`${path}/hooks`, json);
      for (const url of [
        ...['ftp://example.com/', 'not a url', 'http://user:pw@127.0.0.1/', 'http://127.0.0.1/#a', 'http://10.0.0.1/'],
        ...['http://169.254.169.254/latest', 'http://[fe80::1]/', 'http://0x0a000001/', 'http://[::ffff:10.0.0.1]/'],
        ...['http://[64:ff9b::a00:1]/', 'http://0/', 'http://no-such-name.invalid/'],
      ])
        await refused(create({ url }), 'HOK-E001');
      await refused(create({ delivery_mode: 'webhook' }), 'HOK-E001');
      await refused(create({ delivery_mode: 'cdc', url: 'http://127.0.0.1/' }), 'HOK-E001');
      await refused(create({ event_filters: ['grain_created', 'birthday'] }), 'HOK-E002');
      await refused(create({ delivery_mode: 'pigeon' }), 'VAL-E001');
      for (const name of ['a\u0000', 'a\ud800', '\udc00']) await refused(create({ name }), 'VAL-E001');
      await http.call('DELETE', `${path}/hooks/${(await create({ name: '😀 é' })).hook_id}`);
      await refused(create({ urll: 'http://127.0.0.1/' }), 'VAL-E001');
      await refused(http.call('DELETE', `${path}/hooks/hook_none`), 'HOK-E003');
      const first = await create({});
      for (let i = 1; i < 50; i++) await create({ name: `hook ${i}` });
      await refused(create({}), 'HOK-E004');
      const other = await memory();
      await refused(http.call('DELETE', `${other}/hooks/${first.hook_id}`), 'HOK-E003');
      await http.call('DELETE', `${path}/hooks/${first.hook_id}`);
      const list = await http.get(`${path}/hooks?limit=20`);
      assert.deepEqual([list.hooks.length, list.total, typeof list.next_cursor], [20, 49, 'string']);
      const key = async (more: object) =>
        http.with((await http.post('/auth/keys', { scopes: ['admin'], memory_id: path.slice(10), ...more })).raw_key);
      await refused((await key({ namespace: 'kitchen' })).get(`${path}/hooks`), 'AUT-E001');
      await refused((await key({ scopes: ['write'] })).post(`${path}/hooks`, {}), 'AUT-E001');
    });

    test('a repeated request makes one hook, and its secret is in the first answer alone', async () => {
      const path = await memory();
      const ask = () =>
        http.post(`${path}/hooks`, { name: 'one', generate_secret: true }, { headers: { 'idempotency-key': 'k1' } });
      const [first, again] = [await ask(), await ask()];
      assert.equal(again.hook_id, first.hook_id);
      assert.deepEqual([typeof first.secret, again.secret], ['string', undefined]);
      assert.equal((await http.get(`${path}/hooks`)).total, 1);
    });

    test('the hooks of a deleted memory are gone', async (t) => {
      const path = await memory();
      const to = await receiver(t);
      await http.post(`${path}/hooks`, { url: to.url });
      await http.call('DELETE', path);
      await http.post('/memories', { id: path.slice('/memories/'.length), partitions });
      assert.equal((await http.get(`${path}/hooks`)).total, 0);
    });
  });
