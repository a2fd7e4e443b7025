import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import type { Method } from '../protocol.ts';
import type { RawShardCaller } from '../transport/client.ts';
import type { Lane } from '../transport/pack.ts';
import { fencedCaller } from './fenced-caller.ts';

function setUp() {
  const state: { lapsed: string | undefined } = { lapsed: undefined };
  const waiting: PromiseWithResolvers<unknown>[] = [];
  const wait = (): Promise<never> => {
    const call = Promise.withResolvers<unknown>();
    waiting.push(call);
    return call.promise as Promise<never>; // settled by the test
  };
  const fenced = fencedCaller({ call: wait, callRaw: wait } satisfies RawShardCaller, () => state.lapsed);
  const call =
    (method: Method, input = {}) =>
    (): Promise<unknown> =>
      fenced.call(method, { memory: 1 } as never, input as never);
  const raw = (lane?: Lane) => (): Promise<unknown> => fenced.callRaw(0, { memory: 1 } as never, Buffer.alloc(1), lane);
  return { state, waiting, call, raw };
}

test('after the lease of the control log nothing is asked and nothing that was read is answered, but for health', async () => {
  const { state, waiting, call, raw } = setUp();
  const reads = [call('get'), call('verifyAudit'), call('forget', { check: true }), raw('read'), raw()];
  const held = reads.map((ask) => ask());
  for (const one of waiting.splice(0)) one.resolve('answer');
  assert.deepEqual(new Set(await Promise.all(held)), new Set(['answer']));

  const late = [...reads, call('get')].map((ask) => ask());
  const health = call('health')();
  const [unhealthy, refused, ...others] = waiting.splice(0).reverse();
  state.lapsed = 'it ended';
  for (const one of others) one.resolve('answer');
  refused!.reject(new EngineError('MEM-E001'));
  unhealthy!.resolve('health');
  for (const answer of late)
    await assert.rejects(answer, { code: 'STO-E002', message: /it ended/, isElsewhere: false });
  assert.equal(await health, 'health');
  for (const ask of [...reads, call('add'), call('eraseUser'), raw('write')])
    await assert.rejects(ask(), { code: 'STO-E002', isElsewhere: true }, 'nothing of it ran');
  assert.equal(waiting.length, 0, 'nothing was sent');
});

test('a change that was sent is answered by what became of it', async () => {
  const { state, waiting, call, raw } = setUp();
  const sent = [call('add')(), call('eraseUser')(), raw('write')()];
  const refused = [call('supersede')(), raw('write')()];
  const calls = waiting.splice(0);
  state.lapsed = 'it ended';
  for (const one of calls.slice(0, sent.length)) one.resolve('done');
  for (const one of calls.slice(sent.length)) one.reject(new EngineError('MEM-E001'));
  assert.deepEqual(new Set(await Promise.all(sent)), new Set(['done']));
  for (const answer of refused) await assert.rejects(answer, { code: 'MEM-E001' });
});
