import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { EngineError } from '../../engine/base/errors.ts';
import { STORE_RETRY_MS, STORE_WATCH_MS } from '../../engine/base/limits.ts';
import { type Config, readConfig } from '../config.ts';
import { makeLog } from '../log.ts';
import type { RunningServer } from '../running-server.ts';
import type { ServerDeps } from '../start/starting.ts';
import { startReopening } from './reopening.ts';

/** A server whose first control log can be spoiled. The second start fails, and those after it do not. */
async function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const starts: Config[] = [];
  let closed = 0;
  let released = 0;
  let isSpoiled = false;
  const startOne = async (config: Config, deps: ServerDeps): Promise<RunningServer> => {
    starts.push(config);
    if (starts.length === 2) throw new EngineError('STO-E001', 'the database is away');
    deps.watchControl?.(() => isSpoiled);
    return {
      httpPort: 7001,
      grpcPort: 7002,
      http10Port: undefined,
      http: '127.0.0.1:7001',
      grpc: '127.0.0.1:7002',
      httpListener: 'node',
      firstKey: undefined,
      warnings: [],
      closing: () => undefined,
      close: async () => {
        closed += 1;
        isSpoiled = false;
      },
    };
  };
  const config = readConfig({ dataDir: 'unused', httpPort: '0', grpcPort: '0', store: 'postgres://h/d' }, {});
  const lock = {
    directory: 'unused',
    release: () => {
      released += 1;
    },
  };
  const server = await startReopening(config, { lock, log: makeLog('silent') }, startOne);
  isSpoiled = true;
  t.mock.timers.tick(STORE_WATCH_MS);
  while (starts.length < 2) await turn();
  await turn();
  return { server, starts, counts: () => ({ closed, released }) };
}

test('a server whose control log takes nothing starts again on the same ports, after a pause where that fails', async (t) => {
  const { server, starts, counts } = await setUp(t);
  assert.deepEqual(counts(), { closed: 1, released: 0 });
  t.mock.timers.tick(STORE_RETRY_MS);
  while (starts.length < 3) await turn();
  assert.deepEqual(
    starts.map(({ httpPort, grpcPort }) => [httpPort, grpcPort]),
    [
      [0, 0],
      [7001, 7002],
      [7001, 7002],
    ],
  );
  await turn();
  await server.close();
  assert.deepEqual(counts(), { closed: 2, released: 1 });
});

test('a server that is told to end waits for no pause between two attempts', async (t) => {
  const { server, starts, counts } = await setUp(t);
  await server.close();
  assert.equal(starts.length, 2);
  assert.deepEqual(counts(), { closed: 1, released: 1 });
});
