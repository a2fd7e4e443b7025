// Trail entries of reads, in one engine: written with the next group, kept through crashes and refusals, and tampering
// with them is found.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { contextOf, openShard, settingsOf, until } from '../../test/support/shard.ts';
import { StepClock } from '../../test/support/step-clock.ts';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { EngineError } from './base/errors.ts';
import { READ_TRAIL_GROUP, READ_TRAIL_MAX, READ_TRAIL_MS } from './base/limits.ts';
import type { CallContext } from './calls/context.ts';
import type { RecallQuery } from './calls/recall.ts';
import type { AuditView } from './calls/trail.ts';
import type { Engine } from './engine.ts';
import { extendChain } from './govern/trail/audit.ts';
import { decodeAuditBody, encodeAuditBody } from './govern/trail/audit-codec.ts';
import { FaultyLog } from './log/faulty.ts';
import { frame } from './log/frame.ts';
import { MemoryLog, MemoryLogStore } from './log/memory.ts';
import { decodeRecord, encodeRecord } from './record/record-codec.ts';

const context = contextOf(1);
const DAY_MS = 86_400_000;

interface Opened {
  readonly engine: Engine;
  readonly log: FaultyLog;
  readonly clock: StepClock;
}

/** An engine over `store`, which outlives it; its keys and segments are in `root`. */
async function open(t: TestContext, store: MemoryLogStore, root: string, clock = new StepClock()): Promise<Opened> {
  const log = new FaultyLog(new MemoryLog(store));
  const engine = await openShard(root, { clock, log });
  t.after(() => engine.abandon().catch(() => undefined));
  return { engine, log, clock };
}

async function setUp(t: TestContext): Promise<Opened & { readonly store: MemoryLogStore; readonly root: string }> {
  const store = new MemoryLogStore();
  const root = temporaryDirectory(t);
  const opened = await open(t, store, root);
  await opened.engine.write('attachMemory', context, { settings: settingsOf(1) });
  return { ...opened, store, root };
}

async function add(engine: Engine, object: string, user?: string): Promise<string> {
  const fields = { subject: 'ada', relation: 'likes', object, ...(user === undefined ? {} : { user_id: user }) };
  return (await engine.write('add', context, { grainType: 'belief', fields, sync: false })).hash;
}

const QUERY: RecallQuery = { query: 'tea', filter: {}, structural: false, limit: 2, candidateLimit: 100 };
const RECORDED: RecallQuery = { ...QUERY, record: { asked: false } };

async function entriesOf(engine: Engine): Promise<readonly AuditView[]> {
  return (await engine.write('auditPage', context, { filter: {}, limit: 10_000, order: 'asc' })).entries;
}

async function namesOf(engine: Engine): Promise<readonly string[]> {
  return (await entriesOf(engine)).map(({ eventType }) => eventType);
}

const code = (expected: string) => (error: unknown) => error instanceof EngineError && error.code === expected;

test('each operation writes its entry', async (t) => {
  const { engine } = await setUp(t);
  const hash = await add(engine, 'tea', 'u');
  let newest = hash;
  const leaves: Readonly<Record<string, { readonly events: readonly string[]; readonly run: () => unknown }>> = {
    get: { events: ['memory.read'], run: () => engine.read('get', context, { hash }) },
    getRaw: { events: ['memory.read'], run: () => engine.read('getRaw', context, { hash }) },
    history: { events: ['memory.read'], run: () => engine.read('history', context, { hash }) },
    list: {
      events: ['memory.read'],
      run: () => engine.read('list', context, { filter: {}, limit: 1, order: 'desc' }),
    },
    recall: { events: ['memory.recalled'], run: () => engine.read('recall', context, RECORDED) },
    'a recall of the server itself': { events: [], run: () => engine.read('recall', context, QUERY) },
    'a read of the server itself': {
      events: [],
      run: () => engine.read('get', { ...context, actor: 'system' }, { hash }),
    },
    'a duplicate': { events: [], run: () => add(engine, 'tea', 'u') },
    add: { events: ['memory.added'], run: () => add(engine, 'coffee', 'u') },
    supersede: {
      events: ['memory.corrected'],
      run: async () => {
        newest = (await engine.write('supersede', context, { oldHash: newest, fields: { object: 'milk' } })).newHash;
      },
    },
    accumulate: {
      events: ['memory.accumulated'],
      run: () => engine.write('accumulate', context, { target: { hash: newest }, deltas: { count: 1 }, set: {} }),
    },
    forget: {
      events: ['memory.forgotten'],
      run: () => engine.write('forget', context, { hashes: [hash], check: false }),
    },
    note: {
      events: ['user.data_exported'],
      run: () => engine.write('note', context, { event: 'user.data_exported', details: { count: 1 }, userId: 'u' }),
    },
    rotateKeys: {
      events: ['key.rotated'],
      run: () => engine.write('rotateKeys', context, { scope: 'memory' }),
    },
    eraseUser: {
      events: ['user.erased', 'key.destroyed'],
      run: () => engine.write('eraseUser', context, { userId: 'u' }),
    },
    'a second erasure': { events: [], run: () => engine.write('eraseUser', context, { userId: 'u' }) },
    compact: { events: ['key.destroyed', 'tier.compaction_run'], run: () => engine.write('compact', context, {}) },
  };
  let before = (await entriesOf(engine)).length;
  for (const [name, { events, run }] of Object.entries(leaves)) {
    await run();
    const names = await namesOf(engine);
    assert.deepEqual(names.slice(before), events, name);
    before = names.length;
  }
});

