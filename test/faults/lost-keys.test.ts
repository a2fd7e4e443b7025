// Lost or destroyed keys: the affected memory is named and answers with a code, indexes are rebuilt, and the shard's
// other memories are unaffected.
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import { UNKNOWN_FINGERPRINT } from '../../src/engine/keys/key-store.ts';
import { SLOT_BYTES, slotOffset } from '../../src/engine/keys/slot.ts';
import { addBelief, codeOf, contextOf, openShard, recalled, settingsOf, until } from '../support/shard.ts';
import { temporaryDirectory } from '../support/temporary.ts';

interface Filled {
  readonly root: string;
  /** Hashes by memory. */
  readonly hashes: ReadonlyMap<number, readonly string[]>;
  readonly keys: { readonly blob: number; readonly token: number; readonly index: number; readonly ann: number };
}

/** Two memories, each with sealed grains and grains that are only in the log, as a crash would leave them. */
async function filled(t: TestContext): Promise<Filled> {
  const root = temporaryDirectory(t);
  const engine = await openShard(root);
  const hashes = new Map<number, string[]>([
    [1, []],
    [2, []],
  ]);
  for (const memory of hashes.keys())
    await engine.write('attachMemory', contextOf(memory), { settings: settingsOf(memory) });
  const fill = async (round: string): Promise<void> => {
    for (const [memory, of] of hashes)
      for (const user of ['ann', 'bob', undefined]) {
        const object = `harbour ${round} ${user} of ${memory}`;
        of.push(
          await addBelief(engine, memory, { subject: 's', object, ...(user === undefined ? {} : { user_id: user }) }),
        );
      }
  };
  await fill('sealed');
  await engine.write('flush', contextOf(1), {});
  await fill('unsealed');
  const opened = engine.store.memory(1);
  const keys = { ...opened.keyIds, ann: engine.store.namedKeys.user(opened, 'ann')!.key };
  await engine.abandon();
  return { root, hashes, keys };
}

function bucketPath(root: string): string {
  const directory = join(root, 'keys', 'shard-0');
  return join(directory, readdirSync(directory).find((name) => name.endsWith('.keys'))!);
}

function damageSlot(root: string, key: number): void {
  const path = bucketPath(root);
  const bytes = readFileSync(path);
  bytes[slotOffset(key) + SLOT_BYTES - 9]! ^= 0x10;
  writeFileSync(path, bytes);
}

function putSlotBack(root: string, key: number, whole: Buffer): void {
  const path = bucketPath(root);
  const now = readFileSync(path);
  whole.copy(now, slotOffset(key), slotOffset(key), slotOffset(key) + SLOT_BYTES);
  writeFileSync(path, now);
}

/** Memory 2 is read, written and sealed, whatever is wrong with the other. */
async function assertUntouched(engine: Engine, { hashes }: Filled): Promise<void> {
  const added = await addBelief(engine, 2, { subject: 't', object: `harbour again ${engine.store.log.nextSequence}` });
  await engine.write('flush', contextOf(2), {});
  assert.equal(engine.store.index.sealedSequence, engine.store.index.publishedSequence, 'everything is sealed');
  const found = recalled(engine, 2, 'harbour');
  for (const hash of [...hashes.get(2)!, added]) {
    assert.equal(engine.read('get', contextOf(2), { hash }).hash, hash);
    assert.ok(found.includes(hash));
  }
  assert.ok((await engine.write('verifyAudit', contextOf(2), {})).valid);
}

async function assertWhole(engine: Engine, { hashes }: Filled): Promise<void> {
  for (const [memory, of] of hashes) {
    for (const hash of of) assert.equal(engine.read('get', contextOf(memory), { hash }).hash, hash);
    assert.ok(recalled(engine, memory, 'harbour').length >= of.length);
    assert.ok((await engine.write('verifyAudit', contextOf(memory), {})).valid);
  }
  assert.deepEqual((await engine.write('verify', contextOf(0), {})).findings, []);
}

const reasonsOf = (engine: Engine): string => engine.read('health', contextOf(0), {}).reasons.join('\n');

test('a lost index key blocks no seal; a new one is drawn and the index is rebuilt from the log', async (t) => {
  const shard = await filled(t);
  damageSlot(shard.root, shard.keys.index);
  let engine = await openShard(shard.root);
  // Before a repair: sealing continues without the memory, and its own calls report the problem.
  await assertUntouched(engine, shard);
  assert.match(reasonsOf(engine), new RegExp(`index of memory 1 .*key ${shard.keys.index}: its slot is damaged`));
  assert.equal(await codeOf(() => recalled(engine, 1, 'harbour')), 'STO-E001');
  assert.equal(await codeOf(() => addBelief(engine, 1, { subject: 's', object: 'refused' })), 'STO-E001');
  const { findings } = await engine.write('verify', contextOf(0), {});
  assert.ok(findings.some(({ kind, where }) => kind === 'key' && where === `key ${shard.keys.index}`));
  // The note survives a crash: a segment sealed without the memory is not taken for complete.
  await engine.abandon();
  engine = await openShard(shard.root);
  await until(engine, () => engine.store.damage.size === 0 && engine.store.purgePending.size === 0);
  assert.match(reasonsOf(engine), /rebuilt from the log: the index of memory 1/);
  await assertWhole(engine, shard);
  await addBelief(engine, 1, { subject: 's', object: 'taken' });
  await engine.close();
  engine = await openShard(shard.root);
  await assertWhole(engine, shard);
  await engine.close();
});

