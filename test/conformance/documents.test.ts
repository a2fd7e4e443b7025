// Documents over HTTP: their text, and their import. On both listeners, with one partition and with four.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, test } from 'node:test';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { refused } from './contract.ts';
import type { ParsedJson } from './driver.ts';
import { serveSuite } from './http-suite.ts';

const HANDBOOK = '# Handbook\n\n## Leave\n\nEveryone has thirty days of leave.\n';

export function formOf(content: string | Uint8Array, name: string): FormData {
  const form = new FormData();
  form.append('file', new Blob([typeof content === 'string' ? content : Uint8Array.from(content)]), name);
  return form;
}

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, { concurrency: 4 }, () => {
    const { http, memory } = serveSuite(listener, partitions);
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

    const importing = (path: string, content: string | Uint8Array, name: string, query = '', headers = {}) =>
      http.call('POST', `${path}/import-document${query}`, { body: formOf(content, name), headers });

    test('H90 stores a chunk an event, with its place, and finds it by its headings', async () => {
      const path = await memory();
      const query =
        '?namespace=docs&tags=policy,2026&tags=hr&user_id=ada&confidence=0.9&chunk_size=200&chunk_overlap=20';
      const long = `${HANDBOOK}\n## Travel\n\n${'Take the train whenever you can. '.repeat(20)}`;
      const answer = await importing(path, long, 'Staff Handbook.md', query);
      assert.deepEqual(
        [answer.status, answer.file_name, answer.mime_type, answer.duplicates, answer.errors],
        ['imported', 'Staff Handbook.md', 'text/markdown', 0, []],
      );
      assert.ok(answer.chunks > 3);
      assert.deepEqual([answer.grains_created, answer.hashes.length], [answer.chunks, answer.chunks]);
      const grain = await http.get(`${path}/grains/${answer.hashes[0]}`);
      const { content, context, tags, source_type, confidence, user_id } = grain.fields;
      assert.deepEqual(
        [grain.grain_type, grain.namespace, tags, source_type, confidence, user_id],
        ['event', 'docs', ['policy', '2026', 'hr'], 'user', 0.9, 'ada'],
      );
      assert.match(content, /thirty days of leave\.$/);
      assert.deepEqual(context, {
        document: {
          file_name: 'Staff Handbook.md',
          sha256: hash('sha256', long),
          headings: ['Handbook', 'Leave'],
          chunk_index: 0,
          chunk_count: answer.chunks,
        },
      });
      // Neither word is in the content of the last chunk.
      const found = await http.post(`${path}/search`, { query: 'staff travel', limit: 50 });
      assert.ok(found.results.some(({ hash: one }: ParsedJson) => one === answer.hashes.at(-1)));
    });

    test('H90 counts what the memory holds, and reports each refused chunk', async () => {
      const path = await memory({ guardrail_patterns: ['forbidden'], guardrail_mode: 'contains' });
      const text = `${'Good words. '.repeat(20)}\n\n${'A forbidden word. '.repeat(12)}\n\n${'More good words. '.repeat(12)}`;
      const query = '?chunk_size=240&chunk_overlap=0';
      const first = await importing(path, text, 'a.txt', query);
      assert.deepEqual([first.chunks, first.grains_created, first.errors.length], [3, 2, 1]);
      assert.deepEqual([first.errors[0].index, first.errors[0].code], [1, 'POL-E012']);
      const again = await importing(path, text, 'a.txt', query);
      assert.deepEqual([again.grains_created, again.duplicates, again.hashes], [0, 2, first.hashes]);
      const renamed = await importing(path, text, 'b.txt', query);
      assert.deepEqual([renamed.grains_created, renamed.duplicates], [2, 0]);
    });

    test('H90 extracts beliefs that name their chunk', async () => {
      const path = await memory();
      const answer = await importing(path, 'Ada lives in Paris.', 'a.txt', '?extract=true&user_id=ada');
      assert.deepEqual([answer.chunks, answer.extracted_count], [1, 1]);
      const { grains } = await http.get(`${path}/grains?grain_type=belief`);
      const [{ fields }] = grains;
      assert.deepEqual(
        [fields.subject, fields.object, fields.derived_from, fields.user_id],
        ['Ada', 'Paris', answer.hashes[0], 'ada'],
      );
      await http.post(`${path}/app/exec`, { command: 'forget_user', args: { user_id: 'ada' } });
      assert.equal((await http.post(`${path}/search`, { query: 'Paris' })).count, 0);
    });

    test('H90 writes one audit entry of the import besides those of the grains', async () => {
      const path = await memory();
      const answer = await importing(path, HANDBOOK, 'a.md');
      const { entries } = await http.get(`${path}/audit?event_type=memory.imported`);
      assert.equal(entries.length, 1);
      assert.deepEqual(entries[0].details, { imported: answer.chunks, duplicates: 0, errors: 0 });
    });

    test('H90 keeps to the binding, and repeats an answer under its key', async () => {
      const path = await memory();
      const narrowed = await importing(path, HANDBOOK, 'a.md', '', { 'x-namespace': 'n1', 'x-user-id': 'bob' });
      const grain = await http.get(`${path}/grains/${narrowed.hashes[0]}`);
      assert.deepEqual([grain.namespace, grain.fields.user_id], ['n1', 'bob']);
      const outside = await importing(path, HANDBOOK, 'a.md', '?namespace=n2', { 'x-namespace': 'n1' });
      assert.deepEqual([outside.grains_created, outside.errors.length], [0, outside.chunks]);
      const keyed = { 'idempotency-key': 'k1' };
      const once = await importing(path, 'Once.', 'b.txt', '', keyed);
      assert.deepEqual(await importing(path, 'Once.', 'b.txt', '', keyed), once);
      await refused(importing(path, 'Twice.', 'b.txt', '', keyed), 'VAL-E005');
    });

    test('H90 refuses windows that make no sense, and documents that it cannot read', async () => {
      const path = await memory();
      for (const query of ['?chunk_size=100&chunk_overlap=100', '?chunk_size=19', '?chunk_overlap=-1', '?confidence=2'])
        await refused(importing(path, HANDBOOK, 'a.md', query), 'VAL-E001', 'VAL-E003');
      await refused(importing(path, Buffer.from('\x7fELF', 'latin1'), 'a.md'), 'IMP-E001');
      await refused(importing(path, '', 'a.md'), 'IMP-E004');
      const { warnings } = await importing(path, HANDBOOK, 'a.md', '?chunksize=5');
      assert.match(warnings.join(), /chunk_size/);
      assert.equal((await importing(path, HANDBOOK, 'a.md', '?chunk_size=50')).duplicates, 0);
    });

    test('options in parts of the form are not read, and named', async () => {
      const path = `${await memory()}/import-document`;
      const form = () => {
        const made = formOf(HANDBOOK, 'a.md');
        made.append('config', '{"chunk_size":50}');
        made.append('chunk_size', '50');
        return made;
      };
      const { chunks, warnings } = await http.call('POST', path, { body: form() });
      assert.equal(chunks, 1);
      assert.deepEqual(
        warnings,
        ['config', 'chunk_size'].map(
          (part) => `the part \`${part}\` of the form was ignored: options go into the query`,
        ),
      );
      await refused(http.call('POST', path, { body: form(), headers: { 'x-strict': '1' } }), 'VAL-E001');
    });
  });
