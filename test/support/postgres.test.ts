import assert from 'node:assert/strict';
import { test } from 'node:test';
import postgres from 'postgres';
import { testDatabase } from './postgres.ts';

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
