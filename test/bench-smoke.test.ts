// Every benchmark scenario still runs and returns numbers. Their size is not checked: a machine that runs tests says
// nothing about it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { AIMED } from '../bench/lib/aims.ts';
import { cpuTable } from '../bench/lib/cpu-table.ts';
import { embedderOver, openEncoder } from '../bench/lib/embedder.ts';
import { LoadClient } from '../bench/lib/load.ts';
import { type EmbedderOptions, type ServerOptions, startServer, type Target } from '../bench/lib/server.ts';
import { processCpuUs, snapshotOf } from '../bench/lib/thread-cpu.ts';
import { SUITE } from '../bench/suite.ts';
import type { Embedder } from '../src/embed/embedder.ts';
import { readConfig } from '../src/server/config.ts';
import { makeLog } from '../src/server/log.ts';
import { startServer as startHere } from '../src/server/main.ts';
import { USED_THREADS } from './support/used-threads.ts';

const RUN = join(import.meta.dirname, '..', 'bench', 'run.ts');

/** Only Linux reports these for another process. */
const OF_OTHER_PROCESSES = /_server_cpu_us_per_/;

const directory = mkdtempSync(join(tmpdir(), 'granary-bench-smoke-'));
const servers = new Map<ServerOptions['auth'], Promise<Target>>();
const encoders = new Map<string, Promise<Embedder>>();
const endClients = LoadClient.useAgain();
after(async () => {
  endClients();
  for (const server of servers.values()) await (await server).stop();
  for (const encoder of encoders.values()) await (await encoder).close();
  rmSync(directory, { recursive: true, force: true });
});

/**
 * One server for each kind of access, shared by all scenarios, whose memories have distinct names. Of a scenario's own
 * servers, one with vectors of earlier runs has a process, as in a measurement; the others run in this one.
 */
async function start(options: ServerOptions): Promise<Target> {
  const { auth, isOwn, embedder } = options;
  if (isOwn === true) return isInProcess(embedder) ? startServer(options) : startOwn(options);
  const server =
    servers.get(auth) ?? startServer({ dataDirectory: join(directory, auth), workers: 1, shards: 4, auth });
  servers.set(auth, server);
  return { ...(await server), stop: async () => undefined };
}

/** Of `calibration`: the other scenario with such servers names their precision. */
function isInProcess(embedder: EmbedderOptions | undefined): boolean {
  return embedder?.grains === 'kept' && embedder.precision === undefined;
}

/** With the threads and the encoder of the ones before. */
async function startOwn({ dataDirectory, workers, shards, embedder: wanted, env }: ServerOptions): Promise<Target> {
  const numbers = { workers, shards, httpPort: 0, grpcPort: 0 };
  const embedder = wanted && kept(await embedderOver(await encoderOf(wanted), wanted));
  const config = { dataDir: dataDirectory, ...numbers, embedder: embedder === undefined ? 'none' : 'use-lite-int8' };
  const key = `gr_${'be'.repeat(32)}`;
  const server = await startHere(readConfig(config, { GRANARY_BOOTSTRAP_KEY: key, ...env }), {
    log: makeLog('error'),
    threads: USED_THREADS,
    openers: embedder && (() => ({ 'use-lite-int8': async () => ({ embedder }) })),
  });
  return {
    pid: process.pid,
    http: server.httpPort,
    grpc: server.grpcPort,
    key,
    cpuUs: () => processCpuUs(process.pid),
    cpu: async () => snapshotOf(process.pid, []),
    residentBytes: () => process.memoryUsage.rss(),
    stop: () => server.close(),
  };
}

/** The encoder ends after the last scenario, not with a server. */
function kept(embedder: Embedder): Embedder {
  return {
    name: embedder.name,
    dimensions: embedder.dimensions,
    embed: (texts, options) => embedder.embed(texts, options),
    close: async () => undefined,
  };
}

function encoderOf(wanted: EmbedderOptions): Promise<Embedder> {
  const name = `${wanted.runtime} ${wanted.precision ?? 'int8'}`;
  const encoder = encoders.get(name) ?? openEncoder(wanted);
  encoders.set(name, encoder);
  return encoder;
}

// In this process, one after the other: a process per scenario is only needed for real measurements, and takes far
// longer.
for (const [name, load] of Object.entries(SUITE)) {
  test(`${name} returns numbers, and its aims refer to some of them`, async (t) => {
    const { scenario } = await load();
    const measured = await scenario.run({ size: 'smoke', profile: undefined, start });
    if ('skipped' in measured) {
      t.skip(measured.skipped);
      return;
    }
    const { metrics } = measured;
    assert.equal(scenario.name, name);
    assert.ok(Object.keys(metrics).length > 0, 'it measured nothing');
    for (const [metric, value] of Object.entries(metrics)) {
      if (process.platform !== 'linux' && OF_OTHER_PROCESSES.test(metric)) continue;
      assert.ok(Number.isFinite(value), `${metric} is ${value}`);
    }
    for (const { metric } of scenario.aims) assert.ok(metric in metrics, `the aim for ${metric} has no metric`);
    for (const { scenario: of, metric, beside } of AIMED) {
      if (of !== name) continue;
      assert.ok(
        scenario.aims.some((aim) => aim.metric === metric),
        `the table of aims names ${metric}, which has none`,
      );
      for (const shown of beside) assert.ok(shown in metrics, `the table of aims shows ${shown}, which is no metric`);
    }
  });
}

test("a server's threads are told apart", { skip: process.platform !== 'linux' }, () => {
  const { grpc_256: adds } = cpuTable.figures();
  assert.ok(adds !== undefined, 'no scenario has noted the CPU of adds');
  for (const kind of ['main_us', 'workers_us', 'libuv_us'] as const)
    assert.ok(adds[kind] > 0, `${kind} is ${adds[kind]}`);
});

test('the command prints one JSON line per scenario', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [RUN, 'codec', '--smoke', '--json']);
  const line: unknown = JSON.parse(stdout);
  assert.ok(typeof line === 'object' && line !== null && 'scenario' in line && 'metrics' in line, stdout);
  assert.equal(line.scenario, 'codec');
});

test('an unknown scenario name is rejected', async () => {
  const run = promisify(execFile)(process.execPath, [RUN, 'nonsense']);
  await assert.rejects(run, (error: { code?: number; stderr?: string }) => {
    assert.equal(error.code, 2);
    assert.match(error.stderr ?? '', /unknown scenario: nonsense/);
    return true;
  });
});
