// An attacker has a copy of a shard's folder and the current keys, knows the exact second of a write, and tries
// possible statements of an erased person until a hash matches. No remaining hash may match.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EngineError } from '../../src/engine/base/errors.ts';
import type { CallContext } from '../../src/engine/calls/context.ts';
import type { RecallQuery } from '../../src/engine/calls/recall.ts';
import { open } from '../../src/engine/crypto/envelope.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { decodeAuditBody } from '../../src/engine/govern/trail/audit-codec.ts';
import { decodeNames, decodeRecall } from '../../src/engine/govern/trail/provenance-codec.ts';
import { CorruptRecord } from '../../src/engine/log/log.ts';
import type { EngineRecord } from '../../src/engine/record/record.ts';
import { decodeRecord } from '../../src/engine/record/record-codec.ts';
import type { Memory } from '../../src/engine/store/memory.ts';
import { foundInFiles, hashNeedles } from '../support/scan-files.ts';
import { addBelief, contextOf, openShard, settingsOf, until } from '../support/shard.ts';
import { StepClock } from '../support/step-clock.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const context = contextOf(1);
const WORDS = ['cancer', 'debts', 'nothing', 'a flat', 'diabetes'];
const SEARCH: RecallQuery = {
  query: '',
  filter: {},
  structural: false,
  limit: 1,
  candidateLimit: 100,
  tellBeyond: true,
};

/** SHA-256 of bytes or of a text, in hex. */
function sha256(of: string | Uint8Array): string {
  return createHash('sha256').update(of).digest('hex');
}

/** All grains and requests of ada that leave a hash, on every path: hashes by their kind. */
async function lifeOfAda(engine: Engine, clock: StepClock): Promise<Map<string, string>> {
  const left = new Map<string, string>();
  const once = (key: string): CallContext => ({ ...context, idempotency: { key, bodyHash: sha256(`body ${key}`) } });
  await engine.write('setPolicy', context, {
    change: { overrides: { 'audit.reads': true, 'provenance.record': true } },
    isAdmin: true,
  });
  left.set(
    'added',
    await addBelief(engine, 1, { subject: 'ada', object: 'cancer', user_id: 'ada', namespace: 'clinic' }),
  );
  clock.now += 1_000;
  const said = { subject: 'ada', relation: 'has', object: 'debts', user_id: 'ada' };
  const kept = await engine.write('add', once('add'), { grainType: 'belief', fields: said, sync: false });
  left.set('added once', kept.hash);
  left.set('body of the add', sha256('body add'));
  const next = await engine.write(
    'supersede',
    { ...once('supersede'), reason: 'because of cancer' },
    {
      oldHash: kept.hash,
      fields: { object: 'nothing', visits: 1 },
    },
  );
  left.set('superseding', next.newHash);
  left.set('body of the supersede', sha256('body supersede'));
  left.set('reason', sha256('because of cancer'));
  const more = await engine.write('accumulate', once('accumulate'), {
    target: { hash: next.newHash },
    deltas: { visits: 1 },
    set: {},
  });
  left.set('accumulated', more.newHash);
  const gone = await addBelief(engine, 1, { subject: 'ada', object: 'a flat', user_id: 'ada' });
  await engine.write('forget', once('forget'), { hashes: [gone], check: false });
  left.set('forgotten', gone);
  // A new version of one of her grains by another user.
  const adopted = await addBelief(engine, 1, { subject: 'house', object: 'diabetes', user_id: 'ada' });
  await engine.write('supersede', context, { oldHash: adopted, fields: { user_id: 'bob', object: 'a cold' } });
  left.set('adopted', adopted);
  const { outcomes } = await engine.write('consent', once('consent'), {
    items: [{ userId: 'ada', purpose: 'treatment of cancer', granted: true }],
  });
  const [consent] = outcomes;
  assert.ok(consent !== undefined && 'fact' in consent);
  left.set('consent', consent.fact.hash);
  left.set('purpose', sha256('treatment of cancer'));
  await engine.write('restrict', { ...context, reason: 'disputes the cancer' }, { userId: 'ada', restricted: true });
  await engine.write('restrict', context, { userId: 'ada', restricted: false });
  left.set('reason of the restriction', sha256('disputes the cancer'));
  // A fact that another event repeats gains that event.
  for (const second of [1, 2]) {
    const from = { content: 'I have diabetes.', user_id: 'ada', created_at: Math.floor(clock.now / 1000) - second };
    const { hash } = await engine.write('add', context, { grainType: 'event', fields: from, sync: false });
    left.set(second === 1 ? 'source' : 'further source', hash);
    const fields = { subject: 'ada', relation: 'suffers', object: 'diabetes', user_id: 'ada', derived_from: hash };
    const answer = await engine.write('addBatch', context, {
      items: [{ grainType: 'belief', fields, event: 'memory.extracted' }],
    });
    const [fact] = answer.outcomes;
    assert.ok(fact !== undefined && 'hash' in fact && fact.duplicate === (second === 2));
    left.set('fact', fact.hash);
  }
  assert.deepEqual(engine.read('get', context, { hash: left.get('fact')! }).sources, [left.get('further source')]);
  // Records of reads name the grains.
  engine.read('get', context, { hash: left.get('added')! });
  const { recallId } = engine.read('recall', context, {
    ...SEARCH,
    query: 'cancer debts nothing',
    filter: { userId: 'ada' },
    record: { asked: true },
  });
  assert.ok(recallId !== undefined);
  left.set('query', sha256('cancer debts nothing'));
  await engine.write(
    'note',
    { ...context, userId: 'ada' },
    {
      event: 'memory.searched',
      details: {},
      texts: { cal_query: 'RECALL beliefs ABOUT "cancer"' },
    },
  );
  return left;
}

