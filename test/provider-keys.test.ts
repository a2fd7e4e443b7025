// The key of a provider on the disk: sealed, wrapped again with the master key, in backups, and gone with its provider.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { HttpClient } from './conformance/http-client.ts';
import { granaryJson, serve } from './support/cli.ts';
import { startOpenAi } from './support/models/openai.ts';
import { temporaryDirectory } from './support/temporary.ts';

const KEY = 'sk-sealed-0123456789-abcdef';

/** The files below a folder that hold these bytes. */
function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name);
    return statSync(path).isFile() && readFileSync(path).includes(text);
  });
}

async function served(t: TestContext, data: string) {
  const server = await serve(data);
  t.after(() => server.stop());
  const key = readFileSync(join(data, 'keys', 'bootstrap.key'), 'utf8').trim();
  return { server, http: new HttpClient(server.http, key) };
}

test('a key survives restarts, a rotation of the master key, a backup and its restore', async (t) => {
  const directory = temporaryDirectory(t);
  const [data, copy] = [join(directory, 'data'), join(directory, 'copy')];
  const models = await startOpenAi([], { key: KEY });
  t.after(() => models.close());
  const works = async (http: HttpClient): Promise<boolean> => (await http.post('/settings/providers/own/test', {})).ok;
  const here = (...words: string[]): string[] => [...words, '--data-dir', data];

  const first = await served(t, data);
  await first.http.call('PUT', '/settings/providers/own', {
    json: { kind: 'openai_compatible', base_url: models.url, api_key: KEY },
  });
  assert.ok(await works(first.http));
  const { rotated } = await granaryJson(here('rotate-keys', '--scope', 'kek'));
  assert.ok(Number(rotated) > 0);
  await granaryJson(here('backup', copy));
  await first.http.call('DELETE', '/settings/providers/own');
  assert.equal(await first.server.stop(), 0);

  const second = await served(t, data);
  assert.equal((await second.http.get('/settings/providers')).total, 0);
  assert.equal(await second.server.stop(), 0);

  await granaryJson(here('restore', copy, '--yes'));
  const third = await served(t, data);
  const [shown] = (await third.http.get('/settings/providers')).providers;
  assert.deepEqual([shown.api_key_set, shown.api_key_last4], [true, 'cdef']);
  assert.ok(await works(third.http), 'the restored key opens under the rotated master key');
  assert.equal(await third.server.stop(), 0);
  for (const folder of [data, copy]) assert.deepEqual(filesWith(folder, KEY), []);
});
