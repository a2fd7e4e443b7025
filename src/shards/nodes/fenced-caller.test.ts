import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import type { RawShardCaller } from '../transport/client.ts';
import { fencedCaller } from './fenced-caller.ts';

test('after the lease of the control log nothing is asked and nothing answered, but for health', async () => {
  let lapsed: string | undefined;
  const waiting: PromiseWithResolvers<unknown>[] = [];
  const wait = (): Promise<never> => {
    const call = Promise.withResolvers<unknown>();
    waiting.push(call);
    return call.promise as Promise<never>; // settled below
  };
  const fenced = fencedCaller({ call: wait, callRaw: wait } satisfies RawShardCaller, () => lapsed);
  const call = (): Promise<unknown> => fenced.call('get', { memory: 1 } as never, { hash: 'x' } as never);
  const raw = (): Promise<unknown> => fenced.callRaw(0, { memory: 1 } as never, Buffer.alloc(1));

  const held = [call(), raw()];
  for (const one of waiting.splice(0)) one.resolve('answer');
  assert.deepEqual(await Promise.all(held), ['answer', 'answer']);

  const late = [call(), raw(), call()];
  const health = fenced.call('health', { memory: 0 } as never, {} as never);
  const [first, second, third, fourth] = waiting.splice(0);
  lapsed = 'it ended';
  first!.resolve('answer');
  second!.resolve('answer');
  third!.reject(new EngineError('MEM-E001'));
  fourth!.resolve('health');
  for (const answer of late) await assert.rejects(answer, { code: 'STO-E002', message: /it ended/ });
  assert.equal(await health, 'health');

  for (const ask of [call, raw]) await assert.rejects(ask(), { code: 'STO-E002' });
  assert.equal(waiting.length, 0, 'nothing was sent');
});
