// Versions that other people made, after an erasure: no answer shows the hash of one that is gone, since that hash and the rest
// of the text would confirm a guess of the name.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { addBelief, contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { MemorySettings } from '../calls/memory.ts';
import type { Engine } from '../engine.ts';

const context = contextOf(1);

/** A memory that holds a grain of ada's own, so that she has a key. */
async function withAda(t: TestContext, settings: Partial<MemorySettings> = {}): Promise<Engine> {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: { ...settingsOf(1), ...settings } });
  await addBelief(engine, 1, { subject: 'tea', object: 'is hers', user_id: 'ada' });
  return engine;
}

async function eraseAda(engine: Engine): Promise<void> {
  const { keyFingerprint } = await engine.write('eraseUser', context, { userId: 'ada' });
  await engine.write('redactUser', context, { userId: 'ada', keyFingerprint });
}

const changed = async (engine: Engine, oldHash: string, fields: Readonly<Record<string, string>>): Promise<string> =>
  (await engine.write('supersede', context, { oldHash, fields })).newHash;

/** The hashes of the grains of bob, every version, oldest first. */
const ofBob = (engine: Engine): string[] =>
  engine
    .read('list', context, { filter: { userId: 'bob', includeSuperseded: true }, limit: 50, order: 'asc' })
    .grains.map(({ hash }) => hash);

const exported = async (engine: Engine, as = context) =>
  (await engine.write('exportPage', as, { after: 0, limitBytes: 1 << 20, filter: { includeSuperseded: true } })).grains;

test('the version before a redacted one leads to the one that took its place', async (t) => {
  const engine = await withAda(t);
  const first = await addBelief(engine, 1, { subject: 'the cat', object: 'sleeps', user_id: 'bob' });
  const naming = await changed(engine, first, { subject: 'ada' });
  assert.equal(engine.read('get', context, { hash: first }).supersededBy, naming);
  await eraseAda(engine);
  const left = ofBob(engine);
  const redacted = left.find((hash) => hash !== first);
  assert.ok(left.length === 2 && redacted !== undefined && redacted !== naming);
  const view = engine.read('get', context, { hash: first });
  assert.deepEqual([view.supersededBy, view.fields['superseded_by']], [redacted, redacted]);
  assert.equal((await exported(engine)).find(({ hash }) => hash === first)?.supersededBy, redacted);
});

test('events tell no hash of a version that named the person', async (t) => {
  const engine = await withAda(t);
  const naming = await addBelief(engine, 1, { subject: 'ada', object: 'sleeps', user_id: 'bob' });
  const forgotten = await addBelief(engine, 1, { subject: 'a dog', object: 'barks', user_id: 'bob' });
  await engine.write('forget', context, { hashes: [forgotten], check: false });
  await changed(engine, naming, { subject: 'the cat' });
  const told = async (): Promise<ReadonlySet<string | undefined>> =>
    new Set(
      (await engine.write('events', context, { after: 0 })).events.flatMap(({ hash, oldHash }) => [hash, oldHash]),
    );
  assert.ok((await told()).has(naming));
  await eraseAda(engine);
  const left = await told();
  assert.deepEqual([left.has(naming), left.has(forgotten)], [false, true]);
});

test('a version that an upsert put after one with the name stays as it is', async (t) => {
  const engine = await withAda(t, { dedup: 'upsert' });
  await addBelief(engine, 1, { subject: 'the team', object: 'ada', user_id: 'bob' });
  const next = await addBelief(engine, 1, { subject: 'the team', object: 'bob', user_id: 'bob' });
  await eraseAda(engine);
  assert.deepEqual(ofBob(engine), [next]);
});

test('a grain that a file linked to one of an erased person stays as it is', async (t) => {
  const engine = await withAda(t);
  const hers = await addBelief(engine, 1, { subject: 'the cat', object: 'sleeps', user_id: 'ada' });
  const his = await addBelief(engine, 1, { subject: 'the cat', object: 'runs', user_id: 'bob' });
  const blobs = [hers, his].map((hash) => engine.read('getRaw', context, { hash }).blob);
  const { refused } = await engine.write('importBlobs', context, {
    blobs,
    manifest: [{ hash: hers, supersededBy: his }],
  });
  assert.deepEqual(refused, []);
  await eraseAda(engine);
  assert.deepEqual(ofBob(engine), [his]);
});

for (const place of ['first', 'second'])
  test(`no answer tells the hash of a ${place} version with the name, before one without it`, async (t) => {
    const engine = await withAda(t);
    const source = await addBelief(engine, 1, { subject: 'a note', object: 'says so', user_id: 'bob' });
    const cat = { subject: 'the cat', object: 'sleeps', user_id: 'bob', derived_from: source };
    const naming =
      place === 'first'
        ? await addBelief(engine, 1, { ...cat, subject: 'ada' })
        : await changed(engine, await addBelief(engine, 1, cat), { subject: 'ada' });
    const last = await changed(engine, naming, { subject: 'a dog', derived_from: source });
    const shown = () => {
      const view = engine.read('get', context, { hash: last });
      const { versions } = engine.read('history', context, { hash: last });
      return { view, text: JSON.stringify([view, versions]) };
    };
    const before = shown();
    assert.deepEqual([before.view.supersedes, before.view.fields['derived_from']], [naming, source]);
    await eraseAda(engine);
    const { view, text } = shown();
    assert.deepEqual([view.supersedes, view.fields['derived_from']], [undefined, source]);
    assert.ok(!text.includes(naming));
    // The bytes stay, because they are what the hash is of.
    assert.equal(view.hash, last);
  });

test('a version whose successor was erased is superseded still', async (t) => {
  const engine = await withAda(t);
  const his = await addBelief(engine, 1, { subject: 'the cat', object: 'sleeps', user_id: 'bob' });
  await changed(engine, his, { user_id: 'ada' });
  await eraseAda(engine);
  const { supersededBy, isSuperseded } = engine.read('get', context, { hash: his });
  assert.deepEqual([supersededBy, isSuperseded], [undefined, true]);
});

test('a bound caller learns that a version was replaced, and no hash of a version outside', async (t) => {
  const engine = await withAda(t);
  const his = await addBelief(engine, 1, { subject: 'the cat', object: 'sleeps', user_id: 'bob' });
  const hers = await changed(engine, his, { user_id: 'ada' });
  assert.equal(engine.read('get', context, { hash: his }).supersededBy, hers);
  const bound = { ...context, userId: 'bob' };
  const { supersededBy, isSuperseded, fields } = engine.read('get', bound, { hash: his });
  assert.deepEqual([supersededBy, isSuperseded, fields['superseded_by']], [undefined, true, undefined]);
  const { events } = await engine.write('events', { ...context, userId: 'ada' }, { after: 0 });
  assert.ok(events.some(({ kind, hash }) => kind === 'grain_superseded' && hash === hers));
  assert.ok(events.every(({ oldHash }) => oldHash === undefined));
  const [version] = engine.read('history', bound, { hash: his }).versions;
  assert.equal(version?.fields['superseded_by'], undefined);
  assert.deepEqual(
    (await exported(engine, bound)).map(({ hash, supersededBy: next }) => [hash, next]),
    [[his, undefined]],
  );
});
