// `granary mcp` as clients of both generations start it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { MAIN } from '../support/program.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { ask, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import {
  keepsHostileTexts,
  livesOneLife,
  offersResourcesAndPrompts,
  refusesBadArguments,
  showsHeavyGrain,
} from './behaviour.ts';
import { GENERATIONS, overStdio, type StdioPlace, type TestClient } from './clients.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

type Generation = (typeof GENERATIONS)[number];

async function connected(t: TestContext, generation: Generation, place: StdioPlace): Promise<TestClient> {
  const client = await overStdio[generation](place);
  t.after(() => client.close());
  return client;
}

const toServer = (...args: string[]): readonly string[] => ['--url', server.http, '--api-key', server.key, ...args];

for (const generation of GENERATIONS) {
  test(`a client of ${generation} has all tools, resources and prompts over stdio`, async (t) => {
    const client = await connected(t, generation, { args: toServer() });
    await livesOneLife(client, `Ada${generation}`);
    await refusesBadArguments(client);
    await keepsHostileTexts(client);
    await offersResourcesAndPrompts(client);
    const content = `heavyweight ${'x'.repeat(1_000_000)} ${generation}`;
    const heavy = await ask(server, 'POST', '/memories/default/add', { grain_type: 'event', fields: { content } });
    await showsHeavyGrain(client, heavy.body.blob_hash);
  });

  test(`a client of ${generation} with a wrong or revoked key learns the code and what to do`, async (t) => {
    const wrong = await connected(t, generation, { args: ['--url', server.http, '--api-key', `gr_${'0'.repeat(64)}`] });
    const refused = await wrong.call('recall', { query: 'x' });
    assert.ok(refused.isError);
    assert.match(refused.text, /^AUT-E004: API key not recognised, revoked or expired/);

    const made = await ask(server, 'POST', '/auth/keys', { name: `mcp-${generation}`, scopes: ['read'] });
    const key: string = made.body.raw_key;
    const client = await connected(t, generation, { args: ['--url', server.http, '--api-key', key] });
    assert.equal((await client.call('recall', { query: 'x' })).isError, false);
    const write = await client.call('remember', { text: 'A reader may not store this.' });
    assert.match(write.text, /^AUT-E001: this call needs a key with the scope write/);
    await ask(server, 'DELETE', `/auth/keys/${made.body.key_id}`);
    assert.match((await client.call('recall', { query: 'x' })).text, /^AUT-E004/);
  });
}

test('options limit every call to a namespace and a user, and the key to its memory', async (t) => {
  const [ada, bob, all] = await Promise.all([
    connected(t, '2026', { args: toServer('--user', 'ada', '--namespace', 'team/größe') }),
    connected(t, '2025', { args: toServer('--user', 'bob', '--namespace', 'team/größe') }),
    connected(t, '2026', { args: toServer('--profile', 'full') }),
  ]);
  const { hash } = (await ada.call('remember', { text: 'Ada keeps her key under the third pot.' })).structured;
  const stored = await ask(server, 'GET', `/memories/default/grains/${hash}`);
  assert.deepEqual([stored.body.user_id, stored.body.namespace], ['ada', 'team/größe']);
  assert.match((await ada.call('recall', { query: 'key under the pot' })).text, /third pot/);
  assert.ok(!(await bob.call('recall', { query: 'key under the pot' })).text.includes('pot.'));
  assert.match((await bob.call('forget', { hashes: [hash] })).text, /Forgotten: 0|MEM-E001/);
  assert.match((await all.call('recall', { query: 'key under the pot' })).text, /third pot/);
  const { structured } = await ada.call('status');
  assert.deepEqual([structured.namespace, structured.user, structured.total_grains >= 1], ['team/größe', 'ada', true]);
  assert.ok((await ada.read('granary://profile')).includes('user ada'));

  await ask(server, 'POST', '/memories', { id: 'other' });
  const made = await ask(server, 'POST', '/auth/keys', { name: 'bound', scopes: ['write'], memory_id: 'other' });
  const bound = await connected(t, '2026', {
    args: ['--url', server.http, '--api-key', made.body.raw_key],
  });
  assert.equal((await bound.call('status')).structured.memory, 'other');
});

test('read-only and named tools are all that a client is offered', async (t) => {
  const reader = await connected(t, '2026', { args: toServer('--read-only') });
  assert.deepEqual(
    (await reader.tools()).map(({ name }) => name),
    ['recall', 'context', 'history', 'list', 'status'],
  );
  await assert.rejects(() => reader.call('remember', { text: 'x' }), /no tool remember; this connection has recall/);
  const named = await connected(t, '2025', { args: toServer('--tools', 'recall, cal') });
  assert.deepEqual(
    (await named.tools()).map(({ name }) => name),
    ['recall', 'cal'],
  );
});

