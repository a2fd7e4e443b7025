// Rotations between a backup and its restore: the copy has other keys than the current deployment.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { granaryJson, serve } from './support/cli.ts';
import { temporaryDirectory } from './support/temporary.ts';

test('a backup from before rotations is restored without data erased and forgotten since', async (t) => {
  const directory = temporaryDirectory(t);
  const data = join(directory, 'data');
  const copy = join(directory, 'copy');
  const here = (...words: string[]): string[] => [...words, '--data-dir', data];
  const server = await serve(data);
  t.after(() => server.stop());
  const lines = ['ada', 'bob', 'carl'].map((subject) =>
    JSON.stringify({ subject, relation: 'likes', object: 'tea', ...(subject === 'ada' ? { user_id: 'ada' } : {}) }),
  );
  await granaryJson(here('import', '-'), 0, lines.join('\n'));
  await granaryJson(here('backup', copy));
  await granaryJson(here('rotate-keys'));
  await granaryJson(here('compact'));
  await granaryJson(here('rotate-keys', '--scope', 'kek'));
  await granaryJson(here('forget', '--user', 'ada', '--yes'));
  await granaryJson(here('forget', '--subject', 'bob', '--yes'));
  assert.equal((await granaryJson(here('verify')))['finding_count'], 0);
  assert.equal(await server.stop(), 0);

  const report = await granaryJson(here('restore', copy, '--yes'));
  assert.deepEqual([report['kept_erased_users'], report['kept_forgotten_grains'], report['warnings']], [1, 1, []]);
  const again = await serve(data);
  t.after(() => again.stop());
  const { results } = await granaryJson(here('recall', 'likes tea'));
  assert.deepEqual(
    (results as { fields: { subject: string } }[]).map(({ fields }) => fields.subject),
    ['carl'],
  );
  assert.equal((await granaryJson(here('verify')))['finding_count'], 0);
  // The copy's own keys can be rotated too.
  await granaryJson(here('rotate-keys', '--scope', 'kek'));
  await granaryJson(here('rotate-keys'));
  await granaryJson(here('compact'));
  assert.equal((await granaryJson(here('verify')))['finding_count'], 0);
  assert.equal(await again.stop(), 0);
});
