// Three nodes as deploy/compose/nodes.yaml starts them, on the way that docs/nodes.md describes: a server of one machine moves
// into PostgreSQL, three nodes serve it with the options of the file behind its proxy, and one of them is killed.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { freePort } from '../bench/lib/peers/child-server.ts';
import { optionLines } from '../src/server/config.ts';
import { granary } from './support/cli.ts';
import { stagesOf, textsOf } from './support/dockerfile.ts';
import { eventually } from './support/eventually.ts';
import { testDatabase } from './support/postgres.ts';
import { ask, type ServerProcess, startServerProcess } from './support/server-process.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'deploy', 'compose');
const CADDY = '/usr/bin/caddy';
const NODES = ['granary-1', 'granary-2', 'granary-3'];

interface Service {
  readonly image: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly healthcheck?: { readonly test: readonly string[] };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly ipam: { readonly config: readonly { subnet: string }[] } }>>;
  readonly volumes: Readonly<Record<string, object>>;
}

const page = readFileSync(join(ROOT, 'docs', 'nodes.md'), 'utf8');
const compose = parse(readFileSync(join(FOLDER, 'nodes.yaml'), 'utf8'), { merge: true }) as Compose; // looked at below
const nodes = Object.entries(compose.services).filter(([, { image }]) => image === 'granary');
const image = stagesOf(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')).at(-1)!; // it has stages
const directory = mkdtempSync(join(tmpdir(), 'granary-compose-nodes-'));
after(() => rmSync(directory, { recursive: true, force: true }));

test('each node has the options of all, its own address and cache, and is reached through the proxy alone', () => {
  const options = new Set(optionLines().map(({ env }) => env));
  const places = JSON.parse(textsOf(image, 'VOLUME').at(-1) ?? '') as string[]; // JSON form
  assert.deepEqual(
    nodes.map(([name]) => name),
    NODES,
  );
  const subnets = Object.values(compose.networks).map(({ ipam }) => ipam.config[0]?.subnet);
  const mounted: string[] = [];
  for (const [name, { environment, volumes, ports, read_only }] of nodes) {
    for (const option of Object.keys(environment)) assert.ok(options.has(option) || option === 'PGPASSWORD', option);
    const { GRANARY_ADVERTISE: own, ...shared } = environment;
    assert.equal(own, `${name}:${shared['GRANARY_NODE_LISTEN']?.split(':')[1]}`);
    const { GRANARY_ADVERTISE: _first, ...others } = nodes[0]![1].environment;
    assert.deepEqual(shared, others);
    // Requests come from the proxy, and from nodes that pass connections on.
    assert.deepEqual(shared['GRANARY_TRUSTED_PROXIES']?.split(','), subnets);
    assert.deepEqual(
      volumes.map((volume) => volume.split(':')[1]),
      places,
    );
    mounted.push(...volumes.map((volume) => volume.split(':')[0]!));
    assert.deepEqual([ports, read_only], [undefined, true]);
  }
  assert.equal(new Set(mounted).size, mounted.length, 'no two nodes share a volume');
  for (const [name, { volumes }] of Object.entries(compose.services))
    for (const volume of volumes) {
      const [source = ''] = volume.split(':');
      if (source.startsWith('.')) assert.ok(existsSync(resolve(FOLDER, source)), `${name}: ${source}`);
      else assert.ok(source in compose.volumes, `${name}: ${source}`);
    }
  assert.deepEqual(compose.services['postgres']?.ports, undefined);
  assert.ok(readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n').includes('/deploy/compose/.env'));
});

test('the commands of docs/nodes.md name services and variables of the file', () => {
  const services = new Set(Object.keys(compose.services));
  const commands = [...page.matchAll(/docker compose -f nodes\.yaml ([^`\n]+)/g)].map(([, words]) => words!);
  assert.ok(commands.length >= 7, `${commands.length} commands`);
  for (const words of commands)
    for (const [name] of words.matchAll(/\b(?:granary-\d|postgres)\b/g)) assert.ok(services.has(name), words);
  const text = readFileSync(join(FOLDER, 'nodes.yaml'), 'utf8');
  const [, variables = ''] = /cat > \.env <<END\n([\s\S]+?)\nEND/.exec(page) ?? [];
  assert.deepEqual(
    variables
      .split('\n')
      .map((line) => line.split('=')[0])
      .sort(),
    [...new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name))].sort(),
  );
});

/** The proxy with its own configuration, but for the addresses. Resolves to its URL. */
async function startProxy(servers: readonly ServerProcess[]): Promise<{ readonly url: string; end(): void }> {
  const port = await freePort();
  let text = readFileSync(join(FOLDER, 'Caddyfile.nodes'), 'utf8').replace(
    '{$GRANARY_DOMAIN}',
    `http://127.0.0.1:${port}`,
  );
  for (const [at, { http, grpc }] of servers.entries())
    text = text.replaceAll(`granary-${at + 1}:8080`, new URL(http).host).replaceAll(`granary-${at + 1}:50051`, grpc);
  assert.doesNotMatch(text, /granary-\d:/);
  const file = join(directory, 'Caddyfile');
  writeFileSync(file, `{\n\tadmin off\n}\n${text}`);
  const env = { ...process.env, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory };
  const running = spawn(CADDY, ['run', '--config', file, '--adapter', 'caddyfile'], { env, stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  await eventually('the proxy answers', async () => {
    if (running.exitCode !== null) throw new Error(`Caddy ended with ${running.exitCode}`);
    return (await fetch(`${url}/api/health/live`).catch(() => undefined))?.ok === true;
  });
  return { url, end: () => running.kill('SIGKILL') };
}

test('a server of one machine becomes three nodes behind the proxy, and a killed node is missed for its lease alone', async (t) => {
  if (!existsSync(CADDY)) return t.skip(`${CADDY} is not installed`);
  const found = await testDatabase(t);
  if (found === undefined) return;
  const data = join(directory, 'data');
  const old = await startServerProcess({ directory: data, flags: ['--shards', '4', '--workers', '1'] });
  const { key } = old;
  const belief = (subject: string) => ({ grain_type: 'belief', fields: { subject, relation: 'likes', object: 'tea' } });
  const first = await ask(old, 'POST', '/memories/default/add', belief('before'));
  assert.equal(await old.stop(), 0);

  // As the file has it, with addresses of this machine.
  const master = readFileSync(join(data, 'keys', 'master.key'), 'utf8').trim();
  const { environment } = nodes[0]![1];
  const { password } = new URL(found.url);
  const address = new URL(environment['GRANARY_STORE']!);
  Object.assign(address, { host: new URL(found.url).host, pathname: new URL(found.url).pathname });
  const { GRANARY_ADVERTISE: _own, ...shared } = environment;
  const env = { ...shared, GRANARY_STORE: address.href, PGPASSWORD: password, GRANARY_MASTER_KEY: master, GRANARY_ALLOWED_HOSTS: 'localhost', GRANARY_NODE_LISTEN: '127.0.0.1:0', GRANARY_STORE_LEASE_MS: '4000' }; // biome-ignore format: one row
  const imported = await granary(['store', 'import', data], { env });
  assert.equal(imported.code, 0, imported.stderr);

  const servers: ServerProcess[] = [];
  for (const name of NODES) {
    const server = await startServerProcess({ directory: join(directory, name), flags: ['--workers', '1'], env });
    t.after(() => server.kill());
    servers.push(server);
  }
  interface Listed {
    readonly nodes: readonly { readonly shards: number[] }[];
    readonly shards_without_owner: readonly number[];
  }
  const listed = async (): Promise<Listed> => JSON.parse((await granary(['nodes', '--json'], { env })).stdout);
  await eventually('each node has shards, and each shard a node', async () => {
    const { nodes, shards_without_owner: free } = await listed();
    return free.length === 0 && nodes.every(({ shards }) => shards.length > 0);
  });
  assert.equal((await listed()).nodes.length, NODES.length);
  for (const [at, name] of NODES.entries()) {
    const [, program, ...words] = compose.services[name]!.healthcheck!.test;
    assert.ok(textsOf(image, 'ENTRYPOINT').join().includes(`"${program}"`));
    const asked = words.map((word) => word.replace('http://127.0.0.1:8080', servers[at]!.http));
    // It rejects for another code than 0.
    await promisify(execFile)(process.execPath, asked);
  }
  const proxy = await startProxy(servers);
  t.after(() => proxy.end());
  const through = { ...servers[0]!, http: proxy.url, key };
  const isThere = async (hash: string): Promise<boolean> =>
    (await ask(through, 'GET', `/memories/default/grains/${hash}`).catch(() => undefined))?.status === 200;
  assert.ok(await isThere(first.body.blob_hash), 'the data and the key of the old server are served');
  const second = await ask(through, 'POST', '/memories/default/add', belief('after'));
  assert.equal(second.status, 200, JSON.stringify(second.body));
  // The one that runs the server.
  await servers[0]!.kill();
  await eventually('the proxy finds another node', () => isThere(second.body.blob_hash));
  await eventually('the first grain is there too', () => isThere(first.body.blob_hash));
  assert.equal((await fetch(`${proxy.url}/metrics`)).status, 404);
});
