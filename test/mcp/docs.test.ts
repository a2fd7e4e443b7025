// Each block of docs/mcp.md is run: what it configures is started, or called, by a client.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestServer } from '../support/server.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { overHttp, overStdio, type TestClient } from './clients.ts';

const PAGE = readFileSync(new URL('../../docs/mcp.md', import.meta.url), 'utf8');
const BLOCKS = [...PAGE.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, kind = '', lines = '']) => ({ kind, lines }));

/** The one block of the kind. */
function blockOf(kind: string): string {
  const [only, ...others] = BLOCKS.filter((block) => block.kind === kind);
  assert.ok(only !== undefined && others.length === 0, `docs/mcp.md has one block of ${kind}`);
  return only.lines;
}

async function remembersTea(client: TestClient): Promise<void> {
  assert.equal(client.serverName(), 'granary');
  const { isError, text } = await client.call('remember', { text: 'Ada drinks tea.' });
  assert.equal(isError, false, text);
  assert.match((await client.call('recall', { query: 'What does Ada drink?' })).text, /Ada drinks tea/);
}

test('docs/mcp.md has no block of another kind', () => {
  assert.deepEqual(BLOCKS.map(({ kind }) => kind).toSorted(), ['json', 'sh']);
});

test('a client starts the command of the configuration', async (t) => {
  const { mcpServers } = JSON.parse(blockOf('json')) as {
    mcpServers: { granary: { command: string; args: readonly string[] } };
  };
  const { command, args } = mcpServers.granary;
  const [first, ...options] = args;
  assert.deepEqual([command, first], ['granary', 'mcp']);
  const folder = temporaryDirectory(t);
  const here = options.map((one) => one.replace('/home/ada', folder));
  assert.notDeepEqual(here, options, 'the data directory is in it');
  const server = await startTestServer({ dataDir: join(folder, 'data') });
  t.after(() => server.close());
  const client = await overStdio['2026']({ args: here });
  t.after(() => client.close());
  await remembersTea(client);
});

test('the command for a remote server names its address and sends the key', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const folder = temporaryDirectory(t);
  const said = join(folder, 'said.json');
  // In the place of the client: writes down with what it was called.
  const claude = join(folder, 'claude');
  writeFileSync(
    claude,
    `#!${process.execPath}\nrequire('node:fs').writeFileSync(${JSON.stringify(said)}, JSON.stringify(process.argv.slice(2)));\n`,
  );
  chmodSync(claude, 0o755);
  const { status, stderr } = spawnSync('sh', ['-e', '-c', blockOf('sh')], {
    env: { ...process.env, PATH: `${folder}:${process.env['PATH']}`, GRANARY_API_KEY: server.key },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  const words = JSON.parse(readFileSync(said, 'utf8')) as readonly string[];
  assert.deepEqual(words.slice(0, 5), ['mcp', 'add', '--transport', 'http', 'granary']);
  const [address = '', flag, header = '', ...more] = words.slice(5);
  assert.deepEqual([flag, more], ['--header', []]);
  const [name = '', value] = header.split(': ');
  const client = await overHttp['2026']({
    url: address.replace('https://memory.example', server.http),
    headers: { [name]: value ?? '' },
  });
  t.after(() => client.close());
  await remembersTea(client);
});
