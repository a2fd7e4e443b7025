// Clients of the stream of events: how long until all have an event, what each costs the server in memory, and what idle
// ones cost an add. The clients are sockets of this process, which reads and does not parse more than it must.
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { EVENT_STREAMS_CALLER_MAX } from '../../src/engine/base/limits.ts';
import { inFolder } from '../lib/folder.ts';
import { LoadClient } from '../lib/load.ts';
import { type Measured, type Options, type Scenario, serverSize, sized } from '../lib/scenario.ts';
import { askJson, createMemory, settled, startServer, type Target } from '../lib/server.ts';
import { median, percentile, rounded } from '../lib/statistics.ts';

const HEARD = 'heard';
const QUIET = 'quiet';

export const scenario: Scenario = {
  name: 'events',
  about: 'streams of events: time until all clients have one, memory a client, and adds beside idle clients',
  aims: [
    { metric: 'all_heard_p50_ms', atMost: 1_000 },
    { metric: 'client_kb', atMost: 20 },
    { metric: 'adds_beside_idle_ratio', atLeast: 0.9 },
  ],
  run,
};

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const clients = sized(size, { full: 5_000, quick: 1_000, smoke: 20 });
  const idle = sized(size, { full: 1_000, quick: 500, smoke: 10 });
  const rounds = sized(size, { full: 15, quick: 5, smoke: 1 });
  const adds = sized(size, { full: 20_000, quick: 5_000, smoke: 50 });
  return inFolder(async (folder) => {
    const server = await start({ dataDirectory: join(folder, 'data'), ...serverSize(size), auth: 'api-key', profile });
    const load = LoadClient.start();
    try {
      for (const id of [HEARD, QUIET]) await createMemory(server, id);
      const before = server.residentBytes() ?? Number.NaN;
      const crowd = await Crowd.open(server, HEARD, clients);
      const bytesEach = ((server.residentBytes() ?? Number.NaN) - before) / clients;
      const times: number[] = [];
      for (let round = 0; round <= rounds; round++) times.push(await crowd.timeOfOne(server, round));
      crowd.close();
      const rates = await addsBeside({ server, load, idle, adds, rounds });
      return {
        parameters: { clients, idle_clients: idle, rounds, adds },
        metrics: rounded({
          // The first round warms up.
          all_heard_p50_ms: median(times.slice(1)),
          all_heard_p99_ms: percentile(times.slice(1), 0.99),
          client_kb: bytesEach / 1_024,
          adds_per_s: median(rates.alone),
          adds_beside_idle_per_s: median(rates.beside),
          adds_beside_idle_ratio: median(rates.beside.map((rate, i) => rate / rates.alone[i]!)),
        }),
      };
    } finally {
      load.stop();
      await server.stop();
    }
  });
}

/** Adds to one memory without and with idle streams of another, in turns. */
async function addsBeside({
  server,
  load,
  idle,
  adds,
  rounds,
}: {
  readonly server: Target;
  readonly load: LoadClient;
  readonly idle: number;
  readonly adds: number;
  readonly rounds: number;
}): Promise<{ readonly alone: number[]; readonly beside: number[] }> {
  const alone: number[] = [];
  const beside: number[] = [];
  let seed = 1;
  const rate = async (): Promise<number> => {
    const job = { protocol: 'grpc', connections: 4, inFlight: 64, calls: adds, what: 'add' } as const;
    return (await load.run(server, { ...job, memories: [HEARD], seed: seed++ })).callsPerSecond;
  };
  await rate();
  for (let round = 0; round < Math.min(rounds, 5); round++) {
    alone.push(await rate());
    const crowd = await Crowd.open(server, QUIET, idle);
    // Streams that were just opened are not idle yet: the server still collects what their opening left.
    await settled(server);
    beside.push(await rate());
    crowd.close();
  }
  return { alone, beside };
}

/** Open streams. */
class Crowd {
  readonly #sockets: readonly Socket[];
  /** Streams that have the event that is waited for. */
  #heard = 0;
  #all: () => void = () => undefined;

  private constructor(sockets: readonly Socket[]) {
    this.#sockets = sockets;
    for (const socket of sockets)
      socket.on('data', (bytes: Buffer) => {
        // A keep-alive line begins with a colon, after the size of its chunk.
        if (!bytes.includes('event: grain_created')) return;
        this.#heard += 1;
        if (this.#heard === this.#sockets.length) this.#all();
      });
  }

  /** Resolves when all are ready. A key may have a bounded number of streams, so there are several keys. */
  static async open(server: Target, memory: string, count: number): Promise<Crowd> {
    const sockets: Socket[] = [];
    let key = '';
    for (let i = 0; i < count; i += 1) {
      if (i % EVENT_STREAMS_CALLER_MAX === 0) key = await newKey(server);
      sockets.push(await ready(server.http, `/api/memories/${memory}/events?timeout_s=3600`, key));
    }
    return new Crowd(sockets);
  }

  /** Milliseconds from the start of an add until the last stream has its event. */
  async timeOfOne(server: Target, number: number): Promise<number> {
    const all = new Promise<void>((resolve) => {
      this.#heard = 0;
      this.#all = resolve;
    });
    const began = performance.now();
    await askJson(server, 'POST', `/memories/${HEARD}/add`, {
      subject: 'bench',
      relation: 'made',
      object: `${number}`,
    });
    await all;
    return performance.now() - began;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

async function newKey(server: Target): Promise<string> {
  const { raw_key: key } = await askJson(server, 'POST', '/auth/keys', { scopes: ['read'] });
  return String(key);
}

/** A socket whose stream has said that it is ready. */
function ready(port: number, path: string, key: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\n\r\n`);
    });
    const failed = (): void => reject(new Error('a stream did not open'));
    socket.once('error', failed);
    socket.once('close', failed);
    const look = (bytes: Buffer): void => {
      if (!bytes.includes('event: ready')) return;
      socket.off('data', look).off('close', failed).off('error', failed);
      socket.on('error', () => undefined);
      resolve(socket);
    };
    socket.on('data', look);
  });
}
