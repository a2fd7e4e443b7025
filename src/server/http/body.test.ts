import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteBudget } from '../byte-budget.ts';
import { Body } from './body.ts';

const CHUNK_BYTES = 65_536;

test('a body dropped for lack of room does not block its connection', async () => {
  const budget = new ByteBudget({ bytesMax: CHUNK_BYTES, message: 'no room' });
  const flows: string[] = [];
  const flow = {
    pause: () => void flows.push('pause'),
    resume: () => void flows.push('resume'),
    refuse: () => void flows.push('refuse'),
    overrun: () => void flows.push('overrun'),
  };
  const body = new Body(-1, flow, budget);
  body.push(new Uint8Array(CHUNK_BYTES));
  // Only this body can be dropped.
  body.push(new Uint8Array(CHUNK_BYTES));
  assert.equal(budget.heldBytes, 0);
  assert.notEqual(flows.at(-1), 'pause');
  await assert.rejects(body.ask(1_000_000), { code: 'LIM-E001' });
});
