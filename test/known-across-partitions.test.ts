// A fact stated by another session is known, whichever partition stores it: it is not stored again, and gains the event
// as a further source. Over HTTP, in memories of one partition and of four, which answer alike.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FURTHER_SOURCES_MAX } from '../src/engine/base/limits.ts';
import { partitionFor } from '../src/shards/gather/placement.ts';
import { factServer } from './support/fact-server.ts';

const THEN = 1_700_000_000;
const TEXT = 'I live in Paris.';
const SESSIONS = ['s0', 's1', 's2', 's3', 's4', 's5'];

const { send, memory, restarted } = factServer(TEXT);

test('the sessions of this file lie in several partitions', () => {
  const partitions = SESSIONS.map((session_id) => partitionFor({ grainType: 'event', fields: { session_id } }, 4));
  assert.ok(new Set(partitions).size >= 3, String(partitions));
});

for (const partitions of [1, 4])
  for (const dedup of ['exact', 'upsert', 'fuzzy'])
    describe(`${partitions} partitions under ${dedup}`, () => {
      test('a fact that other sessions repeat is one belief with all of them as sources, wherever it is shown', async () => {
        const { at, say, beliefs } = await memory({ partitions, dedup });
        const answers: Awaited<ReturnType<typeof say>>[] = [];
        for (const [i, session_id] of SESSIONS.entries())
          answers.push(await say({ session_id, created_at: THEN + 60 * i }));
        // A repeat is the same event.
        await say({ session_id: SESSIONS[3], created_at: THEN + 180 });
        const [belief, ...more] = await beliefs();
        assert.deepEqual(more, []);
        const [first, ...further] = answers.map(({ source }) => source);
        assert.equal(belief.fields.derived_from, first);
        const expected = further.reverse();
        assert.deepEqual(belief.sources, expected);
        for (const { answer } of answers.slice(1)) {
          assert.deepEqual([answer.duplicates, answer.warnings], [[belief.hash], []]);
          assert.deepEqual(answer.extracted_hashes, [belief.hash]);
        }
        assert.deepEqual((await at('GET', `/grains/${belief.hash}`)).sources, expected);
        const asked = { query: 'Paris', grain_type: 'belief', include_sources: true };
        const { results, sources } = await at('POST', '/recall', asked);
        assert.deepEqual(
          results.map((hit: { hash: string; sources: string[] }) => [hit.hash, hit.sources]),
          [[belief.hash, expected]],
        );
        assert.deepEqual(
          sources.map(({ hash }: { hash: string }) => hash).sort(),
          answers.map(({ source }) => source).sort(),
        );
        const { entries } = await at('GET', `/audit?grain_hash=${answers[2]?.source}`);
        assert.ok(
          entries.some((entry: Record<string, unknown>) => entry['event_type'] === 'memory.extracted'),
          JSON.stringify(entries),
        );
        assert.equal((await at('GET', '/audit?verify=true')).chain_valid, true);
      });

      test('a forgotten source is not shown, and one that is repeated is', async () => {
        const { at, say, beliefs } = await memory({ partitions, dedup });
        await say({ session_id: 's0', created_at: THEN });
        const sources: string[] = [];
        for (const session_id of SESSIONS.slice(1))
          sources.unshift((await say({ session_id, created_at: THEN + 60 })).source);
        for (let left = sources.length; left > 0; left -= 1) {
          const [gone, ...rest] = sources.splice(0);
          await at('POST', '/forget', { hash: gone });
          assert.deepEqual((await beliefs())[0].sources, rest.length === 0 ? undefined : rest);
          sources.push(...rest);
        }
        await say({ session_id: 's1', created_at: THEN + 120, keep_source: false });
        assert.equal((await beliefs())[0].sources, undefined);
      });
    });

test('sessions that state one fact at the same moment store it once', async () => {
  const { say, beliefs } = await memory({ partitions: 4 });
  const answers = await Promise.all(SESSIONS.map((session_id, i) => say({ session_id, created_at: THEN + i })));
  const [belief, ...more] = await beliefs();
  assert.deepEqual(more, []);
  const sources = [belief.fields.derived_from, ...belief.sources].sort();
  assert.deepEqual(sources, answers.map(({ source }) => source).sort());
});

