// The member `text` of hits, grains and versions: the sentence of the fields beside it, over HTTP and gRPC.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentenceOf } from '../src/engine/cal/output/sentence.ts';
import { parseJson } from '../src/engine/grain/api/json.ts';
import type { JsonObject } from '../src/engine/grain/api/json-value.ts';
import { GrpcClient } from './conformance/grpc-client.ts';
import { HttpClient } from './conformance/http-client.ts';
import { startTestServer } from './support/server.ts';

interface Told {
  readonly grain_type: string;
  readonly text: string;
  readonly fields?: JsonObject;
  readonly fields_json?: string;
}

function checkText(answers: readonly Told[], expected: readonly string[]): void {
  assert.deepEqual(answers.map(({ text }) => text).toSorted(), expected.toSorted());
  for (const { grain_type: grainType, text, fields, fields_json: json } of answers)
    assert.equal(text, sentenceOf({ grainType, fields: fields ?? (parseJson(json ?? '') as JsonObject) }));
}

test('every hit, grain and version has its sentence, over HTTP and gRPC', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const http = new HttpClient(server.http, server.key);
  const grpc = GrpcClient.open(server.grpc, server.key);
  t.after(() => grpc.close());
  const M = '/memories/default';
  const first = await http.post(`${M}/add`, { subject: 'Ada', relation: 'works_at', object: 'the brewery' });
  const old = ['Ada works at the brewery'];
  const { new_hash: hash } = await http.post(`${M}/supersede`, {
    old_hash: first.blob_hash,
    fields: { object: 'the mill' },
  });
  const said = { role: 'user', speaker: 'Bob', content: 'The mill is loud' };
  await http.post(`${M}/add`, { grain_type: 'event', fields: said });
  const now = ['Ada works at the mill'];
  const both = [...now, 'Bob: The mill is loud'];

  checkText([await http.get(`${M}/grains/${hash}`), await grpc.call('Get', { hash })], [...now, ...now]);
  checkText((await http.get(`${M}/grains`)).grains, both);
  checkText((await http.post(`${M}/recall`, { query: 'mill' })).results, both);
  checkText((await grpc.call('Recall', { query: 'mill' })).results, both);
  checkText((await http.post(`${M}/search`, { query: 'mill' })).results, both);
  const { result } = await http.post(`${M}/app/exec`, { command: 'history', args: { hash } });
  checkText(result.versions, [...old, ...now]);
  checkText((await grpc.call('GetHistory', { hash })).versions, [...old, ...now]);
});

test('a sentence shows an erased person as the fields do', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const http = new HttpClient(server.http, server.key);
  const M = '/memories/default';
  await http.post(`${M}/add`, { subject: 'Bob', relation: 'likes', object: 'tea', user_id: 'Bob' });
  await http.post(`${M}/add`, { subject: 'Ada', relation: 'knows', object: 'Bob', user_id: 'Ada' });
  await http.post(`${M}/app/exec`, { command: 'forget_user', args: { user_id: 'Bob' } });
  const { grains } = await http.get(`${M}/grains`);
  assert.equal(grains.length, 1);
  assert.match(grains[0].text, /^Ada knows erased:[0-9a-f]{16}$/);
});