test('a page of entries ends where it has no room, and the next one continues', async (t) => {
  const { engine } = await setUp(t);
  for (let at = 0; at < 12; at += 1) await add(engine, `tea ${at}`);
  const all = await entriesOf(engine);
  const asked = { filter: {}, limit: 100, order: 'asc', bytesMax: 6_000 } as const;
  const seqs: number[] = [];
  let pages = 0;
  for (let from: readonly number[] | undefined, more = true; more; pages += 1) {
    const page = await engine.write('auditPage', context, { ...asked, ...(from && { from }) });
    assert.ok(JSON.stringify(page.entries).length <= 6_000);
    seqs.push(...page.entries.map(({ seq }) => seq));
    from = page.next;
    more = from !== undefined;
  }
  assert.ok(pages > 2);
  assert.deepEqual(
    seqs,
    all.map(({ seq }) => seq),
  );
  const { entries } = await engine.write('auditPage', context, { filter: {}, limit: 2, order: 'asc', offset: 5 });
  assert.deepEqual(entries, all.slice(5, 7));
});

test('a page of the trail begins where it is asked to, whichever record cannot be read', async (t) => {
  const { engine, log } = await setUp(t);
  for (let i = 0; i < 9; i++) await add(engine, `tea ${i}`);
  const seqs = (await entriesOf(engine)).map(({ seq }) => seq);
  for (const bad of engine.store.allKeyed(1, 'audit')) {
    log.corrupt(bad);
    const readable = (await entriesOf(engine)).map(({ seq }) => seq);
    assert.ok(readable.length < seqs.length);
    for (const from of seqs)
      for (const order of ['asc', 'desc'] as const) {
        const { entries } = await engine.write('auditPage', context, { filter: {}, limit: 1, order, from: [from] });
        const wanted = order === 'asc' ? readable.find((seq) => seq >= from) : readable.findLast((seq) => seq <= from);
        assert.equal(entries[0]?.seq, wanted, `${order} from ${from} without record ${bad}`);
      }
    log.heal();
  }
});

test('reads are recorded with the next group, or after a while with a group of their own', async (t) => {
  const { engine, clock } = await setUp(t);
  const hash = await add(engine, 'tea');
  const sequence = () => engine.store.log.nextSequence;
  const first = sequence();
  for (let i = 0; i < 5; i++) engine.read('get', context, { hash });
  engine.read('recall', context, RECORDED);
  assert.equal(sequence(), first, 'a read does not wait for the disk');
  await add(engine, 'coffee');
  assert.equal(sequence(), first + 3, 'a grain, the entries of all, the record');
  engine.read('get', context, { hash });
  engine.maintain(0);
  assert.equal(sequence(), first + 3);
  clock.now += READ_TRAIL_MS;
  engine.maintain(0);
  await engine.write('flush', context, {});
  assert.equal((await namesOf(engine)).filter((name) => name === 'memory.read').length, 6);
  assert.equal((await engine.write('verifyAudit', context, {})).valid, true);
});

test('a clock that is set back does not keep the entries of reads from the log', async (t) => {
  const { engine, clock } = await setUp(t);
  const hash = await add(engine, 'tea');
  const before = engine.store.log.nextSequence;
  engine.read('get', context, { hash });
  // Within the hour: a new one has work that writes.
  clock.set(clock.now - 300_000);
  clock.step(READ_TRAIL_MS);
  await until(engine, () => engine.store.log.nextSequence > before);
});

