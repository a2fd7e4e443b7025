// The most costly single requests that we know (test/hostile/worst.ts), one after the other: how long another caller who asks for
// health waits beside each, and what the server holds in memory.
import { request } from 'node:http';
import { GrpcClient } from '../../test/conformance/grpc-client.ts';
import { pathOf, WORST_CALLS, WORST_REQUESTS, type WorstRequest } from '../../test/hostile/worst.ts';
import { inFolder } from '../lib/folder.ts';
import { HealthProbe } from '../lib/health-probe.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { startServer, type Target } from '../lib/server.ts';
import { rounded } from '../lib/statistics.ts';

const MIB = 1_048_576;
/** How long health is asked for alone. */
const QUIET_MS = 1_000;

export const scenario: Scenario = {
  name: 'hostile',
  about: 'how long health waits beside the worst single requests, and what they take of memory',
  aims: [{ metric: 'health_longest_ms', atMost: 50 }],
  run,
};

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const every = sized(size, { full: 1, quick: 4, smoke: 40 });
  const quietMs = sized(size, { full: QUIET_MS, quick: QUIET_MS, smoke: 20 });
  return inFolder(async (folder) => {
    const server = await start({ dataDirectory: folder, workers: 2, shards: 8, auth: 'api-key', profile });
    const grpc = GrpcClient.open(`127.0.0.1:${server.grpc}`, server.key ?? '');
    const probe = new HealthProbe(server.http);
    try {
      await probe.waited();
      await new Promise((resolve) => setTimeout(resolve, quietMs));
      const quiet = await probe.waited();
      let longest = { name: '', ms: 0 };
      let refused = 0;
      let residentBytes = server.residentBytes() ?? Number.NaN;
      let asked = 0;
      const beside = async (name: string, attack: () => Promise<void>): Promise<void> => {
        await attack();
        const waited = await probe.waited();
        if (waited.longestMs > longest.ms) longest = { name, ms: waited.longestMs };
        refused += waited.refused;
        residentBytes = Math.max(residentBytes, server.residentBytes() ?? Number.NaN);
        asked += 1;
      };
      for (const [at, one] of WORST_REQUESTS.entries())
        if (at % every === 0) await beside(one.name, () => sent(server, one));
      // Most are refused, as they should be.
      for (const [at, { name, rpc, message }] of WORST_CALLS.entries())
        if (at % every === 0) await beside(name, () => grpc.askBytes(pathOf(rpc), message()).then(nothing, nothing));
      return {
        parameters: { requests: asked, longest: longest.name },
        metrics: rounded({
          health_longest_ms: longest.ms,
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

/** Resolves when it was answered, or the connection closed. */
function sent(
  { http: port, key }: Target,
  { method, path, body, contentType = 'application/json' }: WorstRequest,
): Promise<void> {
  const bytes = body?.();
  const headers = {
    authorization: `Bearer ${key}`,
    ...(bytes === undefined ? {} : { 'content-type': contentType, 'content-length': bytes.length }),
  };
  return new Promise((resolve) => {
    const asking = request({ host: '127.0.0.1', port, method, path: `/api${path}`, headers }, (answer) => {
      answer.on('close', resolve);
      answer.resume();
    });
    asking.on('error', () => resolve());
    asking.end(bytes);
  });
}
