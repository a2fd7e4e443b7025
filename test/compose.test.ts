// The compose file of deploy/: the files that it mounts, the options that it sets, and the configurations of the other
// services, which the real programs read. Prometheus scrapes a server with its configuration.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { freePort } from '../bench/lib/peers/child-server.ts';
import { optionLines } from '../src/server/config.ts';
import { stagesOf, textsOf } from './support/dockerfile.ts';
import { eventually } from './support/eventually.ts';
import { startTestServer } from './support/server.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'deploy', 'compose');
const text = (path: string): string => readFileSync(join(FOLDER, path), 'utf8');

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
}

interface Compose {
  readonly services: Readonly<Record<'granary' | 'proxy' | 'prometheus' | 'grafana', Service>>;
  readonly networks: Readonly<Record<string, { readonly ipam?: { readonly config: readonly { subnet: string }[] } }>>;
  readonly volumes: Readonly<Record<string, object>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const compose = parse(text('compose.yaml')) as Compose; // the tests below look at each part
const { granary, proxy, prometheus } = compose.services;
const directory = mkdtempSync(join(tmpdir(), 'granary-compose-'));
after(() => rmSync(directory, { recursive: true, force: true }));

test('everything that a service mounts or joins is declared, or is a file of the repository', () => {
  const used = new Set<string>();
  for (const [name, { volumes = [], secrets = [], networks }] of Object.entries(compose.services)) {
    for (const volume of volumes) {
      const [source = '', target = ''] = volume.split(':');
      assert.match(target, /^\//, `${name}: ${volume}`);
      if (source.startsWith('.')) assert.ok(existsSync(resolve(FOLDER, source)), `${name}: ${source}`);
      else used.add(`volume ${source}`);
    }
    for (const secret of secrets) used.add(`secret ${secret}`);
    for (const network of networks) used.add(`network ${network}`);
  }
  const declared = [
    ...Object.keys(compose.volumes).map((name) => `volume ${name}`),
    ...Object.keys(compose.secrets).map((name) => `secret ${name}`),
    ...Object.keys(compose.networks).map((name) => `network ${name}`),
  ];
  assert.deepEqual([...used].sort(), declared.sort());
  // Secrets that an operator writes there never get into a commit.
  const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n');
  for (const { file } of Object.values(compose.secrets))
    assert.ok(ignored.includes(`/deploy/compose/*${extname(file)}`), file);
});

test('the server gets options that exist, and volumes that the image has', () => {
  const options = new Set(optionLines().map(({ env }) => env));
  for (const name of Object.keys(granary.environment ?? {})) assert.ok(options.has(name), name);
  const image = stagesOf(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')).at(-1)!; // it has stages
  const targets = (granary.volumes ?? []).map((volume) => volume.split(':')[1] ?? '');
  const folders = textsOf(image, 'RUN').join(' ').split(' ');
  for (const target of targets) assert.ok(folders.includes(target), `${target} belongs to the user of the image`);
  for (const path of JSON.parse(textsOf(image, 'VOLUME').at(-1) ?? '') as string[]) assert.ok(targets.includes(path)); // JSON form
  assert.equal(granary.read_only, true);
});

test('the server is reached through the proxy alone, whose network it believes', () => {
  assert.equal(granary.ports, undefined);
  const subnet = compose.networks['proxy']?.ipam?.config[0]?.subnet;
  assert.equal(granary.environment?.['GRANARY_TRUSTED_PROXIES'], subnet);
  const members = Object.entries(compose.services).filter(([, { networks }]) => networks.includes('proxy'));
  assert.deepEqual(
    members.map(([name]) => name),
    ['granary', 'proxy'],
  );
});

test('Caddy accepts its configuration', (t) => {
  const caddy = installed(t, '/usr/bin/caddy');
  if (caddy === undefined) return;
  const file = join(FOLDER, 'Caddyfile');
  const env = {
    ...process.env,
    XDG_DATA_HOME: directory,
    XDG_CONFIG_HOME: directory,
    GRANARY_DOMAIN: 'memory.example.com',
  };
  assert.ok('GRANARY_DOMAIN' in (proxy.environment ?? {}));
  const out = execFileSync(caddy, ['adapt', '--config', file, '--adapter', 'caddyfile'], {
    env,
    stdio: 'pipe',
  }).toString();
  const addresses = [...out.matchAll(/"dial":"([^"]+)"/g)].map(([, one]) => one).sort();
  assert.deepEqual(addresses, ['granary:50051', 'granary:8080']);
  assert.match(out, /"host":\["memory\.example\.com"\]/);
  execFileSync(caddy, ['validate', '--config', file, '--adapter', 'caddyfile'], { env, stdio: 'pipe' });
});

/** The configuration with the paths of the container replaced by files of the test. */
function prometheusFile(key: string, target: string): string {
  const rules = (prometheus.volumes ?? []).find((volume) => volume.includes('.rules.yml'))?.split(':')[0] ?? '';
  const written = text('prometheus.yml')
    .replace('granary.rules.yml', resolve(FOLDER, rules))
    .replace('/run/secrets/metrics.key', key)
    .replace('granary:8080', target)
    .replace('scrape_interval: 15s', 'scrape_interval: 1s');
  const path = join(directory, 'prometheus.yml');
  writeFileSync(path, written);
  return path;
}

test('Prometheus reads its configuration and rules, and scrapes a server with a key of scope metrics', async (t) => {
  const [promtool, program] = [installed(t, '/usr/bin/promtool'), installed(t, '/usr/bin/prometheus')];
  if (promtool === undefined || program === undefined) return;
  assert.deepEqual(prometheus.secrets, ['metrics.key']);
  const server = await startTestServer({ shards: '1', workers: '0' });
  t.after(() => server.close());
  const made = await fetch(`${server.http}/api/auth/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'prometheus', scopes: ['metrics'] }),
  });
  const { raw_key: key } = (await made.json()) as { raw_key: string };
  const keyFile = join(directory, 'metrics.key');
  writeFileSync(keyFile, `${key}\n`);
  const config = prometheusFile(keyFile, new URL(server.http).host);
  const checked = execFileSync(promtool, ['check', 'config', config], { stdio: 'pipe' }).toString();
  assert.match(checked, /SUCCESS: 1 rule files found/);
  assert.match(checked, /SUCCESS: .*prometheus\.yml is valid/);

  const port = await freePort();
  const flags = [`--config.file=${config}`, `--storage.tsdb.path=${join(directory, 'tsdb')}`];
  const running: ChildProcess = spawn(program, [...flags, `--web.listen-address=127.0.0.1:${port}`], {
    stdio: 'ignore',
  });
  t.after(() => running.kill('SIGKILL'));
  await eventually('Prometheus finds the server up', async () => {
    if (running.exitCode !== null) throw new Error(`Prometheus ended with ${running.exitCode}`);
    const asked = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=up{job="granary"}`).catch(() => undefined);
    return asked?.ok === true && /"value":\[[\d.]+,"1"\]/.test(await asked.text());
  });
});

test('Grafana gets Prometheus as its source, and the dashboard of deploy/', () => {
  const { grafana } = compose.services;
  const mounted = (path: string): string =>
    resolve(FOLDER, grafana.volumes?.find((volume) => volume.split(':')[1] === path)?.split(':')[0] ?? '');
  const sources = parse(
    readFileSync(join(mounted('/etc/grafana/provisioning/datasources'), 'prometheus.yml'), 'utf8'),
  ) as {
    datasources: readonly { type: string; url: string }[];
  }; // looked at below
  assert.deepEqual(
    sources.datasources.map(({ type, url }) => [type, url]),
    [['prometheus', 'http://prometheus:9090']],
  );
  const { providers } = parse(
    readFileSync(join(mounted('/etc/grafana/provisioning/dashboards'), 'granary.yml'), 'utf8'),
  ) as {
    providers: readonly { type: string; options: { path: string } }[];
  }; // looked at below
  const [provider] = providers;
  assert.equal(provider?.type, 'file');
  const boards = mounted(provider.options.path);
  assert.ok(statSync(join(boards, 'granary.json')).isFile());
  // The board finds the source by its type.
  const { templating } = JSON.parse(readFileSync(join(boards, 'granary.json'), 'utf8')) as {
    templating: { list: readonly { name: string; type: string; query: unknown }[] };
  }; // looked at below
  assert.deepEqual(
    templating.list.filter(({ name }) => name === 'datasource').map(({ type, query }) => [type, query]),
    [['datasource', 'prometheus']],
  );
});

/** The path, or undefined, and then the test is marked as skipped. */
function installed(t: TestContext, path: string): string | undefined {
  if (existsSync(path)) return path;
  t.skip(`${path} is not installed`);
  return undefined;
}
