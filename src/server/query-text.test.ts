// The query of an address is percent-encoded UTF-8. Of other bytes each would be the same replacement character, and so
// several persons one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '../../test/support/server.ts';
import { SocketClient } from './http/socket-client.ts';

for (const http of ['uws', 'node'])
  test(`a query that is not percent-encoded UTF-8 is refused, by the listener ${http}`, async (t) => {
    const server = await startTestServer({ http });
    t.after(() => server.close());
    const asked = async (query: string): Promise<readonly [status: number | undefined, code: string | undefined]> => {
      const client = await SocketClient.open(server.httpPort);
      const headers = { Authorization: `Bearer ${server.key}` };
      client.request('GET', `/api/memories/default/grains?${query}`, { headers });
      const answer = await client.response();
      client.close();
      return [answer?.status, /"code":"([^"]+)"/.exec(String(answer?.body))?.[1]];
    };
    for (const query of ['user_id=zo%C3%AB', 'user_id=a+b%20c', 'tag=50%', 'tag=%zz%2', 'tag=%F0%9F%8D%B5'])
      assert.deepEqual(await asked(query), [200, undefined], query);
    for (const query of ['user_id=zo%EB', 'user_id=zo%E9', 'user_id=a&tag=%C3', '%ff=1'])
      assert.deepEqual(await asked(query), [400, 'VAL-E001'], query);
    // Bytes that are not encoded. A parser may refuse them before.
    const [status] = await asked('user_id=zo\u00c3\u00ab');
    assert.equal(status, 400);
  });
