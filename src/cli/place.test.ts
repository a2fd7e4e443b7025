import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { lockDirectory } from '../server/directory-lock.ts';
import { writeServerFile } from '../server/server-file.ts';
import { placeOf } from './place.ts';

const KEY = `gr_${'1'.repeat(64)}`;

test('the bootstrap key stays on this machine, whatever server.json contains', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data');
  const lock = lockDirectory(dataDir);
  t.after(() => lock.release());
  mkdirSync(join(dataDir, 'keys'));
  writeFileSync(join(dataDir, 'keys/bootstrap.key'), `${KEY}\n`);
  const keyFor = async (http: string, grpc: string, apiKey?: string): Promise<string | undefined> => {
    writeServerFile(dataDir, { http, grpc, secret: 'a'.repeat(64) });
    const options = apiKey === undefined ? { dataDir } : { dataDir, apiKey };
    return (await placeOf(options, {}, () => Promise.resolve(undefined))).key;
  };
  const own = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ family }) => family === 'IPv4')
    .map(({ address }) => address);
  for (const host of ['127.0.0.1', '127.9.9.9', '[::1]', 'localhost', ...own])
    assert.equal(await keyFor(`http://${host}:1`, `${host}:2`), KEY, host);
  for (const host of ['192.0.2.7', '127.example.org', '[2001:db8::1]', 'localhost.example.org']) {
    assert.equal(await keyFor(`http://${host}:1`, '127.0.0.1:2'), undefined, host);
    assert.equal(await keyFor('http://127.0.0.1:1', `${host}:2`), undefined, host);
    // The user gave this key for the server, so it is sent.
    assert.equal(await keyFor(`http://${host}:1`, `${host}:2`, 'gr_given'), 'gr_given', host);
  }
});
