import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { Link } from './link.ts';

test('a connection that could not be opened is opened again by the next call', async (t) => {
  const server = createServer((_, response) => void response.end('{"memories":[]}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const folder = temporaryDirectory(t);
  const tlsCa = join(folder, 'ca.pem');
  const link = new Link({
    dataDir: folder,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tlsCa,
  });
  t.after(() => link.close());
  const ask = () => link.send({ verb: 'GET', path: '/memories', query: {}, headers: {} });
  await assert.rejects(ask(), { code: 'FILE' });
  writeFileSync(tlsCa, '');
  assert.deepEqual(await ask(), { memories: [] });
  // The one that is open stays.
  rmSync(tlsCa);
  assert.deepEqual(await ask(), { memories: [] });
});
