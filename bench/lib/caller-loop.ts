// Callers in this process who call a server over gRPC without a pause, each after its last answer, and note how long each
// call took.
import { AddRequest, RecallRequest } from '../../src/server/gen/memory/v1/memory.ts';
import { grainSource } from './grains.ts';
import { callHead, framed, GrpcConnection } from './grpc-client.ts';
import type { Target } from './server.ts';

export interface NotedCall {
  readonly startMs: number;
  readonly ms: number;
  readonly isAnswered: boolean;
}

export class CallerLoop {
  readonly calls: NotedCall[] = [];
  readonly #connection: GrpcConnection;
  readonly #callers: readonly Promise<void>[];
  #isOver = false;

  /** Half of the callers add, the others recall. */
  static async start(target: Target, memory: string, callers: number, seed: number): Promise<CallerLoop> {
    return new CallerLoop(await GrpcConnection.open(target.grpc), target, memory, callers, seed);
  }

  private constructor(connection: GrpcConnection, target: Target, memory: string, callers: number, seed: number) {
    this.#connection = connection;
    const source = grainSource(seed);
    const headOf = (rpc: string): Buffer => headFor(target, rpc, memory);
    const [addHead, recallHead] = [headOf('Add'), headOf('Recall')];
    const add = (): Promise<void> => {
      const [item] = source.take(1);
      const message = AddRequest.fromPartial({ grainType: 'belief', fieldsJson: JSON.stringify(item!.fields) });
      return this.#call(addHead, framed(AddRequest.encode(message).finish()));
    };
    const recall = (): Promise<void> => this.#call(recallHead, recallMessage(source.question()));
    this.#callers = Array.from({ length: callers }, (_, at) => this.#loop(at % 2 === 0 ? add : recall));
  }

  /** Of the calls that began since, the longest time in milliseconds. */
  longestSince(sinceMs: number): number {
    return this.calls.reduce((longest, { startMs, ms }) => (startMs >= sinceMs ? Math.max(longest, ms) : longest), 0);
  }

  get failed(): number {
    return this.calls.filter(({ isAnswered }) => !isAnswered).length;
  }

  /** Resolves when all calls are answered. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#callers);
    this.#connection.close();
  }

  async #loop(call: () => Promise<void>): Promise<void> {
    while (!this.#isOver) await call();
  }

  #call(head: Buffer, message: Buffer): Promise<void> {
    const startMs = performance.now();
    return new Promise((resolve) => {
      this.#connection.call(head, message, (reply) => {
        this.calls.push({ startMs, ms: performance.now() - startMs, isAnswered: reply !== undefined });
        resolve();
      });
    });
  }
}

/** True when the server answers a recall in the memory. */
export function isServed(connection: GrpcConnection, target: Target, memory: string): Promise<boolean> {
  return new Promise((resolve) => {
    connection.call(headFor(target, 'Recall', memory), recallMessage('anything'), (reply) =>
      resolve(reply !== undefined),
    );
  });
}

function headFor({ key }: Target, rpc: string, memory: string): Buffer {
  return callHead(`/memory.v1.MemoryService/${rpc}`, { 'x-memory-id': memory, authorization: `Bearer ${key}` });
}

function recallMessage(query: string): Buffer {
  return framed(RecallRequest.encode(RecallRequest.fromPartial({ query })).finish());
}
