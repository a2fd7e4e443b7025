import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../../engine/base/errors.ts';
import { ADMIN, ask, makeParts, type Parts, type PartsOptions } from '../../testing/parts.ts';

const M = '/memories/default';
const TEXT = 'One paragraph of words. '.repeat(200);

async function importing(options: PartsOptions = {}) {
  const parts = await makeParts(options);
  const send = async (text: string, query: Record<string, string[]> = {}) =>
    (
      await ask(parts, 'POST', `${M}/import-document`, {
        key: ADMIN,
        file: { name: 'a.txt', bytes: Buffer.from(text) },
        query,
      })
    ).body;
  return { parts, send };
}

const callsOf = (parts: Parts, method: string) =>
  parts.engines.flatMap(({ calls }) => calls.filter((call) => call.method === method));

test('the same file imported later is a duplicate, though events of another time are not', async () => {
  const { parts, send } = await importing();
  const first = await send(TEXT);
  parts.clock.now += 86_400_000;
  const again = await send(TEXT);
  assert.deepEqual(
    [again['grains_created'], again['duplicates'], again['hashes']],
    [0, first['chunks'], first['hashes']],
  );
  const fields = { content: 'said', context: { document: 'none' } };
  const say = async () =>
    (await ask(parts, 'POST', `${M}/add`, { key: ADMIN, json: { grain_type: 'event', fields } })).body['blob_hash'];
  const said = await say();
  parts.clock.now += 1_000;
  assert.notEqual(await say(), said);
});

test('an import whose storage fails gives its thread back and reports the error', async () => {
  let closed = 0;
  const failing = (): Promise<never> => Promise.reject(new EngineError('STO-E001', 'no room'));
  const { parts, send } = await importing({ instead: { addBatch: failing } });
  const { documents } = parts.services;
  const chunks = documents.chunks.bind(documents);
  documents.chunks = async (...asked) => ({ ...(await chunks(...asked)), close: () => (closed += 1) });
  assert.equal((await send(TEXT))['code'], 'STO-E001');
  assert.equal(closed, 1);
});

test('a large document is stored in several calls, in order', async () => {
  const { parts, send } = await importing();
  const answer = await send(TEXT.repeat(4), { chunk_size: ['40'], chunk_overlap: ['0'] });
  assert.equal(answer['grains_created'], answer['chunks']);
  assert.ok(callsOf(parts, 'addBatch').length >= 1);
  const { grains } = (await ask(parts, 'GET', `${M}/grains`, { key: ADMIN, query: { limit: ['1'] } })).body as {
    grains: { fields: { context: { document: { chunk_count: number } } } }[];
  };
  assert.equal(grains[0]?.fields.context.document.chunk_count, answer['chunks']);
});