test('a text with two objects leaves the last one under upsert, also when another session repeats it', async () => {
  for (const partitions of [1, 4]) {
    const { say, beliefs } = await memory({ partitions, dedup: 'upsert' });
    const text = 'I live in Paris. I live in Berlin.';
    for (const session_id of SESSIONS) await say({ text, session_id });
    const all: { fields: { object: string }; superseded_by?: string; sources: string[] }[] = await beliefs();
    assert.equal(all.length, 2, `${partitions}: ${JSON.stringify(all.map(({ fields }) => fields.object))}`);
    const current = all.filter((belief) => (belief.superseded_by ?? null) === null);
    assert.deepEqual(
      current.map(({ fields }) => fields.object),
      ['Berlin'],
    );
    for (const { sources } of all) assert.equal(sources.length, SESSIONS.length - 1);
  }
});

test('rule none stores everything again', async () => {
  const { say, beliefs } = await memory({ partitions: 4, dedup: 'none' });
  for (const session_id of SESSIONS) await say({ session_id });
  assert.equal((await beliefs()).length, SESSIONS.length);
});

test('a fact of another user or namespace is not known, and its key shows nothing of it', async () => {
  const { id, say, beliefs } = await memory({ partitions: 4 });
  const key = async (binding: object) =>
    (await send('POST', '/auth/keys', { scopes: ['read', 'write'], memory_id: id, ...binding })).raw_key as string;
  const acme = { key: await key({ namespace: 'acme' }) };
  const bob = { key: await key({ user_id: 'bob' }) };
  const [plain] = [await say({ text: 'Ada lives in Paris.', session_id: 's0' })];
  const fact = plain.answer.extracted_hashes[0];
  for (const [how, body] of [
    [acme, { user_id: 'ada' }],
    [bob, { user_id: undefined }],
  ] as const) {
    const own: string[] = [];
    for (const session_id of SESSIONS) {
      const { source, answer } = await say({ text: 'Ada lives in Paris.', session_id, ...body }, how);
      assert.equal(JSON.stringify(answer).includes(fact), false);
      assert.deepEqual(answer.warnings, []);
      own.push(source);
    }
    const [belief, ...more] = await beliefs(how);
    assert.deepEqual(more, []);
    assert.notEqual(belief.hash, fact);
    assert.deepEqual([...belief.sources, belief.fields.derived_from], own.reverse());
  }
  const [unbound] = (await beliefs()).filter(({ hash }: { hash: string }) => hash === fact);
  assert.equal(unbound.sources, undefined);
});

test('a retry under an idempotency key gets the first answer, whatever happened to the fact', async () => {
  const { at, say, beliefs } = await memory({ partitions: 4 });
  const { answer: first } = await say({ session_id: 's0' });
  const text = 'I live in Paris. I work at Initech.';
  for (const session_id of SESSIONS.slice(1)) {
    const once = { headers: { 'idempotency-key': `once ${session_id}` } };
    const body = { text, session_id, created_at: THEN };
    const { answer } = await say(body, once);
    const again = await say(body, once);
    assert.deepEqual(again.answer.extracted_hashes, answer.extracted_hashes);
    assert.ok(answer.extracted_hashes.includes(first.extracted_hashes[0]));
  }
  const count = (await beliefs()).length;
  assert.equal(count, 2);
  await at('POST', '/forget', { hash: first.extracted_hashes[0] });
  for (const session_id of SESSIONS.slice(1))
    await say({ text, session_id, created_at: THEN }, { headers: { 'idempotency-key': `once ${session_id}` } });
  assert.equal((await beliefs()).length, 1);
});

