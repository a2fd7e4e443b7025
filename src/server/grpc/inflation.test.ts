import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { GRPC_INFLATIONS_MAX } from '../../engine/base/limits.ts';
import { RequestAborted } from '../http/listener.ts';
import { Inflation } from './inflation.ts';

test('a message whose call ended while it waited is not inflated, and the next one is', async () => {
  const inflation = new Inflation();
  const text = Buffer.from('a message');
  let isOver = false;
  const inflate = (ends: () => boolean): Promise<Buffer> => inflation.inflate(deflateSync(text), 'deflate', 100, ends);
  const running = Array.from({ length: GRPC_INFLATIONS_MAX }, () => inflate(() => false));
  const left = inflate(() => isOver);
  const next = inflate(() => false);
  isOver = true;
  await assert.rejects(left, RequestAborted);
  for (const one of [...running, next]) assert.deepEqual(await one, text);
});
