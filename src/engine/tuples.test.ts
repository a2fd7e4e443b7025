// Access tuples in an engine: the bound, restarts and crashes, and what an erasure leaves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../test/support/shard.ts';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { EngineError } from './base/errors.ts';
import { TUPLE_USERSETS_MAX, TUPLES_MAX } from './base/limits.ts';
import type { Engine } from './engine.ts';
import { tupleCount, tupleCountState, tuplesState } from './store/tuples.ts';

const context = { ...contextOf(1), owns: true as const };

const grant = (engine: Engine, subject: string, relation: string, object: string) =>
  engine.write('grantTuple', context, { tuple: { subject, relation, object } });
const revoke = (engine: Engine, subject: string, relation: string, object: string) =>
  engine.write('revokeTuple', context, { tuple: { subject, relation, object } });
const check = (engine: Engine, subject: string, relation: string, object: string) =>
  engine.read('checkAccess', context, { tuple: { subject, relation, object } });

async function opened(directory: string): Promise<Engine> {
  const engine = await openShard(directory);
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  return engine;
}

test('tuples survive a restart and a crash, and what was revoked stays so', async (t) => {
  const directory = temporaryDirectory(t);
  let engine = await opened(directory);
  await grant(engine, 'user:ann', 'member', 'group:eng');
  await grant(engine, 'group:eng#member', 'viewer', 'namespace:a');
  await grant(engine, 'user:bob', 'viewer', 'namespace:a');
  await revoke(engine, 'user:bob', 'viewer', 'namespace:a');
  await engine.abandon();
  engine = await openShard(directory);
  assert.equal(check(engine, 'user:ann', 'viewer', 'namespace:a/b').path.length, 2);
  assert.equal(check(engine, 'user:bob', 'viewer', 'namespace:a').allowed, false);
  await engine.close();
  engine = await openShard(directory);
  t.after(() => engine.close());
  assert.equal(check(engine, 'user:ann', 'viewer', 'namespace:a/b').allowed, true);
  assert.equal(tupleCount(engine.store.log, 1), 2);
});

test('changes of one group see one another', async (t) => {
  const engine = await opened(temporaryDirectory(t));
  t.after(() => engine.close());
  const answers = await Promise.all([
    grant(engine, 'user:ann', 'viewer', 'namespace:a'),
    grant(engine, 'user:ann', 'viewer', 'namespace:a'),
    revoke(engine, 'user:ann', 'viewer', 'namespace:a'),
    revoke(engine, 'user:ann', 'viewer', 'namespace:a'),
    grant(engine, 'user:ann', 'viewer', 'namespace:a'),
  ]);
  assert.deepEqual(
    answers.map((answer) => ('created' in answer ? answer.created : answer.existed)),
    [true, false, true, false, true],
  );
  assert.equal(check(engine, 'user:ann', 'viewer', 'namespace:a').allowed, true);
  assert.equal(tupleCount(engine.store.log, 1), 1);
  const { entries } = await engine.write('auditPage', context, { filter: {}, limit: 100, order: 'asc' });
  const changes = entries.filter(({ eventType }) => eventType === 'authz.changed');
  assert.deepEqual(
    changes.map(({ details }) => details['change']),
    ['granted', 'revoked', 'granted'],
  );
});

