// Deliveries of webhooks: fifty hooks of one memory, to a receiver on the same machine, beside the same posts by the bare
// client. Each hook has one post under way, as its order demands.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Agent, request } from 'undici';
import { inFolder } from '../lib/folder.ts';
import { grainSource } from '../lib/grains.ts';
import { type Measured, type Options, type Scenario, serverSize, sized } from '../lib/scenario.ts';
import { startServer } from '../lib/server.ts';
import { inTurns, median, medianRatio, rounded } from '../lib/statistics.ts';
import type { Received } from '../lib/webhook-receiver.ts';

const HOOKS = 50;
/** About the size of an event's payload. */
const BODY = JSON.stringify({ sequence: 1, filler: 'x'.repeat(400) });

export const scenario: Scenario = {
  name: 'webhooks',
  about: 'deliveries a second over fifty webhooks, in order',
  aims: [{ metric: 'deliveries_per_s', atLeast: 1_000 }],
  run,
};

async function run({ size, start = startServer }: Options): Promise<Measured> {
  const grains = sized(size, { full: 400, quick: 100, smoke: 3 });
  const rounds = sized(size, { full: 5, quick: 3, smoke: 1 });
  return inFolder(async (folder) => {
    const receiver = new Worker(new URL('../lib/webhook-receiver.ts', import.meta.url));
    const [{ port }] = (await once(receiver, 'message')) as [{ readonly port: number }]; // its first message
    const url = `http://127.0.0.1:${port}/`;
    const target = await start({ dataDirectory: folder, auth: 'api-key', ...serverSize(size) });
    try {
      const ask = askOf(`http://127.0.0.1:${target.http}/api`, target.key ?? '');
      const { id } = await ask('POST', '/memories', { name: 'webhooks' });
      for (let i = 0; i < HOOKS; i++) await ask('POST', `/memories/${id}/hooks`, { url, generate_secret: true });
      const source = grainSource(11);
      let expected = 0;
      let cpuUs = 0;
      const deliveries = async (): Promise<number> => {
        expected += grains;
        const began = performance.now();
        const cpu = target.cpuUs() ?? 0;
        const items = source.take(grains).map(({ grainType, fields }) => ({ grain_type: grainType, fields }));
        await ask('POST', `/memories/${id}/batch-add`, { grains: items });
        for (let received = 0; received < HOOKS * expected; ) {
          await new Promise((resolve) => setTimeout(resolve, 5));
          received = total(await receivedBy(receiver));
        }
        cpuUs += (target.cpuUs() ?? 0) - cpu;
        return (HOOKS * grains * 1_000) / (performance.now() - began);
      };
      const rates = await inTurns(
        rounds,
        { deliveries, bare: () => bare(url, HOOKS * grains) },
        { deliveries: { operations: HOOKS * grains, server: target } },
      );
      const received = Object.entries(await receivedBy(receiver)).filter(([hook]) => hook !== 'bare');
      const disordered = received.filter(([, { inOrder, count }]) => !inOrder || count !== expected);
      if (received.length !== HOOKS || disordered.length > 0)
        throw new Error(`${disordered.length} of ${received.length} hooks got their events out of order or twice`);
      return {
        parameters: { hooks: HOOKS, grains, rounds },
        metrics: rounded({
          deliveries_per_s: median(rates.deliveries),
          bare_posts_per_s: median(rates.bare),
          deliveries_over_bare_ratio: medianRatio(rates.deliveries, rates.bare),
          server_cpu_us_per_delivery: cpuUs / (HOOKS * expected),
        }),
      };
    } finally {
      await target.stop();
      await receiver.terminate();
    }
  });
}

type Ask = (method: string, path: string, json: unknown) => Promise<{ readonly id: string }>;

function askOf(base: string, key: string): Ask {
  return async (method, path, json) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(`${base}${path}`, { method, headers, body: JSON.stringify(json) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return (await answer.json()) as { readonly id: string }; // where it is used
  };
}

async function receivedBy(receiver: Worker): Promise<Received> {
  receiver.postMessage('counts');
  const [{ received }] = (await once(receiver, 'message')) as [{ readonly received: Received }]; // the answer to it
  return received;
}

function total(received: Received): number {
  return Object.entries(received).reduce((sum, [hook, { count }]) => sum + (hook === 'bare' ? 0 : count), 0);
}

/** Posts a second of the bare client, as many under way as there are hooks. */
async function bare(url: string, posts: number): Promise<number> {
  const dispatcher = new Agent({ connections: HOOKS, pipelining: 1 });
  const headers = { 'content-type': 'application/json', 'x-memory-hook': 'bare' };
  let left = posts;
  const began = performance.now();
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { body } = await request(url, { dispatcher, method: 'POST', headers, body: BODY });
      await body.dump();
    }
  };
  await Promise.all(Array.from({ length: HOOKS }, lane));
  await dispatcher.destroy();
  return (posts * 1_000) / (performance.now() - began);
}