async function opened(t: TestContext, root: string, clock: StepClock): Promise<Engine> {
  const engine = await openShard(root, { clock });
  t.after(() => engine.close());
  return engine;
}

/** Everything in the log that the current keys open, as text. */
function* readableRecords(engine: Engine): Generator<string> {
  for (const item of engine.store.log.scan(1)) {
    assert.ok(!(item instanceof CorruptRecord));
    const record = decodeRecord(item.bytes);
    if (!engine.store.holds(record.memory)) continue;
    const memory = engine.store.memory(record.memory);
    yield* textsOf(engine, memory, record);
  }
}

function* textsOf({ store }: Engine, memory: Memory, record: EngineRecord): Generator<string> {
  switch (record.kind) {
    case 'grain':
      yield unlessGone(() => store.openBlob(memory, record).toString('latin1'));
      yield unlessGone(() => store.addressOf(record) ?? '');
      return;
    case 'status':
      yield memory.trail.addressNamed(record.newName) ?? '';
      return;
    case 'furtherSource':
      yield `further source ${memory.trail.addressNamed(record.name) ?? ''}`;
      return;
    case 'audit':
      for (const entry of decodeAuditBody(record.body)) {
        yield JSON.stringify(entry);
        for (const [, name] of entry.details.matchAll(/"([0-9a-f]{64,})"/g))
          yield memory.trail.addressNamed(name!) ?? '';
      }
      return;
    case 'recall': {
      const kept = decodeRecall(memory.openSmall(record.sealed, `recall:${record.id}`));
      yield JSON.stringify(kept);
      for (const { grains } of [kept.results, kept.excluded])
        for (const name of grains.texts()) {
          yield name;
          yield memory.trail.addressNamed(name) ?? '';
        }
      if (record.namesKey === 0) return;
      const purpose = Buffer.from(`recall-names:${record.id}`);
      yield unlessGone(() =>
        JSON.stringify(decodeNames(open(memory.grainKey(record.namesKey, 0), record.sealedNames, purpose))),
      );
      return;
    }
    case 'reply': {
      const token = Buffer.from(record.token).toString('hex');
      const sealed = Buffer.from(record.sealed);
      for (const at of [4, 8])
        yield unlessGone(() => memory.openSmall(sealed.subarray(at), `reply:${token}`).toString('latin1'));
      return;
    }
    case 'rule':
      yield unlessGone(() => {
        const { about, key, sealed } = record;
        const purpose = `rule:${about}`;
        return (
          key === 0 ? memory.openSmall(sealed, purpose) : open(memory.grainKey(key, 0), sealed, Buffer.from(purpose))
        ).toString();
      });
      return;
    default:
      yield JSON.stringify(record);
  }
}

/** Returns '' for bytes sealed by a destroyed key; any other error fails the test. */
function unlessGone(opened: () => string): string {
  try {
    return opened();
  } catch (error) {
    if (error instanceof EngineError && /^CRY-E00[12]$/.test(error.code)) return '';
    throw error;
  }
}

test('nothing that is left after an erasure matches a guess, in files, in records, with all current keys', async (t) => {
  const root = temporaryDirectory(t);
  const clock = new StepClock();
  let engine = await openShard(root, { clock });
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  await addBelief(engine, 1, { subject: 'bob', object: 'a cold', user_id: 'bob' });
  const left = await lifeOfAda(engine, clock);
  await engine.write('flush', context, {});

  // The same search finds the hashes before the erasure, so it works.
  const before = [...readableRecords(engine)].join('\n');
  for (const what of ['added', 'superseding', 'accumulated', 'forgotten', 'consent', 'query'])
    assert.ok(before.includes(left.get(what)!), `${what} is found while the keys are there`);
  assert.ok(before.includes(`further source ${left.get('further source')!}`));
  const answer = await engine.write('auditPage', context, {
    filter: { grainHash: left.get('added')! },
    limit: 10,
    order: 'asc',
  });
  assert.deepEqual(
    answer.entries.map(({ eventType, grainHash }) => [eventType, grainHash]),
    [
      ['memory.added', left.get('added')],
      ['memory.read', left.get('added')],
    ],
  );

  const { keyFingerprint } = await engine.write('eraseUser', context, { userId: 'ada' });
  await engine.write('redactUser', context, { userId: 'ada', keyFingerprint });
  await until(engine, () => engine.read('statistics', context, {}).purgePending === 0);
  await engine.write('flush', context, {});
  await engine.close();

  const copy = temporaryDirectory(t);
  cpSync(root, join(copy, 'shard'), { recursive: true });
  const needles = new Map([...left].flatMap(([what, hash]) => hashNeedles(what, hash)));
  assert.deepEqual(foundInFiles(copy, needles), []);

  engine = await opened(t, join(copy, 'shard'), clock);
  const readable = [...readableRecords(engine)];
  assert.ok(readable.length > 20 && readable.some((text) => text.includes('a cold')), 'the log has readable records');
  for (const text of readable)
    for (const [what, hash] of left) {
      assert.ok(!text.includes(hash), `${what} in ${text}`);
      assert.ok(!text.includes(Buffer.from(hash, 'hex').toString('latin1')), `${what} (bytes) in ${text}`);
    }
  // The API reveals no more, and the chain is intact.
  for (const hash of left.values()) {
    const { entries } = await engine.write('auditPage', context, {
      filter: { grainHash: hash },
      limit: 10,
      order: 'asc',
    });
    assert.deepEqual(entries, []);
  }
  const { valid, checked } = await engine.write('verifyAudit', context, {});
  assert.ok(valid && checked > 15, `${checked} entries`);
  assert.ok(WORDS.every((word) => !readable.join('').includes(word)));
});