test('the profile full has CAL that reads, sessions and goals', async (t) => {
  const client = await connected(t, '2026', { args: toServer('--profile', 'full') });
  const made = await client.call('create_goal', { sid: 's1', description: 'learn Norwegian' });
  assert.equal(made.isError, false, made.text);
  const goals = await client.call('session_goals', { sid: 's1' });
  assert.ok(goals.text.includes('learn Norwegian'), goals.text);
  const queried = await client.call('cal', { query: 'RECALL goals LIMIT 5' });
  assert.equal(queried.structured.statement_type, 'recall');
  assert.ok(queried.text.includes('learn Norwegian'), queried.text);
  for (const query of [
    'ADD belief SET subject = "a" SET relation = "b" SET object = "c" REASON "x"',
    'DEFINE TEMPLATE t { element { "x" } }',
  ])
    assert.match((await client.call('cal', { query })).text, /^(AUT-E001: this tool only reads|CAL-E)/, query);
  assert.match((await client.call('cal', { query: 'RECALL LIKE' })).text, /^CAL-E\d+/);
});

test('--project auto takes the namespace from the folder of the client, never from that of the process', async (t) => {
  const folder = realpathSync(temporaryDirectory(t));
  const project = join(folder, 'shop');
  mkdirSync(join(project, '.git'), { recursive: true });
  const args = toServer('--project', 'auto');
  const without = await connected(t, '2026', {
    args,
    cwd: project,
    env: { CLAUDE_PROJECT_DIR: '', WORKSPACE_FOLDER_PATHS: '' },
  });
  assert.match(
    (await without.call('recall', { query: 'x' })).text,
    /^USAGE: --project auto: the client names no folder/,
  );
  const byVariable = await connected(t, '2026', { args, env: { GRANARY_WORKSPACE: project } });
  const byRoots = await connected(t, '2025', {
    args,
    env: { CLAUDE_PROJECT_DIR: '', WORKSPACE_FOLDER_PATHS: '' },
    roots: [pathToFileURL(project).href],
  });
  const { namespace } = (await byVariable.call('status')).structured;
  assert.match(namespace, /^projects\/shop-[0-9a-f]{8}$/);
  assert.equal((await byRoots.call('status')).structured.namespace, namespace);
  const named = await connected(t, '2025', { args: toServer('--project', 'shop') });
  assert.equal((await named.call('status')).structured.namespace, 'projects/shop');
});

test('two clients share a data directory without a server, and the one that is left goes on', async (t) => {
  const directory = join(temporaryDirectory(t), 'data');
  const place = { args: ['--data-dir', directory], env: { GRANARY_EMBEDDER: 'none' } };
  const early = await connected(t, '2026', place);
  assert.match(
    (await early.call('status')).text,
    /^NO-SERVER: no server is running and there is no data in .*granary serve/,
  );
  const first = await startServerProcess({ directory, flags: ['--shards', '1'] });
  await first.stop();
  const [one, two] = [await overStdio[2026](place), await connected(t, '2025', place)];
  t.after(() => one.close());
  const stored = await one.call('remember', { text: 'The spare wheel is in the cellar.' });
  assert.equal(stored.isError, false, stored.text);
  assert.match((await two.call('recall', { query: 'spare wheel' })).text, /in the cellar/);
  await one.close();
  assert.match((await two.call('recall', { query: 'spare wheel' })).text, /in the cellar/);
  assert.match((await early.call('recall', { query: 'spare wheel' })).text, /in the cellar/);
});

test('a client outlives its server, and works with the next one', async (t) => {
  const directory = join(temporaryDirectory(t), 'data');
  const first = await startServerProcess({ directory, flags: ['--shards', '1'] });
  t.after(() => first.kill());
  const client = await connected(t, '2026', { args: ['--url', first.http, '--api-key', first.key] });
  assert.equal((await client.call('remember', { text: 'The bakery opens at six.' })).isError, false);
  await first.kill();
  const gone = await client.call('recall', { query: 'bakery' });
  assert.match(gone.text, /^NO-SERVER: no server answers at http:/);
  const port = new URL(first.http).port;
  const second = await startServerProcess({ directory, flags: ['--http-port', port] });
  t.after(() => second.kill());
  assert.match((await client.call('recall', { query: 'bakery' })).text, /opens at six/);
});

test('it ends when stdin is closed, and says nothing else on stdout', async () => {
  const child = spawn(process.execPath, [MAIN, 'mcp', ...toServer()], { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const exited = once(child, 'exit');
  const about = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
  child.stdin.write(`not json\n${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: about })}\n`);
  while (!output.includes('\n')) await once(child.stdout, 'data');
  assert.equal(JSON.parse(output).result.serverInfo.name, 'granary');
  child.stdin.end();
  assert.deepEqual(await exited, [0, null]);
});

test('options that cannot be are refused before anything is served', async () => {
  for (const [args, message] of [
    [['--tools', 'recal'], /unknown tool recal: use recall/],
    [['--project', 'a', '--namespace', 'b'], /give --project or --namespace/],
    [['--profile', 'huge'], /Allowed choices are default, full/],
  ] as const) {
    const child = spawn(process.execPath, [MAIN, 'mcp', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 2, said);
    assert.match(said, message);
  }
});
