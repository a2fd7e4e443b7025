import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDatabaseUrl } from './database-url.ts';

test('an address has its parts decoded, and a mode of TLS that fits its host', () => {
  const whole = parseDatabaseUrl(
    'postgres://a%40b:p%2Fw@db.example.com:6432/my%20data?sslmode=verify-full&sslrootcert=/ca.pem',
  );
  assert.deepEqual(whole, {
    host: 'db.example.com',
    port: 6432,
    database: 'my data',
    user: 'a@b',
    password: 'p/w',
    sslMode: 'verify-full',
    rootCertificate: '/ca.pem',
    certificate: undefined,
    certificateKey: undefined,
  });
  for (const [text, host, mode] of [
    ['postgresql://localhost/x', 'localhost', 'disable'],
    ['postgres://[::1]/x', '::1', 'disable'],
    ['postgres://127.0.0.1/x', '127.0.0.1', 'disable'],
    ['postgres://127.0.0.1.example.com/x', '127.0.0.1.example.com', 'prefer'],
    ['postgres:///x?host=/var/run/postgresql', '/var/run/postgresql', 'disable'],
  ] as const) {
    const { host: found, sslMode, port } = parseDatabaseUrl(text);
    assert.deepEqual([found, sslMode, port], [host, mode, 5432], text);
  }
});

test('a wrong address is refused without its text', () => {
  for (const [text, says] of [
    ['mysql://u:secret@h/x', /must be a URL/],
    ['postgres://u:secret@h', /must name a database/],
    ['postgres://u:secret@/x', /must be a URL|must name a host/],
    ['postgres://u:sec%zzret@h/x', /%XX/],
    ['postgres://u:secret@h/x?sslmode=allow', /sslmode of disable, prefer/],
    ['postgres://u:secret@h/x?sslcert=a.pem', /sslcert and sslkey together/],
    ['postgres://u:secret@h/x?options=-c', /unknown parameter options/],
    ['postgres://u:1?secret@h/x', /must name a database/],
    ['postgres://u:1#secret@h/x', /must name a database/],
    ['postgres://u:secret@a:1,b:2/x', /must be a URL/],
  ] as const)
    assert.throws(
      () => parseDatabaseUrl(text),
      (error) => {
        assert.ok(error instanceof Error && says.test(error.message), `${text}: ${error}`);
        assert.ok(!/sec.*ret/.test(error.message), text);
        return true;
      },
    );
});
