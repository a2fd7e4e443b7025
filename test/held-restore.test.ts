// A backup taken under policies that keep everything, restored after the policies were released and the kept grains
// removed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { granaryJson, type ServeProcess, serve } from './support/cli.ts';
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
