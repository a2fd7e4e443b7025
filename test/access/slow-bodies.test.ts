// A request is admitted before its body has arrived. A key that is revoked meanwhile does nothing any more.
import assert from 'node:assert/strict';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { after, before, test } from 'node:test';
import { HttpClient } from '../conformance/http-client.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let http: HttpClient;
before(async () => {
  server = await startTestServer();
  http = new HttpClient(server.http, server.key);
});
after(() => server.close());

/** Sends a request's headers and the first bytes of its body. Resolves when the server has asked for the rest. */
async function begun(key: string, path: string, type: string, body: string) {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': type,
    'content-length': String(Buffer.byteLength(body)),
    expect: '100-continue',
  };
  const sent: ClientRequest = request(new URL(`/api${path}`, server.http), { method: 'POST', headers });
  const answer = new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
  });
  const asked = new Promise<void>((resolve) => sent.once('continue', resolve));
  sent.flushHeaders();
  const refused = await Promise.race([asked, answer]);
  assert.equal(refused, undefined, 'the caller is admitted');
  sent.write(body.slice(0, 5));
  return () => {
    sent.end(body.slice(5));
    return answer;
  };
}

const FORM = 'multipart/form-data; boundary=x';
const file = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nAda drinks tea.\r\n--x--\r\n';
const fact = JSON.stringify({ subject: 'Ada', relation: 'likes', object: 'tea' });

for (const [path, type, body] of [
  ['/memories/default/add', 'application/json', fact],
  ['/memories/default/recall', 'application/json', '{"query":"what does Ada drink"}'],
  ['/memories', 'application/json', '{"id":"late"}'],
  ['/memories/default/import-document', FORM, file],
] as const)
  test(`a key that is revoked while the body arrives does nothing: POST ${path}`, async () => {
    const made = await http.post('/auth/keys', { scopes: ['read', 'write', 'admin'] });
    const inTime = await begun(made.raw_key, path, type, body);
    const { status, text } = await inTime();
    assert.ok(status < 300, `${status} ${text}`);
    const goOn = await begun(made.raw_key, path, type, body.replace('late', 'later'));
    await http.call('DELETE', `/auth/keys/${made.key_id}`);
    const late = await goOn();
    assert.deepEqual([late.status, JSON.parse(late.text).error?.code], [401, 'AUT-E004'], late.text);
  });
