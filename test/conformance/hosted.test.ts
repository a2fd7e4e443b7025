// Operations that a hosted deployment leaves out: settings of models, import jobs, the list of agents and the
// management of harnesses answer AUT-E006. Their neighbours answer as everywhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '../support/server.ts';
import { HttpClient } from './http-client.ts';

const M = '/memories/default';
const LEFT_OUT: readonly (readonly ['GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', string, object?])[] = [
  ['PUT', '/settings/llm', { provider: 'p', model: 'm' }],
  ['PUT', '/settings/providers/p', { kind: 'mock' }],
  ['DELETE', '/settings/providers/p'],
  ['POST', '/settings/providers/p/test', {}],
  ['PUT', '/settings/model-assignments', { assignments: {} }],
  ['GET', `${M}/imports`],
  ['GET', `${M}/agents`],
  ['GET', `${M}/agents/a`],
  ['GET', `${M}/harnesses`],
  ['POST', `${M}/harnesses`, { slug: 's', name: 'S', description: 'd', template: 'blank' }],
  ['GET', `${M}/harnesses/s`],
  ['PATCH', `${M}/harnesses/s`, { name: 'T' }],
  ['DELETE', `${M}/harnesses/s`],
];

test('a hosted deployment answers AUT-E006 to what it leaves out, and serves the rest', async () => {
  const server = await startTestServer({ deployment: 'hosted' });
  try {
    const http = new HttpClient(server.http, server.key);
    for (const [verb, path, json] of LEFT_OUT) {
      const { status, json: told } = await http.ask(verb, path, json === undefined ? {} : { json });
      assert.deepEqual([status, told.error?.code], [403, 'AUT-E006'], `${verb} ${path}`);
    }
    for (const path of ['/settings/providers', `${M}/agents/identities`, `${M}/chat/threads`])
      assert.equal((await http.ask('GET', path)).status, 200, path);
    const provisioned = await http.ask('POST', `${M}/harnesses/s/provision`, { json: { goal: 'help' } });
    assert.equal(provisioned.status, 200, provisioned.text);
  } finally {
    await server.close();
  }
});
