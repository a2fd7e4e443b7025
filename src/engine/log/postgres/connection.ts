// How a connection to the database is made, by its URL: TLS as `sslmode` says.
import { readFileSync } from 'node:fs';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import type { Options, PostgresType } from 'postgres';
import { type DatabaseAddress, parseDatabaseUrl } from '../../base/database-url.ts';
import { defined } from '../../base/defined.ts';
import { EngineError } from '../../base/errors.ts';
import { DATABASE_CONNECT_SECONDS, DATABASE_CONNECTIONS_MAX, DATABASE_RECONNECT_SECONDS } from '../../base/limits.ts';

type ClientOptions = Options<Record<string, PostgresType>>;

/** Throws STO-E001 for a URL that is none, and for a certificate that cannot be read. */
export function clientOptionsOf(url: string): ClientOptions {
  const address = addressOf(url);
  const { host, port, database, user, password } = address;
  return defined({
    host,
    port,
    database,
    user,
    password,
    ssl: tlsOf(address),
    max: DATABASE_CONNECTIONS_MAX,
    connect_timeout: DATABASE_CONNECT_SECONDS,
    // By default up to 20 s, which a node would be away for after the database is back, and which an ending process waits for.
    backoff: (failures: number) =>
      Math.min(0.01 * 2 ** failures, DATABASE_RECONNECT_SECONDS) * (0.5 + Math.random() / 2),
    // Nothing reads arrays.
    fetch_types: false,
    // A database says "relation exists" and the like.
    onnotice: () => undefined,
    connection: { application_name: 'granary' },
  });
}

function addressOf(url: string): DatabaseAddress {
  try {
    return parseDatabaseUrl(url);
  } catch (error) {
    throw new EngineError('STO-E001', `the address of the database ${error instanceof Error ? error.message : ''}`);
  }
}

/**
 * `require` encrypts without a check of the certificate, unless `sslrootcert` names an authority; `verify-ca` checks that it is
 * signed, `verify-full` also that it names the host.
 */
function tlsOf(address: DatabaseAddress): false | 'prefer' | ConnectionOptions {
  const { host, sslMode, rootCertificate, certificate, certificateKey } = address;
  if (sslMode === 'disable') return false;
  if (sslMode === 'prefer') return 'prefer';
  const isChecked = sslMode !== 'require' || rootCertificate !== undefined;
  const options: ConnectionOptions = { rejectUnauthorized: isChecked };
  if (rootCertificate !== undefined && rootCertificate !== 'system') options.ca = pem(rootCertificate);
  if (certificate !== undefined) options.cert = pem(certificate);
  if (certificateKey !== undefined) options.key = pem(certificateKey);
  options.checkServerIdentity =
    sslMode === 'verify-full' ? (_, presented) => checkServerIdentity(host, presented) : () => undefined;
  return options;
}

function pem(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new EngineError(
      'STO-E001',
      `the certificate file ${path} of the database's address cannot be read: ${reason}`,
    );
  }
}
