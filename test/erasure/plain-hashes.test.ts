// A shard from older builds, which named grains by plain hashes: it stays readable, and `compact` removes the hashes
// from records and links. The audit chain cannot change.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Engine } from '../../src/engine/engine.ts';
import { decodeAuditBody } from '../../src/engine/govern/trail/audit-codec.ts';
import { CorruptRecord } from '../../src/engine/log/log.ts';
import { isPlainRecord } from '../../src/engine/record/record.ts';
import { decodeRecord } from '../../src/engine/record/record-codec.ts';
import { codeOf, contextOf, openShard, recalled, settingsOf, until } from '../support/shard.ts';
import { StepClock } from '../support/step-clock.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const FIXTURE = join(import.meta.dirname, '../fixtures/plain-hashes');
const context = contextOf(1);

type Hashes = Readonly<Record<'ada' | 'room' | 'bob' | 'warm' | 'gone' | 'kept' | 'recall', string>>;

/** A copy of the fixture in the layout of a shard's folders. */
function unpacked(t: TestContext): { readonly root: string; readonly hashes: Hashes } {
  const root = temporaryDirectory(t);
  for (const [from, to] of [
    ['data.mdb', 'shard-0/log/data.mdb'],
    ['00000001.seg', 'shard-0/segments/00000001.seg'],
    ['bucket-000000.keys', 'keys/shard-0/bucket-000000.keys'],
  ] as const) {
    mkdirSync(join(root, to, '..'), { recursive: true });
    writeFileSync(join(root, to), gunzipSync(readFileSync(join(FIXTURE, `${from}.gz`))));
  }
  return { root, hashes: JSON.parse(readFileSync(join(FIXTURE, 'hashes.json'), 'utf8')) as Hashes };
}

function recordsOf(engine: Engine): Uint8Array[] {
  return [...engine.store.log.scan(1)].flatMap((item) => (item instanceof CorruptRecord ? [] : [item.bytes]));
}

const events = async (engine: Engine, grainHash: string) =>
  (await engine.write('auditPage', context, { filter: { grainHash }, limit: 50, order: 'asc' })).entries.map(
    ({ eventType, grainHash: hash }) => [eventType, hash],
  );

/** Number of records that each compaction rewrites. */
async function resealed(engine: Engine): Promise<readonly unknown[]> {
  const filter = { events: ['tier.compaction_run'] };
  const { entries } = await engine.write('auditPage', context, { filter, limit: 50, order: 'asc' });
  return entries.map(({ details }) => details['resealed']);
}

test('changes of an older build are no events, and new ones are numbered from 1', async (t) => {
  const { root } = unpacked(t);
  const clock = new StepClock();
  clock.now += 2_000;
  const engine = await openShard(root, { clock });
  t.after(() => engine.close());
  const none = { events: [], next: 0, newest: 0, oldest: 1, isPartial: false, forkedAt: [] };
  assert.deepEqual(await engine.write('events', context, { after: 0 }), none);
  const fields = { subject: 'new', relation: 'is', object: 'new' };
  await engine.write('add', context, { grainType: 'belief', fields, sync: false });
  const { events: found } = await engine.write('events', context, { after: 0 });
  assert.deepEqual(
    found.map(({ sequence, kind }) => [sequence, kind]),
    [[1, 'grain_created']],
  );
});

test('a grain of an older build is found by its hash, in the trail as well, beside new grains', async (t) => {
  const { root, hashes } = unpacked(t);
  const clock = new StepClock();
  clock.now += 2_000;
  const engine = await openShard(root, { clock });
  t.after(() => engine.close());
  assert.equal(recordsOf(engine).filter(isPlainRecord).length, 6);
  assert.deepEqual(recalled(engine, 1, 'cancer'), [hashes.ada]);
  assert.equal(engine.read('get', context, { hash: hashes.room }).supersededBy, hashes.warm);
  assert.equal(engine.read('get', context, { hash: hashes.warm }).supersedes, hashes.room);
  const record = await engine.write('recallRecord', context, { recallId: hashes.recall });
  assert.deepEqual([record.verified, record.results[0]?.['hash']], [true, hashes.ada]);
  // A new read is recorded by name, and both are found.
  await engine.write('flush', context, {});
  assert.deepEqual(await events(engine, hashes.ada), [
    ['memory.added', hashes.ada],
    ['memory.read', hashes.ada],
  ]);
  assert.deepEqual(await events(engine, hashes.gone), [
    ['memory.added', hashes.gone],
    ['memory.forgotten', hashes.gone],
  ]);
  // A repeat within a day gets the first answer.
  const once = { ...context, idempotency: { key: 'k1', bodyHash: 'b'.repeat(64) } };
  const fields = { subject: 'ada', relation: 'says', object: 'kept', user_id: 'ada' };
  const repeated = await engine.write('add', once, { grainType: 'belief', fields, sync: false });
  assert.equal(repeated.hash, hashes.kept);
  assert.deepEqual(await engine.write('verifyAudit', context, {}), { valid: true, checked: 12, partition: 0 });
});

