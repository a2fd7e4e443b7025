import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBasePath, withoutBase } from './base-path.ts';
import { ADMIN, ask, makeParts } from './testing/parts.ts';

test('a base path is one or more plain segments, without the slash at its end', () => {
  assert.equal(parseBasePath(''), '');
  assert.equal(parseBasePath('/'), '');
  assert.equal(parseBasePath('/granary/'), '/granary');
  assert.equal(parseBasePath('/tools/memory-1.2'), '/tools/memory-1.2');
  for (const bad of ['granary', '/a//b', '/../b', '/a b', '/a%2Fb', '/a?b', '/a#b', 'https://host/granary', '/ä'])
    assert.throws(() => parseBasePath(bad), /must be a path/, bad);
});

test('a base path that hides a path of the server is refused', () => {
  for (const own of ['/api', '/health/x', '/metrics', '/console', '/mcp'])
    assert.throws(() => parseBasePath(own), /must not begin/, own);
  assert.equal(parseBasePath('/apis'), '/apis');
});

test('the base is removed where it is a whole segment', () => {
  assert.equal(withoutBase('/granary/api/config', '/granary'), '/api/config');
  assert.equal(withoutBase('/granary', '/granary'), '/');
  assert.equal(withoutBase('/granary/', '/granary'), '/');
  assert.equal(withoutBase('/granaryx/api', '/granary'), '/granaryx/api');
  assert.equal(withoutBase('/api/config', '/granary'), '/api/config');
  assert.equal(withoutBase('/granary/granary/api', '/granary'), '/granary/api');
  assert.equal(withoutBase('/api', ''), '/api');
});

test('the OpenAPI document of a server below a path has the addresses below it', async (t) => {
  const urlOf = async (basePath: string): Promise<unknown> => {
    const parts = await makeParts({ flags: { basePath } });
    t.after(() => parts.close());
    const { servers } = (await ask(parts, 'GET', '/openapi.json', { key: ADMIN })).body as {
      readonly servers: readonly { readonly url: string }[];
    };
    return servers[0]?.url;
  };
  assert.equal(await urlOf('/granary'), '/granary');
  assert.equal(await urlOf(''), '/');
});
