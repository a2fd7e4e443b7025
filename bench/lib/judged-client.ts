// Imports judged data into a server and asks its questions, with the public tools.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { defined } from '../../src/engine/base/defined.ts';
import { RecallRequest, RecallResponse } from '../../src/server/gen/memory/v1/memory.ts';
import { MAIN } from '../../test/support/program.ts';
import { callHead, framed, GrpcConnection } from './grpc-client.ts';
import { type Collection, DEPTH, type Question } from './judged.ts';
import type { Target } from './server.ts';

/** Runs `granary import`, as a user would. */
export async function importCorpus(server: Target, { corpus, memoryWords }: Collection): Promise<void> {
  const address = ['--url', `127.0.0.1:${server.grpc}`, '--http-url', `http://127.0.0.1:${server.http}`];
  const child = spawn(process.execPath, [MAIN, 'import', corpus, ...memoryWords, ...address, '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, GRANARY_API_KEY: server.key },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-10_000);
    });
  }
  const [code] = await once(child, 'close');
  // Documents without text are rejected one by one, which sets exit code 1.
  if (code !== 0 && !said.includes('"added":')) throw new Error(`the import ended with ${code}:\n${said}`);
}

export interface Answers {
  /** Ids by question, best first. */
  readonly ranked: readonly string[][];
  /** The hits' relevance, in the same order. */
  readonly relevances: readonly number[][];
  /** topic_coverage by question. */
  readonly coverages: readonly string[];
  readonly latenciesMs: readonly number[];
  /** Warnings of all answers. */
  readonly warnings: readonly string[];
}

export interface RecallOptions {
  /** 1 by default. */
  readonly tries?: number;
  /** Further metadata. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An embedder that did not answer in time may be at work still. */
const WARNED_PAUSE_MS = 250;

/** Recall over gRPC, one question after another. A question whose answer warns is asked up to `tries` times. */
export async function recallAll(
  server: Target,
  questions: readonly Question[],
  { tries = 1, headers = {} }: RecallOptions = {},
): Promise<Answers> {
  const connection = await GrpcConnection.open(server.grpc);
  const ranked: string[][] = [];
  const relevances: number[][] = [];
  const coverages: string[] = [];
  const latenciesMs: number[] = [];
  const warned: string[] = [];
  for (const { memory, text } of questions) {
    const head = callHead(
      '/memory.v1.MemoryService/Recall',
      defined({
        'x-memory-id': memory,
        ...headers,
        authorization: server.key === undefined ? undefined : `Bearer ${server.key}`,
      }),
    );
    const request = RecallRequest.encode(RecallRequest.fromPartial({ query: text, limit: DEPTH })).finish();
    for (let left = tries - 1; ; left--) {
      const start = performance.now();
      const reply = await new Promise<Buffer | undefined>((resolve) =>
        connection.call(head, framed(request), (message) => resolve(message)),
      );
      const latencyMs = performance.now() - start;
      if (reply === undefined) throw new Error(`recall failed for ${JSON.stringify(text)}`);
      const { results, warnings, topicCoverage } = RecallResponse.decode(reply);
      if (warnings.length > 0 && left > 0) {
        await new Promise((resolve) => setTimeout(resolve, WARNED_PAUSE_MS));
        continue;
      }
      latenciesMs.push(latencyMs);
      ranked.push(results.map((hit) => idOf(JSON.parse(hit.fieldsJson))));
      relevances.push(results.map(({ relevance = 0 }) => relevance));
      coverages.push(topicCoverage ?? '');
      warned.push(...warnings);
      break;
    }
  }
  connection.close();
  return { ranked, relevances, coverages, latenciesMs, warnings: warned };
}

/** The corpus's own id, stored by the import as an extra field. */
export function idOf(fields: unknown): string {
  return (fields as { readonly _id: string })._id; // every line of the data has one
}