test('an erasure removes the fact, its sources and their names, and so does that of a namespace', async () => {
  const { id, say, at, beliefs } = await memory({ partitions: 4 });
  const sources: string[] = [];
  for (const session_id of SESSIONS) sources.push((await say({ session_id })).source);
  const kept = await say({ session_id: 's2', user_id: 'bob' });
  await send('POST', `/memories/${id}/forget`, { user_id: 'ada' });
  const [belief, ...more] = await beliefs();
  assert.deepEqual([belief.fields.derived_from, more], [kept.source, []]);
  for (const source of sources) {
    const { entries } = await at('GET', `/audit?grain_hash=${source}`);
    assert.deepEqual(entries, []);
  }
  // Later statements start again.
  const { answer } = await say({ session_id: 's4', created_at: THEN + 999 });
  assert.deepEqual(answer.duplicates, []);
  assert.equal((await beliefs()).length, 2);
});

test('sources of other partitions survive a seal, a merge, a rebuild and a restart', async () => {
  const { at, say, beliefs } = await memory({ partitions: 4 });
  await say({ session_id: 's0' });
  const expected: string[] = [];
  const exec = (command: string) => at('POST', '/app/exec', { command });
  const assertSources = async (when: string) => assert.deepEqual((await beliefs())[0].sources, expected, when);
  for (const session_id of SESSIONS.slice(1)) {
    expected.unshift((await say({ session_id })).source);
    await at('POST', '/flush', {});
    await assertSources('after a seal');
  }
  await exec('compact');
  await assertSources('after a merge');
  await exec('rebuild_indexes');
  await assertSources('after a rebuild');
  await restarted();
  await assertSources('after a restart');
});

test('a restriction hides a source as it hides the fact, and ends with it', async () => {
  const { at, say, beliefs } = await memory({ partitions: 4 });
  const exec = (command: string) => at('POST', '/app/exec', { command, args: { user_id: 'ada' } });
  const sources: string[] = [];
  for (const session_id of SESSIONS) sources.unshift((await say({ session_id })).source);
  await exec('restrict');
  assert.deepEqual(await beliefs(), []);
  await exec('unrestrict');
  assert.deepEqual((await beliefs())[0].sources, sources.slice(0, -1));
});

test('facts without a person gain sources from wherever they lie', async () => {
  for (const session_id of [undefined, ...SESSIONS.slice(0, 3)]) {
    const { say, beliefs } = await memory({ partitions: 4 });
    const own = session_id === undefined ? {} : { session_id };
    const first = await say({ text: 'Ada lives in Paris.', user_id: undefined, ...own });
    assert.deepEqual(first.answer.duplicates, []);
    const expected: string[] = [];
    for (let minute = 1; minute < 6; minute++) {
      const text = `Ada lives in Paris.${' '.repeat(minute)}`;
      const { source, answer } = await say({ text, user_id: undefined, created_at: THEN + 60 * minute });
      assert.deepEqual(answer.warnings, []);
      expected.unshift(source);
    }
    const [belief, ...more] = await beliefs();
    assert.deepEqual(more, []);
    assert.deepEqual(belief.sources, expected);
  }
});

test('removed sources in other partitions make room for new ones', async () => {
  const { at, say, beliefs } = await memory({ partitions: 4 });
  await say({ session_id: 's0' });
  for (const session_id of ['s1', 's2', 's3', 's4']) {
    const messages = Array.from({ length: 25 }, (_, i) => ({ role: 'user', content: TEXT, time: THEN + i }));
    const { answer } = await say({ text: undefined, messages, session_id });
    assert.deepEqual(answer.warnings, []);
  }
  const [{ sources: full }] = await beliefs();
  assert.equal(full.length, FURTHER_SOURCES_MAX);
  const beyond = await say({ session_id: 's5' });
  assert.match(String(beyond.answer.warnings), /a fact has at most 100 further sources/);
  for (const place of [3, 40, 70, 99]) await at('POST', '/forget', { hash: full[place] });
  const next = await say({ session_id: 's5', created_at: THEN });
  assert.deepEqual(next.answer.warnings, []);
  const expected = [next.source, ...full.filter((_: string, place: number) => ![3, 40, 70, 99].includes(place))];
  assert.deepEqual((await beliefs())[0].sources, expected);
  const last = await say({ session_id: 's5', created_at: THEN + 1 });
  assert.deepEqual((await beliefs())[0].sources, [last.source, ...expected]);
});
