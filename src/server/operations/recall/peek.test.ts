import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { anyText } from '../../../engine/base/testing/any-text.ts';
import { RecallRequest } from '../../gen/memory/v1/memory.ts';
import { peekAtJson, peekAtMessage } from './peek.ts';

const json = (body: unknown) => peekAtJson(Buffer.from(JSON.stringify(body)));
const message = (fields: Parameters<typeof RecallRequest.fromPartial>[0]) =>
  peekAtMessage(RecallRequest.encode(RecallRequest.fromPartial(fields)).finish());

test('peek finds the words of a recall in its bytes, as the reader does', () => {
  fc.assert(
    fc.property(
      fc.record({
        query: anyText().filter((text) => text.isWellFormed()),
        subject: fc.string(),
        timeStart: fc.integer(),
        confidenceThreshold: fc.double({ noNaN: true }),
        tags: fc.array(fc.string()),
        limit: fc.nat(),
        rerank: fc.boolean(),
      }),
      ({ query, ...rest }) => {
        const wanted = { text: query.trim(), asksModel: rest.rerank };
        assert.deepEqual(message({ query, ...rest }), wanted);
        assert.deepEqual(json({ ...rest, query }), wanted);
      },
    ),
    { numRuns: runs(100) },
  );
});

test('a recall with its own vector needs no other, and one with an empty vector does', () => {
  assert.equal(message({ query: 'who', embedding: [0.6, 0.8] }).text, '');
  assert.equal(message({ query: 'who', embedding: [] }).text, 'who');
  assert.equal(json({ query: 'who', embedding: [0.6, 0.8] }).text, '');
  assert.equal(json({ query: 'who', embedding: [] }).text, 'who');
});

test('each field that needs a model is seen', () => {
  for (const [field, name] of [
    ['rerank', 'rerank'],
    ['hyde', 'hyde'],
    ['llmRerank', 'llm_rerank'],
  ] as const) {
    assert.equal(message({ query: 'who', [field]: true }).asksModel, true, field);
    assert.equal(json({ query: 'who', [name]: true }).asksModel, true, name);
    assert.equal(json({ query: 'who', [name]: false }).asksModel, false, name);
  }
});

test('bytes that are not a recall have no words, and none throw', () => {
  const nothing = { text: '', asksModel: false };
  for (const text of ['', '{', 'null', '7', '[]', '{"query":7}', '{"query":null}', '{"query":" \\n "}'])
    assert.deepEqual(peekAtJson(Buffer.from(text)), nothing, text);
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      assert.equal(typeof peekAtMessage(bytes).text, 'string');
      assert.equal(typeof peekAtJson(bytes).text, 'string');
    }),
    { numRuns: runs(200) },
  );
});
