// Stored replies: the fields of a grain in a reply are removed with the grain.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { codeOf, contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { Engine } from '../engine.ts';
import { decodeRecord } from '../record/record-codec.ts';
import { openReply } from './reply.ts';

const context = contextOf(1);
const once = { ...context, idempotency: { key: 'once', bodyHash: 'b' } };

async function setUp(t: TestContext): Promise<Engine> {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  return engine;
}

/** A grain without a user that names ann, and a grain that accumulates her visits. */
async function visitsOfAnn(engine: Engine) {
  const fields = { subject: 'team', relation: 'trusts', object: 'ann', visits: 1, tags: ['x'] };
  const { hash } = await engine.write('add', context, { grainType: 'belief', fields, sync: false });
  const input = { target: { hash }, deltas: { visits: 2 }, set: { note: 'a note' } };
  return { hash, accumulate: () => engine.write('accumulate', once, input) };
}

/** Stored replies in the log, opened with the call's key. */
function keptPlain(engine: Engine): string[] {
  const { store } = engine;
  const memory = store.memory(1);
  return store.allKeyed(1, 'reply').map((sequence) => {
    const record = decodeRecord(store.log.read(sequence)!);
    assert.ok(record.kind === 'reply');
    const token = Buffer.from(record.token).toString('hex');
    return JSON.stringify(openReply(memory, record.sealed, token, once.idempotency.key));
  });
}

test('a repeat gets the answer of the first call, and the stored reply quotes no grain', async (t) => {
  const engine = await setUp(t);
  const { accumulate } = await visitsOfAnn(engine);
  const [first, second] = await Promise.all([accumulate(), accumulate()]);
  assert.equal(first.fields['visits'], 3);
  assert.deepEqual(second, first);
  // The same holds after it was superseded.
  await engine.write('accumulate', context, { target: { hash: first.newHash }, deltas: { visits: 1 }, set: {} });
  assert.deepEqual(await accumulate(), first);
  const kept = keptPlain(engine).join('');
  assert.ok(kept.includes(first.newHash));
  for (const word of ['ann', 'trusts', 'a note']) assert.ok(!kept.includes(word), word);
});

test('a stored reply does not name a person whom an erasure removed from its grain', async (t) => {
  const engine = await setUp(t);
  await engine.write('add', context, {
    grainType: 'belief',
    fields: { subject: 'ann', relation: 'is', object: 'here', user_id: 'ann' },
    sync: false,
  });
  const { accumulate } = await visitsOfAnn(engine);
  assert.match(JSON.stringify(await accumulate()), /"ann"/);
  const { keyFingerprint } = await engine.write('eraseUser', context, { userId: 'ann' });
  await engine.write('redactUser', context, { userId: 'ann', keyFingerprint });
  // The version that it made is gone, and so is the version that it named.
  assert.equal(await codeOf(accumulate), 'MEM-E006');
});

test('a stored reply shows nothing of a grain that may not be read any more', async (t) => {
  const engine = await setUp(t);
  const fields = { subject: 'bob', relation: 'likes', object: 'tea', visits: 1, user_id: 'bob' };
  const { hash } = await engine.write('add', context, { grainType: 'belief', fields, sync: false });
  const accumulate = () => engine.write('accumulate', once, { target: { hash }, deltas: { visits: 2 }, set: {} });
  const first = await accumulate();
  await engine.write('restrict', context, { userId: 'bob', restricted: true });
  assert.equal(await codeOf(accumulate), 'POL-E008');
  await engine.write('restrict', context, { userId: 'bob', restricted: false });
  assert.deepEqual(await accumulate(), first);
});