test('a reader of the trail waits for the entries of earlier reads, and of no later ones', async (t) => {
  const { engine, log } = await setUp(t);
  const hash = await add(engine, 'tea');
  const append = log.append.bind(log);
  let appends = 0;
  log.append = (records) => {
    appends += 1;
    // Another caller reads without a pause.
    if (appends < 100) engine.read('get', context, { hash });
    return append(records);
  };
  engine.read('get', context, { hash });
  const { entries } = await engine.write('auditPage', context, { filter: {}, limit: 10, order: 'desc' });
  assert.equal(entries.filter(({ eventType }) => eventType === 'memory.read').length, 1);
  assert.equal(appends, 1);
});

test('more reads than fit in a group are written in several', async (t) => {
  const { engine } = await setUp(t);
  const hash = await add(engine, 'tea');
  const reads = 2 * READ_TRAIL_GROUP + 7;
  for (let i = 0; i < reads; i++) engine.read('get', { ...context, actor: `key:${i % 600}` }, { hash });
  const entries = (await entriesOf(engine)).filter(({ eventType }) => eventType === 'memory.read');
  assert.equal(entries.length, reads);
  assert.equal(new Set(entries.map(({ actor }) => actor)).size, 600);
  assert.deepEqual(await engine.write('verifyAudit', context, {}), { valid: true, checked: reads + 2, partition: 0 });
});

test('entries of a refused group are written with the next; entries over the limit are lost, and health reports it', async (t) => {
  const { engine, log } = await setUp(t);
  const hash = await add(engine, 'tea');
  engine.read('get', context, { hash });
  log.failNextAppend();
  await assert.rejects(add(engine, 'coffee'), code('STO-E001'));
  await add(engine, 'milk');
  assert.deepEqual((await namesOf(engine)).slice(-2), ['memory.added', 'memory.read']);
  for (let i = 0; i < READ_TRAIL_MAX + 3; i++) engine.read('get', context, { hash });
  const reasons = engine.read('health', context, {}).reasons.join('\n');
  assert.match(reasons, /3 reads are missing from audit trails/);
});

test('a shard that accepts no more writes continues to serve reads', async (t) => {
  const { engine, log } = await setUp(t);
  const hash = await add(engine, 'tea');
  log.failNextSync({ written: false });
  await assert.rejects(add(engine, 'coffee'), code('STO-E001'));
  assert.equal(engine.read('get', context, { hash }).hash, hash);
  assert.match(String(engine.read('recall', context, RECORDED).recallId), /^[0-9a-f]{64}$/);
  assert.deepEqual(await namesOf(engine), ['instance.created', 'memory.added']);
});

test('records survive a close and a crash; a crash may lose those of the last reads', async (t) => {
  const { engine, store, root } = await setUp(t);
  await add(engine, 'green tea', 'u');
  const kept = engine.read('recall', context, RECORDED).recallId!;
  await engine.close();
  const { engine: second } = await open(t, store, root);
  assert.equal((await second.write('recallRecord', context, { recallId: kept })).verified, true);
  const written = second.read('recall', context, RECORDED).recallId!;
  await second.write('recallTotals', context, {});
  const lost = second.read('recall', context, RECORDED).recallId!;
  await second.abandon();
  const { engine: third } = await open(t, store, root);
  assert.equal((await third.write('recallTotals', context, {})).totalRecords, 2);
  assert.equal((await third.write('recallRecord', context, { recallId: written })).resultCount, 1);
  await assert.rejects(third.write('recallRecord', context, { recallId: lost }), code('PRV-E001'));
  await third.write('rebuildIndexes', context, {});
  assert.equal((await third.write('recallRecord', context, { recallId: kept })).verified, true);
});

