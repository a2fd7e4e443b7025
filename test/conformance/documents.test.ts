// Documents over HTTP: their text, and their import. On both listeners, with one partition and with four.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '../support/server.ts';
import { refused } from './contract.ts';
import { HttpClient } from './http-client.ts';
import { newMemory } from './http-driver.ts';

const HANDBOOK = '# Handbook\n\n## Leave\n\nEveryone has thirty days of leave.\n';

export function formOf(content: string | Uint8Array, name: string): FormData {
  const form = new FormData();
  form.append('file', new Blob([typeof content === 'string' ? content : Uint8Array.from(content)]), name);
  return form;
}

for (const [listener, partitions] of [
  ['uws', 1],
  ['uws', 4],
  ['node', 1],
  ['node', 4],
] as const)
  describe(`${listener}, ${partitions} partitions`, { concurrency: 4 }, () => {
    let server: TestServer;
    let http: HttpClient;
    before(async () => {
      server = await startTestServer({ http: listener, shards: '4', workers: '1' });
      http = new HttpClient(server.http, server.key);
    });
    after(async () => {
      await server.close();
      assert.deepEqual(server.errors, []);
    });
    const memory = async (options: object = {}): Promise<string> =>
      `/memories/${await newMemory(http, partitions, { ...options })}`;

    test('H91 answers with the text of a document and stores nothing', async () => {
      const path = await memory();
      const answer = await http.call('POST', `${path}/extract-document`, { body: formOf(HANDBOOK, 'handbook.md') });
      const text = HANDBOOK.trim();
      assert.deepEqual(answer, {
        file_name: 'handbook.md',
        mime_type: 'text/markdown',
        text,
        characters: text.length,
      });
      assert.equal((await http.get(`${path}/stats`)).total_grains, 0);
    });

    test('H91 refuses what it cannot read', async () => {
      const path = `${await memory()}/extract-document`;
      const ask = (content: string | Uint8Array, name: string) =>
        http.call('POST', path, { body: formOf(content, name) });
      await refused(ask(Buffer.from('\x89PNG\r\n', 'latin1'), 'a.pdf'), 'IMP-E001');
      await refused(ask('no PDF', 'a.pdf'), 'IMP-E004');
      await refused(ask('', 'a.txt'), 'IMP-E004');
      await refused(ask(new Uint8Array(52_428_801), 'a.txt'), 'LIM-E003');
      await refused(http.post(path, { file: 'x' }), 'VAL-E006');
    });
  });
