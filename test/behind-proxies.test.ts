// The server behind nginx and Caddy, with the configurations of deploy/, on both HTTP listeners: paths, addresses of
// callers, event streams and gRPC.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { credentials } from '@grpc/grpc-js';
import { AUTH_FAILURES_PER_MINUTE } from '../src/engine/base/limits.ts';
import { Refusal } from './conformance/contract.ts';
import { GrpcClient } from './conformance/grpc-client.ts';
import { eventually } from './support/eventually.ts';
import { AUDIENCE, type OidcIssuer, startOidcIssuer } from './support/oidc-issuer.ts';
import { MAIN } from './support/program.ts';
import { startTestServer, type TestServer } from './support/server.ts';

const ROOT = join(import.meta.dirname, '..');
const TLS = join(ROOT, 'test', 'fixtures', 'tls');
const CERTIFICATE = readFileSync(join(TLS, 'cert.pem'));
const BASE = '/granary';
const run = promisify(execFile);
const WRONG = `gr_${'0'.repeat(64)}`;

interface Proxy {
  readonly name: string;
  readonly program: string;
  /** Writes the configuration into the folder; returns the command's words. */
  readonly prepare: (folder: string, port: number, server: TestServer) => readonly string[];
}

/** Reads a file of deploy/ and replaces its addresses and files; each must be there. */
function adapted(path: string, changes: readonly (readonly [from: string, to: string])[]): string {
  let text = readFileSync(join(ROOT, 'deploy', path), 'utf8');
  for (const [from, to] of changes) {
    assert.ok(text.includes(from), `${path} has ${from}`);
    text = text.replace(from, to);
  }
  return text;
}

const PROXIES: readonly Proxy[] = [
  {
    name: 'nginx',
    program: '/usr/sbin/nginx',
    prepare: (folder, port, server) => {
      for (const name of ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']) mkdirSync(join(folder, name));
      const site = adapted('nginx/granary.conf', [
        ['127.0.0.1:8080', server.http.replace('http://', '')],
        ['127.0.0.1:50051', server.grpc],
        ['listen 443 ', `listen 127.0.0.1:${port} `],
        ['/etc/nginx/granary.crt', join(TLS, 'cert.pem')],
        ['/etc/nginx/granary.key', join(TLS, 'key.pem')],
      ]);
      writeFileSync(join(folder, 'site.conf'), site);
      const main = [
        `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;`,
        `events { worker_connections 128; }`,
        `http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;`,
        `fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;`,
        `include ${folder}/site.conf; }`,
      ];
      writeFileSync(join(folder, 'nginx.conf'), main.join('\n'));
      return ['-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf'), '-p', folder];
    },
  },
  {
    name: 'Caddy',
    program: '/usr/bin/caddy',
    prepare: (folder, port, server) => {
      const site = adapted('caddy/Caddyfile', [
        ['memory.example.com {', `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${TLS}/cert.pem ${TLS}/key.pem`],
        ['127.0.0.1:8080', server.http.replace('http://', '')],
        ['127.0.0.1:50051', server.grpc],
      ]);
      writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
      return ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
    },
  },
];

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Asked {
  readonly key?: string;
  readonly json?: object;
  /** The address of this machine to call from. */
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called with the text so far; true ends the request. */
  readonly isEnough?: (text: string) => boolean;
}

function ask(port: number, path: string, { key = '', json, from, headers, isEnough }: Asked = {}): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const asked = request(
    {
      host: '127.0.0.1',
      servername: 'localhost',
      port,
      path,
      method: json === undefined ? 'GET' : 'POST',
      ca: CERTIFICATE,
      localAddress: from,
      agent: false,
      headers: {
        ...headers,
        host: `localhost:${port}`,
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
      },
    },
    (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (isEnough?.(text) !== true) return;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        asked.destroy();
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    },
  );
  asked.on('error', reject);
  asked.end(json === undefined ? '' : JSON.stringify(json));
  return promise;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

/** The codes of wrong keys until they are refused for their number; some come back while they are sent. */
async function refusals(port: number, asked: Asked): Promise<readonly string[]> {
  const codes: string[] = [];
  for (let i = 0; i <= 3 * AUTH_FAILURES_PER_MINUTE && codes.at(-1) !== 'LIM-E001'; i++) {
    const { text } = await ask(port, `${BASE}/api/memories`, { ...asked, key: WRONG });
    codes.push(/"(AUT-E004|LIM-E001)"/.exec(text)?.[1] ?? text);
  }
  return codes;
}

