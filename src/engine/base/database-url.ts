// The address of a database as an operator writes it: postgres://user:password@host:port/database?sslmode=verify-full.

/** As PostgreSQL's own programs name them. */
export const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

export interface DatabaseAddress {
  /** Name, address without brackets, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  /** Absent: that of the process's owner. */
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly sslMode: SslMode;
  /** Files in PEM form: the authorities that the database's certificate is checked against, and a certificate of our own. */
  readonly rootCertificate: string | undefined;
  readonly certificate: string | undefined;
  readonly certificateKey: string | undefined;
}

const PORT = 5432;
const KNOWN: ReadonlySet<string> = new Set(['host', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey']);
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** Throws an Error that states the expected form, and repeats nothing of the text, which may hold a password. */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text))
    throw new Error('must be a URL: postgres://user@host:5432/database');
  const url = new URL(text);
  const parameter = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const database = decoded(url.pathname.slice(1));
  if (database === '') throw new Error('must name a database: postgres://user@host:5432/database');
  const host = parameter('host') ?? decoded(url.hostname).replace(/^\[|\]$/g, '');
  if (host === '') throw new Error('must name a host: postgres://user@host:5432/database');
  // Only now: in an address without a database, a parameter may be a part of a password.
  const unknown = [...url.searchParams.keys()].find((name) => !KNOWN.has(name));
  if (unknown !== undefined) throw new Error(`has an unknown parameter ${unknown}: it takes ${[...KNOWN].join(', ')}`);
  const mode = parameter('sslmode') ?? (isLocalHost(host) ? 'disable' : 'prefer');
  const sslMode = SSL_MODES.find((one) => one === mode);
  if (sslMode === undefined) throw new Error(`must have an sslmode of ${SSL_MODES.join(', ')}`);
  const [certificate, certificateKey] = [parameter('sslcert'), parameter('sslkey')];
  if ((certificate === undefined) !== (certificateKey === undefined))
    throw new Error('must have sslcert and sslkey together');
  return {
    host,
    port: url.port === '' ? PORT : Number(url.port),
    database,
    user: url.username === '' ? undefined : decoded(url.username),
    password: url.password === '' ? undefined : decoded(url.password),
    sslMode,
    rootCertificate: parameter('sslrootcert'),
    certificate,
    certificateKey,
  };
}

/** True for this machine: a loopback address, or the folder of a socket. */
export function isLocalHost(host: string): boolean {
  return host.startsWith('/') || LOOPBACK.test(host);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('must write special characters of its parts as %XX');
  }
}
