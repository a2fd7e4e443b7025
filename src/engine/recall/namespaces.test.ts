// Searches over many namespaces: a session, or a user, often has one of its own.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { GrainFilter } from '../calls/grain.ts';
import type { Engine } from '../engine.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import { scopeView } from './filter/scope.ts';

async function opened(t: TestContext, grains: readonly JsonObject[]): Promise<Engine> {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.abandon());
  await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
  for (let from = 0; from < grains.length; from += 1_000) {
    const items = grains.slice(from, from + 1_000).map((fields, at) => {
      const isEvent = fields['content'] !== undefined;
      return { grainType: isEvent ? 'event' : 'belief', fields: { created_at: 1_700_000_000 + from + at, ...fields } };
    });
    const { outcomes } = await engine.write('addBatch', contextOf(1), { items });
    for (const one of outcomes) if ('error' in one) assert.fail(one.error.message);
  }
  return engine;
}

function namespacesOf(engine: Engine, filter: GrainFilter): string[] {
  return [...engine.read('namespaces', contextOf(1), { filter }).namespaces].sort();
}

test('the namespaces of a filter are those that hold a grain which passes it', async (t) => {
  const engine = await opened(t, [
    { content: 'hello', namespace: 'a/b' },
    { content: 'hello', namespace: 'a/c', tags: ['hidden'] },
    { subject: 'Ada', relation: 'likes', object: 'tea', namespace: 'a/d' },
    { subject: 'Ada', relation: 'likes', object: 'tea', namespace: 'e', user_id: 'ada' },
    { content: 'hello', namespace: 'f', user_id: 'bob' },
  ]);
  const scope = scopeView('a', false);
  for (const sealed of [false, true]) {
    if (sealed) await engine.write('flush', contextOf(1), {});
    assert.deepEqual(namespacesOf(engine, {}), ['a/b', 'a/c', 'a/d', 'e', 'f']);
    assert.deepEqual(namespacesOf(engine, { scope }), ['a/b', 'a/c', 'a/d']);
    assert.deepEqual(namespacesOf(engine, { scope, excludeTags: ['hidden'] }), ['a/b', 'a/d']);
    assert.deepEqual(namespacesOf(engine, { grainTypes: ['belief', 'goal'] }), ['a/d', 'e']);
    assert.deepEqual(namespacesOf(engine, { grainTypes: ['goal'] }), []);
    assert.deepEqual(namespacesOf(engine, { forUser: 'ada' }), ['a/b', 'a/c', 'a/d', 'e']);
    assert.deepEqual(engine.read('namespaces', { ...contextOf(1), namespace: 'a/b' }, { filter: {} }).namespaces, [
      'a/b',
    ]);
  }
});

test('a search over as many namespaces as grains takes no longer for each namespace', async (t) => {
  const engine = await opened(
    t,
    Array.from({ length: 12_000 }, (_, at) =>
      at % 2 === 0
        ? { content: `hello ${at}`, namespace: `org/u${at}` }
        : { subject: `s${at}`, relation: 'is', object: 'x', namespace: `org/u${at}` },
    ),
  );
  const spent = (work: () => unknown): number => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const recall = { structural: true, limit: 10, candidateLimit: 100 };
  const grainTypes = ['event', 'belief'] as const;
  // The cost of one look at each namespace.
  const least = Math.max(
    spent(() => engine.read('statistics', contextOf(1), {})),
    10_000,
  );
  const scoped = spent(() =>
    engine.read('recall', contextOf(1), { ...recall, filter: { scope: scopeView('org', false) } }),
  );
  const listed = spent(() => engine.read('namespaces', contextOf(1), { filter: { grainTypes } }));
  assert.ok(scoped < 12 * least, `${scoped} of ${least}`);
  assert.ok(listed < 12 * least, `${listed} of ${least}`);
});
