// `granary policy`, `consent` and `restrict` against a server.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { servedForFile } from './support/cli.ts';
import { granary, granaryJson } from './support/command-thread.ts';

const { directory, here } = servedForFile();

test('a policy is simulated, applied and shown; forbidden changes are rejected', async () => {
  const overrides = join(directory, 'overrides.json');
  writeFileSync(overrides, JSON.stringify({ retention: { default_ttl_days: 30 } }));
  const change = ['--add', 'strict-deletion', '--set', 'consent.mode=opt_in', '--overrides', overrides];
  const simulated = await granary(here('policy', 'simulate', ...change));
  assert.equal(simulated.code, 0, simulated.stderr);
  assert.match(simulated.stdout, /^upgraded\n/);
  assert.match(simulated.stdout, /consent\.mode +"none" +"opt_in" +tighter/);
  const applied = await granaryJson(here('policy', 'apply', ...change));
  assert.deepEqual([applied['version'], applied['change']], [1, 'upgraded']);
  const shown = await granary(here('policy'));
  assert.match(shown.stdout, /strict_deletion/);
  assert.match(shown.stdout, /retention\.default_ttl_days +30/);
  const looser = await granary(here('policy', 'apply', '--remove', 'strict_deletion'));
  assert.notEqual(looser.code, 0);
  assert.match(looser.stderr, /POL-E010/);
  const refused = await granary(here('policy', 'simulate', '--remove', 'strict_deletion'));
  assert.notEqual(refused.code, 0);
  assert.match(refused.stdout, /^downgraded, refused\n/);
});

test('consent is granted, revoked and shown; a user is restricted and released', async () => {
  const granted = await granary(
    here('consent', 'grant', 'ada', 'storage', '--basis', 'form', '--expires', '2099-01-01'),
  );
  assert.match(granted.stdout, /^granted: ada, storage \([0-9a-f]{64}\)\n$/);
  const added = await granaryJson(here('add', 'ada', 'likes', 'tea', '--user', 'ada'));
  assert.match(String(added['hash']), /^[0-9a-f]{64}$/);
  const revoked = await granaryJson(here('consent', 'revoke', 'bob', 'mail'));
  assert.equal(revoked['status'], 'revoked');
  const status = await granary(here('consent', 'status'));
  assert.match(status.stdout, /ada +storage +granted .*2099-01-01/);
  assert.match(status.stdout, /bob +mail +revoked/);
  await granary(here('restrict', 'user', 'ada', '--reason', 'contested'));
  const frozen = await granary(here('get', String(added['hash'])));
  assert.match(frozen.stderr, /POL-E008/);
  const listed = await granary(here('restrict'));
  assert.match(listed.stdout, /ada .*contested/);
  const lifted = await granary(here('restrict', 'lift', 'ada'));
  assert.equal(lifted.stdout, 'ada is not restricted.\n');
  assert.equal((await granary(here('get', String(added['hash'])))).code, 0);
});

test('a key acts as the principal that it is made with', async () => {
  const key = await granaryJson(here('keys', 'create', '--principal', 'agent:scribe', '--scope', 'read'));
  assert.equal(key['principal'], 'agent:scribe');
  assert.match((await granary(here('keys'))).stdout, /agent:scribe/);
});

test('tuples are granted, explained, listed and revoked', async () => {
  const granted = await granary(here('grant', 'group:eng#member', 'editor', 'namespace:acme'));
  assert.equal(granted.stdout, 'Granted: group:eng#member editor namespace:acme\n');
  assert.match((await granary(here('grant', 'group:eng#member', 'editor', 'namespace:acme'))).stdout, /there before/);
  await granary(here('grant', 'user:alice', 'member', 'group:eng'));
  const allowed = await granary(here('check', 'user:alice', 'viewer', 'namespace:acme/prod'));
  assert.deepEqual(
    [allowed.code, allowed.stdout],
    [
      0,
      'Allowed: user:alice viewer namespace:acme/prod\n  namespace:acme has the editor group:eng#member\n  group:eng has the member user:alice\n',
    ],
  );
  const denied = await granary(here('check', 'user:bob', 'viewer', 'namespace:acme'));
  assert.deepEqual([denied.code, denied.stdout], [1, 'Denied: user:bob viewer namespace:acme\n']);
  const listed = await granary(here('tuples', '--object', 'group:eng'));
  assert.match(listed.stdout, /user:alice +member +group:eng/);
  assert.equal((await granaryJson(here('tuples', '--subject', 'user:alice')))['total'], 1);
  const revoked = await granaryJson(here('revoke', 'user:alice', 'member', 'group:eng'));
  assert.equal(revoked['existed'], true);
  assert.equal((await granary(here('check', 'user:alice', 'viewer', 'namespace:acme'))).code, 1);
  assert.equal((await granary(here('grant', 'alice', 'viewer', 'namespace:acme'))).code, 1);
});
