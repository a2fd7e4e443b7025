// Sentence models of the operator: as the embedder of the start options, of one memory, and of a running server.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readModelFolder } from '../src/embed/onnx/model-folder.ts';
import { tinyMean, writeTinyModel, writeTinyReranker } from '../src/embed/onnx/testing/tiny-model.ts';
import { TextTokens } from '../src/embed/onnx/text-tokens.ts';
import { refused } from './conformance/contract.ts';
import { HttpClient } from './conformance/http-client.ts';
import { granary, granaryJson } from './support/cli.ts';
import { eventually } from './support/eventually.ts';
import { startTestServer } from './support/server.ts';

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'granary-models-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const BELIEF = { subject: 'heron', relation: 'stood in', object: 'the river' };

/** Waits until the memory's vectors are those of a model called `name`. */
const embedded = (http: HttpClient, memory: string, name: string) =>
  eventually(`vectors of ${name}`, async () => {
    const { vectors, embedding } = await http.get(`/memories/${memory}/stats`);
    return vectors === 1 && String(embedding.backend).startsWith(`onnx:${name}/`);
  });

async function cosineOf(http: HttpClient, memory: string): Promise<number> {
  let cosine = Number.NaN;
  // A busy machine may embed a question too late, which a warning tells.
  await eventually('a recall by meaning', async () => {
    const recall = { query: 'heron', score_breakdown: true };
    const { results, warnings } = await http.post(`/memories/${memory}/recall`, recall);
    cosine = results[0].score_breakdown.vector_score;
    return warnings.length === 0;
  });
  return cosine;
}

test('--embedder onnx embeds with the model of a folder', async (t) => {
  const folder = join(newFolder(t), 'herons');
  writeTinyModel(folder);
  const server = await startTestServer({ auth: 'none', embedder: 'onnx', embedderModel: folder });
  t.after(() => server.close());
  const http = new HttpClient(server.http, '');
  await http.post('/memories/default/add', BELIEF);
  await embedded(http, 'default', 'herons');
  assert.equal(typeof (await cosineOf(http, 'default')), 'number');
  assert.equal((await http.get('/config')).embedding.dimensions, 8);
});

test('a memory may have a model of its own, and a name without a folder is refused', async (t) => {
  const dataDir = newFolder(t);
  for (const name of ['herons', 'ospreys']) writeTinyModel(join(dataDir, 'models', name));
  const server = await startTestServer({ auth: 'none', dataDir });
  t.after(() => server.close());
  const http = new HttpClient(server.http, '');
  for (const name of ['herons', 'ospreys']) {
    await http.post('/memories', { id: name, vector_backend: `onnx:${name}` });
    await http.post(`/memories/${name}/add`, BELIEF);
  }
  for (const name of ['herons', 'ospreys']) await embedded(http, name, name);
  assert.equal(typeof (await cosineOf(http, 'ospreys')), 'number');
  for (const name of ['storks', '../herons', ''])
    await refused(http.post('/memories', { id: 'other', vector_backend: `onnx:${name}` }), 'VAL-E001');
});

test('an assignment makes a model the embedder of a running server, which keeps it', async (t) => {
  const dataDir = newFolder(t);
  writeTinyModel(join(dataDir, 'models', 'herons'));
  const started = async () => {
    const server = await startTestServer({ auth: 'none', embedder: 'ngram', dataDir });
    return { server, http: new HttpClient(server.http, '') };
  };
  const first = await started();
  await first.http.post('/memories/default/add', BELIEF);
  const use = (...words: string[]) => granary(['model', 'use', ...words, '--http-url', first.server.http]);
  const missing = await use('storks');
  assert.deepEqual([missing.code, /LLM-E003: there is no model "storks"/.test(missing.stderr)], [1, true]);
  assert.equal((await use('herons')).code, 0);
  await embedded(first.http, 'default', 'herons');
  const { assignments } = await first.http.get('/settings/model-assignments');
  assert.deepEqual(assignments.embedding, { provider: 'onnx', model: 'herons' });
  // Models of this process make vectors alone, and their name is taken.
  const chat = { assignments: { chat: { provider: 'onnx', model: 'herons' } } };
  await refused(first.http.call('PUT', '/settings/model-assignments', { json: chat }), 'LLM-E003');
  await refused(first.http.call('PUT', '/settings/providers/onnx', { json: { kind: 'mock' } }), 'AUT-E006');
  await first.server.close();

  const second = await started();
  t.after(() => second.server.close());
  await embedded(second.http, 'default', 'herons');
  assert.equal((await granary(['model', 'use', 'start', '--http-url', second.server.http])).code, 0);
  await eventually('vectors of the start options', async () => {
    const { vectors, embedding } = await second.http.get('/memories/default/stats');
    return vectors === 1 && embedding.backend === 'ngram-hash-512/1';
  });
});

