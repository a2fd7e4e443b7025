import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { helpText, optionLines, readConfig } from './config.ts';

test('the help text has every option, its default and its variable', (t) => {
  t.assert.snapshot(helpText(), { serializers: [String] });
});

test('docs/configuration.md has a row for each option, with its variable and default, and no other row', () => {
  const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('## Options\n');
  const [table = ''] = section.split('\n\nThe other commands');
  const rows = new Map(
    [...table.matchAll(/^\| (.*?) \| `(GRANARY_\w+)` \| (.*?) \|/gm)].map(([, flag, env, fallback]) => [
      env!,
      { flag: flag!.replaceAll('`', '').trim(), fallback: fallback!.replaceAll('`', '') },
    ]),
  );
  assert.deepEqual(
    [...rows.keys()].sort(),
    optionLines()
      .map(({ env }) => env)
      .sort(),
  );
  for (const { flag, env, description } of optionLines()) {
    const row = rows.get(env)!;
    assert.equal(row.flag, flag?.split(' ')[0] ?? '', env);
    const [, fallback] = /\(default ([^;)]+)/.exec(description) ?? [];
    if (fallback !== undefined && /^[\w./-]+$/.test(fallback))
      assert.equal(row.fallback.split(' ')[0], fallback, `the default of ${env}`);
  }
});

test('a flag wins over its variable, which wins over the default', () => {
  const env = { GRANARY_HTTP_PORT: '1', GRANARY_CORS_ORIGINS: 'https://a.example, https://b.example', OTHER: 'x' };
  const config = readConfig({ httpPort: '2' }, env);
  assert.equal(config.httpPort, 2);
  assert.deepEqual(config.corsOrigins, ['https://a.example', 'https://b.example']);
  assert.equal(config.grpcPort, 50_051);
  assert.equal(config.shards, undefined);
  assert.equal(readConfig({}, env).httpPort, 1);
  assert.equal(readConfig({ insecure: true }, {}).insecure, true);
  assert.equal(readConfig({}, { GRANARY_INSECURE: '1' }).insecure, true);
  assert.throws(() => Object.assign(config, { httpPort: 3 }), TypeError);
});

test('secrets are read only from the environment', () => {
  const key = `gr_${'0'.repeat(64)}`;
  const flags = optionLines().map(({ flag }) => flag ?? '');
  assert.equal(
    flags.some((flag) => flag.startsWith('--master-key ') || flag.startsWith('--bootstrap-key')),
    false,
  );
  assert.equal(readConfig({ bootstrapKey: key }, {}).bootstrapKey, undefined);
  assert.equal(readConfig({}, { GRANARY_BOOTSTRAP_KEY: key }).bootstrapKey, key);
});

test('an invalid value is rejected with the name of its option', () => {
  for (const [flags, text] of [
    [{ httpPort: 'eighty' }, '--http-port must be an integer from 0 to 65535'],
    [{ httpPort: '65536' }, '--http-port'],
    [{ shards: '0' }, '--shards'],
    [{ auth: 'password' }, '--auth must be one of none, api-key'],
    [{ tlsCert: 'cert.pem' }, '--tls-key'],
    [{ model: 'm' }, '--model needs --model-url'],
    [{ modelUrl: 'http://127.0.0.1' }, '--model-url needs --model or --rerank-model'],
    [{ modelUrl: 'file:///etc', model: 'm' }, '--model-url must be an http or https URL'],
    [{ rerankUrl: 'nowhere', rerankModel: 'r' }, '--rerank-url must be an http or https URL'],
    [{ rerankUrl: 'http://127.0.0.1' }, '--rerank-url needs --rerank-model'],
    [{ rerankModel: 'r' }, '--rerank-model needs --rerank-url or --model-url'],
  ] as const)
    assert.throws(() => readConfig(flags, {}), { code: 'VAL-E001', message: new RegExp(text) });
  assert.throws(() => readConfig({}, { GRANARY_INSECURE: 'maybe' }), {
    code: 'VAL-E001',
    message: /^VAL-E001: GRANARY_INSECURE \(--insecure\) must be true or false$/,
  });
  assert.throws(() => readConfig({ http: 'uws', singlePort: true, http10Port: '8081' }, {}), {
    code: 'VAL-E001',
    message: /--http10-port needs --http uws without --single-port/,
  });
});

test('unknown auth modes, and modes that would let anyone in, are rejected', () => {
  for (const auth of ['oidc', 'composite'])
    assert.throws(() => readConfig({ auth }, {}), { code: 'AUT-E003', message: /needs --oidc-issuer and/ });
  assert.throws(() => readConfig({ auth: 'none', host: '0.0.0.0' }, {}), { code: 'AUT-E003', message: /--insecure/ });
  assert.equal(readConfig({ auth: 'none', host: '0.0.0.0', insecure: true }, {}).auth, 'none');
  assert.equal(readConfig({ auth: 'none' }, {}).auth, 'none');
  assert.throws(() => readConfig({}, { GRANARY_BOOTSTRAP_KEY: 'short' }), { code: 'AUT-E003' });
});

test('an issuer turns tokens on beside keys, and needs an audience and a safe address', () => {
  const oidcAudience = 'granary, memory';
  const config = readConfig({ oidcIssuer: 'https://id.example', oidcAudience }, {});
  assert.deepEqual([config.auth, config.oidcAudience], ['composite', ['granary', 'memory']]);
  const env = { GRANARY_OIDC_ISSUER: 'https://id.example', GRANARY_OIDC_AUDIENCE: 'granary', GRANARY_AUTH: 'oidc' };
  assert.equal(readConfig({}, env).auth, 'oidc');
  assert.equal(readConfig({ oidcIssuer: 'http://127.0.0.1:9/a', oidcAudience }, {}).auth, 'composite');
  const refused = { code: 'AUT-E003' };
  assert.throws(() => readConfig({ oidcIssuer: 'https://id.example' }, {}), refused);
  for (const oidcIssuer of ['http://id.example', 'id.example', 'https://user@id.example', 'file:///keys'])
    assert.throws(() => readConfig({ oidcIssuer, oidcAudience }, {}), refused);
  for (const auth of ['none', 'api-key'])
    assert.throws(() => readConfig({ auth, oidcIssuer: 'https://id.example', oidcAudience }, {}), refused);
});

test('the options of nodes go together', () => {
  const store = 'postgres://granary@127.0.0.1/granary';
  const config = readConfig({ store, nodeListen: '127.0.0.1:0' }, {});
  assert.deepEqual([config.nodeListen, config.advertise, config.nodeWeight], ['127.0.0.1:0', undefined, 1]);
  for (const [flags, message] of [
    [{ nodeListen: '127.0.0.1:7070' }, /--node-listen needs --store/],
    [{ store, advertise: '10.0.0.1:7070' }, /--advertise needs --node-listen/],
    [{ store, nodeListen: '7070' }, /--node-listen must be HOST:PORT/],
    [{ store, nodeListen: '0.0.0.0:7070' }, /--advertise must name the address .* not 0\.0\.0\.0/],
    [
      { store, nodeListen: 'a:1', http: 'uws', http10Port: 8081 },
      /--http10-port cannot be combined with --node-listen/,
    ],
  ] as const)
    assert.throws(() => readConfig(flags, {}), { code: 'VAL-E001', message });
});
