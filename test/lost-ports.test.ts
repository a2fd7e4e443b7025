// A node whose ports are taken by others at the moment when it gives up the server: it stays, and tries again.
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { Database } from '../src/engine/log/postgres/database.ts';
import { readConfig } from '../src/server/config.ts';
import { CONTROL_SHARD } from '../src/server/control/open.ts';
import { makeLog } from '../src/server/log.ts';
import { startServer } from '../src/server/main.ts';
import { Front } from '../src/server/nodes/front.ts';
import type { RunningServer } from '../src/server/running-server.ts';
import { eventually } from './support/eventually.ts';
import { testDatabase } from './support/postgres.ts';
import { temporaryDirectory } from './support/temporary.ts';

const HOST = '127.0.0.1';

async function nodeOn(t: TestContext, url: string): Promise<RunningServer> {
  const flags = { store: url, nodeListen: `${HOST}:0`, httpPort: '0', grpcPort: '0', shards: '1', workers: '1' };
  const config = readConfig(
    { ...flags, dataDir: temporaryDirectory(t), embedder: 'none' },
    { GRANARY_MASTER_KEY: randomBytes(32).toString('hex') },
  );
  const server = await startServer(config, { log: makeLog('silent') });
  t.after(() => server.close());
  return server;
}

async function isReady({ http }: RunningServer): Promise<boolean> {
  const answer = await fetch(`${http}/health/ready`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.status === 200;
}

test('a node that cannot listen for a moment goes on', { timeout: 120_000 }, async (t) => {
  const database = await testDatabase(t);
  if (database === undefined) return;
  const server = await nodeOn(t, database.url);
  await eventually('it serves', () => isReady(server));
  const sql = await Database.open(database.url);
  t.after(() => sql.close());
  const { listen } = Front.prototype;
  let refusals = 0;
  t.mock.method(Front.prototype, 'listen', function (this: Front) {
    if (refusals > 0) return listen.call(this);
    refusals += 1;
    return Promise.reject(Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' }));
  });
  // As an owner does that takes the control log and gives it back.
  await sql.ask((ask) => ask`UPDATE granary_shards SET token = token + 1, owner = NULL WHERE shard = ${CONTROL_SHARD}`);
  await sql.ask(
    (ask) =>
      ask`INSERT INTO granary_owners SELECT shard, token, '\\x00', appends FROM granary_shards WHERE shard = ${CONTROL_SHARD}`,
  );
  await eventually('it was refused its ports', () => refusals === 1);
  await eventually('it serves again', () => isReady(server));
});