test('a cross-encoder of the data directory orders the hits of a recall', async (t) => {
  const dataDir = newFolder(t);
  writeTinyReranker(join(dataDir, 'models', 'judge'));
  writeTinyModel(join(dataDir, 'models', 'herons'));
  const server = await startTestServer({ auth: 'none', dataDir });
  t.after(() => server.close());
  const http = new HttpClient(server.http, '');
  const objects = ['the river', 'the shallow river', 'a bridge over the river', 'granite by the river', 'winter'];
  for (const object of objects) await http.post('/memories/default/add', { ...BELIEF, object });
  const recall = async (rerank: boolean) => {
    const { results, warnings } = await http.post('/memories/default/recall', { query: 'heron river', rerank });
    return { found: results.map(({ fields }: { fields: { object: string } }) => fields.object), warnings };
  };
  const plain = await recall(false);
  assert.equal((await granary(['models', 'assign', 'rerank', 'onnx', 'judge', '--http-url', server.http])).code, 0);
  const judged = await recall(true);
  assert.deepEqual(judged.warnings, []);
  assert.deepEqual(judged.found.toSorted(), plain.found.toSorted());
  const tokens = new TextTokens(readModelFolder(join(dataDir, 'models', 'judge')));
  const score = (object: string): number => {
    const fields = { ...BELIEF, object };
    const { ids } = tokens.ofPair('heron river', `${fields.subject} ${fields.relation} ${fields.object}`);
    return ids.reduce((sum, id) => sum + tinyMean(id), 0) / ids.length;
  };
  assert.deepEqual(
    judged.found,
    plain.found.toSorted((one: string, other: string) => score(other) - score(one)),
  );
  for (const [model, pattern] of [
    ['herons', /LLM-E002: .*it is not a cross-encoder/],
    ['storks', /LLM-E003: there is no model "storks"/],
  ] as const)
    assert.match(
      (await granary(['models', 'assign', 'rerank', 'onnx', model, '--http-url', server.http])).stderr,
      pattern,
    );
});

test('a model that cannot be used ends the start with the reason', async (t) => {
  const folder = newFolder(t);
  const start = (embedderModel: string) => startTestServer({ auth: 'none', embedder: 'onnx', embedderModel });
  await assert.rejects(start(folder), { code: 'VAL-E001', message: /--embedder-model: .* there is no model\.onnx/ });
  await assert.rejects(start('storks'), { code: 'VAL-E001', message: /there is no model storks in .*models/ });
  await assert.rejects(startTestServer({ embedder: 'onnx' }), { code: 'VAL-E001', message: /must be set together/ });
});

test('granary model lists what there is, and says what to put where without a network', async (t) => {
  const dataDir = newFolder(t);
  writeTinyModel(join(dataDir, 'models', 'herons'));
  const { models } = await granaryJson(['model', 'list', '--data-dir', dataDir]);
  const shown = (models as { name: string; installed: boolean; bytes?: number }[]).map(({ name, installed, bytes }) => [
    name,
    installed,
    bytes !== undefined,
  ]);
  assert.deepEqual(shown, [
    ['all-minilm-l6-v2', false, true],
    ['bge-small-en-v1.5', false, true],
    ['multilingual-e5-small', false, true],
    ['ms-marco-minilm-l6', false, true],
    ['herons', true, false],
  ]);
  const table = await granary(['model', '--data-dir', dataDir]);
  assert.match(table.stdout, /multilingual-e5-small +no +465 MiB +384 +about 100 +MIT/);
  const pull = (...words: string[]) => granary(['model', 'pull', ...words, '--data-dir', dataDir]);
  const offline = await pull('bge-small-en-v1.5', '--hub', 'http://127.0.0.1:1');
  assert.equal(offline.code, 1);
  assert.match(offline.stderr, /NETWORK: cannot get http:\/\/127\.0\.0\.1:1\/BAAI/);
  assert.match(offline.stderr, /bge-small-en-v1\.5\/model\.onnx: .*133093490 bytes, SHA-256 828e1496/);
  const unknown = await pull('herons');
  assert.deepEqual(
    [unknown.code, /the catalogue has no model herons; it has all-minilm/.test(unknown.stderr)],
    [2, true],
  );
});
