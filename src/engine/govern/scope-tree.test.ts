import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineError } from '../base/errors.ts';
import { inTree, isInScope, scopeView } from '../recall/filter/scope.ts';
import { checkScopeTree, type ScopeNode, ScopeTree, treeOf } from './scope-tree.ts';

const ORG: ScopeNode = {
  name: 'org',
  children: [
    { name: 'acme', children: [{ name: 'prod', children: [{ name: 'bot1' }, { name: 'bot2' }] }, { name: 'test' }] },
    { name: 'globex' },
  ],
};

function code(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as EngineError).code; // every error here has a code
  }
  return 'none';
}

test('a tree is stored as given, with composed names and without empty lists', () => {
  assert.deepEqual(checkScopeTree(ORG), ORG);
  assert.deepEqual(checkScopeTree({ name: 'cafe\u0301', children: [], more: 1 }), { name: 'café' });
});

test('an invalid tree is refused with SCP-E002', () => {
  const deep = (levels: number): ScopeNode =>
    levels === 0 ? { name: 'x' } : { name: 'x', children: [deep(levels - 1)] };
  const wide = (count: number): unknown => ({
    name: 'root',
    children: Array.from({ length: count }, (_, i) => ({ name: `n${i}` })),
  });
  const bad: unknown[] = [
    undefined,
    'org',
    [],
    {},
    { name: 3 },
    { name: '' },
    { name: 'a/b' },
    { name: 'a\u0007' },
    { name: 'x'.repeat(65) },
    { name: '\ud800' },
    { name: 'org', children: 'a' },
    { name: 'org', children: [{ name: 'a' }, { name: 'a' }] },
    { name: 'org', children: [{ name: 'cafe\u0301' }, { name: 'café' }] },
    deep(9),
    wide(10_000),
  ];
  for (const value of bad)
    assert.equal(
      code(() => checkScopeTree(value)),
      'SCP-E002',
      JSON.stringify(value)?.slice(0, 80),
    );
  for (const value of [deep(8), wide(9_999), { name: '😀'.repeat(64) }])
    assert.equal(
      code(() => checkScopeTree(value)),
      'none',
    );
});

test('a leading name of the root is dropped, unless a child has that name', () => {
  const tree = new ScopeTree(ORG);
  assert.equal(tree.pathOf('org/acme/prod'), 'acme/prod');
  assert.equal(tree.pathOf('/acme//prod/'), 'acme/prod');
  assert.equal(tree.pathOf('org'), '');
  assert.equal(
    code(() => tree.pathOf('acme/none')),
    'SCP-E001',
  );
  const twice = new ScopeTree({ name: 'org', children: [{ name: 'org', children: [{ name: 'acme' }] }] });
  assert.equal(twice.pathOf('org/acme'), 'org/acme');
  assert.equal(
    code(() => twice.pathOf('acme')),
    'SCP-E001',
  );
});

test('a namespace under a known top level must be a node, others are free', () => {
  const tree = new ScopeTree(ORG);
  for (const namespace of ['acme', 'acme/prod/bot1', 'globex', 'default', 'other/thing', 'acmes/x', '', 'org'])
    assert.equal(
      code(() => tree.checkNamespace(namespace)),
      'none',
      namespace,
    );
  for (const namespace of ['acme/none', 'globex/x', 'acme/'])
    assert.equal(
      code(() => tree.checkNamespace(namespace)),
      'SCP-E001',
      namespace,
    );
});

test('a path in a tree sees its line up to the root, everything below it, and sibling nodes', () => {
  const settings = { scopes: { root: ORG, updatedAtMs: 0 } };
  const all = [...treeOf(ORG).subtreeOf(''), 'org', 'default', 'initech'];
  const seen = (path: string, siblings = false): string[] => {
    const scope = inTree(settings, { scope: scopeView(path, siblings)! }).scope!;
    return all.filter((namespace) => isInScope(scope, namespace));
  };
  assert.deepEqual(seen('acme/prod/bot1'), ['acme', 'acme/prod', 'acme/prod/bot1', 'org']);
  assert.deepEqual(seen('org/acme/prod/bot1', true), ['acme', 'acme/prod', 'acme/prod/bot1', 'acme/prod/bot2', 'org']);
  assert.deepEqual(seen('acme'), ['acme', 'acme/prod', 'acme/prod/bot1', 'acme/prod/bot2', 'acme/test', 'org']);
  assert.deepEqual(seen('globex', true), ['acme', 'globex', 'org']);
  assert.deepEqual(seen('org'), [...treeOf(ORG).subtreeOf(''), 'org']);
  assert.equal(
    code(() => seen('initech')),
    'SCP-E001',
  );
  // A resolved path is not looked up again.
  const resolved = inTree(settings, { scope: scopeView('org', false)! });
  assert.equal(inTree(settings, resolved), resolved);
});
