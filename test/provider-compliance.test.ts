// The compliance checks that look at providers: agreements, encryption in transit, regions, and the documentation.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpClient } from './conformance/http-client.ts';
import { startTestServer } from './support/server.ts';

test('checks judge the providers that roles have', async (t) => {
  // An address of this machine that the server takes for another one; nothing is called.
  const server = await startTestServer({ modelHosts: '0.0.0.0' });
  t.after(() => server.close());
  const http = new HttpClient(server.http, server.key);
  const M = '/memories/ward';
  await http.post('/memories', { id: 'ward', region: 'eu', policies: ['hipaa'] });
  const seal = (overrides: object) => http.call('PUT', `${M}/policy`, { json: { overrides, reason: 'for the test' } });
  await seal({ residency: { regions: ['eu'], enforce: true } });
  const put = (json: object) =>
    http.call('PUT', '/settings/providers/far', { json: { kind: 'openai_compatible', ...json } });
  const assign = (chat: object | null) =>
    http.call('PUT', '/settings/model-assignments', { json: { assignments: { chat } } });
  const statuses = async (): Promise<Record<string, string>> => {
    const found: Record<string, string> = {};
    for (const regulation of ['hipaa', 'pipl'])
      for (const { id, status } of (await http.post(`${M}/verify/run`, { regulation })).checks)
        if (['hipaa_baa_registry', 'hipaa_transmission_security', 'pipl_cross_border'].includes(id)) found[id] = status;
    return found;
  };
  const judged = (baa: string, transit: string, border: string) => ({
    hipaa_baa_registry: baa,
    hipaa_transmission_security: transit,
    pipl_cross_border: border,
  });
  assert.deepEqual(await statuses(), judged('skip', 'pass', 'pass'));
  await put({ base_url: 'http://0.0.0.0:1/v1' });
  assert.deepEqual(await statuses(), judged('skip', 'pass', 'pass'), 'no role uses it');
  await assign({ provider: 'far', model: 'm' });
  assert.deepEqual(await statuses(), judged('fail', 'fail', 'fail'));
  await put({ base_url: 'https://0.0.0.0:1/v1', region: 'us' });
  assert.deepEqual(await statuses(), judged('fail', 'pass', 'fail'));
  await put({ region: 'eu' });
  await seal({ residency: { regions: ['eu'], enforce: true }, tiering: { baa_acknowledged: true } });
  assert.deepEqual(await statuses(), judged('pass', 'pass', 'pass'));
  await assign(null);
  assert.equal((await statuses())['hipaa_baa_registry'], 'skip');
});
