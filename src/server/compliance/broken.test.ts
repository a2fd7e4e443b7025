// Real damage: records edited in the log, names written into index files, lost keys. An engine measures each over its
// own folder, and the matching check must fail.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { contextOf, openFaultyShard, openShard, settingsOf } from '../../../test/support/shard.ts';
import { seal } from '../../engine/crypto/envelope.ts';
import type { Engine } from '../../engine/engine.ts';
import { entryHash, GENESIS } from '../../engine/govern/trail/audit.ts';
import { decodeAuditBody, encodeAuditBody } from '../../engine/govern/trail/audit-codec.ts';
import { addressOf } from '../../engine/grain/address.ts';
import type { JsonObject } from '../../engine/grain/api/json-value.ts';
import { slotOffset } from '../../engine/keys/slot.ts';
import type { FaultyLog } from '../../engine/log/faulty.ts';
import type { EngineOptions } from '../../engine/open.ts';
import type { GrainRecord } from '../../engine/record/record.ts';
import { decodeRecord, encodeRecord } from '../../engine/record/record-codec.ts';
import { sealPolicy } from '../../engine/store/rules.ts';
import { judge } from './judge.ts';
import { BARE_DEPLOYMENT, NO_METRICS } from './testing/deployment.ts';

const context = contextOf(1);

interface Broken {
  readonly engine: Engine;
  readonly log: FaultyLog;
  readonly root: string;
  add(fields: JsonObject): Promise<number>;
  grain(ordinal: number): GrainRecord;
  put(sequence: number, record: GrainRecord): Promise<void>;
  /** Ids of the failed checks. */
  failing(): Promise<readonly string[]>;
}

async function broken(t: TestContext, options: Partial<EngineOptions> = {}): Promise<Broken> {
  const root = mkdtempSync(join(tmpdir(), 'granary-broken-'));
  const { engine, log } = await openFaultyShard(root, options);
  t.after(async () => {
    await engine.close();
    rmSync(root, { recursive: true });
  });
  await engine.write('attachMemory', context, { settings: { ...settingsOf(1), createdAtMs: Date.now() } });
  return {
    engine,
    log,
    root,
    add: async (fields) => {
      const grain = { relation: 'has to do with', object: 'something or other', ...fields };
      const { hash } = await engine.write('add', context, { grainType: 'belief', fields: grain, sync: false });
      return engine.store.findOrdinal(1, hash)!;
    },
    grain: (ordinal) => decodeRecord(engine.store.log.read(ordinal)!) as GrainRecord, // a grain's ordinal
    put: async (sequence, record) => {
      await log.append({ records: [], replacements: [[sequence, encodeRecord(record)]] });
    },
    failing: () => failingOf(engine),
  };
}

async function failingOf(engine: Engine): Promise<readonly string[]> {
  const { partitions } = await engine.write('compliance', context, { runId: 'vrf_broken' });
  // Threads pass only plain data.
  const checks = judge(
    { partitions: structuredClone(partitions), metrics: NO_METRICS, deployment: BARE_DEPLOYMENT },
    undefined,
  );
  return checks.filter(({ status }) => status === 'fail').map(({ id }) => id);
}

const alsoFails = async ({ failing }: Broken, ...ids: readonly string[]): Promise<void> => {
  const found = await failing();
  for (const id of ids) assert.ok(found.includes(id), `${id} among ${found.join(', ')}`);
};

test('an intact memory fails no check', async (t) => {
  const { add, failing } = await broken(t);
  await add({ subject: 'somebody' });
  assert.deepEqual(await failing(), []);
});

