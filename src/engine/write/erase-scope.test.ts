// Keys of scopes: which grains are sealed under one, what destroys them, and that other grains stay.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBelief, codeOf, contextOf, openShard, recalled, settingsOf, until } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { Engine } from '../engine.ts';
import { decodeRecord } from '../record/record-codec.ts';

async function withMemory(root: string): Promise<Engine> {
  const engine = await openShard(root);
  await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
  return engine;
}

function recordOf(engine: Engine, hash: string) {
  const ordinal = engine.store.findOrdinal(1, hash);
  assert.ok(ordinal !== undefined);
  const record = decodeRecord(engine.store.log.read(ordinal)!);
  assert.ok(record.kind === 'grain');
  return record;
}

test('each namespace has a key of its own, the default namespace included, and users keep theirs', async (t) => {
  const engine = await withMemory(temporaryDirectory(t));
  t.after(() => engine.close());
  const add = (namespace: string | undefined, user_id?: string) =>
    addBelief(engine, 1, {
      subject: 's',
      object: `${namespace} ${user_id}`,
      ...(namespace === undefined ? {} : { namespace }),
      ...(user_id === undefined ? {} : { user_id }),
    });
  const [acme, again, other, none] = await Promise.all([
    add('acme', 'ann'),
    add('acme'),
    add('other', 'ann'),
    add(undefined),
  ]);
  const [a, b, c, d] = [acme, again, other, none].map((hash) => recordOf(engine, hash!));
  assert.equal(a!.scopeKey, b!.scopeKey);
  assert.notEqual(a!.scopeKey, c!.scopeKey);
  assert.equal(a!.key, c!.key);
  assert.ok(d!.scopeKey !== 0 && d!.scopeKey !== a!.scopeKey && d!.scopeKey !== c!.scopeKey);
  assert.equal(engine.store.keys.kind(a!.scopeKey), 'scope');
  assert.equal(engine.store.namedKeys.userCount(engine.store.memory(1)), 1);
});

test('an erased scope stays erased after a restart and a rebuild, and a later grain has another key', async (t) => {
  const root = temporaryDirectory(t);
  let engine = await withMemory(root);
  const gone = await addBelief(engine, 1, { subject: 's', object: 'old words', namespace: 'acme', user_id: 'ann' });
  const stays = await addBelief(engine, 1, { subject: 's', object: 'other words', user_id: 'ann' });
  const { scopeKey } = recordOf(engine, gone);
  const first = await engine.write('eraseScope', contextOf(1), { path: '/acme/' });
  assert.deepEqual(
    first.proofs.map(({ path, count, isRepeat }) => [path, count, isRepeat]),
    [['acme', 1, false]],
  );
  assert.equal(engine.store.keys.state(scopeKey), 'destroyed');
  await engine.abandon();

  engine = await openShard(root);
  t.after(() => engine.close());
  assert.equal(await codeOf(() => engine.read('get', contextOf(1), { hash: gone })), 'MEM-E001');
  const later = await addBelief(engine, 1, { subject: 's', object: 'new words', namespace: 'acme', user_id: 'ann' });
  assert.notEqual(recordOf(engine, later).scopeKey, scopeKey);
  await engine.write('rebuildIndexes', contextOf(1), {});
  await until(engine, () => engine.read('statistics', contextOf(1), {}).purgePending === 0);
  assert.deepEqual(new Set(recalled(engine, 1, 'words')), new Set([later, stays]));
  const second = await engine.write('eraseScope', contextOf(1), { path: 'acme' });
  assert.notEqual(second.proofs[0]?.keyFingerprint, first.proofs[0]?.keyFingerprint);
  const third = await engine.write('eraseScope', contextOf(1), { path: 'acme' });
  assert.deepEqual(third.proofs, [{ ...second.proofs[0], count: 0, isRepeat: true }]);
  assert.deepEqual(recalled(engine, 1, 'words'), [stays]);
  assert.deepEqual((await engine.write('verify', contextOf(0), {})).findings, []);
});

test('the default namespace is erased like any other: by its key, and nothing else is touched', async (t) => {
  const engine = await withMemory(temporaryDirectory(t));
  t.after(() => engine.close());
  const gone = await addBelief(engine, 1, { subject: 's', object: 'plain words' });
  const stays = await addBelief(engine, 1, { subject: 's', object: 'words of acme', namespace: 'acme' });
  const copied = recordOf(engine, gone);
  const { proofs } = await engine.write('eraseScope', contextOf(1), { path: 'default' });
  assert.deepEqual(
    proofs.map(({ path, count, keyFingerprint }) => [path, count, keyFingerprint.length]),
    [['default', 1, 16]],
  );
  assert.equal(engine.store.keys.state(copied.scopeKey), 'destroyed');
  assert.equal(await codeOf(() => engine.store.openBlob(engine.store.memory(1), copied)), 'CRY-E002');
  assert.deepEqual(recalled(engine, 1, 'words'), [stays]);
});

