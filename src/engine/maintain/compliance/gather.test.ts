// The measurements of a partition, over intact states and broken ones.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { contextOf, openFaultyShard, openShard, settingsOf } from '../../../../test/support/shard.ts';
import type { Area, PartitionEvidence } from '../../calls/compliance.ts';
import type { Engine } from '../../engine.ts';
import type { EngineOptions } from '../../open.ts';

const context = contextOf(1);

async function shard(t: TestContext, options: Partial<EngineOptions> = {}): Promise<Engine> {
  const root = mkdtempSync(join(tmpdir(), 'granary-compliance-'));
  const engine = await openShard(root, options);
  t.after(async () => {
    await engine.close();
    rmSync(root, { recursive: true });
  });
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  return engine;
}

function belief(subject: string, object: string, more: object = {}) {
  return { grainType: 'belief', fields: { subject, relation: 'likes very much', object, ...more }, sync: false };
}

async function measured(engine: Engine, runId = 'vrf_a'): Promise<PartitionEvidence> {
  const { partitions } = await engine.write('compliance', { ...context, owns: true }, { runId });
  return partitions[0]!;
}

function whole<T extends object | null>(area: Area<T>): T {
  assert.ok(area === null || !('error' in area), JSON.stringify(area));
  return area as T; // it has no error
}

test('an intact memory is measured', async (t) => {
  const engine = await shard(t);
  for (let i = 0; i < 30; i++)
    await engine.write(
      'add',
      context,
      belief(`person number ${i}`, `thing ${i}`, i % 3 === 0 ? {} : { user_id: `u${i % 3}` }),
    );
  await engine.write('eraseUser', context, { userId: 'u2' });
  const evidence = await measured(engine);
  const blobs = whole(evidence.blobs);
  assert.deepEqual(
    { ...blobs },
    {
      sampled: 20,
      envelopes: 20,
      plaintext: 0,
      unreadable: 0,
      conforming: 20,
      misaddressed: 0,
      foreignKeys: 0,
      withUser: 10,
      nonces: 20,
      repeatedNonces: 0,
    },
  );
  const keys = whole(evidence.keys);
  assert.deepEqual([keys.unwrappable, keys.inClear, keys.users, keys.usersWithSeveral], [0, 0, 1, 0]);
  assert.ok(keys.tokenKeyIsSeparate && keys.indexKeyIsSeparate);
  const erasures = whole(evidence.erasures);
  assert.deepEqual(
    [erasures.erased, erasures.keysLeft, erasures.grainsLeft, erasures.cached, erasures.proofs, erasures.brokenProofs],
    [1, 0, 0, 0, 1, 0],
  );
  assert.equal(erasures.withoutKeyEntry, 0);
  const trail = whole(evidence.trail);
  assert.equal(trail.firstBadSeq, undefined);
  assert.deepEqual([trail.firstSeq, trail.gaps, trail.doctored, trail.doctoredAccepted], [1, 0, 5, 0]);
  assert.equal(trail.replaceable, false);
  assert.equal(trail.checked, trail.entries);
  assert.equal(trail.events['memory.added'], 30);
  const policy = whole(evidence.policy);
  assert.deepEqual([policy.version, policy.intact, policy.simulationDiffers, policy.shuffledResults], [0, true, 0, 1]);
  const data = whole(evidence.data);
  assert.deepEqual(
    [data.grains, data.beliefs, data.unnamedSource, data.personal, data.unfounded],
    [20, 20, 20, 10, 10],
  );
  assert.deepEqual(data.userExport, { exported: 10, parsed: 10, stored: 10 });
  const index = whole(evidence.index);
  assert.equal(index.valuesFound, 0);
});

