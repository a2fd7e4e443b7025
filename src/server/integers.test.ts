// Integers that a double would round, over both transports.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credentials, Metadata } from '@grpc/grpc-js';
import { startTestServer } from '../../test/support/server.ts';
import type { AddResponse, GetResponse } from './gen/memory/v1/memory.ts';
import { MemoryServiceClient } from './gen/memory/v1/services.ts';

const BIG = '9007199254740993';

for (const http of ['uws', 'node'])
  test(`integers beyond 2^53 are exact over HTTP (${http})`, async () => {
    const server = await startTestServer({ http, auth: 'none' });
    /** Raw texts: JSON.parse would round the numbers under test. */
    const call = async (path: string, body?: string): Promise<string> => {
      const init = body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } };
      const response = await fetch(`${server.http}/api/memories/default${path}`, init);
      return `${response.status} ${await response.text()}`;
    };
    const provide = async (): Promise<void> => {
      const json = { method: 'PUT', body: '{"kind":"mock"}', headers: { 'content-type': 'application/json' } };
      assert.equal((await fetch(`${server.http}/api/settings/providers/echo`, json)).status, 201);
    };
    const hashOf = (answer: string): string => /"blob_hash":"([0-9a-f]{64})"/.exec(answer)?.[1] ?? assert.fail(answer);
    try {
      const added = await call('/add', `{"subject":"a","relation":"b","object":"c","count":${BIG},"list":[-${BIG}]}`);
      const hash = hashOf(added);
      const grain = await call(`/grains/${hash}`);
      assert.ok(grain.includes(`"count":${BIG}`) && grain.includes(`"list":[-${BIG}]`), grain);
      for (const answer of [
        await call('/grains'),
        await call('/recall', '{"subject":"a"}'),
        await call('/search', '{"query":"c"}'),
      ])
        assert.ok(answer.includes(`"count":${BIG}`), answer);

      const more = await call('/accumulate', `{"blob_hash":"${hash}","deltas":{"count":2,"other":${BIG}}}`);
      assert.ok(more.includes('"new":9007199254740995') && more.includes(`"other":${BIG}`), more);
      const newer = await call('/supersede', `{"blob_hash":"${hashOf(more)}","object":"d"}`);
      assert.match(await call(`/grains/${hashOf(newer)}`), /"count":9007199254740995/);
      const history = await call('/app/exec', `{"command":"history","args":{"hash":"${hash}"}}`);
      assert.match(history, /"count":9007199254740995/);

      // A model is shown the grain. Its answer, here an echo, is kept in a thread with such metadata.
      await provide();
      const thread = await call('/chat/threads', `{"metadata":{"order":${BIG}}}`);
      assert.ok(thread.startsWith('201 ') && thread.includes(`"order":${BIG}`), thread);
      const [, id] = /"thread_id":"(\w+)"/.exec(thread) ?? [];
      const messages = '[{"role":"user","content":"the counted d"}]';
      const chat = await call(
        '/chat/stream',
        `{"provider":"echo","model":"echo","thread_id":"${id}","messages":${messages}}`,
      );
      assert.match(chat, /event: done/);
      const schema = '{"type":"object","properties":{"n":{"type":"integer","maximum":9223372036854775807}}}';
      const tool = `{"tool_name":"t","description":"d","input_schema":${schema}`;
      assert.match(await call('/harnesses/h/provision', '{"goal":"g","provider":"echo","model":"echo"}'), /^200/);
      assert.match(await call('/harnesses/h/bind-tool', `${tool},"location":"client://t"}`), /^201/);
      const said = `{"conversation_id":"c","user_message":"hi","client_tools":[${tool.replace('"t"', '"u"')}}]}`;
      assert.match(await call('/harnesses/h/chat', said), /^200 .*"status":"completed"/);

      // Members of the API are doubles: too large is out of range, not a type error.
      assert.match(await call('/recall', `{"query":"c","limit":${BIG}}`), /^200 .*is treated as 500/);
      assert.match(await call('/recall', `{"query":"c","time_start":${BIG}}`), /^400 .*VAL-E001/);
      const future = `{"subject":"a","relation":"b","object":"e","created_at":${BIG}}`;
      assert.match(await call('/add', future), /^400 .*VAL-E001/);
      assert.match(await call('/accumulate', `{"blob_hash":"${hash}","deltas":{"count":"1"}}`), /^422 .*invalid type/);
    } finally {
      await server.close();
    }
  });

test('integers beyond 2^53 are exact over gRPC', async () => {
  const server = await startTestServer({ auth: 'none' });
  const client = new MemoryServiceClient(server.grpc, credentials.createInsecure());
  try {
    const fieldsJson = `{"content":"counted","count":${BIG}}`;
    const { hash } = await new Promise<AddResponse>((resolve, reject) => {
      const request = { grainType: 'event', fieldsJson };
      client.add(request, new Metadata(), (error, reply) => (error === null ? resolve(reply) : reject(error)));
    });
    const grain = await new Promise<GetResponse>((resolve, reject) => {
      client.get({ hash }, new Metadata(), (error, reply) => (error === null ? resolve(reply) : reject(error)));
    });
    assert.ok(grain.fieldsJson.includes(`"count":${BIG}`), grain.fieldsJson);
  } finally {
    client.close();
    await server.close();
  }
});
