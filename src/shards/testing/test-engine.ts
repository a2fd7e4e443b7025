// The real engine for tests of the layers above it. The log is on the heap. Key and segment files are in a temporary
// folder, on a RAM disk if the machine has one.
import { join } from 'node:path';
import { memoryFolder } from '../../../test/support/memory-files.ts';
import type { Clock } from '../../engine/base/clock.ts';
import type { Engine } from '../../engine/engine.ts';
import { MemoryLog, MemoryLogStore } from '../../engine/log/memory.ts';
import { openEngine } from '../../engine/open.ts';
import type { CallContext, Input, LongMethod, Output, ReadMethod, RecordMethod, WriteMethod } from '../protocol.ts';
import type { EngineDoor } from '../transport/engine-door.ts';

let root: string | undefined;
let opened = 0;

/** The path of a folder for an engine's files. The folder does not exist yet; it is deleted when the process ends. */
export function engineFolder(): string {
  root ??= memoryFolder();
  opened += 1;
  return join(root, String(opened));
}

export interface TestEngineOptions {
  readonly shards: number;
  readonly clock?: Clock | undefined;
}

/** A call that reached the engine. */
export interface ReceivedCall {
  readonly method: string;
  readonly context: CallContext;
  readonly input: unknown;
}

/** The engine of one shard. Records the calls it gets and fails where a test asks for it. */
export class TestEngine implements EngineDoor {
  readonly calls: ReceivedCall[] = [];
  /** The error for a call of this method: an EngineError simulates a shard that is down, any other error a bug. */
  failure: (method: string) => Error | undefined = () => undefined;
  readonly #engine: Engine;
  readonly #commits: () => number;

  private constructor(engine: Engine, commits: () => number) {
    this.#engine = engine;
    this.#commits = commits;
  }

  static async open(shard: number, { shards, clock }: TestEngineOptions): Promise<TestEngine> {
    const directory = engineFolder();
    let commits = 0;
    const log = new MemoryLog(new MemoryLogStore(), {
      commitDelay: async () => {
        commits += 1;
      },
    });
    const engine = await openEngine({
      directory,
      keysDirectory: join(directory, 'keys', `shard-${shard}`),
      shard,
      shards,
      masterKeys: [Buffer.alloc(32, 7)],
      indexHeapBytes: 16 << 20,
      log,
      clock,
    });
    return new TestEngine(engine, () => commits);
  }

  /** Number of log transactions so far. */
  get commits(): number {
    return this.#commits();
  }

  get pendingWrites(): number {
    return this.#engine.pendingWrites;
  }

  read<M extends ReadMethod>(method: M, context: CallContext, input: Input<M>): Output<M> {
    this.calls.push({ method, context, input });
    const failure = this.failure(method);
    if (failure !== undefined) throw failure;
    return this.#engine.read(method, context, input);
  }

  record<M extends RecordMethod>(method: M, context: CallContext, input: Input<M>): Output<M> {
    this.calls.push({ method, context, input });
    const failure = this.failure(method);
    if (failure !== undefined) throw failure;
    return this.#engine.record(method, context, input);
  }

  async write<M extends WriteMethod | LongMethod>(
    method: M,
    context: CallContext,
    input: Input<M>,
  ): Promise<Output<M>> {
    this.calls.push({ method, context, input });
    const failure = this.failure(method);
    if (failure !== undefined) throw failure;
    return this.#engine.write(method, context, input);
  }

  maintain(budgetMs: number): boolean {
    return this.#engine.maintain(budgetMs);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