test('records expire, and those of younger recalls stay', async (t) => {
  const { engine, clock } = await setUp(t);
  await add(engine, 'tea');
  const old = engine.read('recall', context, RECORDED).recallId!;
  await engine.write('flush', context, {});
  clock.now += 179 * DAY_MS;
  const young = engine.read('recall', context, RECORDED).recallId!;
  await engine.write('flush', context, {});
  const hourly = async () => {
    clock.now += 3_600_000;
    for (let i = 0; i < 50; i++) {
      engine.maintain(5);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await hourly();
  assert.equal((await engine.write('recallTotals', context, {})).totalRecords, 2);
  clock.now += 2 * DAY_MS;
  await hourly();
  assert.equal((await engine.write('recallTotals', context, {})).totalRecords, 1);
  await assert.rejects(engine.write('recallRecord', context, { recallId: old }), code('PRV-E001'));
  assert.equal((await engine.write('recallRecord', context, { recallId: young })).verified, true);
  assert.equal((await engine.write('verifyAudit', context, {})).valid, true, 'the audit trail keeps its entries');
});

/** Twelve entries, each in a separate record except two that share one; returns their places in the log. */
async function chained(t: TestContext) {
  const { engine, store, root } = await setUp(t);
  for (let i = 0; i < 9; i++) await add(engine, `tea ${i}`);
  await Promise.all([add(engine, 'coffee'), add(engine, 'milk')]);
  await engine.close();
  const places = [...store.records.keys()]
    .sort((a, b) => a - b)
    .filter((sequence) => recordAt(store, sequence)?.kind === 'audit');
  return { store, root, places };
}

function recordAt(store: MemoryLogStore, sequence: number) {
  const framed = store.records.get(sequence);
  return framed === undefined ? undefined : decodeRecord(framed.subarray(0, framed.length - 4));
}

function auditAt(store: MemoryLogStore, sequence: number) {
  const record = recordAt(store, sequence);
  assert.ok(record?.kind === 'audit');
  return decodeAuditBody(record.body);
}

/** Replaces entries by others, with a correct checksum. */
function put(store: MemoryLogStore, sequence: number, entries: ReturnType<typeof auditAt>): void {
  const body = encodeAuditBody(entries);
  store.records.set(sequence, frame(encodeRecord({ kind: 'audit', memory: 1, body }), sequence));
}

const TAMPERED: Readonly<
  Record<string, (store: MemoryLogStore, places: readonly number[]) => { readonly badSeq: number }>
> = {
  'an entry that was edited': (store, places) => {
    const entries = auditAt(store, places[4]!);
    put(store, places[4]!, [{ ...entries[0]!, actor: 'key:somebody else' }]);
    return { badSeq: entries[0]!.seq };
  },
  'an entry that was edited and hashed anew': (store, places) => {
    const [entry] = auditAt(store, places[4]!);
    const before = auditAt(store, places[3]!).at(-1)!;
    const forged = extendChain(
      before,
      [
        {
          event: entry!.event,
          actor: 'key:somebody else',
          subject: entry!.subject,
          details: JSON.parse(entry!.details),
        },
      ],
      entry!.timestamp,
    );
    put(store, places[4]!, [...forged.entries]);
    // It verifies alone; the following entries were hashed with the original one.
    return { badSeq: entry!.seq + 1 };
  },
  'an entry that was dropped': (store, places) => {
    const { seq } = auditAt(store, places[5]!)[0]!;
    store.records.delete(places[5]!);
    return { badSeq: seq };
  },
  'two that changed places': (store, places) => {
    const [one, other] = [auditAt(store, places[2]!), auditAt(store, places[6]!)];
    put(store, places[2]!, other);
    put(store, places[6]!, one);
    return { badSeq: one[0]!.seq };
  },
  'one of two that share a record': (store, places) => {
    const last = auditAt(store, places.at(-1)!);
    assert.equal(last.length, 2);
    put(store, places.at(-1)!, [last[0]!]);
    return { badSeq: last[1]!.seq };
  },
  'bytes that are no entry': (store, places) => {
    const { seq } = auditAt(store, places[7]!)[0]!;
    const body = Buffer.alloc(40, 255);
    store.records.set(places[7]!, frame(encodeRecord({ kind: 'audit', memory: 1, body }), places[7]!));
    return { badSeq: seq };
  },
};

for (const [what, tamper] of Object.entries(TAMPERED))
  test(`${what} is found at its place`, async (t) => {
    const { store, root, places } = await chained(t);
    const sound = await open(t, store.clone(), root);
    assert.deepEqual(await sound.engine.write('verifyAudit', context, {}), {
      valid: true,
      checked: 12,
      partition: 0,
    });
    await sound.engine.abandon();
    const { badSeq } = tamper(store, places);
    const { engine } = await open(t, store, root);
    const { valid, firstBadSeq } = await engine.write('verifyAudit', context, {});
    assert.deepEqual([valid, firstBadSeq], [false, badSeq]);
    // Readable entries are still listed.
    assert.ok((await entriesOf(engine)).length >= 10);
  });

test('a check of the newest entries reads only their records, and does not see damage before them', async (t) => {
  const { store, root, places } = await chained(t);
  const { engine, log } = await open(t, store, root);
  log.corrupt(places[1]!);
  const checkedWith = async (limit: number) => {
    const { valid, checked } = await engine.write('verifyAudit', context, { limit });
    return valid ? checked : 'broken';
  };
  // The last two share a record.
  for (const [limit, checked] of [
    [1, 2],
    [2, 2],
    [3, 3],
    [9, 9],
    [12, 'broken'],
    [100, 'broken'],
  ] as const)
    assert.equal(await checkedWith(limit), checked, `the newest ${limit}`);
});

test('an actor who is a person is named by pseudonym, and by the proof once erased', async (t) => {
  const { engine } = await setUp(t);
  const ada: CallContext = { ...context, actor: 'user:ada' };
  const fields = { subject: 'a', relation: 'b', object: 'c', user_id: 'ada' };
  await engine.write('add', ada, { grainType: 'belief', fields, sync: false });
  const [, added] = await entriesOf(engine);
  assert.match(added!.actor, /^user:[0-9a-f]{32}$/);
  assert.equal(added!.actor, added!.subject);
  const byActor = await engine.write('auditPage', context, {
    filter: { actor: 'user:ada' },
    limit: 5,
    order: 'desc',
  });
  assert.equal(byActor.entries.length, 1);
  const { keyFingerprint } = await engine.write('eraseUser', context, { userId: 'ada' });
  const [, after] = await entriesOf(engine);
  assert.deepEqual([after!.actor, after!.subject], [`erased:${keyFingerprint}`, `erased:${keyFingerprint}`]);
  assert.equal((await engine.write('verifyAudit', context, {})).valid, true);
});

/** The hash of an entry as a client computes it from what it is shown, by docs/trail.md. */
function recomputed(entry: AuditView): string {
  const u64 = (value: number): Buffer => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(value));
    return bytes;
  };
  const sorted = Object.fromEntries(Object.entries(entry.details).sort(([one], [other]) => (one < other ? -1 : 1)));
  const texts = [entry.eventType, entry.actor, entry.subject, JSON.stringify(sorted), entry.prevHash].map((text) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(Buffer.byteLength(text));
    return Buffer.concat([length, Buffer.from(text)]);
  });
  return hash('sha256', Buffer.concat([u64(entry.seq), u64(entry.timestamp), ...texts]), 'hex');
}

