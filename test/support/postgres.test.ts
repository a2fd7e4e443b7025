import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import postgres from 'postgres';
import { eventually } from './eventually.ts';
import { NO_POSTGRES, PostgresInstance, type PostgresPlace, testDatabase } from './postgres.ts';

test('each test gets a database of its own, in one instance', async (t) => {
  const [one, other] = [await testDatabase(t), await testDatabase(t)];
  if (one === undefined || other === undefined) return;
  assert.notEqual(one.url, other.url);
  assert.equal(one.instance.pid, other.instance.pid);
  const sql = postgres(one.url, { max: 1 });
  try {
    const [row] = await sql`SELECT version() AS version, current_setting('fsync') AS fsync`;
    assert.match(String(row?.['version']), /^PostgreSQL 1[4-9]/);
    assert.equal(row?.['fsync'], 'off');
  } finally {
    await sql.end();
  }
});

/** Starts an instance, and says where it is. */
const STARTER = `
import { PostgresInstance } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'postgres.ts')).href)};
const instance = await PostgresInstance.start();
process.stdout.write(JSON.stringify(instance.place));
setInterval(() => undefined, 60_000);
`;

const NO_WATCHDOG = process.platform === 'win32' ? 'its watchdog is a shell script' : NO_POSTGRES;

test('PostgreSQL ends when the process that started it is killed', { skip: NO_WATCHDOG }, async () => {
  const starter = spawn(process.execPath, ['--input-type=module', '-e', STARTER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [said] = await once(starter.stdout, 'data');
    const place = JSON.parse(String(said)) as PostgresPlace; // written by the starter
    const instance = PostgresInstance.at(place);
    assert.ok(instance.isRunning);
    const { pid } = instance;
    starter.kill('SIGKILL');
    await eventually('its folder is removed', () => !existsSync(place.folder));
    assert.throws(() => process.kill(pid!, 0), { code: 'ESRCH' });
  } finally {
    starter.kill('SIGKILL');
  }
});
