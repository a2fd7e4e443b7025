// One person under two spellings of the same name, composed and with a combining accent: a request under either
// spelling reaches all of the person's data.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareServer } from './conformance/shared-server.ts';
import type { HttpAnswer } from './support/server-process.ts';

const COMPOSED = 'caf\u00e9';
const COMBINING = 'cafe\u0301';
const SPELLINGS = [COMPOSED, COMBINING];

const shared = shareServer();
const at = (verb: string, path: string, json?: unknown): Promise<HttpAnswer> =>
  shared.send(verb, `/memories/default${path}`, json);
const exec = (command: string, args: object): Promise<HttpAnswer> => at('POST', '/app/exec', { command, args });
const add = (user_id: string, object: string): Promise<HttpAnswer> =>
  at('POST', '/add', { subject: 'door', relation: 'is', object, user_id });

test('a person is restricted, exported and erased under every spelling of their name', async () => {
  for (const [index, spelling] of SPELLINGS.entries()) {
    assert.equal((await add(spelling, `open ${index}`)).status, 200);
    const purpose = `purpose ${index}`;
    assert.equal((await at('POST', '/consent/grant', { user_id: spelling, purpose })).status, 200);
  }
  for (const spelling of SPELLINGS) {
    const { body } = await at('GET', `/export/${encodeURIComponent(spelling)}`);
    assert.deepEqual([body.count, body.consents.length, body.user_id], [4, 2, COMPOSED]);
    const listed = await at('GET', `/grains?grain_type=belief&user_id=${encodeURIComponent(spelling)}`);
    assert.equal(listed.body.total, 2);
  }
  for (const spelling of SPELLINGS) {
    assert.equal((await exec('restrict', { user_id: spelling, reason: 'contested' })).status, 200);
    for (const writer of SPELLINGS) assert.equal((await add(writer, 'shut')).code, 'POL-E008');
    assert.equal((await exec('unrestrict', { user_id: spelling })).status, 200);
    assert.equal((await exec('restrictions', {})).body.result.total, 0);
  }
  const proof = await at('POST', '/forget', { user_id: COMBINING });
  assert.deepEqual([proof.status, proof.body.count, proof.body.user_id], [200, 4, COMPOSED]);
  assert.equal((await at('GET', '/grains')).body.total, 0);
  const again = await at('POST', '/forget', { user_id: COMPOSED });
  assert.deepEqual([again.body.count, again.body.key_fingerprint], [0, proof.body.key_fingerprint]);
});

test('a name in a header is encoded or refused, never taken for another', async () => {
  const add = (user: string, object: string): Promise<HttpAnswer> =>
    shared.send('POST', '/memories/default/add', { subject: 'hat', relation: 'is', object }, { 'x-user-id': user });
  assert.equal((await add(`UTF-8''${encodeURIComponent(COMBINING)}`, 'red')).status, 200);
  const { body } = await at('GET', `/export/${encodeURIComponent(COMPOSED)}`);
  assert.deepEqual([body.count, body.grains[0].user_id], [1, COMPOSED]);
  // As one byte of Latin-1 in the middle of a name: at its end a listener may drop the byte.
  assert.equal((await add('caf\u00e9s', 'blue')).code, 'VAL-E001');
});
