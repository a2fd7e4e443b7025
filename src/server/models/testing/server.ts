// A provider on loopback, for tests.

import { createSecretKey } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { StepClock } from '../../../../test/support/step-clock.ts';
import { MemoryLog, MemoryLogStore } from '../../../engine/log/memory.ts';
import { readConfig } from '../../config.ts';
import { ControlStore } from '../../control/store.ts';
import type { Resolve } from '../../outgoing/addresses.ts';
import type { HasGrants } from '../egress.ts';
import { LanguageModels } from '../language.ts';
import { LocalReranker } from '../local-reranker.ts';
import { Outgoing } from '../outgoing.ts';
import { privateHosts } from '../private-hosts.ts';
import { Providers } from '../providers.ts';
import { startModels } from '../start-models.ts';

export interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
  /** The body as it came. */
  readonly text: string;
}

/** `answer` gets each request with its number from 0. */
export async function providerServer(
  t: TestContext,
  answer: (response: ServerResponse, asked: Asked, number: number) => void,
): Promise<{ readonly url: string; readonly asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => {
      const one = {
        path: request.url ?? '',
        headers: request.headers,
        body: text === '' ? {} : JSON.parse(text),
        text,
      };
      asked.push(one);
      answer(response, one, asked.length - 1);
    });
  });
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }; // it listens on a port
}

/** Sends chunks as OpenAI's interface streams them. */
export function streamChunks(response: ServerResponse, chunks: readonly object[], end = true): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const chunk of chunks) response.write(`data: ${JSON.stringify({ id: 'x', ...chunk })}\n\n`);
  if (end) response.end('data: [DONE]\n\n');
}

/** Chunks of a text that ends well. */
export function textChunks(...deltas: readonly string[]): object[] {
  return [
    ...deltas.map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
    {
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
    },
  ];
}

export interface TestModels {
  readonly providers: Providers;
  readonly models: LanguageModels;
  readonly outgoing: Outgoing;
  readonly localReranker: LocalReranker;
  readonly hasGrants: HasGrants;
  readonly control: ControlStore;
  readonly clock: StepClock;
  /** The pauses between tries, which pass at once. */
  readonly waits: number[];
}

export function testModels(
  t: TestContext,
  {
    flags = {},
    resolve,
  }: { readonly flags?: Readonly<Record<string, string>>; readonly resolve?: Resolve | undefined } = {},
): TestModels {
  const clock = new StepClock();
  const control = ControlStore.open(new MemoryLog(new MemoryLogStore()), createSecretKey(Buffer.alloc(32, 7)), clock);
  const config = readConfig(flags, {});
  const nowMs = (): number => clock.nowMs();
  const waits: number[] = [];
  const wait = async (ms: number): Promise<void> => void waits.push(ms);
  const outgoing = new Outgoing({ hosts: privateHosts(config), nowMs, resolve, wait, random: () => 0.5 });
  const providers = new Providers({ control, start: startModels(config), nowMs });
  const hasGrants: HasGrants = () => Promise.resolve(false);
  const models = new LanguageModels({ providers, outgoing, hasGrants });
  const localReranker = new LocalReranker({
    localModels: { folderOf: () => undefined },
    assigned: () => providers.assignmentOf('rerank'),
    log: { warn: () => undefined },
  });
  t.after(async () => {
    models.close();
    await outgoing.close();
    await control.close();
  });
  return { providers, models, outgoing, hasGrants, localReranker, control, clock, waits };
}
