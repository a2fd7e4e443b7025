// Hooks and an erased person: an event that waits for its next try and dead letters name it by number alone, and after
// the erasure neither the receiver nor a reader gets what the person's events said.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { foundInFiles, hashNeedles } from '../support/scan-files.ts';
import { ask, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const SECRET = { subject: 'Zebulon Quill', relation: 'suffers from', object: 'glossolalia', user_id: 'zebulon' };
const WORDS = ['zebulon', 'Zebulon', 'Quill', 'glossolalia', 'suffers from'];

for (const partitions of [1, 4])
  test(`a dead letter and a waiting event hold nothing of an erased person, ${partitions} partitions`, async (t) => {
    const bodies: string[] = [];
    const answer = { status: 422 };
    const receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      request.on('end', () => {
        bodies.push(body);
        response.writeHead(answer.status).end();
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
    const directory = join(temporaryDirectory(t), 'data');
    const server = await startServerProcess({ directory, flags: ['--shards', '4', '--workers', '1'] });
    t.after(() => server.kill());
    const M = '/memories/m';
    const say = async (verb: string, path: string, json?: unknown) => {
      const { status, body } = await ask(server, verb, path, json);
      assert.ok(status < 300, `${path}: ${JSON.stringify(body)}`);
      return body;
    };
    await say('POST', '/memories', { id: 'm', partitions });
    const { hook_id: id } = await say('POST', `${M}/hooks`, { url, event_filters: ['grain_created'] });
    const { hook_id: reading } = await say('POST', `${M}/hooks`, { event_filters: ['grain_created'] });
    const hook = async () =>
      (await say('GET', `${M}/hooks`)).hooks.find(({ hook_id }: { readonly hook_id: string }) => hook_id === id);
    const hashes: string[] = [(await say('POST', `${M}/add`, SECRET)).blob_hash];
    await eventually('it is given up', async () => (await hook()).dead_letters.length === 1);
    assert.ok(bodies.at(-1)!.includes('glossolalia'), 'before, the receiver hears of it');
    answer.status = 503;
    hashes.push((await say('POST', `${M}/add`, { ...SECRET, object: 'glossolalia again' })).blob_hash);
    await eventually('another one waits', async () => (await hook()).attempts === 1);

    await say('POST', `${M}/forget`, { user_id: 'zebulon' });
    await eventually('the purge ends', async () => (await say('GET', `${M}/stats`)).purge_pending === 0);
    const shown = JSON.stringify(await say('GET', `${M}/hooks`));
    const { result } = await say('POST', `${M}/app/exec`, {
      command: 'cdc_read',
      args: { hook_id: reading, after: 0 },
    });
    const heard = bodies.length;
    answer.status = 200;
    await say('POST', `${M}/app/exec`, { command: 'hook_resume', args: { hook_id: id } });
    await say('POST', `${M}/add`, { subject: 'bob', relation: 'likes', object: 'tea' });
    await eventually('later events arrive', () => bodies.slice(heard).some((body) => body.includes('tea')));
    const later = JSON.stringify([shown, result, bodies.slice(heard)]);
    for (const word of [...WORDS, ...hashes]) assert.ok(!later.includes(word), `${word} in ${later}`);
    await say('POST', `${M}/flush`, {});
    assert.equal(await server.stop(), 0);
    const needles = new Map([
      ...WORDS.map((word) => [word, Buffer.from(word)] as const),
      ...hashes.flatMap((hash) => hashNeedles('a hash', hash)),
    ]);
    assert.deepEqual(foundInFiles(directory, needles), []);
    assert.ok(foundInFiles(directory, new Map([['the layout', Buffer.from('"shards"')]])).length > 0);
  });
