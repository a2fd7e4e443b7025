// The built package in Bun, in Deno and in a page of Chromium: the same program, with the same answers. Bun and Deno are found on
// the path, or named by GRANARY_TEST_BUN and GRANARY_TEST_DENO; their npm packages hold them (@oven/bun-linux-x64,
// @deno/linux-x64-glibc).
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { buildClient } from '../../scripts/build-client.ts';
import { inPage, startBrowser } from '../console/browser.ts';
import { memoryFolder } from '../support/memory-files.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const run = promisify(execFile);
const RUN_MS_MAX = 60_000;
const folder = memoryFolder();
const built = join(folder, 'node_modules', 'granary-client');

/** Uses names, times, errors, batches and the stream of events. Returns what it saw. */
const PROGRAM = `
export async function use({ Granary, NotFoundError }, url, apiKey) {
  const memory = new Granary({ url, apiKey }).memory('default', { user: 'ada' });
  await memory.remember('Ada parked in the north garage.');
  const [hit] = (await memory.recall('north garage')).results;
  const missing = await memory.get('0'.repeat(64)).catch((error) => error);
  let event;
  for await (const step of memory.events({ since: '0' })) {
    event = step.kind;
    break;
  }
  return {
    text: hit.text,
    isTime: hit.createdAt instanceof Date,
    user: hit.userId,
    error: [missing instanceof NotFoundError, missing.code, missing.status, missing.retryable],
    event,
    context: typeof (await memory.context('garage', { tokens: 200 })),
  };
}
`;

const MAIN = `
import * as client from 'granary-client';
import { use } from './program.js';
const env = globalThis.process.env;
console.log(JSON.stringify(await use(client, env.GRANARY_URL, env.GRANARY_API_KEY)));
process.exit(0);
`;

before(() => {
  buildClient(built);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  writeFileSync(join(folder, 'program.js'), PROGRAM);
  writeFileSync(join(folder, 'main.js'), `import process from 'node:process';\n${MAIN}`);
});

function assertSeen(seen: unknown): void {
  const { text, ...rest } = seen as { readonly text: string }; // as the program returns it
  assert.match(text, /Ada parked in the north garage/);
  assert.deepEqual(rest, {
    isTime: true,
    user: 'ada',
    error: [true, 'MEM-E001', 404, false],
    event: 'event',
    context: 'string',
  });
}

async function served(t: TestContext, flags: Record<string, string> = {}): Promise<TestServer> {
  const server = await startTestServer(flags);
  t.after(() => server.close());
  return server;
}

for (const [name, variable, words] of [
  ['bun', 'GRANARY_TEST_BUN', ['run']],
  ['deno', 'GRANARY_TEST_DENO', ['run', '--allow-net', '--allow-env', '--allow-read', '--no-remote']],
] as const)
  test(`the package runs in ${name}`, async (t) => {
    const program = process.env[variable] ?? name;
    if (spawnSync(program, ['--version']).status !== 0)
      return t.skip(`there is no ${name} on the path, and ${variable} names none`);
    const server = await served(t);
    const env = { ...process.env, GRANARY_URL: server.http, GRANARY_API_KEY: server.key, DENO_NO_UPDATE_CHECK: '1' };
    const { stdout } = await run(program, [...words, 'main.js'], { cwd: folder, env, timeout: RUN_MS_MAX });
    assertSeen(JSON.parse(stdout));
  });

test('the ES modules of the package run in a page of another origin, as they are', async (t) => {
  const browser = await startBrowser(t);
  if (browser === undefined) return;
  const site = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://site').pathname;
    const isScript = path.endsWith('.js');
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    if (!isScript) return void response.end('<!doctype html><title>page</title>');
    response.end(readFileSync(path === '/program.js' ? join(folder, 'program.js') : join(built, 'esm', path)));
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  t.after(() => site.close());
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`; // it listens on a port
  const server = await served(t, { corsOrigins: origin });
  const page = await browser.newPage();
  await page.goto(`${origin}/`);
  const [url, key] = [JSON.stringify(server.http), JSON.stringify(server.key)];
  assertSeen(
    await inPage(
      page,
      `Promise.all([import('/index.js'), import('/program.js')]).then(([client, { use }]) => use(client, ${url}, ${key}))`,
    ),
  );
});
