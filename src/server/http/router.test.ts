import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineError } from '../../engine/base/errors.ts';
import { Router } from './router.ts';

function routerOf(...routes: string[]): Router<string> {
  const router = new Router<string>();
  for (const route of routes) {
    const [method = '', pattern = ''] = route.split(' ');
    router.add(method, pattern, route);
  }
  return router;
}

const router = routerOf(
  'GET /api/health',
  'GET /api/memories',
  'POST /api/memories',
  'GET /api/memories/{id}',
  'DELETE /api/memories/{id}',
  'POST /api/memories/{id}/add',
  'GET /api/memories/{id}/grains/{hash}',
  'GET /api/memories/{id}/grains/{hash}/raw',
  'GET /api/memories/{id}/agents/{agent_id}',
  'GET /api/memories/{id}/agents/identities',
  'POST /api/memories/{id}/agents/identities',
  'POST /api/memories/{id}/agents/{name}/rename',
);

test('a route is found with its decoded parameters', () => {
  assert.deepEqual(router.match('GET', '/api/memories/notes/grains/ab%2Fcd'), {
    found: 'route',
    route: 'GET /api/memories/{id}/grains/{hash}',
    params: { id: 'notes', hash: 'ab/cd' },
  });
  assert.deepEqual(router.match('POST', '/api/m%65mories/caf%C3%A9/add'), {
    found: 'route',
    route: 'POST /api/memories/{id}/add',
    params: { id: 'café' },
  });
});

test('text wins over a parameter, which is tried when the text leads nowhere', () => {
  const found = (method: string, path: string): unknown => {
    const match = router.match(method, path);
    return match.found === 'route' ? [match.route, match.params] : match;
  };
  assert.deepEqual(found('GET', '/api/memories/m/agents/identities'), [
    'GET /api/memories/{id}/agents/identities',
    { id: 'm' },
  ]);
  assert.deepEqual(found('GET', '/api/memories/m/agents/a1'), [
    'GET /api/memories/{id}/agents/{agent_id}',
    { id: 'm', agent_id: 'a1' },
  ]);
  assert.deepEqual(found('POST', '/api/memories/m/agents/identities/rename'), [
    'POST /api/memories/{id}/agents/{name}/rename',
    { id: 'm', name: 'identities' },
  ]);
});

test('HEAD finds the route of GET', () => {
  const match = router.match('HEAD', '/api/health');
  assert.equal(match.found === 'route' && match.route, 'GET /api/health');
  assert.deepEqual(router.match('HEAD', '/api/memories/m/add'), { found: 'methods', allow: 'OPTIONS, POST' });
});

test('a known path with another method reports the allowed ones', () => {
  assert.deepEqual(router.match('PUT', '/api/memories'), { found: 'methods', allow: 'GET, HEAD, OPTIONS, POST' });
  assert.deepEqual(router.match('PUT', '/api/memories/m/agents/identities'), {
    found: 'methods',
    allow: 'GET, HEAD, OPTIONS, POST',
  });
});

test('unknown paths match nothing', () => {
  const paths = [
    '/',
    '',
    '*',
    '/api',
    '/api/memories/',
    '/api/memories//add',
    '//api/health',
    '/api/health/x',
    '/API/health',
  ];
  for (const path of paths) assert.deepEqual(router.match('GET', path), { found: 'nothing' }, path);
});

test('a path that is not percent-encoded UTF-8 is refused', () => {
  for (const path of ['/api/%ff', '/api/%', '/api/%zz', '/api/caf\u00e9', '/api/a b', '/api/\ufffd', '/api/%C3']) {
    assert.throws(
      () => router.match('GET', path),
      (error) => error instanceof EngineError && error.code === 'VAL-E001',
      path,
    );
  }
});

test('a method and pattern have one route', () => {
  assert.throws(() => routerOf('GET /a/{x}', 'GET /a/{y}'), /one route/);
  assert.throws(() => routerOf('GET a'), /slash/);
});

test('an encoded path segment is decoded into its parameter', () => {
  const one = routerOf('GET /x/{value}/y');
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text.isWellFormed()),
      (value) => {
        const match = one.match('GET', `/x/${encodeURIComponent(value)}/y`);
        assert.deepEqual(match, { found: 'route', route: 'GET /x/{value}/y', params: { value } });
      },
    ),
  );
});
