import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { headerText } from '../server/header-text.ts';
import { HttpCaller } from './http-caller.ts';

test('a reason in any language reaches the server', async (t) => {
  const received: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    received.push(headerText(request.headers['x-reason'] as string | undefined, 'x-reason')); // not a list
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
  const caller = new HttpCaller({ base, key: undefined, tlsRoots: undefined });
  t.after(() => caller.close());
  const reasons = ['Art. 17', 'gelöscht – auf Wunsch', '削除', "UTF-8''not%20encoded", ' spaces '];
  for (const reason of reasons) await caller.json('DELETE', '/x', { reason });
  assert.deepEqual(received, reasons);
  await caller.json('DELETE', '/x');
  assert.equal(received.at(-1), undefined);
});
