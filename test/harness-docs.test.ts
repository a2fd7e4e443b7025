// Runs the examples of docs/harness.md in their order: each request is accepted, and each query could be stated.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { QUERY_NAMES } from '../src/server/harness/assemble/named.ts';
import { checkAssembleQuery } from '../src/server/harness/assemble/query.ts';
import { TEMPLATES } from '../src/server/harness/templates/table.ts';
import { HttpClient } from './conformance/http-client.ts';
import { startTestServer, type TestServer } from './support/server.ts';

const TEXT = readFileSync(join(import.meta.dirname, '../docs/harness.md'), 'utf8');
const BLOCK = /^```json (POST|PATCH) (\S+)\n([\s\S]*?)^```$/gm;

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test('every request is accepted, and provisioning is repeated without a change', async () => {
  const http = new HttpClient(server.http, server.key);
  const blocks = [...TEXT.matchAll(BLOCK)];
  assert.ok(blocks.length >= 5);
  for (const [, verb = '', path = '', body = ''] of blocks) {
    const ask = () => http.ask(verb, `/memories/default${path}`, { json: JSON.parse(body) });
    const { status, text, json } = await ask();
    assert.ok(status < 300, `${verb} ${path}: ${text}`);
    assert.equal(json.warnings, undefined, text);
    if (path.endsWith('/provision')) assert.deepEqual((await ask()).json, json);
  }
});

test('every query could be stated, and every name is in the tables', () => {
  const queries = [...TEXT.matchAll(/^```cal\n([\s\S]*?)^```$/gm)];
  assert.ok(queries.length > 0);
  for (const [, text = ''] of queries) checkAssembleQuery(text);
  for (const { slug } of TEMPLATES) assert.ok(TEXT.includes(`| \`${slug}\` |`), slug);
  for (const name of QUERY_NAMES) assert.match(TEXT, new RegExp(`\\| \`${name}\``));
});