for (const proxy of PROXIES)
  for (const http of ['node', 'uws'])
    describe(`behind ${proxy.name}, --http ${http}`, () => {
      let server: TestServer;
      let issuer: OidcIssuer;
      const closers: (() => unknown)[] = [];
      let port = 0;
      let folder = '';
      let child: ChildProcess | undefined;
      const canRun = existsSync(proxy.program);
      const runs = (t: TestContext): boolean => {
        if (!canRun) t.skip(`${proxy.program} is not installed`);
        return canRun;
      };

      before(async () => {
        if (!canRun) return;
        port = await freePort();
        const closing = { after: (close: () => unknown) => void closers.push(close) };
        issuer = await startOidcIssuer(closing, 'ES256', { writer: { scope: 'memory:write' } });
        server = await startTestServer({
          http,
          basePath: BASE,
          trustedProxies: '127.0.0.1',
          oidcIssuer: issuer.url,
          oidcAudience: AUDIENCE,
          mcpUrl: `https://localhost:${port}${BASE}/mcp`,
        });
        folder = mkdtempSync(join(tmpdir(), 'granary-proxy-'));
        const words = proxy.prepare(folder, port, server);
        const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
        child = spawn(proxy.program, words, { stdio: ['ignore', 'pipe', 'pipe'], env });
        let output = '';
        for (const stream of [child.stdout, child.stderr])
          stream?.on('data', (chunk: Buffer) => {
            output += chunk.toString();
          });
        await eventually(`${proxy.name} answers`, async () => {
          assert.equal(child?.exitCode, null, output);
          return ask(port, `${BASE}/health`).then(
            ({ status }) => status === 200,
            () => false,
          );
        });
      });
      after(async () => {
        if (child !== undefined && child.exitCode === null) {
          child.kill('SIGTERM');
          await once(child, 'exit');
        }
        await server?.close();
        for (const close of closers) await close();
        if (folder !== '') rmSync(folder, { recursive: true, force: true });
      });

      test('paths under the base reach the server, and others do not', async (t) => {
        if (!runs(t)) return;
        const json = { subject: 'ada', relation: 'likes', object: 'tea' };
        const added = await ask(port, `${BASE}/api/memories/default/add`, { key: server.key, json });
        assert.equal(added.status, 200, added.text);
        const recalled = await ask(port, `${BASE}/api/memories/default/recall`, {
          key: server.key,
          json: { subject: 'ada' },
        });
        assert.match(recalled.text, /tea/);
        assert.deepEqual(JSON.parse((await ask(port, `${BASE}/health/ready`)).text)['status'], 'ok');
        assert.equal((await ask(port, `${BASE}/metrics`, { key: server.key })).status, 404);
        assert.doesNotMatch((await ask(port, '/api/config')).text, /deployment/);
        // The server itself answers with the base and without it.
        for (const path of [`${BASE}/api/config`, '/api/config', '/health/live', `${BASE}/health/live`])
          assert.equal((await fetch(server.http + path)).status, 200, path);
      });

      test('a browser is led to the console under the base', async (t) => {
        if (!runs(t)) return;
        const page = { redirect: 'manual', headers: { accept: 'text/html' } } as const;
        for (const path of [BASE, `${BASE}/`, `${BASE}/console`, '/', '/console']) {
          const { headers, status } = await fetch(server.http + path, page);
          assert.equal(status, 302, path);
          const place = new URL(headers.get('location') ?? '', server.http + path).pathname;
          assert.equal(place, path.startsWith(BASE) ? `${BASE}/console/` : '/console/', path);
        }
      });

      test('clients of MCP find the issuer by the public address, and its token opens /mcp', async (t) => {
        if (!runs(t)) return;
        const json = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
        const headers = { accept: 'application/json, text/event-stream' };
        const refused = await ask(port, `${BASE}/mcp`, { json, headers, key: 'a.b.c' });
        assert.equal(refused.status, 401, refused.text);
        const place = /resource_metadata="([^"]+)"/.exec(refused.headers['www-authenticate'] ?? '')?.[1] ?? '';
        const metadata = new URL(place);
        assert.equal(metadata.origin, `https://localhost:${port}`);
        const found = await ask(port, metadata.pathname);
        assert.equal(found.status, 200, found.text);
        const { resource, authorization_servers } = JSON.parse(found.text);
        assert.deepEqual([resource, authorization_servers], [`https://localhost:${port}${BASE}/mcp`, [issuer.url]]);
        for (const key of [await issuer.tokenFor('writer'), server.key]) {
          const listed = await ask(port, new URL(resource).pathname, { json, headers, key });
          assert.equal(listed.status, 200, listed.text);
          assert.match(listed.text, /"name":"recall"/);
        }
        const foreign = await ask(port, `${BASE}/mcp`, {
          json,
          headers: { ...headers, origin: 'https://elsewhere.example' },
          key: server.key,
        });
        assert.equal(foreign.status, 403, foreign.text);
      });

      test('frames of an event stream arrive while it is open', async (t) => {
        if (!runs(t)) return;
        const streamed = ask(port, `${BASE}/api/memories/default/events`, {
          key: server.key,
          isEnough: (text) => /event: grain[\s\S]*data: /.test(text),
        });
        let isOver = false;
        streamed.then(
          () => {
            isOver = true;
          },
          () => undefined,
        );
        // The stream begins at the events after its opening.
        await eventually('a frame arrives', async () => {
          const json = { subject: `event ${Date.now()}`, relation: 'is', object: 'sent' };
          await ask(port, `${BASE}/api/memories/default/add`, { key: server.key, json });
          return isOver;
        });
        assert.equal((await streamed).status, 200);
      });

      test('commands reach it by the address of the proxy, over HTTP and gRPC', async (t) => {
        if (!runs(t)) return;
        const place = ['--url', `https://localhost:${port}${BASE}`, '--tls-ca', join(TLS, 'cert.pem')];
        const granary = async (...words: string[]): Promise<string> => {
          const env = { ...process.env, GRANARY_API_KEY: server.key };
          return (await run(process.execPath, [MAIN, ...words, ...place, '--data-dir', folder], { env })).stdout;
        };
        await granary('add', 'edsger', 'likes', 'proofs');
        assert.match(await granary('recall', 'what does edsger like'), /edsger likes proofs/);
        assert.match(await granary('dsr', 'open', '--user', 'edsger', '--kind', 'access'), /days used +0 of 30/);
        const plain = run(process.execPath, [MAIN, 'stats', '--url', `localhost:${port}`, '--data-dir', folder]);
        await assert.rejects(plain, /NO-SERVER: .* \(gRPC without TLS; grpcs:\/\/ uses TLS\)/);
      });

      test('gRPC passes', async (t) => {
        if (!runs(t)) return;
        const client = GrpcClient.open(`localhost:${port}`, server.key, credentials.createSsl(CERTIFICATE));
        try {
          const grain = { subject: 'grace', relation: 'likes', object: 'coffee' };
          await client.call('Add', { grain_type: 'belief', fields_json: JSON.stringify(grain) });
          const { results } = await client.call('Recall', { subject: 'grace' });
          assert.equal(results.length, 1);
          await assert.rejects(client.with({ authorization: `Bearer ${WRONG}` }).call('Recall', {}), (error) => {
            assert.ok(error instanceof Refusal);
            return error.code === 'AUT-E004';
          });
        } finally {
          client.close();
        }
      });

      test('limits count callers, not the proxy, and no caller can choose its address', async (t) => {
        if (!runs(t)) return;
        const codes = await refusals(port, { from: '127.0.0.2' });
        assert.equal(codes[0], 'AUT-E004');
        assert.equal(codes.at(-1), 'LIM-E001');
        const other = await ask(port, `${BASE}/api/memories`, { key: WRONG, from: '127.0.0.3' });
        assert.match(other.text, /AUT-E004/);
        for (const headers of [
          { 'x-forwarded-for': '203.0.113.7' },
          { 'x-forwarded-for': '203.0.113.7, 127.0.0.1' },
          { forwarded: 'for=203.0.113.7' },
        ]) {
          // Some have come back. Another caller would have all of them.
          const again = await refusals(port, { from: '127.0.0.2', headers });
          assert.equal(again.at(-1), 'LIM-E001', JSON.stringify(headers));
          assert.ok(again.length < AUTH_FAILURES_PER_MINUTE / 2, `${again.length} for ${JSON.stringify(headers)}`);
        }
      });
    });

