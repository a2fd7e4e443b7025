// The most costly known single requests (test/hostile), one after the other: how long another caller's health
// request waits during each, and the server's memory. Each is sent three times: code runs slowly the first time, and a
// single late check is chance on a machine that does other work.

import { request } from 'node:http';
import { defined } from '../../src/engine/base/defined.ts';
import { GrpcClient } from '../../test/conformance/grpc-client.ts';
import { sessionRequests } from '../../test/hostile/sessions.ts';
import { wideRequests } from '../../test/hostile/wide.ts';
import { pathOf, WORST_CALLS, WORST_REQUESTS, type WorstRequest } from '../../test/hostile/worst.ts';
import { inFolder } from '../lib/folder.ts';
import { HealthProbe } from '../lib/health-probe.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { startServer, type Target } from '../lib/server.ts';
import { median, rounded } from '../lib/statistics.ts';

const MIB = 1_048_576;
/** How long health is requested without other load. */
const QUIET_MS = 1_000;
/** Partitions of the memories with wide grains. */
const PARTITIONS = 4;

/** Longest wait of health during one request, for each time it was sent. */
interface Row {
  readonly name: string;
  readonly longestMs: readonly number[];
}

export const scenario: Scenario = {
  name: 'hostile',
  about: 'how long health waits beside the worst single requests, and what they take of memory',
  aims: [
    { metric: 'health_longest_ms', atMost: 50 },
    { metric: 'resident_peak_mb', atMost: 2_560 },
  ],
  run,
};

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const every = sized(size, { full: 1, quick: 4, smoke: 40 });
  const rounds = sized(size, { full: 3, quick: 3, smoke: 1 });
  const quietMs = sized(size, { full: QUIET_MS, quick: QUIET_MS, smoke: 20 });
  return inFolder(async (folder) => {
    const server = await start({ dataDirectory: folder, workers: 2, shards: 8, auth: 'api-key', profile });
    const grpc = GrpcClient.open(`127.0.0.1:${server.grpc}`, server.key ?? '');
    const probe = new HealthProbe(server.http);
    try {
      await probe.waited();
      await new Promise((resolve) => setTimeout(resolve, quietMs));
      const quiet = await probe.waited();
      const copies = sized(size, { full: undefined, quick: undefined, smoke: 2 });
      const wide = await wideRequests((path, json) => posted(server, path, json), PARTITIONS, copies);
      const day = sized(size, {
        full: { grains: 100_000, agents: 10_000 },
        quick: { grains: 20_000, agents: 1_000 },
        smoke: { grains: 60, agents: 4 },
      });
      const post = (path: string, json: unknown) => posted(server, path, json);
      const ofDay = await sessionRequests(post, { id: 'day', partitions: PARTITIONS, ...day });
      const requests = [...WORST_REQUESTS, ...wide, ...ofDay].filter((_, at) => at % every === 0);
      const calls = WORST_CALLS.filter((_, at) => at % every === 0);
      await probe.waited();
      const rows: Row[] = [];
      let refused = 0;
      let residentBytes = server.residentBytes() ?? Number.NaN;
      const measured = async (name: string, attack: () => Promise<unknown>): Promise<void> => {
        const longestMs: number[] = [];
        for (let round = 0; round < rounds; round += 1) {
          await attack();
          const waited = await probe.waited();
          longestMs.push(waited.longestMs);
          refused += waited.refused;
          residentBytes = Math.max(residentBytes, server.residentBytes() ?? Number.NaN);
        }
        rows.push({ name, longestMs });
      };
      for (const one of requests) await measured(one.name, () => sent(server, one));
      // Most are rejected, as they should be.
      for (const { name, rpc, message } of calls)
        await measured(name, () => grpc.askBytes(pathOf(rpc), message()).then(nothing, nothing));
      const longest = largest(rows, ({ longestMs }) => median(longestMs));
      const firstTime = largest(rows, ({ longestMs }) => longestMs[0] ?? 0);
      return {
        parameters: {
          requests: rows.length,
          rounds,
          longest: longest.name,
          first_time_longest: firstTime.name,
        },
        metrics: rounded({
          health_longest_ms: longest.ms,
          first_time_longest_ms: firstTime.ms,
          quiet_health_longest_ms: quiet.longestMs,
          quiet_health_p99_ms: quiet.p99Ms,
          health_refused: refused,
          resident_peak_mb: residentBytes / MIB,
        }),
      };
    } finally {
      await probe.stop();
      grpc.close();
      await server.stop();
    }
  });
}

const nothing = (): void => undefined;

function largest(rows: readonly Row[], msOf: (row: Row) => number): { readonly name: string; readonly ms: number } {
  const timed = rows.map((row) => ({ name: row.name, ms: msOf(row) }));
  return timed.reduce((most, one) => (one.ms > most.ms ? one : most), { name: '', ms: 0 });
}

/** The answer to a request that creates data. */
async function posted({ http, key }: Target, path: string, json: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(`http://127.0.0.1:${http}/api${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  });
  const body = (await answer.json()) as Record<string, unknown>; // every answer of these is an object
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${JSON.stringify(body)}`);
  return body;
}

/** Resolves when the request is answered or the connection closed. */
function sent(
  { http: port, key }: Target,
  { method, path, body, headers: more, contentType = 'application/json' }: WorstRequest,
): Promise<void> {
  const bytes = body?.();
  const headers = defined({
    ...more,
    authorization: `Bearer ${key}`,
    'content-type': bytes === undefined ? undefined : contentType,
    'content-length': bytes === undefined ? undefined : bytes.length,
  });
  return new Promise((resolve) => {
    const asking = request({ host: '127.0.0.1', port, method, path: `/api${path}`, headers }, (answer) => {
      answer.on('close', resolve);
      answer.resume();
    });
    asking.on('error', () => resolve());
    asking.end(bytes);
  });
}
