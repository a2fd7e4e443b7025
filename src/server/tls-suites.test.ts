// Recorded TLS traffic must stay unreadable even if the private key leaks: only suites with forward secrecy.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type ConnectionOptions, connect } from 'node:tls';
import { startTestServer, type TestServer } from '../../test/support/server.ts';

const TLS = join(import.meta.dirname, '..', '..', 'test', 'fixtures', 'tls');
/** A key for which suites without forward secrecy exist. */
const FILES = { tlsCert: join(TLS, 'rsa-cert.pem'), tlsKey: join(TLS, 'rsa-key.pem') };

/** The negotiated suite; undefined when the server accepts none. */
function agreed(port: number, options: ConnectionOptions): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false, ...options });
    const end = (name: string | undefined): void => {
      resolve(name);
      socket.destroy();
    };
    socket.on('secureConnect', () => end(socket.getCipher().standardName));
    socket.on('error', () => end(undefined));
    socket.on('close', () => resolve(undefined));
  });
}

for (const flags of [{ http: 'uws' }, { http: 'node' }, { singlePort: 'true' }] as Record<string, string>[])
  describe(`TLS, ${JSON.stringify(flags)}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ ...flags, ...FILES });
    });
    after(() => server.close());

    test('suites without forward secrecy and versions before 1.2 are refused on both transports', async () => {
      for (const port of [server.httpPort, server.grpcPort]) {
        const alpn = port === server.grpcPort ? { ALPNProtocols: ['h2'] } : {};
        const at12 = { ...alpn, maxVersion: 'TLSv1.2' } as const;
        for (const ciphers of [
          ...['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'AES128-SHA256', 'AES128-SHA', 'AES256-SHA'],
          ...['ECDHE-RSA-AES128-SHA', 'ECDHE-RSA-AES256-SHA384'],
        ])
          assert.equal(await agreed(port, { ...at12, ciphers: `${ciphers}:@SECLEVEL=0` }), undefined, ciphers);
        for (const ciphers of [
          'ECDHE-RSA-AES128-GCM-SHA256',
          'ECDHE-RSA-AES256-GCM-SHA384',
          'ECDHE-RSA-CHACHA20-POLY1305',
        ])
          assert.match((await agreed(port, { ...at12, ciphers })) ?? '', /^TLS_ECDHE_/, ciphers);
        assert.match((await agreed(port, { ...alpn, minVersion: 'TLSv1.3' })) ?? '', /^TLS_(AES|CHACHA)/);
        const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
        assert.equal(await agreed(port, { ...alpn, ...old }), undefined);
      }
    });
  });

test('unencrypted keys on a public address cause a warning', async () => {
  const clear = /sent unencrypted/;
  for (const [flags, isTold] of [
    [{ host: '0.0.0.0' }, true],
    [{ host: '0.0.0.0', ...FILES }, false],
    [{}, false],
    [{ host: '0.0.0.0', auth: 'none', insecure: 'true' }, false],
  ] as const) {
    const { warnings, close } = await startTestServer(flags);
    await close();
    assert.equal(
      warnings.some((text) => clear.test(text)),
      isTold,
      JSON.stringify(flags),
    );
  }
});
