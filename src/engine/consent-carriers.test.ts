// Consents are exempt from the consent that they record, so they may carry only the fields of a consent.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EngineError, type ErrorCode } from './base/errors.ts';
import type { CallContext } from './calls/context.ts';
import type { ConsentItem } from './calls/govern.ts';
import type { MemorySettings } from './calls/memory.ts';
import type { Engine } from './engine.ts';
import type { JsonObject, JsonValue } from './grain/api/json-value.ts';
import { encodeGrain } from './grain/codec/blob.ts';
import type { ValueMap } from './grain/value.ts';
import { openEngine } from './open.ts';

const NOW_MS = 1_760_000_000_000;
const TEXT = 'a story about a person who never agreed to anything';
const context: CallContext = { memory: 1, partition: 0, actor: 'key:test', requestId: 'req_test' };
const settings: MemorySettings = {
  number: 1,
  id: 'default',
  partitions: 1,
  language: 'en',
  dedup: 'exact',
  dedupThreshold: 0.85,
  createdAtMs: 1_700_000_000_000,
};

async function opened(t: TestContext, overrides: JsonObject = { 'consent.mode': 'opt_in' }) {
  const directory = mkdtempSync(join(tmpdir(), 'granary-consent-'));
  const engine = await openEngine({
    directory: join(directory, 'shard-0'),
    keysDirectory: join(directory, 'keys', 'shard-0'),
    shard: 0,
    shards: 1,
    masterKeys: [Buffer.alloc(32, 7)],
    indexHeapBytes: 64 << 20,
    clock: { nowMs: () => NOW_MS },
    onFatal: (error) => assert.fail(`fatal: ${String(error)}`),
  });
  t.after(async () => {
    await engine.close();
    rmSync(directory, { recursive: true });
  });
  await engine.write('attachMemory', context, { settings });
  await engine.write('setPolicy', context, { change: { overrides }, isAdmin: true });
  return engine;
}

const consent = { user_id: 'ann', scope: 'storage', is_withdrawal: false };
const add = async (engine: Engine, fields: JsonObject): Promise<string> =>
  (await engine.write('add', context, { grainType: 'consent', fields: { ...consent, ...fields }, sync: false })).hash;

async function refuses(code: ErrorCode, field: string, act: () => Promise<unknown>): Promise<void> {
  await assert.rejects(act, (error) => {
    assert.ok(error instanceof EngineError, String(error));
    assert.equal(error.code, code, field);
    assert.deepEqual(
      error.details?.map((detail) => detail.field),
      [field],
    );
    return true;
  });
}

async function say(engine: Engine, item: Partial<ConsentItem>) {
  const whole = { userId: 'ann', purpose: 'storage', granted: true, ...item };
  const { outcomes } = await engine.write('consent', context, { items: [whole] });
  const [outcome] = outcomes;
  assert.ok(outcome !== undefined);
  if ('error' in outcome) throw EngineError.fromWire(outcome.error);
  return outcome.fact;
}

const OF_A_CONSENT: JsonObject = {
  subject_did: 'did:web:ann.example',
  grantee_did: 'did:web:shop.example',
  scope: ['storage', 'mail'],
  basis: 'explicit_consent',
  jurisdiction: 'eu',
  witness_dids: ['did:web:notary.example'],
  prior_consent: 'a'.repeat(64),
  reason: 'asked by telephone',
  namespace: 'forms',
  session_id: 's1',
  tags: ['signed'],
  source_type: 'agent',
  author_did: 'did:web:clerk.example',
  valid_from: 1_700_000_000,
  valid_to: 1_800_000_000,
  expires_at: 1_800_000_000,
  created_at: 1_700_000_000,
  confidence: 1,
  importance: 0.5,
  temporal_type: 'interval',
  related_to: [{ hash: 'b'.repeat(64), relation_type: 'replaces' }],
  derived_from: 'c'.repeat(64),
  processing_basis: 'consent',
  verification_status: 'verified',
  invalidation_policy: { mode: 'locked' },
};

/** By the name that a caller sends, and by the name in the refusal. */
const BESIDE: readonly (readonly [field: string, value: JsonObject[string]])[] = [
  ['note', TEXT],
  ['subject', TEXT],
  ['object', TEXT],
  ['content', TEXT],
  ['context', { note: TEXT }],
  ['embedding_text', TEXT],
  ['description', TEXT],
  ['content_refs', [{ uri: 'https://example.org', modality: TEXT }]],
  ['provenance_chain', [{ method: TEXT }]],
  ['category', TEXT],
  ['type', TEXT],
  ['a story', 1],
];