test('compact enciphers hashes in records and links, once; the chain stays unchanged', async (t) => {
  const { root, hashes } = unpacked(t);
  let engine = await openShard(root);
  await engine.write('compact', context, {});
  assert.equal(recordsOf(engine).filter(isPlainRecord).length, 0);
  const { recall: _, ...ofGrains } = hashes;
  const plain = Object.values(ofGrains).map((hash) => Buffer.from(hash, 'hex'));
  const naming = recordsOf(engine).filter((bytes) => plain.some((hash) => Buffer.from(bytes).includes(hash)));
  assert.deepEqual(new Set(naming.map((bytes) => decodeRecord(bytes).kind)), new Set(['audit']));
  assert.equal(engine.read('get', context, { hash: hashes.room }).supersededBy, hashes.warm);
  await engine.write('compact', context, {});
  assert.deepEqual(await resealed(engine), [6, undefined]);
  await engine.close();

  engine = await openShard(root);
  t.after(() => engine.close());
  for (const hash of [hashes.ada, hashes.room, hashes.bob, hashes.warm])
    assert.equal(engine.read('get', context, { hash }).hash, hash);
  assert.equal((await engine.write('eraseUser', context, { userId: 'ada' })).count, 2);
  await until(engine, () => engine.read('statistics', context, {}).purgePending === 0);
  assert.deepEqual(recalled(engine, 1, 'cancer'), []);
  assert.equal((await engine.write('verifyAudit', context, {})).valid, true);
  const { findings } = await engine.write('verify', context, {});
  assert.deepEqual(findings, []);
  // Entries of an older build stay as they are: their hashes depend on it.
  const auditDetails = recordsOf(engine).flatMap((bytes) => {
    const record = decodeRecord(bytes);
    return record.kind === 'audit' ? decodeAuditBody(record.body).map(({ details }) => details) : [];
  });
  assert.ok(auditDetails.some((details) => details.includes(hashes.ada)));
});

test('compact removes grains whose key was destroyed, because their hashes cannot be enciphered any more', async (t) => {
  const { root, hashes } = unpacked(t);
  const engine = await openShard(root);
  t.after(() => engine.close());
  // The log is an older copy than the keys: it does not know of the erasure.
  const { store } = engine;
  const memory = store.memory(1);
  store.keys.destroy([store.namedKeys.user(memory, 'ada')!.key], store.clock.nowMs());
  memory.dropKeys();
  await engine.write('compact', context, {});
  assert.equal(recordsOf(engine).filter(isPlainRecord).length, 0);
  const ofAda = [hashes.ada, hashes.kept].map((hash) => Buffer.from(hash, 'hex'));
  const naming = recordsOf(engine).filter((bytes) => ofAda.some((hash) => Buffer.from(bytes).includes(hash)));
  assert.deepEqual(new Set(naming.map((bytes) => decodeRecord(bytes).kind)), new Set(['audit']));
  assert.equal(await codeOf(() => engine.read('get', context, { hash: hashes.ada })), 'MEM-E006');
  assert.equal(engine.read('get', context, { hash: hashes.bob }).hash, hashes.bob);
  assert.deepEqual((await engine.write('verify', context, {})).findings, []);
});

test('a new memory has nothing to remove', async (t) => {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  await engine.write('compact', context, {});
  assert.deepEqual(await resealed(engine), [undefined]);
});
