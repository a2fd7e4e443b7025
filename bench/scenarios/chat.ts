// Chat turns against a model in a process of its own: how long a token takes from the model to the client, alone and beside
// 200 streams, and what the server does before it asks the model. A token says when the model sent it.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { cpuTable } from '../lib/cpu-table.ts';
import { inFolder } from '../lib/folder.ts';
import { type Measured, type Options, type Scenario, serverSize, sized } from '../lib/scenario.ts';
import { askJson, createMemory, startServer, type Target } from '../lib/server.ts';
import { median, percentile, rounded } from '../lib/statistics.ts';
import { spentBetween, totalOf } from '../lib/thread-cpu.ts';

const MEMORY = 'talk';

export const scenario: Scenario = {
  name: 'chat',
  about: 'chat streams: time of a token from the model to the client, alone and with 200 streams at once',
  aims: [
    { metric: 'first_token_p50_ms', atMost: 10 },
    { metric: 'crowd_worst_token_ms', atMost: 100 },
  ],
  run,
};

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const turns = sized(size, { full: 200, quick: 50, smoke: 3 });
  const streams = sized(size, { full: 200, quick: 100, smoke: 5 });
  const tokens = sized(size, { full: 200, quick: 50, smoke: 5 });
  const gapMs = sized(size, { full: 25, quick: 25, smoke: 5 });
  const facts = sized(size, { full: 5_000, quick: 1_000, smoke: 20 });
  return inFolder(async (folder) => {
    const server = await start({ dataDirectory: join(folder, 'data'), ...serverSize(size), auth: 'api-key', profile });
    const models = [await startModel(1, 0), await startModel(tokens, gapMs)];
    try {
      for (const [at, { port }] of models.entries())
        await askJson(server, 'PUT', `/settings/providers/bench${at}`, {
          kind: 'openai_compatible',
          base_url: `http://127.0.0.1:${port}/v1`,
        });
      await createMemory(server, MEMORY);
      await addFacts(server, facts);
      const alone: Heard[] = [];
      for (let turn = 0; turn < turns; turn++) alone.push(await heardFrom(server, 'bench0'));
      const before = await server.cpu();
      const crowd = await Promise.all(Array.from({ length: streams }, () => heardFrom(server, 'bench1')));
      const after = await server.cpu();
      const spent = before && after && spentBetween(before, after);
      const delays = crowd.flatMap((heard) => heard.delaysMs);
      cpuTable.add('crowd_token', delays.length, spent);
      const first = alone.slice(Math.min(5, turns - 1));
      return {
        parameters: { turns, streams, tokens, gap_ms: gapMs, facts },
        metrics: rounded({
          first_token_p50_ms: median(first.map(({ delaysMs }) => delaysMs[0]!)),
          first_token_p99_ms: percentile(
            first.map(({ delaysMs }) => delaysMs[0]!),
            0.99,
          ),
          before_model_p50_ms: median(first.map(({ beforeMs }) => beforeMs)),
          crowd_token_p50_ms: median(delays),
          crowd_token_p99_ms: percentile(delays, 0.99),
          crowd_worst_token_ms: Math.max(...delays),
          crowd_server_cpu_us_per_token: spent === undefined ? Number.NaN : totalOf(spent) / delays.length,
        }),
      };
    } finally {
      for (const { child } of models) child.kill();
      await server.stop();
    }
  });
}

async function startModel(
  tokens: number,
  gapMs: number,
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = fork(new URL('../lib/model-process.ts', import.meta.url), [String(tokens), String(gapMs)]);
  const [port] = (await once(child, 'message')) as [number];
  return { child, port };
}

async function addFacts(server: Target, count: number): Promise<void> {
  for (let from = 0; from < count; from += 500)
    await askJson(server, 'POST', `/memories/${MEMORY}/batch-add`, {
      grains: Array.from({ length: Math.min(500, count - from) }, (_, i) => ({
        grain_type: 'belief',
        fields: { subject: `person ${from + i}`, relation: 'drinks', object: `tea number ${from + i}` },
      })),
    });
}

interface Heard {
  /** From the model's write to the client's read, for each token. */
  readonly delaysMs: number[];
  /** From the client's request until the model has it. */
  readonly beforeMs: number;
}

const TOKEN = /@([\d.]+)\/([\d.]+) /g;
const now = (): number => performance.timeOrigin + performance.now();

/** One turn over a socket of its own, in a thread of its own. */
async function heardFrom(server: Target, provider: string): Promise<Heard> {
  const { thread_id: thread } = await askJson(server, 'POST', `/memories/${MEMORY}/chat/threads`, {});
  const body = JSON.stringify({
    messages: [{ role: 'user', content: 'What does person 7 drink?' }],
    thread_id: thread,
    provider,
    model: 'paced',
    tools_enabled: false,
  });
  return await new Promise((resolve, reject) => {
    const delaysMs: number[] = [];
    let beforeMs = Number.NaN;
    let rest = '';
    let began = 0;
    const socket = connect({ port: server.http, host: '127.0.0.1' }, () => {
      began = now();
      socket.write(
        `POST /api/memories/${MEMORY}/chat/stream HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${server.key}\r\n` +
          `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error(`a stream ended early: ${rest.slice(-300)}`)));
    socket.on('data', (bytes: Buffer) => {
      const at = now();
      rest += bytes.toString('latin1');
      for (const [, sentAt, askedAt] of rest.matchAll(TOKEN)) {
        if (delaysMs.length === 0) beforeMs = Number(askedAt) - began;
        delaysMs.push(at - Number(sentAt));
      }
      const isDone = rest.includes('event: done');
      rest = rest.slice(rest.lastIndexOf('\n\n') + 1);
      if (!isDone) return;
      socket.removeAllListeners('close');
      socket.destroy();
      resolve({ delaysMs, beforeMs });
    });
  });
}