test('a consent has the fields of its type, and no others', async (t) => {
  const engine = await opened(t);
  await add(engine, OF_A_CONSENT);
  for (const [field, value] of BESIDE) await refuses('VAL-E001', field, () => add(engine, { [field]: value }));
});

test('the text of a consent is short', async (t) => {
  const engine = await opened(t);
  const long = TEXT.repeat(20);
  const names = ['basis', 'jurisdiction', 'grantee_did', 'subject_did', 'source_type', 'author_did', 'session_id'];
  for (const name of names) await refuses('VAL-E001', name, () => add(engine, { [name]: long }));
  const tooMuch: [string, JsonValue][] = [
    ['scope', [long]],
    ['witness_dids', Array.from({ length: 100 }, () => 'did:web:x')],
    ['related_to', [{ hash: 'a'.repeat(64), relation_type: long }]],
    ['related_to', [{ hash: 'a'.repeat(64), story: 'x' }]],
    ['invalidation_policy', { mode: 'open', protection_reason: long }],
    ['reason', long.repeat(2)],
  ];
  for (const [name, value] of tooMuch) await refuses('VAL-E001', name, () => add(engine, { [name]: value }));
});

test('neither a new version nor an imported blob can carry more', async (t) => {
  const engine = await opened(t);
  const hash = await add(engine, {});
  const because = { ...context, reason: 'said again' };
  const supersede = (fields: JsonObject) => engine.write('supersede', because, { oldHash: hash, fields });
  await refuses('VAL-E001', 'note', () => supersede({ note: TEXT }));
  await refuses('VAL-E001', 'note', () =>
    engine.write('accumulate', because, { target: { hash }, deltas: {}, set: { note: TEXT } }),
  );
  const blob = (more: ValueMap) =>
    encodeGrain('consent', {
      subject_did: 'user:ann',
      user_id: 'ann',
      grantee_did: 'did:web:shop.example',
      scope: ['storage'],
      is_withdrawal: false,
      created_at: NOW_MS,
      namespace: 'default',
      ...more,
    }).blob;
  const imported = async (bytes: Uint8Array) => {
    const { outcomes } = await engine.write('importBlobs', context, { blobs: [bytes], manifest: [] });
    return outcomes[0];
  };
  for (const more of [{ note: TEXT }, { subject: TEXT }, { extra_fields: { note: TEXT } }]) {
    const outcome = await imported(blob(more));
    assert.ok(outcome !== undefined && 'error' in outcome);
    assert.equal(outcome.error.code, 'VAL-E001');
  }
  const plain = await imported(blob({}));
  assert.ok(plain !== undefined && !('error' in plain));
  await supersede({ basis: 'contract' });
});

test('the consent calls have the same limits', async (t) => {
  const engine = await opened(t);
  await refuses('VAL-E001', 'basis', () => say(engine, { basis: TEXT.repeat(20) }));
  await refuses('VAL-E001', 'grantee_did', () => say(engine, { granteeDid: TEXT.repeat(20) }));
  await say(engine, { basis: 'contract', jurisdiction: 'eu' });
  await say(engine, { granted: false, reason: 'moved away' });
});

test('the text of a consent is checked against the policy, and everybody may withdraw', async (t) => {
  const engine = await opened(t, { 'pii.write_action': 'block' });
  await refuses('POL-E005', 'ssn', () => say(engine, { purpose: '219-09-9998' }));
  await refuses('POL-E005', 'ssn', () => say(engine, { basis: '219-09-9998' }));
  await refuses('POL-E005', 'ssn', () => add(engine, { basis: '219-09-9998' }));
  await refuses('POL-E005', 'ssn', () => say(engine, { userId: '219-09-9998' }));
  await say(engine, { userId: '219-09-9998', granted: false });
  await say(engine, { userId: 'maria@example.org' });
  const { entries } = await engine.write('auditPage', context, { filter: {}, limit: 100, order: 'asc' });
  const blocked = entries.filter(({ eventType }) => eventType === 'pii.blocked');
  assert.deepEqual(
    blocked.map(({ details }) => details['operation']),
    ['consent', 'consent', 'add', 'consent'],
  );
});

test('a guardrail applies to consents too', async (t) => {
  const engine = await opened(t, { 'guardrail.patterns': ['project x'], 'guardrail.mode': 'contains' });
  await refuses('POL-E012', 'scope', () => say(engine, { purpose: 'prоject-x' }));
  await refuses('POL-E012', 'reason', () => say(engine, { granted: false, reason: 'because of Project X' }));
  await say(engine, { userId: 'project x', granted: false });
});
