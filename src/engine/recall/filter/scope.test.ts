import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInScope, scopeDepth, scopeView } from './scope.ts';

const SCOPES = ['', 'acme', 'acme/prod', 'acme/prod/bot1', 'acme/prod/bot1/x', 'acme/prod/bot2', 'acme/prod/bot2/y'];
const OTHERS = ['acme/test', 'acme/production', 'globex', 'globex/prod', 'acm', 'default'];

function seen(path: string, siblings = false): string[] {
  const view = scopeView(path, siblings);
  return view === undefined ? [] : [...SCOPES, ...OTHERS].filter((namespace) => isInScope(view, namespace));
}

test('a scope sees itself, what is above it and what is below it', () => {
  assert.deepEqual(seen('acme/prod'), ['acme', 'acme/prod', ...SCOPES.slice(3)]);
  assert.deepEqual(seen('acme/prod/bot1'), ['acme', 'acme/prod', 'acme/prod/bot1', 'acme/prod/bot1/x']);
  assert.deepEqual(seen('nowhere'), []);
});

test('siblings have the same parent, and what is below them is not included', () => {
  assert.deepEqual(seen('acme/prod/bot1', true), [
    'acme',
    'acme/prod',
    'acme/prod/bot1',
    'acme/prod/bot1/x',
    'acme/prod/bot2',
  ]);
  const top = seen('globex', true);
  assert.deepEqual(top, ['acme', 'globex', 'globex/prod', 'acm', 'default']);
});

test('slashes at the ends of a path are ignored, and a path without a name is not a path', () => {
  assert.deepEqual(scopeView('/acme//prod/', false), scopeView('acme/prod', false));
  for (const path of ['', '/', '///']) assert.equal(scopeView(path, true), undefined);
});

test('depth counts from the top level, which has depth 0', () => {
  assert.deepEqual(['acme', 'acme/prod', 'acme/prod/bot1'].map(scopeDepth), [0, 1, 2]);
});
