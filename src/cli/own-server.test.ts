// The variables of `granary serve` in the environment of other commands.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optionLines } from '../server/config.ts';
import { ownConfig } from './own-server.ts';

/** Values that `serve` takes together. */
const VALUES: Readonly<Record<string, string>> = {
  host: '0.0.0.0',
  httpPort: '8080',
  grpcPort: '50051',
  http10Port: '8081',
  http: 'uws',
  grpc: 'grpc-js',
  nodeListen: '0.0.0.0:7070',
  advertise: '10.0.0.1:7070',
  nodeWeight: '2',
  auth: 'composite',
  oidcIssuer: 'https://issuer.example',
  oidcAudience: 'granary',
  oidcClient: 'console',
  oidcScopes: 'email',
  basePath: '/granary',
  trustedProxies: '10.0.0.0/8',
  insecure: 'true',
  tlsCert: 'cert.pem',
  tlsKey: 'key.pem',
  rateLimit: '60',
  corsOrigins: '*',
  allowedHosts: 'granary.example',
  mcpUrl: 'https://granary.example/mcp',
  mcp: 'false',
  console: 'false',
  docs: 'false',
  logLevel: 'debug',
  stopMs: '1000',
  workers: '3',
  dataDir: '/elsewhere',
};
/** Options of the data and of the work on them: a command takes them too. */
const ABOUT_DATA: ReadonlySet<string> = new Set(
  [
    'store keyStore storeLeaseMs storeStartMs shards requestMemoryMb answerMemoryMb allowPrivateWebhooks indexHeapMb openedCacheMb vectorHeapMb',
    'embedder embedderModel embeddingUrl embeddingModel embeddingDimensions embeddingKey modelUrl model modelKey modelRegion executors',
    'modelHosts extractionRate extractionBudget rerankUrl rerankModel rerankKey calTier1 calTimeoutMs calStrict calAutoToon calTokens',
    'calAudit memoriesMax requestTimeoutMs deployment masterKeyFile bootstrapKey masterKey',
  ].flatMap((line) => line.split(' ')),
);

test('the server of a command takes no variable of how the server listens and whom it lets in', () => {
  const lines = [...optionLines(), { name: 'singlePort', env: 'GRANARY_SINGLE_PORT' } as const];
  const listening = lines.filter(({ name }) => !ABOUT_DATA.has(name) && name !== 'singlePort');
  const unknown = listening.filter(({ name }) => VALUES[name] === undefined);
  assert.deepEqual(
    unknown.map(({ name }) => name),
    [],
    'say here whether a command takes the option',
  );
  const store = { GRANARY_STORE: 'postgres://granary@db/granary' };
  const env = Object.fromEntries(listening.map(({ name, env: variable }) => [variable, VALUES[name]!]));
  for (const kind of [
    { isLong: false, isLongLived: false },
    { isLong: false, isLongLived: true },
  ])
    for (const given of [env, { GRANARY_SINGLE_PORT: 'true' }]) {
      const own = ownConfig('/data', { ...given, ...store }, kind);
      assert.deepEqual(own, ownConfig('/data', store, kind));
      assert.equal(own.store, store.GRANARY_STORE);
    }
});