for (const grpc of ['native', 'node', 'grpc-js'])
  test(`a caller of gRPC is counted by the address that a trusted proxy names: --grpc ${grpc}`, async () => {
    const server = await startTestServer({ grpc, trustedProxies: '127.0.0.0/8' });
    const client = GrpcClient.open(server.grpc, WRONG);
    const codeFrom = async (address: string): Promise<string> => {
      try {
        await client.with({ 'x-forwarded-for': address }).call('Health', {});
        return 'ok';
      } catch (error) {
        assert.ok(error instanceof Refusal);
        return error.code;
      }
    };
    try {
      assert.equal(await codeFrom('203.0.113.7'), 'AUT-E004');
      let code = '';
      for (let i = 0; i <= 3 * AUTH_FAILURES_PER_MINUTE && code !== 'LIM-E001'; i++)
        code = await codeFrom('198.51.100.1, 203.0.113.7');
      assert.equal(code, 'LIM-E001');
      assert.equal(await codeFrom('198.51.100.1'), 'AUT-E004');
    } finally {
      client.close();
      await server.close();
    }
  });

test('nginx and Caddy accept the configurations as they are, apart from their certificate', (t) => {
  if (!existsSync('/usr/bin/caddy')) return t.skip('/usr/bin/caddy is not installed');
  const file = join(ROOT, 'deploy', 'caddy', 'Caddyfile');
  const out = execFileSync('/usr/bin/caddy', ['adapt', '--config', file, '--adapter', 'caddyfile'], { stdio: 'pipe' });
  assert.match(out.toString(), /memory\.example\.com/);
});
