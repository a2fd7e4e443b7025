import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { rootCertificates } from 'node:tls';
import { eventually } from '../../../test/support/eventually.ts';
import { testDatabase } from '../../../test/support/postgres.ts';
import { restOfLeaseMs } from '../../../test/support/store.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { FORMAT_VERSION } from '../../engine/log/format.ts';
import { Database } from '../../engine/log/postgres/database.ts';
import { Lease } from '../../engine/log/postgres/lease.ts';
import { LeaseTable } from '../../engine/log/postgres/lease-table.ts';
import { migrate } from '../../engine/log/postgres/migrate.ts';
import { keepLeases } from './kept-leases.ts';

const LEASE_MS = 3_000;

test('a lease goes on while the thread of its log is busy', async (t) => {
  const found = await testDatabase(t);
  if (found === undefined) return;
  const { url } = found;
  const database = await Database.open(url);
  t.after(() => database.close());
  await migrate(database, 1);
  const leases = LeaseTable.of(1).buffer;
  const place = { node: 'a', leaseMs: LEASE_MS, leases };
  const restMs = () => restOfLeaseMs(database);
  const stamp = { shard: 0, shards: 1, formatVersion: FORMAT_VERSION };
  const lease = await Lease.take(database, { ...place, stamp, isKept: true });
  const end = keepLeases({ ...place, url }, { error: assert.ifError, info: assert.ifError });
  t.after(end);
  const atFirstMs = await restMs();
  await eventually('it is renewed', async () => (await restMs()) > atFirstMs);
  // This thread does nothing else for two leases.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * LEASE_MS);
  assert.equal(lease.lapsed, undefined);
  assert.ok((await restMs()) > 0);
  await lease.release();
  assert.match(lease.lapsed ?? '', /given back/);
});

test('a thread that cannot start is started again after longer and longer pauses, and both ends of that are told once', async (t) => {
  const certificate = join(temporaryDirectory(t), 'ca.pem');
  // Nobody has a lease, so no database is asked.
  const url = `postgres://nobody@127.0.0.1:1/none?sslmode=verify-full&sslrootcert=${encodeURIComponent(certificate)}`;
  const told: string[] = [];
  const pauses: number[] = [];
  const tell =
    (level: string) =>
    (_: object, text: string): void => {
      told.push(`${level}: ${text}`);
    };
  const end = keepLeases(
    { url, node: 'a', leaseMs: LEASE_MS, leases: LeaseTable.of(1).buffer },
    { error: tell('error'), info: tell('info') },
    (run, ms) => {
      pauses.push(ms);
      if (pauses.length === 7) writeFileSync(certificate, rootCertificates[0]!);
      setImmediate(run);
      return () => undefined;
    },
  );
  t.after(end);
  await eventually('the thread is at work', () => told.length > 1);
  assert.deepEqual(told, [
    'error: the thread that renews leases ended and is being restarted',
    'info: the thread that renews leases is running again',
  ]);
  assert.deepEqual(pauses, [100, 200, 400, 800, 1_600, 2_000, 2_000]);
});
