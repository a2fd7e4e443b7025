// `granary mcp install` and `uninstall` on configurations of each client.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse as parseToml } from 'smol-toml';
import { CLIENT_NAMES, CLIENTS, type ClientName } from '../../src/cli/mcp/install/clients.ts';
import { MAIN } from '../support/program.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { ask } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer();
  await ask(server, 'POST', '/memories/default/add', {
    grain_type: 'belief',
    fields: { subject: 'Ada', relation: 'prefers', object: 'facts and decisions' },
  });
});
after(() => server.close());

interface Ran {
  readonly code: number;
  readonly said: string;
}

async function granary(home: string, ...args: string[]): Promise<Ran> {
  const kept = Object.entries(process.env).filter(([name]) => !/^GRANARY_|^XDG_|^CODEX_|^CLAUDE_/.test(name));
  const child = spawn(process.execPath, [MAIN, 'mcp', ...args], { env: { ...Object.fromEntries(kept), HOME: home } });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const [code] = await once(child, 'close');
  return { code: Number(code), said };
}

function fileOf(name: ClientName, home: string): string {
  return CLIENTS[name].file({ platform: process.platform, home, variables: {} });
}

/** The configuration as an object; comments of the tests' own files are cut out. */
function read(file: string): Record<string, Record<string, Record<string, unknown>>> {
  const text = readFileSync(file, 'utf8');
  const value: unknown = file.endsWith('.toml')
    ? JSON.parse(JSON.stringify(parseToml(text)))
    : JSON.parse(text.replace(/^\s*\/\/.*$/gm, ''));
  return value as Record<string, Record<string, Record<string, unknown>>>; // a test's own file
}

const toServer = (): string[] => ['--url', server.http, '--api-key', server.key];

for (const name of CLIENT_NAMES)
  test(`${name}: the entry is shown, written and recalled through, and uninstall restores the file`, async (t) => {
    const home = temporaryDirectory(t);
    const file = fileOf(name, home);
    const { format, servers } = CLIENTS[name];
    const original =
      format === 'toml'
        ? '# mine\nmodel = "m"\n\n[mcp_servers.other]\ncommand = "x"\n'
        : `${format === 'jsonc' ? '// mine\n' : ''}{\n    "theme": "dark",\n    "${servers}": {\n        "other": { "command": "x" }\n    }\n}\n`;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, original, { mode: 0o644 });

    const shown = await granary(home, 'install', name, ...toServer(), '--dry-run');
    assert.equal(shown.code, 0, shown.said);
    assert.match(shown.said, /^\+ .*granary/m);
    assert.match(shown.said, /Nothing was written/);
    assert.ok(!shown.said.includes(server.key), 'the key is not shown');
    assert.equal(readFileSync(file, 'utf8'), original);

    const installed = await granary(home, 'install', name, ...toServer());
    assert.equal(installed.code, 0, installed.said);
    assert.match(
      installed.said,
      /Recalled once through it: 8 tools; memory default holds 1 grain; the recall found [1-3]\.\nFirst: Ada prefers/,
    );
    assert.ok(!installed.said.includes(server.key), 'the key is not shown');
    const config = read(file);
    assert.deepEqual(Object.keys(config[servers] ?? {}).toSorted(), ['granary', 'other']);
    const entry = config[servers]?.['granary'];
    assert.deepEqual(entry?.['args'], [MAIN, 'mcp', '--url', server.http]);
    assert.deepEqual(entry?.['env'], { GRANARY_API_KEY: server.key });
    assert.equal(readFileSync(`${file}.before-granary`, 'utf8'), original);
    assert.equal(statSync(file).mode & 0o777, 0o644);
    assert.match(installed.said, /others on this machine may read the key/);

    // A second install replaces the entry, and the copy stays that of the first time.
    const again = await granary(home, 'install', name, ...toServer(), '--tools', 'list');
    assert.equal(again.code, 0, again.said);
    assert.match(again.said, /Recalled once through it: 1 tool; the tool recall is not offered/);
    assert.equal(readFileSync(`${file}.before-granary`, 'utf8'), original);

    const other = `gr_${'0'.repeat(64)}`;
    const changed = await granary(home, 'install', name, '--url', server.http, '--api-key', other, '--dry-run');
    assert.equal(changed.code, 0, changed.said);
    assert.ok(!changed.said.includes(server.key) && !changed.said.includes(other), 'neither key is shown');

    const removed = await granary(home, 'uninstall', name);
    assert.equal(removed.code, 0, removed.said);
    assert.match(removed.said, /Restored: /);
    assert.equal(readFileSync(file, 'utf8'), original);
    assert.ok(!existsSync(`${file}.before-granary`));
  });

