// Cost of the transport interfaces: echoes through them next to the bare library, under the same load, interleaved.
// gRPC echoes raw bytes; HTTP parses and writes a JSON body. h2load generates the load.
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ListenGrpc } from '../../src/server/grpc/front.ts';
import { listenNative } from '../../src/server/grpc/native/front.ts';
import { listenGrpc } from '../../src/server/grpc/node/front.ts';
import { jsonBody, parseBody } from '../../src/server/http/json.ts';
import type { HttpHandler } from '../../src/server/http/listener.ts';
import { listenNode } from '../../src/server/http/node.ts';
import { listenUws } from '../../src/server/http/uws.ts';
import { loadUws } from '../../src/server/http/uws-loader.ts';
import { grpcEcho, type Listening, uwsEcho } from '../lib/echo.ts';
import { inFolder } from '../lib/folder.ts';
import { framed } from '../lib/grpc-client.ts';
import type { Measured, Options, Scenario, Skipped } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { inTurns, median, medianRatio, rounded } from '../lib/statistics.ts';

const MESSAGE = Buffer.alloc(306, 'granary ');
const JSON_TEXT = JSON.stringify({
  grain_type: 'belief',
  subject: 'Ada Lovelace',
  relation: 'wrote',
  object: 'the first program for a machine that was never built',
  confidence: 0.9,
  namespace: 'history',
  tags: ['computing', 'mathematics', 'nineteenth century'],
  context: { source: 'Notes on the Analytical Engine', page: 7, year: 1843, verified: true, translator: 'herself' },
  purpose: 'storage, and to have a body of the usual length to measure with',
});

interface Variant {
  /** The variant to compare the cost with. */
  readonly base?: string;
  readonly protocol: 'grpc' | 'http';
  start(): Promise<Listening>;
}

const WAYS: Readonly<Record<string, Variant>> = {
  grpc_js: { protocol: 'grpc', start: () => grpcEcho((request) => request) },
  grpc_listener: { base: 'grpc_js', protocol: 'grpc', start: () => front(listenGrpc) },
  grpc_native: { base: 'grpc_listener', protocol: 'grpc', start: () => front(listenNative) },
  uws: { protocol: 'http', start: uwsEcho },
  uws_listener: { base: 'uws', protocol: 'http', start: () => listener(listenUws) },
  node: { protocol: 'http', start: bareNode },
  node_listener: { base: 'node', protocol: 'http', start: () => listener(listenNode) },
};

export const scenario: Scenario = {
  name: 'transport',
  about: 'echoes through the listeners, beside the bare libraries',
  aims: [],
  run,
};

async function run({ size }: Options): Promise<Measured | Skipped> {
  if (spawnSync('h2load', ['--version']).status !== 0)
    return { skipped: 'h2load makes the load, and is not installed (Debian: nghttp2-client)' };
  const calls = sized(size, { full: 30_000, quick: 10_000, smoke: 200 });
  const rounds = sized(size, { full: 7, quick: 3, smoke: 1 });
  const hasUws = !('reason' in loadUws());
  const variants = Object.entries(WAYS).filter(([name]) => hasUws || !name.startsWith('uws'));
  return inFolder(async (folder) => {
    writeFileSync(join(folder, 'grpc'), framed(MESSAGE));
    writeFileSync(join(folder, 'http'), JSON_TEXT);
    const started = await Promise.all(
      variants.map(async ([name, { protocol, start }]) => ({ name, protocol, ...(await start()) })),
    );
    const turns = started.map(
      ({ name, protocol, port }) => [name, () => load(protocol, port, join(folder, protocol), calls)] as const,
    );
    // The first round warms up.
    const figures = await inTurns(rounds + 1, Object.fromEntries(turns));
    for (const { stop } of started) stop();
    const of = (name: string, key: keyof Figure): number[] => figures[name]!.slice(1).map((one) => one[key]);
    const metrics: Record<string, number> = {};
    for (const [name, { base }] of variants) {
      metrics[`${name}_calls_per_s`] = median(of(name, 'callsPerSecond'));
      metrics[`${name}_cpu_us_per_call`] = median(of(name, 'cpuUsPerCall'));
      // CPU time is steadier than calls per second; 1 would mean no cost.
      if (base !== undefined)
        metrics[`${name}_cpu_over_bare_ratio`] = medianRatio(of(name, 'cpuUsPerCall'), of(base, 'cpuUsPerCall'));
    }
    return { parameters: { calls_a_round: calls, rounds }, metrics: rounded(metrics) };
  });
}

async function front(listen: ListenGrpc): Promise<Listening> {
  const options = { host: '127.0.0.1', port: 0, allowReflection: () => undefined, requestIdOf: String };
  const listening = await listen(options, async ({ bytes }) => ({ bytes }));
  return { port: listening.port, stop: () => listening.close() };
}

function bareNode(): Promise<Listening> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()));
      response.writeHead(200, ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(text))]);
      response.end(text);
    });
  });
  return new Promise((resolve) => {
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const { port } = server.address() as AddressInfo; // it listens on TCP
      resolve({
        port,
        stop: () => {
          server.close();
          server.closeAllConnections();
        },
      });
    });
  });
}

const JSON_TYPE = [['content-type', 'application/json']] as const;

const echoJson: HttpHandler = async (request) => {
  const value = parseBody(await jsonBody(request, 1_048_576));
  request.respond(200, JSON_TYPE, JSON.stringify(value));
};

async function listener(listen: typeof listenUws): Promise<Listening> {
  const listening = await listen({ host: '127.0.0.1', port: 0, onError: console.error }, echoJson);
  return { port: listening.port, stop: () => listening.close() };
}

interface Figure {
  readonly callsPerSecond: number;
  readonly cpuUsPerCall: number;
}

function load(protocol: 'grpc' | 'http', port: number, file: string, calls: number): Promise<Figure> {
  const shared = ['-n', String(calls), '-d', file, '-t', '1'];
  const args =
    protocol === 'grpc'
      ? ['-c', '4', '-m', '16', '-H', 'content-type: application/grpc', '-H', 'te: trailers', ...shared]
      : ['--h1', '-c', '64', '-H', 'content-type: application/json', ...shared];
  const path = protocol === 'grpc' ? 'memory.v1.MemoryService/Add' : 'api/memories/default/add';
  const child = spawn('h2load', [...args, `http://127.0.0.1:${port}/${path}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const before = process.cpuUsage();
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('close', () => {
      const { user, system } = process.cpuUsage(before);
      const perSecond = /, ([\d.]+) req\/s/.exec(output)?.[1];
      const succeeded = /(\d+) succeeded/.exec(output)?.[1];
      if (perSecond === undefined || succeeded !== String(calls)) reject(new Error(`h2load said:\n${output}`));
      else resolve({ callsPerSecond: Number(perSecond), cpuUsPerCall: (user + system) / calls });
    });
  });
}