test('plaintext in the log, an edited envelope, the wrong grain under an address', async (t) => {
  const shard = await broken(t);
  const { engine, add, grain, put } = shard;
  const memory = engine.store.memory(1);
  const [one, two, three] = [
    await add({ subject: 'somebody one' }),
    await add({ subject: 'somebody two' }),
    await add({ subject: 'somebody three' }),
  ];
  const plain = engine.store.openBlob(memory, grain(one));
  await put(one, { ...grain(one), sealed: plain });
  await alsoFails(shard, 'encryption_at_rest', 'encryption_algorithm');
  const edited = Buffer.from(grain(two).sealed);
  edited[20]! ^= 1;
  await put(two, { ...grain(two), sealed: edited });
  const { bound, key, scopeKey } = grain(three);
  await put(three, {
    ...grain(three),
    sealed: seal(memory.grainKey(key, scopeKey), plain, bound),
  });
  const { partitions } = await engine.write('compliance', context, { runId: 'vrf_three' });
  const { blobs } = partitions[0]!;
  assert.ok(!('error' in blobs));
  assert.deepEqual([blobs.plaintext, blobs.unreadable, blobs.misaddressed], [1, 2, 1]);
  const [integrity] = judge({ partitions, metrics: NO_METRICS, deployment: BARE_DEPLOYMENT }, 'hipaa').filter(
    ({ id }) => id === 'hipaa_integrity',
  );
  assert.equal(integrity?.status, 'fail');
});

test('a nonce used twice with one key', async (t) => {
  const shard = await broken(t);
  const { add, grain, put } = shard;
  const [one, two] = [await add({ subject: 'somebody one' }), await add({ subject: 'somebody two' })];
  const sealed = Buffer.from(grain(two).sealed);
  sealed.set(grain(one).sealed.subarray(0, 12));
  await put(two, { ...grain(two), sealed });
  await alsoFails(shard, 'encryption_nonce_uniqueness');
});

test("a user's grain under the memory's key", async (t) => {
  const shard = await broken(t);
  const { engine, add, grain, put } = shard;
  const memory = engine.store.memory(1);
  const one = await add({ subject: 'somebody', user_id: 'ada' });
  const { blob: key } = memory.keyIds;
  const blob = engine.store.openBlob(memory, grain(one));
  const { scopeKey } = grain(one);
  const bound = memory.trail.cipher({ user: 0, scope: scopeKey }).encipher(addressOf(blob));
  const sealed = seal(memory.grainKey(key, scopeKey), blob, bound);
  await put(one, { ...grain(one), key, userKey: 0, bound, sealed });
  await alsoFails(shard, 'encryption_per_user_keys');
});

test('a lost key', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'granary-broken-'));
  t.after(() => rmSync(root, { recursive: true }));
  const first = await openShard(root);
  await first.write('attachMemory', context, { settings: settingsOf(1) });
  const fields = { subject: 'somebody', relation: 'is', object: 'here', user_id: 'ada' };
  const { hash } = await first.write('add', context, { grainType: 'belief', fields, sync: false });
  const { key } = decodeRecord(first.store.log.read(first.store.findOrdinal(1, hash)!)!) as GrainRecord; // a grain
  await first.close();
  const directory = join(root, 'keys', 'shard-0');
  const [bucket] = readdirSync(directory).filter((name) => name.startsWith('bucket-'));
  const bytes = readFileSync(join(directory, bucket!));
  bytes[slotOffset(key) + 40]! ^= 1;
  writeFileSync(join(directory, bucket!), bytes);
  const engine = await openShard(root);
  t.after(() => engine.close());
  const failing = await failingOf(engine);
  assert.ok(failing.includes('encryption_at_rest') || failing.includes('encryption_key_wrapping'), failing.join(', '));
});

test('audit entries edited and removed, and a clock set back', async (t) => {
  const clock = { now: Date.now(), nowMs: (): number => clock.now };
  const shard = await broken(t, { clock });
  const { engine, log, add } = shard;
  for (const subject of ['one', 'two', 'three']) await add({ subject: `somebody ${subject}` });
  clock.now -= 60_000;
  await add({ subject: 'somebody earlier' });
  await alsoFails(shard, 'audit_sequence_gapless');
  const [, second, third] = engine.store.allKeyed(1, 'audit');
  const edited = Buffer.from(engine.store.log.read(third!)!);
  edited[edited.length - 1]! ^= 1;
  await log.append({ records: [], replacements: [[third!, edited]] });
  await alsoFails(shard, 'audit_chain_integrity');
  await log.append({ records: [], removals: [second!] });
  await alsoFails(shard, 'audit_chain_integrity', 'audit_sequence_gapless', 'audit_retention');
});