test('the memory’s key is rotated under a scope, and the memory dropped with its scopes’ keys', async (t) => {
  const engine = await withMemory(temporaryDirectory(t));
  t.after(() => engine.close());
  const hash = await addBelief(engine, 1, { subject: 's', object: 'words', namespace: 'acme' });
  const { key, scopeKey } = recordOf(engine, hash);
  await engine.write('rotateKeys', contextOf(1), { scope: 'memory' });
  await engine.write('compact', contextOf(1), {});
  assert.equal(engine.store.keys.state(key), 'destroyed');
  assert.equal(recordOf(engine, hash).scopeKey, scopeKey);
  assert.equal(engine.read('get', contextOf(1), { hash }).fields['object'], 'words');
  await engine.write('dropMemory', contextOf(1), {});
  assert.equal(engine.store.keys.state(scopeKey), 'destroyed');
});

test('a bound caller cannot erase a scope, and a path without a name is not a scope', async (t) => {
  const engine = await withMemory(temporaryDirectory(t));
  t.after(() => engine.close());
  const erase = (more: object, path: string) => engine.write('eraseScope', { ...contextOf(1), ...more }, { path });
  assert.equal(await codeOf(() => erase({ namespace: 'acme' }, 'acme')), 'AUT-E001');
  assert.equal(await codeOf(() => erase({ userId: 'ann' }, 'acme')), 'AUT-E001');
  assert.equal(await codeOf(() => erase({}, '//')), 'SCP-E001');
  assert.deepEqual((await erase({}, 'nobody/was/here')).proofs, []);
});

test('an erasure that names what lay in its scope asks no tree', async (t) => {
  const engine = await withMemory(temporaryDirectory(t));
  t.after(() => engine.close());
  for (const namespace of ['acme', 'acme/prod', 'acmes', 'org', 'other'])
    await addBelief(engine, 1, { subject: 's', object: `words of ${namespace}`, namespace });
  const scopes = { root: { name: 'org', children: [{ name: 'other' }] }, updatedAtMs: 5 };
  await engine.write('attachMemory', contextOf(1), { settings: { ...settingsOf(1), scopes } });
  const erase = (input: { path: string; tops?: string[] }) => engine.write('eraseScope', contextOf(1), input);
  assert.equal(await codeOf(() => erase({ path: 'acme' })), 'SCP-E001');
  const { path, proofs } = await erase({ path: 'acme', tops: ['acme'] });
  assert.deepEqual(
    [path, ...proofs.map(({ path: of, count }) => [of, count])],
    ['acme', ['acme', 1], ['acme/prod', 1]],
  );
  const repeat = await erase({ path: 'acme', tops: ['acme', 'org'] });
  assert.deepEqual(
    repeat.proofs.map(({ path: of, count }) => [of, count]),
    [['org', 1]],
  );
  assert.equal(recalled(engine, 1, 'words').length, 2);
});

test('under a hold nothing is erased, and an earlier erasure stays granted', async (t) => {
  const engine = await withMemory(temporaryDirectory(t));
  t.after(() => engine.close());
  const hash = await addBelief(engine, 1, { subject: 's', object: 'words', namespace: 'acme', user_id: 'ann' });
  await engine.write('setPolicy', contextOf(1), { change: { addPolicies: ['legal_hold'] }, isAdmin: true });
  assert.equal(await codeOf(() => engine.write('eraseScope', contextOf(1), { path: 'acme' })), 'POL-E003');
  assert.equal(await codeOf(() => engine.write('eraseUser', contextOf(1), { userId: 'ann' })), 'POL-E003');
  assert.equal(engine.read('get', contextOf(1), { hash }).fields['object'], 'words');
});

test('when the policy forbids forgetting, a person can be erased and a scope cannot, unless it was before', async (t) => {
  const engine = await withMemory(temporaryDirectory(t));
  t.after(() => engine.close());
  await addBelief(engine, 1, { subject: 's', object: 'words', namespace: 'acme' });
  await addBelief(engine, 1, { subject: 's', object: 'words', user_id: 'ann' });
  await engine.write('setPolicy', contextOf(1), { change: { addPolicies: ['append_only'] }, isAdmin: true });
  assert.equal(await codeOf(() => engine.write('eraseScope', contextOf(1), { path: 'acme' })), 'POL-E003');
  assert.equal((await engine.write('eraseUser', contextOf(1), { userId: 'ann' })).count, 1);
  const { proofs } = await engine.write('eraseScope', { ...contextOf(1), repeats: true }, { path: 'acme' });
  assert.equal(proofs[0]?.count, 1);
});
