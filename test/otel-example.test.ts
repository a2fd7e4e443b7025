// The file of docs/metrics.md that registers an SDK of OpenTelemetry, as it stands there: a server that loads it sends its
// spans to a collector. The SDK is no dependency of Granary: without it in node_modules there is nothing to run.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { eventually } from './support/eventually.ts';
import { ask, startServerProcess } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

const DOCUMENT = readFileSync(resolve(import.meta.dirname, '../docs/metrics.md'), 'utf8');
const TRACE = '0af7651916cd43dd8448eb211c80319c';

interface Span {
  readonly traceId: string;
  readonly name: string;
}

/** The example and the packages that it imports. */
function example(): { readonly code: string; readonly packages: readonly string[] } {
  const blocks = [...DOCUMENT.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
  const code = blocks.find((block) => block.includes('NodeTracerProvider')) ?? assert.fail('no example');
  return { code, packages: [...code.matchAll(/import\('(@opentelemetry\/[a-z-]+)'\)/g)].map(([, name = '']) => name) };
}

/** The folder of an installed package; undefined where it is not installed. */
function folderOf(name: string): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    return entry.slice(0, entry.lastIndexOf(join('node_modules', ...name.split('/')))) + join('node_modules', name);
  } catch {
    return undefined;
  }
}

test('the example names the packages that it imports, and runs in the main thread alone', () => {
  const { code, packages } = example();
  assert.equal(packages.length, 4);
  assert.ok(code.includes('if (isMainThread)'));
  assert.ok(DOCUMENT.includes('NODE_OPTIONS="--import ./otel.mjs" granary serve'));
});

/** Where the API keeps what an SDK registers, whichever copy of the API the SDK has loaded. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

test('the API finds the provider of an SDK whose own copy of the API is an older one', async (t) => {
  // SDKs accept the API up to 1.9 so far. A newer API takes what an older one registered for absent.
  const global = globalThis as unknown as Record<symbol, unknown>;
  const before = global[REGISTERED];
  t.after(() => {
    global[REGISTERED] = before;
  });
  global[REGISTERED] = { version: '1.9.0', trace: { getTracer: (name: string) => ({ of: name }) } };
  const { trace } = await import('@opentelemetry/api');
  assert.deepEqual(trace.getTracer('granary'), { of: 'granary' });
});

test('a server with the example sends the spans of its requests', async (t) => {
  const { code, packages } = example();
  const folders = packages.map((name) => [name, folderOf(name)] as const);
  const missing = folders.filter(([, folder]) => folder === undefined).map(([name]) => name);
  if (missing.length > 0) return t.skip(`not installed: npm install --no-save ${missing.join(' ')}`);

  const directory = temporaryDirectory(t);
  for (const [name, folder] of folders) {
    const link = join(directory, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(folder!, link);
  }
  writeFileSync(join(directory, 'otel.mjs'), code);
  const spans: Span[] = [];
  const collector = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      assert.equal(request.url, '/v1/traces');
      const { resourceSpans } = JSON.parse(Buffer.concat(parts).toString());
      for (const { scopeSpans } of resourceSpans) for (const { spans: sent } of scopeSpans) spans.push(...sent);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((done) => {
    collector.listen(0, '127.0.0.1', done);
  });
  t.after(() => {
    collector.closeAllConnections();
    collector.close();
  });
  const server = await startServerProcess({
    directory: join(directory, 'data'),
    flags: ['--shards', '2', '--workers', '1'],
    env: {
      NODE_OPTIONS: `--import ${pathToFileURL(join(directory, 'otel.mjs')).href}`,
      // The variables of the SDK itself.
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`, // it listens on a port
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
  });
  t.after(() => server.stop());
  const headers = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
  const belief = { subject: 'ann', relation: 'likes', object: 'tea' };
  assert.equal((await ask(server, 'POST', '/memories/default/add', belief, headers)).status, 200);
  await eventually('the stages of the add arrive', () =>
    ['add', 'shard add', 'commit'].every((name) => spans.some((span) => span.name === name && span.traceId === TRACE)),
  );
});