test('a client without a configuration gets one, for its owner alone, and loses it again', async (t) => {
  const home = temporaryDirectory(t);
  const file = fileOf('cursor', home);
  const installed = await granary(home, 'install', 'cursor', ...toServer(), '--project', 'auto');
  assert.equal(installed.code, 0, installed.said);
  assert.match(installed.said, /namespace projects\//);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.doesNotMatch(installed.said, /others on this machine/);
  const env = read(file)['mcpServers']?.['granary']?.['env'] as Record<string, string> | undefined;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the client replaces it
  assert.equal(env?.['GRANARY_WORKSPACE'], '${workspaceFolder}');
  const removed = await granary(home, 'uninstall', 'cursor');
  assert.equal(removed.code, 0, removed.said);
  assert.ok(!existsSync(file));
  const nothing = await granary(home, 'uninstall', 'cursor');
  assert.deepEqual([nothing.code, /has no entry named granary/.test(nothing.said)], [1, true]);
});

test('changes that were made since the install stay when it is taken out', async (t) => {
  const home = temporaryDirectory(t);
  const file = fileOf('claude-code', home);
  writeFileSync(file, '{"mcpServers": {"granary": {"command": "mine"}}}\n');
  assert.equal((await granary(home, 'install', 'claude-code', ...toServer())).code, 0);
  const config = read(file);
  writeFileSync(file, JSON.stringify({ ...config, numStartups: 5 }, null, 2));
  const removed = await granary(home, 'uninstall', 'claude-code');
  assert.match(removed.said, /Other changes since the install stay/);
  assert.deepEqual(read(file), { mcpServers: { granary: { command: 'mine' } }, numStartups: 5 });

  // The copy that was left is not of the file before the next install.
  const own = '{"mcpServers": {}, "numStartups": 6}\n';
  for (const before of [readFileSync(file, 'utf8'), own]) {
    writeFileSync(file, before);
    assert.equal((await granary(home, 'install', 'claude-code', ...toServer())).code, 0);
    assert.equal(readFileSync(`${file}.before-granary`, 'utf8'), before);
    writeFileSync(file, readFileSync(file, 'utf8').replace('"numStartups"', '"starts"'));
    assert.equal((await granary(home, 'uninstall', 'claude-code')).code, 0);
  }
  assert.deepEqual(read(file), { mcpServers: {}, starts: 6 });
});

test('a configuration that is a link, or no JSON, is left alone', async (t) => {
  const home = temporaryDirectory(t);
  const file = fileOf('claude-code', home);
  const target = join(home, 'dotfiles.json');
  writeFileSync(target, '{}');
  symlinkSync(target, file);
  const linked = await granary(home, 'install', 'claude-code', ...toServer());
  assert.equal(linked.code, 1);
  assert.match(
    linked.said,
    /^granary: FILE: .*\.claude\.json is a symbolic link and was not changed: name its target with --file/m,
  );
  assert.equal(readFileSync(target, 'utf8'), '{}');
  assert.ok(!existsSync(`${file}.before-granary`));
  // Named, the file itself is edited.
  assert.equal((await granary(home, 'install', 'claude-code', ...toServer(), '--file', target)).code, 0);
  assert.ok(read(target)['mcpServers']?.['granary'] !== undefined);

  const broken = fileOf('zed', home);
  mkdirSync(dirname(broken), { recursive: true });
  writeFileSync(broken, 'context_servers: yaml\n');
  const refused = await granary(home, 'install', 'zed', ...toServer());
  assert.equal(refused.code, 1);
  assert.match(refused.said, /settings\.json: it is not JSON with comments \(line 1: .*\); the file was not changed/);
  assert.equal(readFileSync(broken, 'utf8'), 'context_servers: yaml\n');
  writeFileSync(broken, Buffer.from([0x7b, 0xff, 0x7d]));
  assert.match((await granary(home, 'install', 'zed', ...toServer())).said, /is not UTF-8 and was not changed/);
});

test('a recall that fails is told with its reason, and so is a client that nobody knows', async (t) => {
  const home = temporaryDirectory(t);
  const data = join(home, 'nothing');
  const failed = await granary(home, 'install', 'codex', '--data-dir', data);
  assert.equal(failed.code, 1);
  assert.match(
    failed.said,
    /granary: NO-SERVER: the entry is written, but a recall through it failed: no server is running/,
  );
  assert.deepEqual(read(fileOf('codex', home))['mcp_servers']?.['granary']?.['args'], [
    MAIN,
    'mcp',
    '--data-dir',
    data,
  ]);
  const unknown = await granary(home, 'install', 'notepad');
  assert.deepEqual([unknown.code, /unknown client notepad: use one of claude-code/.test(unknown.said)], [2, true]);
});