/** Adds with one engine, whose seal records the trail's end, then opens another engine over the same folder. */
async function reopened(t: TestContext): Promise<{ readonly engine: Engine; readonly log: FaultyLog }> {
  const root = mkdtempSync(join(tmpdir(), 'granary-broken-'));
  t.after(() => rmSync(root, { recursive: true }));
  const first = await openShard(root);
  await first.write('attachMemory', context, { settings: settingsOf(1) });
  for (const subject of ['one', 'two', 'three']) {
    const fields = { subject: `somebody ${subject}`, relation: 'is', object: 'here' };
    await first.write('add', context, { grainType: 'belief', fields, sync: false });
  }
  await first.write('flush', context, {});
  await first.close();
  const { engine, log } = await openFaultyShard(root);
  t.after(() => engine.close());
  return { engine, log };
}

test('a rewritten trail whose hashes are consistent', async (t) => {
  const { engine, log } = await reopened(t);
  let previous = GENESIS.hash;
  const replacements = engine.store.allKeyed(1, 'audit').map((sequence): [number, Uint8Array] => {
    const record = decodeRecord(log.read(sequence)!);
    assert.ok(record.kind === 'audit');
    const entries = decodeAuditBody(record.body).map((entry) => {
      const forged = { ...entry, actor: 'somebody else' };
      previous = entryHash(forged, previous);
      return { ...forged, hash: previous };
    });
    return [sequence, encodeRecord({ ...record, body: encodeAuditBody(entries) })];
  });
  await log.append({ records: [], replacements });
  const failing = await failingOf(engine);
  for (const id of ['audit_chain_integrity', 'audit_immutability']) assert.ok(failing.includes(id), id);
});

test('a truncated trail', async (t) => {
  const { engine, log } = await reopened(t);
  await log.append({ records: [], removals: [engine.store.allKeyed(1, 'audit').at(-1)!] });
  const failing = await failingOf(engine);
  for (const id of ['audit_chain_integrity', 'audit_sequence_gapless', 'audit_immutability'])
    assert.ok(failing.includes(id), `${id} among ${failing.join(', ')}`);
});

test('a policy with the wrong seal', async (t) => {
  const shard = await broken(t);
  const { engine, log } = shard;
  const change = { addPolicies: ['retention_30d'] };
  await engine.write('setPolicy', context, { change, isAdmin: true });
  const memory = engine.store.memory(1);
  const forged = { ...memory.governed.policy, sealHash: '0'.repeat(64) };
  const sequence = Buffer.from(engine.store.log.getState('policy/1')!).readUInt32BE(0);
  const record = decodeRecord(engine.store.log.read(sequence)!);
  assert.ok(record.kind === 'rule');
  const bytes = encodeRecord({ ...record, sealed: sealPolicy(memory, forged) });
  await log.append({ records: [], replacements: [[sequence, bytes]] });
  await alsoFails(shard, 'policy_version_chain');
  memory.governed.setPolicy(forged);
  await alsoFails(shard, 'policy_seal_intact');
});

test('expired grains, and names in an index file', async (t) => {
  const shard = await broken(t);
  const { engine, add } = shard;
  const day = 86_400;
  await add({ subject: 'somebody of long ago', created_at: Math.floor(Date.now() / 1000) - 40 * day });
  await add({ subject: 'somebody of today' });
  await engine.write('setPolicy', context, { change: { addPolicies: ['retention_30d'] }, isAdmin: true });
  await alsoFails(shard, 'policy_retention_enforced');
  await engine.write('enforceRetention', context, { dryRun: false });
  assert.ok(!(await shard.failing()).includes('policy_retention_enforced'));
  await engine.write('flush', context, {});
  appendFileSync(engine.store.index.files()[0]!, 'somebody of today');
  await alsoFails(shard, 'blind_index_enabled', 'blind_index_no_plaintext');
});

test('a log that rejects writes', async (t) => {
  const shard = await broken(t);
  await shard.add({ subject: 'somebody' });
  shard.log.failNextSync({ written: false });
  await shard.engine
    .write('add', context, { grainType: 'event', fields: { content: 'x' }, sync: false })
    .catch(() => {});
  await alsoFails(shard, 'encryption_at_rest', 'erasure_crypto', 'audit_enabled');
});