test('a memory whose token key is lost is closed, and whole again when its slot is restored', async (t) => {
  const shard = await filled(t);
  const whole = readFileSync(bucketPath(shard.root));
  damageSlot(shard.root, shard.keys.token);
  let engine = await openShard(shard.root);
  await assertUntouched(engine, shard);
  assert.match(reasonsOf(engine), new RegExp(`memory 1 cannot be opened: .*key ${shard.keys.token}`));
  for (const call of [
    () => engine.read('get', contextOf(1), { hash: shard.hashes.get(1)![0]! }),
    () => recalled(engine, 1, 'harbour'),
    () => addBelief(engine, 1, { subject: 's', object: 'refused' }),
    () => engine.write('rebuildIndexes', contextOf(1), {}),
  ])
    assert.equal(await codeOf(call), 'STO-E001');
  // Also after a neighbour's commit.
  for (let round = 0; round < 3; round++) {
    const neighbours = addBelief(engine, 2, { subject: 's', object: `before ${round}` });
    await Promise.resolve();
    assert.equal(await codeOf(() => addBelief(engine, 1, { subject: 's', object: 'refused' })), 'STO-E001');
    await neighbours;
  }
  // Merges and rebuilds continue without it too.
  await engine.write('compact', contextOf(2), {});
  await engine.write('rebuildIndexes', contextOf(2), {});
  await assertUntouched(engine, shard);
  await engine.close();

  putSlotBack(shard.root, shard.keys.token, whole);
  engine = await openShard(shard.root);
  await until(engine, () => engine.store.damage.size === 0);
  await assertWhole(engine, shard);
  await engine.close();
});

test('a truncated, empty or deleted key bucket closes its memories, not the shard, and reuses no id', async (t) => {
  for (const how of ['cut', 'emptied', 'deleted'] as const) {
    const shard = await filled(t);
    const path = bucketPath(shard.root);
    // After the first memory's keys: the second memory's are gone, and the users' of both.
    if (how === 'cut') truncateSync(path, slotOffset(4) + 10);
    else if (how === 'emptied') truncateSync(path, 0);
    else rmSync(path);
    const engine = await openShard(shard.root);
    assert.equal(await codeOf(() => recalled(engine, 2, 'harbour')), 'STO-E001', how);
    assert.match(reasonsOf(engine), /memory 2 cannot be opened/);
    await engine.write('attachMemory', contextOf(3), { settings: settingsOf(3) });
    await addBelief(engine, 3, { subject: 's', object: `harbour ${how}`, user_id: 'ann' });
    await engine.write('flush', contextOf(3), {});
    assert.equal(recalled(engine, 3, 'harbour').length, 1);
    assert.ok(
      Object.values(engine.store.memory(3).keyIds).every((id) => id > 10),
      'ids of lost keys are not reused',
    );
    const { findings } = await engine.write('verify', contextOf(0), {});
    assert.ok(
      findings.some(({ kind, problem }) => kind === 'key' && /missing/.test(problem)),
      how,
    );
    await engine.close();
  }
});

test('erasing a user whose key was lost removes the grains nevertheless', async (t) => {
  const shard = await filled(t);
  damageSlot(shard.root, shard.keys.ann);
  let engine = await openShard(shard.root);
  const proof = await engine.write('eraseUser', contextOf(1), { userId: 'ann' });
  // The grain that was not sealed yet could not be opened when the log was replayed: no index knows it.
  assert.deepEqual([proof.count, proof.keyFingerprint], [1, UNKNOWN_FINGERPRINT]);
  const again = await engine.write('eraseUser', contextOf(1), { userId: 'ann' });
  assert.deepEqual([again.count, again.keyFingerprint], [0, UNKNOWN_FINGERPRINT]);
  await until(engine, () => engine.store.purgePending.size === 0);
  assert.deepEqual(recalled(engine, 1, 'ann'), []);
  assert.equal(engine.store.keys.state(shard.keys.ann), 'destroyed');
  assert.deepEqual((await engine.write('verify', contextOf(0), {})).findings, []);
  await engine.close();
  engine = await openShard(shard.root);
  assert.equal(engine.read('statistics', contextOf(1), {}).totalGrains, 4);
  await engine.close();
});

