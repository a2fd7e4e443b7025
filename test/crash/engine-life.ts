// Engines in a child process, driven over IPC.
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { CallContext, GrainFilter, Input, Method, Output } from '../../src/shards/protocol.ts';
import { type Answer, type Door, type Item, type Life, Lost, type Question, Refused, type Seen } from './door.ts';
import type { ChildCall, ChildOptions, Order, Outcome, Report } from './engine-child.ts';

const CHILD = join(import.meta.dirname, 'engine-child.ts');
const STDERR_MAX = 20_000;

const arms = new WeakMap<Life, () => void>();

/** The cut that the child was started with counts from here. */
export function armLife(life: Life): void {
  arms.get(life)?.();
}

/** Starts the child; rejects with Lost when it ended before it was ready. */
export async function startEngines(options: ChildOptions): Promise<Life> {
  const child = fork(CHILD, [JSON.stringify(options)], { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
  const calls = new Calls(child);
  await calls.ready;
  const life: Life = {
    door: engineDoor(calls, options.shards),
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

/** Requests on their way, by id. */
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
    // 'close' and not 'exit': what the child said before it ended still lies in the channel.
    child.once('close', () => {
      this.#end();
      ready.reject(this.#reason());
      ended.resolve();
    });
    // Nobody waits for it any more when a child ends that serves.
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

  send(order: Order): void {
    if (!this.#over) this.#child.send(order, () => undefined);
  }

  run(calls: readonly ChildCall[]): Promise<readonly Outcome[]> {
    if (this.#over) return Promise.reject(this.#reason());
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.send({ kind: 'calls', id, calls });
    });
  }

  /** A child that met a bug is no crash that was asked for: it shows as an error of its own. */
  #reason(): Error {
    return this.#problem === undefined ? new Lost('the child ended') : new Error(`the engine failed: ${this.#problem}`);
  }

  #end(): void {
    this.#over = true;
    for (const { reject } of this.#pending.values()) reject(this.#reason());
    this.#pending.clear();
  }
}

function engineDoor(calls: Calls, shards: number): Door {
  const shardOf = (memory: number): number => memory % shards;
  const contextOf = (memory: number, key?: string, body?: unknown): CallContext => ({
    memory,
    partition: 0,
    actor: 'key:campaign',
    requestId: 'req_campaign',
    reason: 'campaign',
    ...(key === undefined ? {} : { idempotency: { key, bodyHash: JSON.stringify(body) } }),
  });
  async function call<M extends Method>(method: M, memory: number, input: Input<M>, key?: string): Promise<Output<M>> {
    // The method and its input belong together; the union of calls does not see it.
    const made = { method, input } as ChildCall['call'];
    const [outcome] = await calls.run([{ shard: shardOf(memory), context: contextOf(memory, key, input), call: made }]);
    if (outcome !== undefined && 'output' in outcome) return outcome.output as Output<M>;
    throw new Refused(outcome?.code ?? 'NONE', outcome?.message ?? 'no outcome');
  }
  return {
    tellsPredecessor: true,
    createMemory: async (memory) => {
      await call('attachMemory', memory, { settings: settingsOf(memory) });
    },
    dropMemory: async (memory) => {
      await call('dropMemory', memory, {});
    },
    add: async (memory, item, key) => (await call('add', memory, { ...grainOf(item), sync: false }, key)).hash,
    addBatch: async (memory, items) => {
      const { outcomes } = await call('addBatch', memory, { items: items.map(grainOf) });
      return outcomes.map((outcome) => ('error' in outcome ? { code: outcome.error.code } : { hash: outcome.hash }));
    },
    supersede: async (memory, oldHash, item, key) =>
      (await call('supersede', memory, { oldHash, fields: grainOf(item).fields }, key)).newHash,
    accumulate: async (memory, hash, { delta, word }, key) => {
      const input = { target: { hash }, deltas: { visits: delta }, set: { object: objectOf(word) } };
      const { oldHash, newHash } = await call('accumulate', memory, input, key);
      return { oldHash, newHash };
    },
    forget: async (memory, target) => {
      const input = 'hash' in target ? { hashes: [target.hash] } : target;
      return (await call('forget', memory, { ...input, check: false })).hashes;
    },
    eraseUser: async (memory, user) => {
      const { count, keyFingerprint } = await call('eraseUser', memory, { userId: user });
      return { count, fingerprint: keyFingerprint };
    },
    upkeep: async (memory, kind) => {
      if (kind === 'flush') await call('flush', memory, {});
      else if (kind === 'compact') await call('compact', memory, {});
      else if (kind === 'rebuild') await call('rebuildIndexes', memory, {});
      else await call('rotateKeys', memory, { scope: 'memory' });
    },
    look: async (memory, questions) => {
      const context = contextOf(memory);
      const shard = shardOf(memory);
      const outcomes = await calls.run(questions.map((question) => ({ shard, context, call: callOf(question) })));
      return outcomes.map((outcome, i) => answerOf(questions[i]!, outcome));
    },
    verify: async () => {
      const context = contextOf(0);
      const outcomes = await calls.run(
        Array.from({ length: shards }, (_, shard) => ({ shard, context, call: { method: 'verify', input: {} } })),
      );
      return outcomes.flatMap((outcome) =>
        'output' in outcome
          ? (outcome.output as Output<'verify'>).findings.map((finding) => JSON.stringify(finding))
          : [outcome.message],
      );
    },
    audit: async (memory) => call('verifyAudit', memory, {}),
  };
}

function settingsOf(memory: number): Input<'attachMemory'>['settings'] {
  return {
    number: memory,
    id: `m${memory}`,
    partitions: 1,
    language: 'en',
    dedup: 'exact',
    dedupThreshold: 0.85,
    createdAtMs: 1_700_000_000_000,
  };
}

/** The object of a belief whose own word is `word`. */
export function objectOf(word: string): string {
  return `${word} was seen at the harbour`;
}

export function grainOf(item: Item) {
  const { subject, word, visits, user } = item;
  const fields = { subject, relation: 'noted', object: objectOf(word), visits };
  return { grainType: 'belief', fields: user === undefined ? fields : { ...fields, user_id: user } };
}

const EVERY: GrainFilter = { includeSuperseded: true };

function callOf(question: Question): ChildCall['call'] {
  const limits = { limit: 500, candidateLimit: 2_500 };
  switch (question.ask) {
    case 'get':
      return { method: 'get', input: { hash: question.hash } };
    case 'subject':
      return {
        method: 'recall',
        input: { filter: { ...EVERY, subject: question.subject }, structural: true, ...limits },
      };
    case 'word':
      return { method: 'recall', input: { query: question.word, filter: EVERY, structural: false, ...limits } };
    case 'history':
      return { method: 'history', input: { hash: question.hash } };
    case 'total':
      return { method: 'statistics', input: {} };
  }
}

function answerOf(question: Question, outcome: Outcome): Answer {
  if (!('output' in outcome)) return { code: outcome.code };
  switch (question.ask) {
    case 'get':
      return { seen: seenOf(outcome.output as Output<'get'>) };
    case 'subject':
    case 'word':
      return { hashes: (outcome.output as Output<'recall'>).hits.map((hit) => hit.grain.hash) };
    case 'history':
      return { hashes: (outcome.output as Output<'history'>).versions.map((version) => version.hash) };
    case 'total':
      return { total: (outcome.output as Output<'statistics'>).totalGrains };
  }
}

function seenOf({ hash, fields, userId, supersededBy, supersedes }: Output<'get'>): Seen {
  return {
    hash,
    subject: String(fields['subject']),
    word: String(fields['object']).split(' ')[0]!,
    visits: Number(fields['visits']),
    user: userId,
    supersededBy,
    supersedes,
  };
}
