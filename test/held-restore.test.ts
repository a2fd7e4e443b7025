// A backup taken under policies that keep everything, restored after the policies were released and the kept grains
// removed.
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../src/engine/base/clock.ts';
import { keyFolderOf } from '../src/engine/keys/key-files.ts';
import { loadMasterKey } from '../src/engine/keys/master-key.ts';
import { openControlKey } from '../src/server/control/control-key.ts';
import { openControl } from '../src/server/control/open.ts';
import type { ControlStore } from '../src/server/control/store.ts';
import { readShards } from '../src/server/data-directory.ts';
import { granary, granaryJson, type ServeProcess, serve } from './support/cli.ts';
import { ask, type HttpAnswer } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

test('data that was removed after a hold was released stays removed when a backup from under the hold is restored', async (t) => {
  const directory = temporaryDirectory(t);
  const data = join(directory, 'data');
  const copy = join(directory, 'copy');
  const here = (...words: string[]): string[] => [...words, '--data-dir', data];
  const asking = ({ http }: ServeProcess) => {
    const key = readFileSync(join(data, 'keys', 'bootstrap.key'), 'utf8').trim();
    return async (verb: string, path: string, json?: object): Promise<HttpAnswer> => {
      const answer = await ask({ http: new URL(http).origin, key }, verb, path, json);
      assert.ok(answer.status < 300 || answer.status === 403, JSON.stringify(answer.body));
      return answer;
    };
  };
  const before = await serve(data);
  t.after(() => before.stop());
  const then = asking(before);
  const presets = ['legal_hold', 'append_only', 'strict_deletion'];
  for (const id of ['held', 'gone']) await then('POST', '/memories', { id });
  const grain = (subject: string, more: object = {}) => ({
    grain_type: 'belief',
    fields: { subject, relation: 'likes', object: 'tea', ...more },
  });
  const grains = [grain('ada', { user_id: 'ada' }), grain('bob'), grain('carl', { namespace: 'acme' }), grain('dora')];
  await then('POST', '/memories/held/batch-add', { grains });
  for (const id of ['held', 'gone']) await then('PUT', `/memories/${id}/policy`, { add_policies: presets });
  await then('POST', '/memories/held/app/exec', { command: 'restrict', args: { user_id: 'ada', reason: 'contested' } });
  await granaryJson(here('backup', copy));

  const release = { remove_policies: presets, reason: 'release: settled' };
  for (const id of ['held', 'gone']) await then('PUT', `/memories/${id}/policy`, release);
  assert.equal((await then('POST', '/memories/held/forget', { user_id: 'ada' })).body.count, 1);
  assert.equal((await then('POST', '/memories/held/forget', { subject: 'bob' })).body.deleted, 1);
  assert.equal((await then('POST', '/memories/held/scope-erase', { scope_path: 'acme' })).body.count, 1);
  await then('DELETE', '/memories/gone');
  assert.equal(await before.stop(), 0);

  const report = await granaryJson(here('restore', copy, '--yes'));
  assert.deepEqual(
    [report['kept_erased_users'], report['kept_erased_scopes'], report['kept_deleted_memories'], report['warnings']],
    [1, 1, 1, []],
  );
  const after = await serve(data);
  t.after(() => after.stop());
  const now = asking(after);
  const { body } = await now('GET', '/memories/held/grains');
  assert.deepEqual(
    body.grains.map(({ fields }: { fields: { subject: string } }) => fields.subject),
    ['dora'],
  );
  const memories = await now('GET', '/memories');
  assert.ok(!memories.body.memories.some(({ id }: { id: string }) => id === 'gone'));
  // Policies of the backup apply again.
  assert.equal((await now('POST', '/memories/held/forget', { subject: 'dora', reason: 'asked' })).code, 'POL-E003');
  assert.equal((await granaryJson(here('verify')))['finding_count'], 0);
  assert.equal(await after.stop(), 0);
});

/** The control log of a data directory that no server has open. */
function controlOf(data: string): ControlStore {
  const files = keyFolderOf(data);
  const master = loadMasterKey({ files }).key;
  return openControl(data, { key: openControlKey(files, master, false), master }, readShards(data), systemClock);
}

test('an erasure and a deletion that were cut off are completed in a backup from before them', async (t) => {
  const directory = temporaryDirectory(t);
  const [data, copy] = [join(directory, 'data'), join(directory, 'copy')];
  const here = (...words: string[]): string[] => [...words, '--data-dir', data];
  await granaryJson(here('memories', 'create', 'gone'));
  await granaryJson(here('add', 'ada', 'likes', 'tea', '--user', 'ada'));
  await granaryJson(here('add', 'bob', 'likes', 'tea'));
  await granaryJson(here('backup', copy));
  // A server leaves this that ends after it has noted them, and before it destroys a key.
  const control = controlOf(data);
  const [kept, gone] = ['default', 'gone'].map((id) => control.get('memory', id)!);
  const name = `memory/${kept!.number}/erasure/ers_1`;
  const value = { name, memory: kept!.number, target: { userId: 'ada' }, actor: 'key:admin' };
  await control.commit((change) => {
    change.put('setting', { name, value });
    change.put('memory', { ...gone!, deleting: true });
  });
  await control.close();
  const report = await granaryJson(here('restore', copy, '--yes'));
  assert.deepEqual([report['kept_deleted_memories'], report['warnings']], [1, []]);
  const { results } = await granaryJson(here('recall', 'likes tea'));
  assert.deepEqual(
    (results as { fields: { subject: string } }[]).map(({ fields }) => fields.subject),
    ['bob'],
  );
  const { memories } = await granaryJson(here('memories'));
  assert.deepEqual(
    (memories as { id: string }[]).map(({ id }) => id),
    ['default'],
  );
});

test('a restore over what is left of a deployment keeps what its control log knows, and names a shard that is lost', async (t) => {
  const directory = temporaryDirectory(t);
  const [data, copy] = [join(directory, 'data'), join(directory, 'copy')];
  const here = (...words: string[]): string[] => [...words, '--data-dir', data];
  await granaryJson(here('add', 'ada', 'likes', 'tea'));
  const { key_id } = await granaryJson(here('keys', 'create', '--name', 'late'));
  await granaryJson(here('backup', copy));
  await granaryJson(here('keys', 'revoke', String(key_id)));
  for (const name of ['layout.json', 'shard-0', 'keys/shard-0']) rmSync(join(data, name), { recursive: true });
  const refused = await granary(here('restore', copy, '--yes'));
  assert.match(refused.stderr, /neither log nor keys of shard 0: who was erased since is unknown/);
  const report = await granaryJson(here('restore', copy, '--yes', '--force'));
  assert.equal(report['kept_revoked_keys'], 1);
  assert.match(String(report['warnings']), /^[^,]* has neither log nor keys of shard 0: [^,]*$/);
});