test('a client recomputes every entry but those of an erased person, whose place the others prove', async (t) => {
  const { engine } = await setUp(t);
  for (const person of ['ada', 'bob'])
    await engine.write('add', context, {
      grainType: 'belief',
      fields: { subject: 'a', relation: 'b', object: person, user_id: person },
      sync: false,
    });
  const before = await entriesOf(engine);
  for (const entry of before) assert.equal(recomputed(entry), entry.hash, entry.eventType);
  await engine.write('eraseUser', context, { userId: 'ada' });
  const after = await entriesOf(engine);
  let previous = '0'.repeat(64);
  for (const entry of after) {
    assert.equal(entry.prevHash, previous);
    previous = entry.hash;
    const isErased = entry.actor.startsWith('erased:') || entry.subject.startsWith('erased:');
    assert.equal(recomputed(entry) === entry.hash, !isErased, entry.eventType);
  }
  assert.ok(after.some(({ subject }) => subject.startsWith('erased:')));
  assert.deepEqual(
    before.map((entry) => recomputed(entry)),
    after.slice(0, before.length).map((entry) => entry.hash),
    'a copy from before the erasure has the same hashes',
  );
  assert.equal((await engine.write('verifyAudit', context, {})).valid, true);
});

test('no record contains a name or a word of a question', async (t) => {
  const { engine, store } = await setUp(t);
  await add(engine, 'tea', 'ada-the-user');
  engine.read('recall', context, {
    ...RECORDED,
    query: 'canaryword tea',
    filter: { subject: 'canarysubject', userId: 'ada-the-user', namespace: 'canaryplace' },
    structural: true,
  });
  await engine.write('flush', context, {});
  for (const framed of store.records.values()) {
    const bytes = Buffer.from(framed);
    for (const canary of ['canaryword', 'canarysubject', 'canaryplace', 'ada-the-user'])
      for (const encoding of ['utf8', 'utf16le'] as const) assert.ok(!bytes.includes(Buffer.from(canary, encoding)));
  }
});
