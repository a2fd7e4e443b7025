// The request of a data subject over restarts and a restore.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { granaryJson } from './support/cli.ts';
import { eventually } from './support/eventually.ts';
import { temporaryDirectory } from './support/temporary.ts';

test('a request survives restarts, and a restore keeps it, its proof and the signing key', async (t) => {
  const folder = temporaryDirectory(t);
  const data = join(folder, 'data');
  const at = (...words: string[]): string[] => [...words, '--data-dir', data];
  const proof = join(folder, 'proof.json');
  // Each command opens the data directory by itself: a restart.
  await granaryJson(at('add', 'ada', 'likes', 'tea', '--user', 'ada'));
  const { request_id, due_at } = await granaryJson(at('dsr', 'open', '--user', 'ada', '--kind', 'erasure'));
  await granaryJson(at('backup', join(folder, 'copy')));
  await granaryJson(at('dsr', 'erase', '--user', 'ada', '--yes', '--proof', proof));
  await granaryJson(at('proof', 'rotate-key'));
  await granaryJson(at('dsr', 'open', '--user', 'ada', '--kind', 'objection'));
  await granaryJson(at('restore', join(folder, 'copy'), '--yes'));
  const { requests } = (await granaryJson(at('dsr', 'list', '--user', 'ada'))) as {
    requests: Record<string, unknown>[];
  };
  assert.equal(requests.length, 2, 'a later request is not lost');
  const kept = requests.find((one) => one['request_id'] === request_id);
  assert.equal(kept?.['due_at'], due_at);
  assert.equal((kept?.['erasure'] as { count?: number } | undefined)?.count, 1);
  const { result } = await granaryJson(at('proof', 'verify', proof, '--with-server'));
  assert.equal(result, 'repeated', 'the restore erased again, in another entry');
  await eventually('the new proof is in the trail', async () => {
    const { purge } = (await granaryJson(
      at('proof', 'get', '--user', 'ada', '--out', join(folder, `${Math.random()}`)),
    )) as {
      purge: { state: string };
    };
    return purge.state === 'complete';
  });
  const closed = await granaryJson(at('dsr', 'close', '--user', 'ada', '--request', String(request_id)));
  assert.equal(closed['user_id'], undefined);
});
