// The data directory of a server after an erasure: no file contains a hash that could be compared with a guess,
// whichever way the person's grains were written, read and removed.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { foundInFiles, hashNeedles } from '../support/scan-files.ts';
import { ask, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

for (const partitions of [1, 4])
  test(`no file holds a hash of an erased person's grains, ${partitions} partitions`, async (t) => {
    const directory = join(temporaryDirectory(t), 'data');
    const server = await startServerProcess({ directory, flags: ['--shards', '4', '--workers', '1'] });
    t.after(() => server.kill());
    const M = '/memories/m';
    const say = async (verb: string, path: string, json?: unknown, headers = {}) => {
      const answer = await ask(server, verb, path, json, headers);
      assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
      return answer.body;
    };
    await say('POST', '/memories', { id: 'm', partitions });
    const secret = { subject: 'ann', relation: 'has', object: 'cancer', user_id: 'ann', session_id: 's' };
    const once = { 'idempotency-key': 'a key of the call' };
    const added: string = (await say('POST', `${M}/add`, secret, once)).blob_hash;
    assert.equal((await say('POST', `${M}/add`, secret, once)).blob_hash, added);
    const next = await say('POST', `${M}/supersede`, { blob_hash: added, fields: { object: 'debts' } });
    const batch = await say('POST', `${M}/batch-add`, {
      grains: [{ grain_type: 'event', fields: { content: 'I have diabetes.', user_id: 'ann', session_id: 't' } }],
    });
    const naming: string = (
      await say('POST', `${M}/add`, { subject: 'bob', relation: 'knows', object: 'ann', user_id: 'bob' })
    ).blob_hash;
    const { recall_id } = await say('POST', `${M}/recall`, { query: 'cancer debts diabetes', user_id: 'ann' });
    await say('POST', `${M}/app/exec`, { command: 'cal', args: { query: 'RECALL beliefs WHERE subject = "ann"' } });
    const read = await say('GET', `${M}/grains/${next.new_hash}`);
    assert.equal(read.hash ?? read.blob_hash, next.new_hash);
    const record = await say('GET', `${M}/provenance/${recall_id}`);
    assert.ok(record.results.some(({ hash }: { hash: string }) => hash === next.new_hash));
    await say('POST', `${M}/flush`, {});
    const proof = await say('POST', `${M}/forget`, { user_id: 'ann', reason: 'she has cancer' });
    assert.ok(proof.count >= 3);
    await eventually('the purge ends', async () => (await say('GET', `${M}/stats`)).purge_pending === 0);
    await say('POST', `${M}/flush`, {});

    const after = await say('GET', `${M}/provenance/${recall_id}`);
    assert.ok(after.verified && after.results.every(({ hash }: { hash: string }) => hash === ''));
    const trail = await say('GET', `${M}/audit?limit=100&verify=true`);
    assert.equal(trail.chain_valid, true);
    const hashes = new Map<string, string>([
      ['added', added],
      ['superseding', next.new_hash],
      ['of the batch', batch.added[0].blob_hash],
      ['naming her', naming],
      ['reason', createHash('sha256').update('she has cancer').digest('hex')],
      ['query', createHash('sha256').update('cancer debts diabetes').digest('hex')],
    ]);
    for (const [what, hash] of hashes) {
      assert.match(hash, /^[0-9a-f]{64}$/, what);
      assert.ok(!JSON.stringify([trail, after]).includes(hash), what);
      assert.equal((await say('GET', `${M}/audit?grain_hash=${hash}`)).total, 0, what);
    }
    assert.equal(await server.stop(), 0);
    const needles = new Map([...hashes].flatMap(([what, hash]) => hashNeedles(what, hash)));
    assert.deepEqual(foundInFiles(directory, needles), []);
    // The search finds existing hashes.
    assert.ok(foundInFiles(directory, new Map([['the layout', Buffer.from('"shards"')]])).length > 0);
  });