test('a memory whose index key was lost is deleted like any other', async (t) => {
  const shard = await filled(t);
  damageSlot(shard.root, shard.keys.index);
  damageSlot(shard.root, shard.keys.blob);
  const engine = await openShard(shard.root);
  // The first caller that meets the loss gets a retryable error, and then finds the index rebuilt.
  assert.equal(await codeOf(() => engine.write('dropMemory', contextOf(1), {})), 'STO-E001');
  await until(engine, () => engine.store.damage.size === 0);
  await engine.write('dropMemory', contextOf(1), {});
  await until(engine, () => engine.store.dropPending.size === 0);
  await assertUntouched(engine, shard);
  assert.deepEqual((await engine.write('verify', contextOf(0), {})).findings, []);
  await engine.close();
});

test('a memory whose token key was lost is deleted, and its users with it', async (t) => {
  const shard = await filled(t);
  damageSlot(shard.root, shard.keys.token);
  let engine = await openShard(shard.root);
  assert.match(reasonsOf(engine), /memory 1 cannot be opened/);
  // It is unknown whether its policy holds it.
  const { keyFingerprint } = await engine.write('dropMemory', contextOf(1), { check: true });
  assert.equal(keyFingerprint, UNKNOWN_FINGERPRINT);
  const proof = await engine.write('dropMemory', contextOf(1), {});
  assert.match(proof.keyFingerprint, /^[0-9a-f]{16}$/);
  assert.notEqual(proof.keyFingerprint, UNKNOWN_FINGERPRINT);
  assert.doesNotMatch(reasonsOf(engine), /memory 1/);
  for (const key of Object.values(shard.keys)) assert.equal(engine.store.keys.state(key), 'destroyed');
  assert.equal(await codeOf(() => recalled(engine, 1, 'harbour')), 'MEM-E003');
  // An interrupted deletion is requested again.
  assert.deepEqual(await engine.write('dropMemory', contextOf(1), {}), proof);
  await until(engine, () => engine.store.dropPending.size === 0);
  await assertUntouched(engine, shard);
  assert.deepEqual((await engine.write('verify', contextOf(0), {})).findings, []);
  await engine.close();
  engine = await openShard(shard.root);
  assert.deepEqual([...engine.store.memoryNumbers()], [2]);
  await assertUntouched(engine, shard);
  await engine.close();
});

for (const purged of [false, true])
  test(`grains whose user was erased since the data was copied are left out${purged ? ', also when the old index key is gone' : ''}`, async (t) => {
    const shard = await filled(t);
    const old = join(temporaryDirectory(t), 'old');
    cpSync(shard.root, old, { recursive: true });
    let engine = await openShard(shard.root);
    await engine.write('eraseUser', contextOf(1), { userId: 'ann' });
    if (purged) await until(engine, () => engine.store.purgePending.size === 0);
    await engine.abandon();
    rmSync(join(old, 'keys'), { recursive: true });
    cpSync(join(shard.root, 'keys'), join(old, 'keys'), { recursive: true });

    engine = await openShard(old);
    const hashes = shard.hashes.get(1)!;
    const ofAnn = hashes.filter((_, i) => i % 3 === 0);
    const others = hashes.filter((_, i) => i % 3 !== 0).sort();
    const list = { filter: {}, limit: 50, order: 'asc' } as const;
    const answers: (() => Promise<string[]> | string[])[] = [
      () => recalled(engine, 1, 'harbour'),
      () => engine.read('list', contextOf(1), list).grains.map(({ hash }) => hash),
      async () =>
        (await engine.write('exportPage', contextOf(1), { filter: {}, after: 0, limitBytes: 1 << 20 })).grains.map(
          ({ hash }) => hash,
        ),
    ];
    // The first reader meets sealed ones; with the index key gone, no query works before the repair.
    if (!purged) {
      assert.equal(await codeOf(() => engine.read('get', contextOf(1), { hash: ofAnn[0]! })), 'MEM-E006');
      assert.equal(await codeOf(() => engine.read('history', contextOf(1), { hash: ofAnn[0]! })), 'MEM-E006');
      for (const answer of answers) assert.deepEqual((await answer()).sort(), others);
      assert.match(reasonsOf(engine), /memory 1 .*holds grains whose key was destroyed/);
    } else assert.equal(await codeOf(() => recalled(engine, 1, 'harbour')), 'STO-E001');
    await until(engine, () => engine.store.damage.size === 0);
    for (const answer of answers) assert.deepEqual((await answer()).sort(), others);
    assert.match(reasonsOf(engine), /rebuilt from the log: the index of memory 1/);
    assert.deepEqual(recalled(engine, 1, 'ann'), []);
    // The same grain may be added again, and is not taken for the erased one.
    const object = 'harbour sealed ann of 1';
    await addBelief(engine, 1, { subject: 's', object, user_id: 'ann' });
    assert.equal(recalled(engine, 1, 'ann').length, 1);
    assert.equal(await codeOf(() => engine.read('get', contextOf(1), { hash: ofAnn[1]! })), 'MEM-E001');
    const { findings } = await engine.write('verify', contextOf(0), {});
    assert.deepEqual(findings, []);
    await engine.close();
  });
