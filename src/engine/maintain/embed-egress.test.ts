// Texts that a shard gives to an embedding service outside: only as the memory's policy permits.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LETTERS } from '../../../test/support/letters.ts';
import { addBelief, contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { EMBED_REDACTED_PAGE_CHARS } from '../base/limits.ts';
import type { PolicyChange } from '../calls/govern.ts';
import type { Engine } from '../engine.ts';

const MAIL = 'ann@example.org';

async function opened(t: TestContext, policies: readonly (PolicyChange | undefined)[]): Promise<Engine> {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.close());
  for (const [at, change] of policies.entries()) {
    await engine.write('attachMemory', contextOf(at + 1), { settings: settingsOf(at + 1) });
    if (change !== undefined) await engine.write('setPolicy', contextOf(at + 1), { change, isAdmin: true });
    await addBelief(engine, at + 1, { subject: 'it', object: `write to ${MAIL}` });
  }
  return engine;
}

function textsOf(engine: Engine, outside: readonly string[]): Readonly<Record<number, readonly string[]>> {
  const embedders = { '': LETTERS };
  const { pages } = engine.read('embedPages', contextOf(0), { embedders, grainsMax: 100, outside });
  return Object.fromEntries(pages.map(({ memory, grains }) => [memory, grains.map(({ text }) => text)]));
}

test('texts are sent whole, redacted or not at all; a local embedder gets them all', async (t) => {
  const redact = { overrides: { 'pii.egress_action': 'redact' } };
  const others = { overrides: { 'pii.egress_action': 'redact', 'pii.categories': ['iban'] } };
  const block = { overrides: { 'pii.egress_action': 'block' } };
  const engine = await opened(t, [undefined, redact, others, block]);
  const whole = [`it says write to ${MAIL}`];
  assert.deepEqual(textsOf(engine, ['']), { 1: whole, 2: ['it says write to [EMAIL]'], 3: whole });
  assert.deepEqual(textsOf(engine, []), { 1: whole, 2: whole, 3: whole, 4: whole });
});

test('a blocked text is sent once the policy permits it', async (t) => {
  const engine = await opened(t, [{ overrides: { 'tiering.baa_required': true } }]);
  assert.deepEqual(textsOf(engine, ['']), {});
  const change = { overrides: { 'tiering.baa_acknowledged': true }, reason: 'signed' };
  await engine.write('setPolicy', contextOf(1), { change, isAdmin: true });
  assert.deepEqual(textsOf(engine, ['']), { 1: [`it says write to ${MAIL}`] });
});

test('a page that is redacted holds fewer characters', async (t) => {
  const engine = await opened(t, [{ overrides: { 'pii.egress_action': 'redact' } }]);
  for (let at = 0; at < 4; at++)
    await addBelief(engine, 1, { subject: `${at}`, object: 'word '.repeat(EMBED_REDACTED_PAGE_CHARS / 8) });
  assert.equal(textsOf(engine, [''])[1]?.length, 3);
  assert.equal(textsOf(engine, [])[1]?.length, 5);
});
