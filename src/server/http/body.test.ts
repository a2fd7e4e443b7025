import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteBudget } from '../byte-budget.ts';
import { Body } from './body.ts';

const MIB = 1_048_576;

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

const FREE = { pause: () => undefined, resume: () => undefined, refuse: () => undefined, overrun: () => undefined };

test('a long body of an announced length is not joined at its end', async (t) => {
  const joined = t.mock.method(Buffer, 'concat');
  const budget = new ByteBudget({ bytesMax: 128 * MIB, message: 'no room' });
  const unannounced = new Body(-1, FREE, budget);
  const other = unannounced.ask(64 * MIB);
  for (let at = 0; at < 4; at += 1) unannounced.push(new Uint8Array(MIB / 2), true);
  unannounced.finish();
  assert.equal((await other).length, 2 * MIB);
  assert.equal(joined.mock.callCount(), 1, 'one of another length is');

  const body = new Body(48 * MIB, FREE, budget);
  const asked = body.ask(64 * MIB);
  for (let at = 0; at < 96; at += 1) body.push(new Uint8Array(MIB / 2).fill(at), true);
  body.finish();
  assert.equal(joined.mock.callCount(), 1);
  const bytes = await asked;
  assert.equal(bytes.length, 48 * MIB);
  for (let at = 0; at < 96; at += 1)
    assert.deepEqual([bytes[(at * MIB) / 2], bytes[((at + 1) * MIB) / 2 - 1]], [at, at]);
});

test('a body that announces much and sends little holds what it sent', async () => {
  const budget = new ByteBudget({ bytesMax: 64 * MIB, message: 'no room' });
  const body = new Body(48 * MIB, FREE, budget);
  const asked = body.ask(64 * MIB);
  for (let at = 0; at < 3; at += 1) body.push(new Uint8Array(MIB), true);
  assert.equal(budget.heldBytes, 3 * MIB);
  body.discard();
  assert.equal(budget.heldBytes, 0);
  await assert.rejects(asked);
});

test('a body that is longer than announced is refused', async () => {
  const refused: number[] = [];
  const flow = { ...FREE, refuse: (status: 400) => refused.push(status) };
  const body = new Body(2 * MIB, flow, new ByteBudget({ bytesMax: 64 * MIB, message: 'no room' }));
  const asked = body.ask(64 * MIB);
  for (let at = 0; at < 2; at += 1) body.push(new Uint8Array(MIB), true);
  assert.deepEqual(refused, []);
  body.push(new Uint8Array(1), true);
  assert.deepEqual(refused, [400]);
  body.discard();
  await assert.rejects(asked);
});