test('canaries follow every path and leave nothing behind', async (t) => {
  const engine = await shard(t);
  await engine.write('add', context, belief('somebody', 'something'));
  const before = engine.read('statistics', context, {});
  const canary = whole((await measured(engine)).canary);
  assert.deepEqual([canary.roundTrips, canary.envelopes, canary.nonces], [5, 5, 5]);
  assert.deepEqual(
    [canary.repeatedNonces, canary.tampered, canary.tamperedOpened, canary.crossed, canary.crossedOpened],
    [0, 3, 0, 2, 0],
  );
  assert.ok(canary.keysTried >= 6 && canary.keysOpened === 0, String(canary.keysTried));
  assert.deepEqual([canary.servedBy, canary.silentBefore, canary.readsTried, canary.grainsLeft], [[], [], 14, 0]);
  assert.deepEqual([canary.cachesLeft, canary.cachesEmptyBefore, canary.cachesTried], [[], [], 4]);
  assert.ok(canary.rowsBefore >= 5, String(canary.rowsBefore));
  assert.deepEqual([canary.threadsBefore, canary.threadsLeft], [2, 0]);
  for (const member of ['proof', 'proofRepeats', 'proofEntry', 'keyGone', 'keyEntry'] as const)
    assert.equal(canary[member], true, member);
  for (const member of ['tokenTwice', 'foundByValue', 'foundSealed', 'tokenIsHmac', 'tokenDiffersElsewhere'] as const)
    assert.equal(canary[member], true, member);
  assert.ok(canary.indexBytes > 0 && canary.indexNamesFound === 0);
  assert.ok(canary.chainValid && canary.policyChainIntact && canary.policyAudited && canary.exportRoundTrip);
  for (const event of ['memory.added', 'memory.forgotten', 'memory.recalled', 'consent.granted', 'user.erased'])
    assert.ok(canary.audited.includes(event), event);
  assert.deepEqual([canary.strangerFound, canary.nameTokenBytes, canary.wordTokenBytes], [false, 16, 8]);
  assert.ok(canary.scoreParts.includes('bm25'));
  assert.deepEqual(canary.explainedParts, canary.scoreParts);
  assert.match(canary.explanation, /^Score \d.* for its words/);
  assert.deepEqual(
    canary.writeRules.map(({ rule, got }) => [rule, got]),
    [['processing.restriction', 'POL-E008']],
  );
  assert.deepEqual([canary.deletionRules, canary.recallLimit], [[], []]);
  assert.deepEqual(
    canary.robustness.map(({ rule, wanted, got }) => [rule, wanted.includes(got)]),
    [
      ['NUL byte', true],
      ['oversize payload', true],
      ['confidence 1.5', true],
      ['cyclic goal', true],
    ],
    JSON.stringify(canary.robustness),
  );
  // None of them is left.
  const { auditEntries, diskSpaceBytes: _, ...after } = engine.read('statistics', context, {});
  const { auditEntries: entriesBefore, diskSpaceBytes: __, ...rest } = before;
  assert.deepEqual(after, rest);
  assert.deepEqual([...engine.store.memoryNumbers()], [1]);
  const { entries } = await engine.write('auditPage', context, { filter: {}, limit: 10, order: 'desc' });
  assert.equal(entries[0]?.eventType, 'verify.canary');
  assert.equal(auditEntries, entriesBefore! + 1);
  for (let turns = 0; engine.maintain(50) && turns < 1_000; turns++)
    await new Promise((resolve) => setImmediate(resolve));
});

test('rules of the policy are tested with canaries', async (t) => {
  const engine = await shard(t);
  await engine.write('setPolicy', context, {
    change: {
      addPolicies: ['gdpr', 'hipaa', 'strict_deletion'],
      overrides: { 'guardrail.patterns': ['top secret project'], 'write.user_id_required': true },
    },
    isAdmin: true,
  });
  const canary = whole((await measured(engine)).canary);
  for (const probes of [canary.writeRules, canary.deletionRules, canary.recallLimit])
    for (const { rule, wanted, got } of probes) assert.ok(wanted.includes(got), `${rule}: ${got}`);
  assert.deepEqual(
    canary.writeRules.map(({ rule }) => rule),
    [
      'processing.restriction',
      'write.user_id_required',
      'consent.mode',
      'pii.write_action',
      'consent.sensitive_separate',
      'guardrail.patterns',
    ],
  );
  assert.deepEqual(
    canary.deletionRules.map(({ rule }) => rule),
    ['deletion.reason_required', 'deletion.consent_required'],
  );
  assert.deepEqual(
    canary.phiGate.map(({ got }) => got),
    ['POL-E002', ''],
  );
  assert.equal(canary.recallLimit.length, 1);
});

test('canaries are added and removed under a hold, which forgets nothing', async (t) => {
  const engine = await shard(t);
  await engine.write('setPolicy', context, { change: { addPolicies: ['legal_hold', 'append_only'] }, isAdmin: true });
  const canary = whole((await measured(engine)).canary);
  assert.deepEqual(
    canary.deletionRules.map(({ rule, got }) => [rule, got]),
    [['deletion.hold', 'POL-E003']],
  );
  assert.deepEqual([...engine.store.memoryNumbers()], [1]);
});

test('the next run drops the remains of a canary after a crash', async (t) => {
  const engine = await shard(t);
  const number = 0x8000_0001;
  await engine.write('attachMemory', contextOf(number), { settings: settingsOf(number) });
  await measured(engine);
  assert.deepEqual([...engine.store.memoryNumbers()], [1]);
});

test('an edited or lost record is reported', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'granary-compliance-'));
  t.after(() => rmSync(root, { recursive: true }));
  const { engine, log } = await openFaultyShard(root);
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const { hash } = await engine.write('add', context, belief('somebody', 'something', { user_id: 'ada' }));
  const sequence = engine.store.findOrdinal(1, hash)!;
  const audit = engine.store.allKeyed(1, 'audit').at(-1)!;
  const edited = Buffer.from(engine.store.log.read(audit)!);
  edited[edited.length - 1]! ^= 1;
  const sealed = Buffer.from(engine.store.log.read(sequence)!);
  sealed[sealed.length - 1]! ^= 1;
  // The engine's log refuses to replace an audit entry, so the test changes the log beneath it.
  const replacing = { records: [], replacements: [[audit, edited]] as const };
  await assert.rejects(engine.store.log.append(replacing), { name: 'AssertionError' });
  await log.append({
    records: [],
    replacements: [
      [audit, edited],
      [sequence, sealed],
    ],
  });
  const evidence = await measured(engine);
  assert.ok(whole(evidence.trail).firstBadSeq !== undefined);
  assert.equal(whole(evidence.blobs).unreadable, 1);
});
