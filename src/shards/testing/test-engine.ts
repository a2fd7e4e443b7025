// The real engine for tests of what stands above it: its log in heap, its key and segment files in a folder that lies in
// memory where the machine has such a file system.
import { join } from 'node:path';
import { memoryFolder } from '../../../test/support/memory-files.ts';
import type { Clock } from '../../engine/base/clock.ts';
import { Engine } from '../../engine/engine.ts';
import { MemoryLog, MemoryLogStore } from '../../engine/log/memory.ts';
import type { CallContext, Input, LongMethod, Output, ReadMethod, RecordMethod, WriteMethod } from '../protocol.ts';
import type { EngineDoor } from '../transport/engine-door.ts';

let root: string | undefined;
let opened = 0;

/** A folder for an engine's files, which is not there yet; deleted when the process ends. */
export function engineFolder(): string {
  root ??= memoryFolder();
  opened += 1;
  return join(root, String(opened));
}

export interface TestEngineOptions {
  readonly shards: number;
  readonly clock?: Clock;
}

/** A call that reached the engine. */
export interface ReceivedCall {
  readonly method: string;
  readonly context: CallContext;
  readonly input: unknown;
}

/** The engine of one shard, which notes what it is asked and fails where a test wants it to. */
export class TestEngine implements EngineDoor {
  readonly calls: ReceivedCall[] = [];
  /** What a call of the method fails with: EngineError as by a shard that is down, anything else as by a bug. */
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
    const engine = await Engine.open({
      directory,
      keysDirectory: join(directory, 'keys', `shard-${shard}`),
      shard,
      shards,
      masterKeys: [Buffer.alloc(32, 7)],
      indexHeapBytes: 16 << 20,
      log,
      ...(clock === undefined ? {} : { clock }),
    });
    return new TestEngine(engine, () => commits);
  }

  /** Transactions of the log so far. */
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
