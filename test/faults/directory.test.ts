// The data directory as a server finds it: taken by another, or with files that are not as they were left.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NotStarted, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const flags = ['--shards', '1', '--workers', '1'];

/** What a server says that does not start. */
async function refusalOf(directory: string): Promise<string> {
  try {
    const server = await startServerProcess({ directory, flags });
    await server.kill();
    return assert.fail('it started');
  } catch (error) {
    if (error instanceof NotStarted) return error.output;
    throw error;
  }
}

test('a second server on a data directory is refused by name, and a dead one leaves nothing in the way', async (t) => {
  const directory = join(temporaryDirectory(t), 'data');
  const first = await startServerProcess({ directory, flags });
  t.after(() => first.kill());
  const told = await refusalOf(directory);
  assert.ok(told.includes(directory) && told.includes(String(first.child.pid)), told);
  assert.ok(existsSync(join(directory, 'server.json')), 'the first one is still there to be found');
  await first.kill();
  // Left by the killed server: cut short, and in nobody's way.
  truncateSync(join(directory, 'server.json'), 7);
  const next = await startServerProcess({ directory, flags });
  t.after(() => next.kill());
  assert.equal(JSON.parse(readFileSync(join(directory, 'server.json'), 'utf8')).http, next.http);
  assert.equal(await next.stop(), 0);
});
