// A known fact that is repeated gains the repeating event as a source, over HTTP: shown while the event exists, also
// after a seal, a merge, a rebuild and a restart.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FURTHER_SOURCES_MAX } from '../src/engine/base/limits.ts';
import { factServer } from './support/fact-server.ts';

const THEN = 1_700_000_000;
const TEXT = 'I live in Paris.';

const { send, memory, restarted } = factServer(TEXT);

for (const partitions of [1, 4])
  for (const dedup of ['exact', 'upsert', 'fuzzy'])
    describe(`${partitions} partitions under ${dedup}`, () => {
      test('the same text twice gives one belief with two sources, in every answer', async () => {
        const { at, say, beliefs } = await memory({ partitions, dedup });
        const first = await say({ created_at: THEN });
        const second = await say({ created_at: THEN + 60 });
        const third = await say({ created_at: THEN + 120 });
        // A repeat is the same event.
        await say({ created_at: THEN + 120 });
        const [belief, ...more] = await beliefs();
        assert.deepEqual(more, []);
        const expected = [third.source, second.source];
        assert.deepEqual([belief.fields.derived_from, belief.sources], [first.source, expected]);
        assert.deepEqual([second.answer.duplicates, second.answer.warnings], [[belief.hash], []]);
        assert.deepEqual((await at('GET', `/grains/${belief.hash}`)).sources, expected);
        const asked = { query: 'Paris', grain_type: 'belief', include_sources: true };
        const { results, sources } = await at('POST', '/recall', asked);
        assert.deepEqual(
          results.map((hit: { hash: string; sources: string[] }) => [hit.hash, hit.sources]),
          [[belief.hash, expected]],
        );
        assert.deepEqual(
          sources.map(({ hash }: { hash: string }) => hash).sort(),
          [first.source, second.source, third.source].sort(),
        );
        // The trail contains the event, like the belief.
        const { entries } = await at('GET', `/audit?grain_hash=${second.source}`);
        assert.ok(
          entries.some((entry: Record<string, unknown>) => entry['event_type'] === 'memory.extracted'),
          JSON.stringify(entries),
        );
        assert.equal((await at('GET', '/audit?verify=true')).chain_valid, true);
      });

      test('a forgotten source is not shown, and one that is repeated is', async () => {
        const { at, say, beliefs } = await memory({ partitions, dedup });
        await say({ created_at: THEN });
        const second = await say({ created_at: THEN + 60 });
        const third = await say({ created_at: THEN + 120 });
        await at('POST', '/forget', { hash: second.source });
        assert.deepEqual((await beliefs())[0].sources, [third.source]);
        await at('POST', '/forget', { hash: third.source });
        assert.equal((await beliefs())[0].sources, undefined);
        const fourth = await say({ created_at: THEN + 180 });
        assert.deepEqual((await beliefs())[0].sources, [fourth.source]);
        // A source that is not kept leaves nothing visible.
        await say({ created_at: THEN + 240, keep_source: false });
        assert.deepEqual((await beliefs())[0].sources, [fourth.source]);
      });
    });

test('sources survive a seal, a merge, a rebuild and a restart, and an erasure removes them', async () => {
  const { id, at, say, beliefs } = await memory({ partitions: 1, dedup: 'exact' });
  await say({ created_at: THEN });
  const expected: string[] = [];
  const exec = (command: string) => at('POST', '/app/exec', { command });
  const assertSources = async (when: string) => assert.deepEqual((await beliefs())[0].sources, expected, when);
  for (const seconds of [60, 120, 180]) {
    expected.unshift((await say({ created_at: THEN + seconds })).source);
    await at('POST', '/flush', {});
    await assertSources('after a seal');
  }
  await exec('compact');
  await assertSources('after a merge');
  await exec('rebuild_indexes');
  await assertSources('after a rebuild');
  await restarted();
  await assertSources('after a restart');
  await send('POST', `/memories/${id}/forget`, { user_id: 'ada' });
  assert.deepEqual(await beliefs(), []);
});

test(`at most ${FURTHER_SOURCES_MAX} further sources are kept, and removed ones make room`, async () => {
  const { at, say, beliefs } = await memory({ partitions: 1 });
  const messages = Array.from({ length: FURTHER_SOURCES_MAX + 1 }, (_, i) => ({
    role: 'user',
    content: TEXT,
    time: THEN + i,
  }));
  const { answer } = await say({ text: undefined, messages, session_id: 's' });
  assert.deepEqual(answer.warnings, []);
  const [full] = await beliefs();
  assert.deepEqual(full.sources, answer.source_hashes.slice(1).reverse());
  const beyond = await say({ created_at: THEN + 1_000 });
  assert.match(String(beyond.answer.warnings), /a fact has at most 100 further sources/);
  assert.deepEqual((await beliefs())[0].sources, full.sources);
  await at('POST', '/forget', { hash: answer.source_hashes[5] });
  const next = await say({ created_at: THEN + 2_000 });
  assert.deepEqual(next.answer.warnings, []);
  const { sources } = (await beliefs())[0];
  assert.equal(sources.length, FURTHER_SOURCES_MAX);
  assert.equal(sources[0], next.source);
});
