// TLS between a node and its database, as sslmode says.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Database } from '../src/engine/log/postgres/database.ts';
import { openStore } from '../src/engine/log/postgres/migrate.ts';
import { NO_POSTGRES, PostgresInstance, sharedPostgres } from './support/postgres.ts';

const TLS = join(import.meta.dirname, 'fixtures', 'tls');
/** Signed by itself, for localhost. */
const CERTIFICATE = join(TLS, 'cert.pem');

/** Whether the database says that the connection is encrypted. */
async function isEncrypted(base: string, host: string, parameters: Readonly<Record<string, string>>): Promise<boolean> {
  const url = new URL(base);
  url.hostname = host;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const database = await Database.open(url.href);
  try {
    const [row] = await database.ask((sql) => sql`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`);
    return row?.['ssl'] === true;
  } finally {
    await database.close();
  }
}

test('connections are encrypted, and certificates checked, as sslmode says', { skip: NO_POSTGRES }, async () => {
  const instance = await PostgresInstance.start({ tls: { certificate: CERTIFICATE, key: join(TLS, 'key.pem') } });
  const url = instance.url();
  const sslrootcert = CERTIFICATE;
  for (const [host, parameters, wanted] of [
    ['localhost', {}, false],
    ['localhost', { sslmode: 'prefer' }, true],
    ['localhost', { sslmode: 'require' }, true],
    ['127.0.0.1', { sslmode: 'require', sslrootcert }, true],
    ['127.0.0.1', { sslmode: 'verify-ca', sslrootcert }, true],
    ['localhost', { sslmode: 'verify-full', sslrootcert }, true],
  ] as const)
    assert.equal(await isEncrypted(url, host, parameters), wanted, JSON.stringify([host, parameters]));
  for (const [host, parameters, says] of [
    // Nobody that Node trusts has signed it.
    ['localhost', { sslmode: 'verify-ca' }, /self-signed/],
    ['localhost', { sslmode: 'verify-full' }, /self-signed/],
    // Another name of the same machine, which the certificate does not have.
    ['127.1', { sslmode: 'verify-full', sslrootcert }, /does not match/],
    ['localhost', { sslmode: 'verify-full', sslrootcert: join(TLS, 'absent.pem') }, /absent\.pem.*ENOENT/],
  ] as const)
    await assert.rejects(isEncrypted(url, host, parameters), says, JSON.stringify([host, parameters]));

  // A database without TLS gets no password in clear from an address that asks for TLS.
  const plain = new URL((await sharedPostgres()).url());
  plain.searchParams.set('sslmode', 'require');
  const database = await Database.open(plain.href);
  await assert.rejects(openStore(database), { code: 'STO-E001' });
  await database.close();
});
