// Data directories that earlier builds wrote open with this one, and answer as their own build answered.
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FORMAT_VERSION as SEGMENT_FORMAT } from '../src/engine/index/files/segment-file.ts';
import { FORMAT_VERSION, OLDEST_FORMAT } from '../src/engine/log/format.ts';
import { CONTROL_FORMAT } from '../src/server/control/open.ts';
import { fixtureNames, hashesIn, type Json, unpackFixture } from './support/deployment-fixture.ts';
import { eventually } from './support/eventually.ts';
import { memoryFolder } from './support/memory-files.ts';
import { startTestServer } from './support/server.ts';

const M = '/memories/default';
const names = fixtureNames();

interface Asked {
  readonly status: number;
  readonly body: Json;
}

test('there is a fixture of every format that is read', () => {
  const formats = names.map((name) => unpackFixture(name, mkdtempSync(join(memoryFolder(), 'f-'))).formats);
  for (let log = OLDEST_FORMAT; log <= FORMAT_VERSION; log += 1)
    assert.ok(
      formats.some((one) => one.log === log),
      `log ${log}: npm run fixture`,
    );
  const newest = { log: FORMAT_VERSION, control: CONTROL_FORMAT, segments: SEGMENT_FORMAT };
  assert.ok(
    formats.some((one) => JSON.stringify(one) === JSON.stringify(newest)),
    `${JSON.stringify(newest)}: a change of a format adds a fixture (npm run fixture)`,
  );
});

for (const name of names)
  test(`the data directory ${name} answers as it did`, async () => {
    const dataDir = mkdtempSync(join(memoryFolder(), 'fixture-'));
    const answers = unpackFixture(name, dataDir);
    const server = await startTestServer({ dataDir, embedder: 'ngram' });
    try {
      const ask = async (path: string, json?: unknown, key = answers.keys.admin): Promise<Asked> => {
        const answer = await fetch(`${server.http}/api${path}`, {
          method: json === undefined ? 'GET' : 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: json === undefined ? null : JSON.stringify(json),
        });
        return { status: answer.status, body: (await answer.json()) as Json }; // every answer is an object
      };
      for (const [hash, fields] of Object.entries(answers.grains)) {
        const { body } = await ask(`${M}/grains/${hash}`);
        const shown = body['fields'] as Json; // the contract
        for (const [field, value] of Object.entries(fields)) assert.deepEqual(shown[field], value, `${hash}: ${field}`);
      }
      for (const hash of answers.gone) {
        const { status } = await ask(`${M}/grains/${hash}`);
        assert.ok(status === 404 || status === 410, `${hash} is gone, not ${status}`);
      }
      for (const [query, hash] of Object.entries(answers.recalled)) {
        const { body } = await ask(`${M}/recall`, { query, limit: 3 });
        const [first] = (body['results'] ?? body['hits']) as readonly Json[]; // the contract
        assert.equal(first?.['hash'], hash, query);
      }
      for (const [query, hashes] of Object.entries(answers.cal)) {
        const { body } = await ask(`${M}/app/exec`, { command: 'cal', args: { query } });
        assert.ok(hashes.length > 0);
        assert.deepEqual(hashesIn(body['result']), hashes, query);
      }
      for (const user of answers.restricted) {
        const { status, body } = await ask(`${M}/recall`, { query: 'harbour', user_id: user });
        assert.equal(status, 403, JSON.stringify(body));
      }
      const { body: trail } = await ask(`${M}/audit?verify=true&limit=500`);
      assert.equal(trail['chain_valid'], true);
      const known = new Set((trail['entries'] as readonly Json[]).map(({ hash }) => hash));
      assert.deepEqual(
        answers.trail.filter((hash) => !known.has(hash)),
        [],
      );
      const { body: policy } = await ask(`${M}/policy`);
      assert.deepEqual(policy['presets'], answers.presets);
      for (const [key, status] of [
        [answers.keys.read, 200],
        [answers.keys.revoked, 401],
      ] as const)
        assert.equal((await ask(`${M}/grains`, undefined, key)).status, status);
      await eventually('the vectors are there', async () => {
        const { body } = await ask(`${M}/stats`);
        // The last grain may have been embedded since.
        return Number(body['index_lag']) === 0 && Number(body['vectors']) >= answers.vectors;
      });
      const { status, body: added } = await ask(`${M}/add`, { subject: 'new', relation: 'is', object: 'written' });
      assert.equal(status, 200, JSON.stringify(added));
      assert.deepEqual(server.errors, []);
    } finally {
      await server.close();
    }
  });