test('changes of one group count for the segregation of duties', async (t) => {
  const engine = await opened(temporaryDirectory(t));
  t.after(() => engine.close());
  const change = { overrides: { 'access.segregation_of_duties': true } };
  await engine.write('setPolicy', context, { change, isAdmin: true });
  const both = await Promise.allSettled([
    grant(engine, 'user:ann', 'admin', 'memory:m1'),
    grant(engine, 'user:ann', 'auditor', 'memory:m1'),
  ]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
  // A revocation of the same group counts, too.
  await Promise.all([
    revoke(engine, 'user:ann', 'admin', 'memory:m1'),
    grant(engine, 'user:ann', 'auditor', 'memory:m1'),
  ]);
  assert.equal(check(engine, 'user:ann', 'admin', 'memory:m1').allowed, false);
});

test('a memory takes as many tuples as the bound, and then refuses', async (t) => {
  const engine = await opened(temporaryDirectory(t));
  t.after(() => engine.close());
  const count = Buffer.alloc(4);
  count.writeUInt32BE(TUPLES_MAX - 1);
  const { log } = engine.store;
  await log.append({ records: [], state: [[tupleCountState(1), count]] });
  const [first, second] = await Promise.allSettled([
    grant(engine, 'user:ann', 'viewer', 'namespace:a'),
    grant(engine, 'user:bob', 'viewer', 'namespace:a'),
  ]);
  assert.equal(first.status, 'fulfilled');
  assert.ok(second.status === 'rejected' && second.reason instanceof EngineError);
  assert.equal(second.reason.code, 'LIM-E002');
  assert.equal((await grant(engine, 'user:ann', 'viewer', 'namespace:a')).created, false, 'it is there');
  await revoke(engine, 'user:ann', 'viewer', 'namespace:a');
  assert.equal((await grant(engine, 'user:bob', 'viewer', 'namespace:a')).created, true);
});

test('an object’s relation takes as many usersets as the bound, those of one group included', async (t) => {
  const engine = await opened(temporaryDirectory(t));
  t.after(() => engine.close());
  const { access } = engine.store.memory(1).governed;
  let committed = TUPLE_USERSETS_MAX - 1;
  t.mock.method(access, 'usersets', () => committed);
  const give = (group: string, object = 'namespace:a') => grant(engine, `group:${group}#member`, 'viewer', object);
  const [first, second, repeat, elsewhere, person] = await Promise.allSettled([
    give('one'),
    give('two'),
    give('one'),
    give('two', 'namespace:b'),
    grant(engine, 'user:ann', 'viewer', 'namespace:a'),
  ]);
  assert.ok(second.status === 'rejected' && second.reason instanceof EngineError);
  assert.equal(second.reason.code, 'LIM-E002');
  for (const one of [first, repeat, elsewhere, person]) assert.equal(one.status, 'fulfilled');
  committed = TUPLE_USERSETS_MAX;
  const [, third] = await Promise.all([revoke(engine, 'group:one#member', 'viewer', 'namespace:a'), give('three')]);
  assert.equal(third.created, true);
});

test('a group of many members is looked up, not read', async (t) => {
  const engine = await opened(temporaryDirectory(t));
  t.after(() => engine.close());
  const members = 2_000;
  await Promise.all(Array.from({ length: members }, (_, i) => grant(engine, `agent:a${i}`, 'member', 'group:all')));
  await grant(engine, 'group:all#member', 'viewer', 'namespace:a');
  let reads = 0;
  const { log } = engine.store;
  const read = log.read.bind(log);
  log.read = (sequence) => {
    reads += 1;
    return read(sequence);
  };
  for (let i = 0; i < members; i += 100)
    assert.equal(check(engine, `agent:a${i}`, 'viewer', 'namespace:a').allowed, true);
  assert.equal(check(engine, 'agent:none', 'viewer', 'namespace:a').allowed, false);
  assert.equal(reads, 1, 'the record of the userset alone');
});

test('the erasure of a person leaves nothing of its tuples in the state', async (t) => {
  const engine = await opened(temporaryDirectory(t));
  t.after(() => engine.close());
  await grant(engine, 'user:ann', 'viewer', 'namespace:a');
  await grant(engine, 'user:ann', 'member', 'group:eng');
  await grant(engine, 'user:bob', 'viewer', 'namespace:a');
  const { log } = engine.store;
  const memory = engine.store.memory(1);
  const prefix = tuplesState(memory, { subject: 'user:ann' });
  assert.equal([...log.scanState(prefix)].length, 2);
  await engine.write('eraseUser', context, { userId: 'ann' });
  assert.deepEqual([...log.scanState(prefix)], []);
  const token = prefix.split('/')[2]!;
  for (const topic of ['tuple/', 'tuple-of/'])
    for (const [name] of log.scanState(topic)) assert.ok(!name.includes(token), name);
  assert.equal(tupleCount(log, 1), 1);
  assert.equal(check(engine, 'user:ann', 'viewer', 'namespace:a').allowed, false);
});

test('a memory that is dropped takes its tuples along', async (t) => {
  const engine = await opened(temporaryDirectory(t));
  t.after(() => engine.close());
  await grant(engine, 'user:ann', 'viewer', 'namespace:a');
  await engine.write('dropMemory', context, {});
  while (engine.maintain(5)) await new Promise((resolve) => setImmediate(resolve));
  const left = ['tuple/', 'tuple-of/', 'tuple-count/'].flatMap((prefix) => [...engine.store.log.scanState(prefix)]);
  assert.deepEqual(left, []);
});
