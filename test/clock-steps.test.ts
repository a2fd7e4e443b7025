// The clock of a running server steps forward by days, and back again: writes, their order in the trail and in the events,
// deadlines and deliveries go on, and what has expired stays so.
import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { eventually } from './support/eventually.ts';
import { ask, type ServerProcess, startServerProcess } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'support', 'stepped-date.ts')).href;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

for (const partitions of [1, 3])
  test(`a clock that steps forward and back, ${partitions} partitions`, async (t) => {
    const directory = temporaryDirectory(t);
    const file = join(directory, 'offset');
    /** Replaced at once: no thread reads half a number. */
    const stepTo = (offsetMs: number): void => {
      writeFileSync(`${file}.new`, String(offsetMs));
      renameSync(`${file}.new`, file);
    };
    stepTo(0);
    const start = () =>
      startServerProcess({
        directory: join(directory, 'data'),
        flags: ['--shards', '3', '--workers', '2'],
        preload: PRELOAD,
        env: { CLOCK_OFFSET_FILE: file },
      });
    const heard: string[] = [];
    const receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      request.on('end', () => {
        heard.push(JSON.parse(body).object);
        response.end();
      });
    });
    await new Promise<void>((resolve) => {
      receiver.listen(0, '127.0.0.1', resolve);
    });
    t.after(() => {
      receiver.closeAllConnections();
      receiver.close();
    });
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`; // it listens on a port
    let server: ServerProcess = await start();
    t.after(() => server.kill());
    const M = '/memories/m';
    const say = async (verb: string, path: string, json?: unknown, headers = {}) => {
      const { status, body } = await ask(server, verb, path, json, headers);
      assert.ok(status < 300, `${path}: ${JSON.stringify(body)}`);
      return body;
    };
    const add = (object: string, headers = {}) =>
      say('POST', `${M}/add`, { subject: `of ${object}`, relation: 'is', object }, headers);
    await say('POST', '/memories', { id: 'm', partitions });
    const hook = await say('POST', `${M}/hooks`, { url, event_filters: ['grain_created'] });
    const { hook_id: id } = await say('POST', `${M}/hooks`, { event_filters: ['grain_created'] });
    const read = async (after: unknown) =>
      (await say('POST', `${M}/app/exec`, { command: 'cdc_read', args: { hook_id: id, after } })).result;
    const arrived = (object: string) => eventually(`${object} arrives`, () => heard.includes(object));
    const once = { 'idempotency-key': 'once' };
    for (const object of ['first', 'second', 'third', 'fourth', 'fifth', 'sixth']) await add(object);
    const kept = await add('seventh', once);
    assert.equal((await add('seventh', once)).blob_hash, kept.blob_hash);
    const deadline = Math.floor(Date.now() / 1000) + 86_400;
    await say('POST', `${M}/sessions/s/goals/create`, {
      description: 'in time',
      expiry_policy: { deadline, mode: 'hard' },
    });
    const stateOf = async () => (await say('GET', `${M}/sessions/s/goals?state=all`)).goals[0].goal_state;
    assert.equal(await stateOf(), 'active');
    const page = await read(0);
    assert.deepEqual([page.events.length, page.gap], [8, undefined]);
    await arrived('seventh');

    // Requests that are under way when the clock is set have as much time as before.
    const reads = Array.from({ length: 100 }, () => say('GET', `${M}/grains?limit=100`));
    stepTo(8 * DAY_MS);
    await Promise.all(reads);
    // Where a partition has one event or none, nothing is missing after its first.
    const { gap, events } = await read(partitions === 1 ? 1 : 0);
    assert.equal(gap?.reason, partitions === 1 ? 'expired' : undefined);
    assert.deepEqual(events, [], 'they are older than a week');
    assert.equal(await stateOf(), 'failed');
    // After a day the key may stand for another request.
    await add('eighth', once);
    await arrived('eighth');
    const later = await read(page.next);
    assert.deepEqual(
      later.events.map(({ object }: { readonly object: string }) => object),
      ['eighth'],
    );

    stepTo(-2 * HOUR_MS);
    const back = await add('ninth');
    await arrived('ninth');
    const { grains } = await say('GET', `${M}/grains?limit=2&grain_type=belief`);
    assert.equal(grains[0].fields.object, 'eighth', 'lists are in the order of the times that grains have');
    const ninth = await say('GET', `${M}/grains/${back.blob_hash}`);
    assert.ok(ninth.created_at < Math.floor(Date.now() / 1000) - 3_600, String(ninth.created_at));
    assert.equal(await stateOf(), 'failed', 'a deadline that has passed stays passed');
    const next = await read(later.next);
    assert.deepEqual(
      next.events.map(({ object }: { readonly object: string }) => object),
      ['ninth'],
      'events keep the order of their commits',
    );
    const poll = await say('GET', `${M}/events?since=${later.next}&timeout_s=5`, undefined, {
      accept: 'application/json',
    });
    assert.ok(poll.events.some(({ object }: { readonly object?: string }) => object === 'ninth'));
    const newer = await say('POST', `${M}/supersede`, {
      blob_hash: kept.blob_hash,
      fields: { object: 'seventh again' },
    });
    const { result } = await say('POST', `${M}/app/exec`, { command: 'history', args: { hash: newer.new_hash } });
    assert.deepEqual(
      result.versions.map(({ relation }: { readonly relation: string }) => relation),
      ['original', 'supersedes'],
    );

    await server.kill();
    stepTo(-3 * DAY_MS);
    server = await start();
    await add('tenth');
    await say('POST', `${M}/app/exec`, { command: 'hook_resume', args: { hook_id: hook.hook_id } });
    await arrived('tenth');
    const chain = (await say('POST', `${M}/app/exec`, { command: 'verify_audit_chain', args: {} })).result;
    assert.equal(chain.valid, true);
    const trail = await say('GET', `${M}/audit?event_type=memory.added&limit=100`);
    assert.equal(trail.total, 10);
    assert.equal((await ask(server, 'GET', '/health')).status, 200);
    assert.equal(await server.stop(), 0);
  });
