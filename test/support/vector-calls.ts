// Calls of the tests of embedding, on a server without keys.
import assert from 'node:assert/strict';
import type { TestServer } from './server.ts';

export async function call(server: TestServer, path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${server.http}/api/memories${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json = (await answer.json()) as Record<string, unknown>;
  assert.ok(answer.ok, JSON.stringify(json).slice(0, 500));
  return json;
}

/** Adds a belief for each object. */
export async function add(server: TestServer, objects: readonly string[], memory = 'default'): Promise<void> {
  const grains = objects.map((object) => ({ grain_type: 'belief', fields: { subject: 'it', relation: 'is', object } }));
  assert.equal((await call(server, `/${memory}/batch-add`, { grains }))['total_added'], objects.length);
}

export const recall = (server: TestServer, query: string, memory = 'default') =>
  call(server, `/${memory}/recall`, { query, limit: 3 });

export const objectsOf = (recalled: Record<string, unknown>): string[] =>
  (recalled['results'] as { fields: { object: string } }[]).map(({ fields }) => fields.object);
