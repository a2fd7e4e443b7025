// The effect of a restore on API keys, and on people who were forgotten since the backup.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MOVED_FILE } from '../src/server/data-directory.ts';
import { granary, granaryJson, serve } from './support/cli.ts';
import { ask } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

test('keys of the backup work again, later keys are gone, and revoked keys and forgotten people stay so', async (t) => {
  const directory = temporaryDirectory(t);
  const data = join(directory, 'data');
  const copy = join(directory, 'copy');
  const here = (...words: string[]): string[] => [...words, '--data-dir', data];
  const first = await serve(data);
  t.after(() => first.stop());
  const bootstrap = readFileSync(join(data, 'keys', 'bootstrap.key'), 'utf8').trim();
  const by = { http: first.http, key: bootstrap };
  const makeKey = async (name: string, more: object = {}): Promise<{ raw: string; id: string }> => {
    const { body } = await ask(by, 'POST', '/auth/keys', { name, scopes: ['read'], ...more });
    return { raw: body.raw_key, id: body.key_id };
  };
  const kept = await makeKey('kept');
  const revoked = await makeKey('revoked');
  const erased = await makeKey("ann's", { memory_id: 'default', user_id: 'ann' });
  const everywhere = await makeKey("ann's", { user_id: 'ann' });
  const hashes: string[] = [];
  for (const user of ['ann', 'bob']) {
    const json = { subject: user, relation: 'likes', object: 'tea', user_id: user };
    hashes.push((await ask(by, 'POST', '/memories/default/add', json)).body.blob_hash);
  }
  await granaryJson(here('backup', copy));
  const later = await makeKey('made since');
  assert.ok((await ask(by, 'DELETE', `/auth/keys/${revoked.id}`)).status < 300);
  assert.equal((await ask(by, 'POST', '/memories/default/forget', { user_id: 'ann' })).body.count, 1);
  assert.equal(await first.stop(), 0);

  const report = await granaryJson(here('restore', copy, '--yes'));
  assert.deepEqual([report['kept_erased_users'], report['kept_revoked_keys'], report['warnings']], [1, 3, []]);
  const again = await serve(data);
  t.after(() => again.stop());
  const status = async (key: string): Promise<number> =>
    (await ask({ http: again.http, key }, 'GET', '/memories/default/stats')).status;
  assert.deepEqual(await Promise.all([bootstrap, kept.raw, later.raw, revoked.raw].map(status)), [200, 200, 401, 401]);
  // The chain continues where the backup ended, and contains nothing that could be guessed.
  const trail = (await ask({ http: again.http, key: bootstrap }, 'GET', '/memories/default/audit?verify=true')).body;
  assert.equal(trail.chain_valid, true);
  assert.ok(trail.entries.some(({ event_type }: { event_type: string }) => event_type === 'user.erased'));
  assert.ok(!JSON.stringify(trail).includes(hashes[0]!) && JSON.stringify(trail).includes(hashes[1]!));
  // The backup contained their owners.
  assert.deepEqual(await Promise.all([erased.raw, everywhere.raw].map(status)), [401, 401]);
  const { keys } = (await ask({ http: again.http, key: bootstrap }, 'GET', '/auth/keys')).body;
  assert.ok(keys.length > 3 && !/\bann\b/.test(JSON.stringify(keys)), JSON.stringify(keys));
  const { results } = (
    await ask({ http: again.http, key: bootstrap }, 'POST', '/memories/default/recall', { query: 'tea' })
  ).body;
  assert.deepEqual(
    results.map(({ fields }: { fields: { subject: string } }) => fields.subject),
    ['bob'],
  );
  // Restores the same backup once more, over the restored deployment.
  assert.equal(await again.stop(), 0);
  assert.equal((await granaryJson(here('restore', copy, '--yes')))['kept_erased_users'], 1);
  const found = await granaryJson(here('recall', 'tea'));
  assert.equal((found['results'] as unknown[]).length, 1);
});

test('a restore over a deployment that was moved away keeps what was removed before the move, and warns of the rest', async (t) => {
  const directory = temporaryDirectory(t);
  const data = join(directory, 'data');
  const copy = join(directory, 'copy');
  const here = (...words: string[]): string[] => [...words, '--data-dir', data];
  const server = await serve(data);
  t.after(() => server.stop());
  const by = { http: server.http, key: readFileSync(join(data, 'keys', 'bootstrap.key'), 'utf8').trim() };
  const key = (await ask(by, 'POST', '/auth/keys', { name: 'revoked', scopes: ['read'] })).body;
  await ask(by, 'POST', '/memories/default/add', { subject: 'ann', relation: 'likes', object: 'tea', user_id: 'ann' });
  await granaryJson(here('backup', copy));
  assert.ok((await ask(by, 'DELETE', `/auth/keys/${key.key_id}`)).status < 300);
  assert.equal((await ask(by, 'POST', '/memories/default/forget', { user_id: 'ann' })).body.count, 1);
  assert.equal(await server.stop(), 0);
  writeFileSync(join(data, MOVED_FILE), '{}\n');

  const refused = await granary(here('restore', copy, '--yes'));
  assert.deepEqual([refused.code, /was moved into a database/.test(refused.stderr)], [1, true], refused.stderr);
  const report = await granaryJson(here('restore', copy, '--yes', '--force'));
  assert.deepEqual([report['kept_erased_users'], report['kept_revoked_keys']], [1, 1]);
  assert.match(
    String(report['warnings']),
    /^[^,]* was moved into a database: what was removed there since is unknown$/,
  );
  const again = await serve(data);
  t.after(() => again.stop());
  assert.equal((await ask({ http: again.http, key: key.raw_key }, 'GET', '/memories/default/stats')).status, 401);
});
