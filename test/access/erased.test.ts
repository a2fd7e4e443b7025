// An erased grain, requested by hash: 410 MEM-E006 over HTTP, NOT_FOUND with that code over gRPC.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../conformance/contract.ts';
import { GrpcClient } from '../conformance/grpc-client.ts';
import { HttpClient } from '../conformance/http-client.ts';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { startTestServer } from '../support/server.ts';

for (const [listener, partitions] of LISTENER_PARTITIONS)
  test(`an erased grain is gone for good (${listener}, ${partitions} partitions)`, async (t) => {
    const server = await startTestServer({ http: listener, shards: '4' });
    t.after(() => server.close());
    const http = new HttpClient(server.http, server.key);
    const grpc = GrpcClient.open(server.grpc, server.key).with({ 'x-memory-id': 'm' });
    t.after(() => grpc.close());
    await http.post('/memories', { id: 'm', partitions });
    const M = '/memories/m';
    const add = async (object: string) =>
      (await http.post(`${M}/add`, { subject: 'a', relation: 'b', object, user_id: 'ada' })).blob_hash;
    const [forgotten, erased] = [await add('one'), await add('two')];
    await http.post(`${M}/forget`, { blob_hash: forgotten });
    await http.post(`${M}/forget`, { user_id: 'ada' });
    const codeOf = async (asking: Promise<unknown>): Promise<string> => {
      const refusal = await asking.then(
        () => assert.fail('it is gone'),
        (error: unknown) => error,
      );
      assert.ok(refusal instanceof Refusal, String(refusal));
      return refusal.code;
    };
    // The statuses are held to the contract by the clients.
    const codesFor = async (hash: string) => [
      await codeOf(http.get(`${M}/grains/${hash}`)),
      await codeOf(http.get(`${M}/grains/${hash}/raw`)),
      await codeOf(http.post(`${M}/app/exec`, { command: 'history', args: { hash } })),
      await codeOf(http.post(`${M}/supersede`, { blob_hash: hash, object: 'x' })),
      await codeOf(http.post(`${M}/accumulate`, { blob_hash: hash, deltas: { success_count: 1 } })),
      await codeOf(grpc.call('Get', { hash })),
      await codeOf(grpc.call('Supersede', { old_hash: hash, fields_json: '{"object":"x"}' })),
    ];
    assert.deepEqual([...new Set(await codesFor(erased))], ['MEM-E006']);
    assert.deepEqual([...new Set(await codesFor(forgotten))], ['MEM-E001']);
  });
