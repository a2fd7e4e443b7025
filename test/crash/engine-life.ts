// Engines in a child process, driven over IPC; memories of several partitions go through the server's router.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { EngineError, type ErrorCode } from '../../src/engine/base/errors.ts';
import type { RouterContext } from '../../src/shards/gather/fan.ts';
import type { CallContext, GrainFilter, Input, MemoryMethod, Method, Output } from '../../src/shards/protocol.ts';
import { Router } from '../../src/shards/router.ts';
import type { RawShardCaller } from '../../src/shards/transport/client.ts';
import { childFile } from '../support/program.ts';
import { type Answer, type Door, type Life, Lost, type Question, Refused } from './door.ts';
import type { ChildCall, ChildOptions, Order, Outcome, Report } from './engine-child.ts';
import { contextOf, settingsOf } from './knowledge.ts';

const CHILD = childFile(join(import.meta.dirname, 'engine-child.ts'));
const STDERR_MAX = 20_000;

const arms = new WeakMap<Life, () => void>();

/** Starts counting towards the child's cut. */
export function armLife(life: Life): void {
  arms.get(life)?.();
}

/** Starts the child; rejects with Lost when it ends before it is ready. */
export async function startEngines(options: ChildOptions, partitions = 1): Promise<Life> {
  const child = fork(CHILD, [JSON.stringify(options)], {
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  const calls = new Calls(child);
  await calls.ready;
  const life: Life = {
    door: engineDoor(calls, options.shards, partitions),
    ended: calls.ended,
    stderr: () => calls.stderr,
    kill: async () => {
      child.kill('SIGKILL');
      await calls.ended;
    },
    stop: async () => {
      calls.send({ kind: 'close' });
      await calls.ended;
      return child.exitCode;
    },
  };
  arms.set(life, () => calls.send({ kind: 'arm' }));
  return life;
}

/** Pending requests by id. */
class Calls {
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  stderr = '';
  readonly #child: ChildProcess;
  readonly #pending = new Map<
    number,
    { resolve: (outcomes: readonly Outcome[]) => void; reject: (e: Error) => void }
  >();
  #nextId = 1;
  #problem: string | undefined;
  #over = false;

  constructor(child: ChildProcess) {
    this.#child = child;
    const ready = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    this.ready = ready.promise;
    this.ended = ended.promise;
    // 'close' rather than 'exit': messages sent before the end may still be in the channel.
    child.once('close', () => {
      this.#end();
      ready.reject(this.reason());
      ended.resolve();
    });
    // Nothing awaits it when a running child ends.
    this.ready.catch(() => undefined);
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr = (this.stderr + text).slice(-STDERR_MAX);
    });
    child.on('error', () => undefined);
    child.on('message', (report: Report) => {
      if (report.kind === 'ready') ready.resolve();
      else if (report.kind === 'fatal') this.#problem = report.problem;
      else {
        this.#pending.get(report.id)?.resolve(report.outcomes);
        this.#pending.delete(report.id);
      }
    });
  }

  /** True once the child has ended. */
  get isOver(): boolean {
    return this.#over;
  }

  send(order: Order): void {
    if (!this.#over) this.#child.send(order, () => undefined);
  }

  run(calls: readonly ChildCall[]): Promise<readonly Outcome[]> {
    if (this.#over) return Promise.reject(this.reason());
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.send({ kind: 'calls', id, calls });
    });
  }

  /** An internal error of the child is not a planned crash: it is reported as itself. */
  reason(): Error {
    return this.#problem === undefined ? new Lost('the child ended') : new Error(`the engine failed: ${this.#problem}`);
  }

  #end(): void {
    this.#over = true;
    for (const { reject } of this.#pending.values()) reject(this.reason());
    this.#pending.clear();
  }
}

/** One shard as the router calls it. Errors are EngineErrors, as from a worker. */
function shardCaller(calls: Calls, shard: number): RawShardCaller {
  return {
    async call<M extends Method>(method: M, context: CallContext, input: Input<M>): Promise<Output<M>> {
      // The method and its input belong together; the union of calls does not see it.
      const made = { method, input } as ChildCall['call'];
      const [outcome] = await calls.run([{ shard, context, call: made }]);
      if (outcome !== undefined && 'output' in outcome) return outcome.output as Output<M>;
      throw new EngineError((outcome?.code ?? 'SYS-E001') as ErrorCode, outcome?.message ?? 'no outcome'); // an engine's code
    },
    callRaw: () => assert.fail('a campaign sends no wire bytes'),
  };
}

function engineDoor(calls: Calls, shards: number, partitions: number): Door {
  const router = new Router({
    shards: Array.from({ length: shards }, (_, shard) => shardCaller(calls, shard)),
    settingsOf: (number) => settingsOf(number, partitions),
    placementOf: () => assert.fail('a campaign imports no blobs'),
  });
  async function call<M extends MemoryMethod>(method: M, context: RouterContext, input: Input<M>): Promise<Output<M>> {
    try {
      return await router.call(method, context, input);
    } catch (error) {
      // Errors after partial execution read as begun (STO-E002); here they count as unanswered calls.
      if (calls.isOver && isBegun(error)) throw calls.reason();
      throw error instanceof EngineError ? new Refused(error.code, error.message) : error;
    }
  }
  return {
    createMemory: async (memory) => {
      await call('attachMemory', contextOf(memory), { settings: settingsOf(memory, partitions) });
    },
    dropMemory: async (memory) => {
      await call('dropMemory', contextOf(memory), {});
    },
    // The union ties the method to its input.
    send: ({ method, context, input }) => call(method, context, input as never),
    upkeep: async (memory, kind) => {
      const context = contextOf(memory);
      if (kind === 'flush') await call('flush', context, {});
      else if (kind === 'compact') await call('compact', context, {});
      else if (kind === 'rebuild') await call('rebuildIndexes', context, {});
      else await call('rotateKeys', context, { scope: 'memory' });
    },
    look: (memory, questions) =>
      Promise.all(
        questions.map(async (question): Promise<Answer> => {
          try {
            return await answerTo(question, (method, input) => call(method, contextOf(memory), input));
          } catch (error) {
            if (error instanceof Refused) return { code: error.code };
            throw error;
          }
        }),
      ),
    verify: async () => {
      const reports = await router.verify();
      return reports.flatMap(({ findings }) => findings.map((finding) => JSON.stringify(finding)));
    },
    audit: (memory) => call('verifyAudit', contextOf(memory), {}),
  };
}

function isBegun(error: unknown): error is EngineError {
  return error instanceof EngineError && error.code === 'STO-E002';
}

const EVERY: GrainFilter = { includeSuperseded: true };
const LIMITS = { limit: 500, candidateLimit: 2_500 };

async function answerTo(
  question: Question,
  call: <M extends MemoryMethod>(method: M, input: Input<M>) => Promise<Output<M>>,
): Promise<Answer> {
  const hashesOf = ({ hits }: Output<'recall'>): Answer => ({ hashes: hits.map((hit) => hit.grain.hash) });
  switch (question.ask) {
    case 'get':
      return { seen: await call('get', { hash: question.hash }) };
    case 'subject': {
      const filter = { ...EVERY, subject: question.subject };
      return hashesOf(await call('recall', { filter, structural: true, ...LIMITS }));
    }
    case 'word':
      return hashesOf(await call('recall', { query: question.word, filter: EVERY, structural: false, ...LIMITS }));
    case 'history': {
      const { versions } = await call('history', { hash: question.hash });
      return { hashes: versions.map((version) => version.hash) };
    }
    case 'total':
      return { total: (await call('statistics', {})).totalGrains };
  }
}
