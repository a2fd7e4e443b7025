// Events and what goes wrong: a server that is killed between commit and delivery, a client that never reads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SocketClient } from '../src/server/http/socket-client.ts';
import { HttpClient } from './conformance/http-client.ts';
import { EventClient } from './support/event-stream.ts';
import { eventually } from './support/eventually.ts';
import { startTestServer } from './support/server.ts';
import { type ServerProcess, startServerProcess } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

const PATH = '/api/memories/default/events';

for (const http of ['uws', 'node'])
  test(`what was committed is told after kill -9, once and in order (${http})`, async (t) => {
    const directory = temporaryDirectory(t);
    const flags = ['--shards', '2', '--workers', '1', '--http', http];
    let server: ServerProcess = await startServerProcess({ directory, flags });
    t.after(() => server.kill());
    const acknowledged = new Set<string>();
    const heard: { readonly id: string; readonly sequence: number; readonly hash: string }[] = [];
    for (let life = 0; life < 3; life++) {
      const headers: Record<string, string> = { authorization: `Bearer ${server.key}` };
      const last = heard.at(-1)?.id;
      if (last !== undefined) headers['last-event-id'] = last;
      const client = await EventClient.open(`${server.http}${PATH}?since=0`, headers);
      const before = acknowledged.size;
      const caller = new HttpClient(server.http, server.key);
      const writing = (async () => {
        for (let i = 0; ; i++) {
          const added = await caller.post('/memories/default/add', {
            subject: 's',
            relation: 'r',
            object: `${life}/${i}`,
          });
          acknowledged.add(added.blob_hash);
        }
      })().catch(() => undefined);
      await eventually('some are acknowledged', () => acknowledged.size >= before + 20);
      await server.kill();
      await writing;
      await client.ended();
      for (const { id, data } of client.events) heard.push({ id, sequence: data.sequence, hash: data.hash });
      server = await startServerProcess({ directory, flags });
    }
    const client = await EventClient.open(`${server.http}${PATH}`, {
      authorization: `Bearer ${server.key}`,
      'last-event-id': heard.at(-1)!.id,
    });
    const all = (): Set<string> =>
      new Set([...heard.map(({ hash }) => hash), ...client.events.map(({ data }) => data.hash)]);
    await client.until('all that was acknowledged is told', () => acknowledged.isSubsetOf(all()));
    for (const { id, data } of client.events) heard.push({ id, sequence: data.sequence, hash: data.hash });
    await client.close();
    assert.deepEqual(
      heard.map(({ sequence }) => sequence),
      heard.map((_, i) => i + 1),
    );
    assert.equal(all().size, heard.length);
  });

for (const listener of ['uws', 'node'])
  test(`a client that never reads is told of the overflow, and can go on (${listener})`, async (t) => {
    const server = await startTestServer({ http: listener });
    t.after(() => server.close());
    const http = new HttpClient(server.http, server.key);
    const headers = { authorization: `Bearer ${server.key}` };
    const silent = await SocketClient.open(server.httpPort);
    silent.socket.pause();
    let text = '';
    silent.socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    silent.socket.pause();
    silent.request('GET', PATH, { headers });
    const long = 'x'.repeat(4_000);
    let added = 0;
    const addSome = async (): Promise<void> => {
      const grains = Array.from({ length: 500 }, () => ({
        grain_type: 'belief',
        fields: { subject: long, relation: 'is', object: `${added++}${long}` },
      }));
      await http.post('/memories/default/batch-add', { grains });
    };
    // More than the system holds for a connection.
    for (let i = 0; i < 6; i++) await addSome();
    await eventually('the last event can be read', async () => {
      const { events } = await http.get(`/memories/default/events?since=${added - 1}`, {
        headers: { accept: 'application/json' },
      });
      return events.length === 1;
    });
    silent.socket.resume();
    let isClosed = false;
    void silent.closed.then(() => {
      isClosed = true;
    });
    await eventually('it is told, or cut off', () => isClosed || text.includes('event: overflow'));
    silent.socket.destroy();
    const ids = [...text.matchAll(/^id: (\d+)\nevent: grain_created$/gm)].map(([, id]) => Number(id));
    assert.ok(ids.length < added, 'the server did not hold everything for it');
    let last = ids.at(-1) ?? 0;
    for (const heard = ids.length; last < added; ) {
      const client = await EventClient.open(`${server.http}${PATH}?timeout_s=20`, {
        ...headers,
        'last-event-id': String(last),
      });
      await client.until('it goes on', ({ events, isEnded }) => isEnded || events.at(-1)?.data.sequence === added);
      for (const { data } of client.events) {
        assert.equal(data.sequence, last + 1);
        last = data.sequence;
      }
      await client.close();
      assert.ok(last > heard);
    }
  });
