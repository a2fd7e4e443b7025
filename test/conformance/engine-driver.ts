// The suite's calls on an engine: direct, and through shards in worker threads. Names and defaults, which the server normally
// handles, are reimplemented from the contract.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineError } from '../../src/engine/base/errors.ts';
import { PLAIN_SESSION } from '../../src/engine/cal/run/session.ts';
import { isRefused } from '../../src/engine/calls/cal.ts';
import type { MemoryCalls } from '../../src/engine/calls/calls.ts';
import type { CallContext } from '../../src/engine/calls/context.ts';
import type { AddItem, GrainFilter, GrainView } from '../../src/engine/calls/grain.ts';
import type { MemorySettings } from '../../src/engine/calls/memory.ts';
import type { RecallQuery } from '../../src/engine/calls/recall.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { JsonObject } from '../../src/engine/grain/api/json-value.ts';
import { openEngine } from '../../src/engine/open.ts';
import { recall } from '../../src/server/operations/recall/recall.ts';
import { placementOf } from '../../src/server/placement-of.ts';
import { CALL_ROWS, type Method } from '../../src/shards/protocol.ts';
import { Router } from '../../src/shards/router.ts';
import type { EngineOptions } from '../../src/shards/transport/engine-door.ts';
import { ShardPool } from '../../src/shards/transport/pool.ts';
import { migratedDatabase, ON_POSTGRES } from '../support/store.ts';
import { USED_THREADS } from '../support/used-threads.ts';
import { Refusal } from './contract.ts';
import type {
  Added,
  BatchAnswer,
  CalAnswer,
  Caller,
  Fields,
  Forgotten,
  Item,
  ListAnswer,
  Listed,
  Memory,
  RecallAnswer,
  Target,
} from './driver.ts';
import { hitsOf } from './http-driver.ts';

type In<M extends keyof MemoryCalls> = MemoryCalls[M]['input'];
type Out<M extends keyof MemoryCalls> = MemoryCalls[M]['output'];
type Call = <M extends keyof MemoryCalls>(method: M, context: CallContext, input: In<M>) => Promise<Out<M>>;

const MASTER = Buffer.alloc(32, 9);
/** Longer than a run. */
const LEASE_MS = 3_600_000;
const FEATURES = new Set(['many', 'repeat'] as const);

/** Options of a shard of a new store in `root`. In a run on PostgreSQL, the store has a database. */
async function optionsIn(root: string, shards: number): Promise<(shard: number) => EngineOptions> {
  const url = ON_POSTGRES ? (await migratedDatabase(shards)).url : undefined;
  const database = url === undefined ? undefined : { url, node: 'conformance', leaseMs: LEASE_MS };
  return (shard) => ({
    database,
    directory: join(root, `shard-${shard}`),
    keysDirectory: join(root, 'keys', `shard-${shard}`),
    shard,
    shards,
    masterKeys: [MASTER],
    indexHeapBytes: 64 << 20,
  });
}

function newRoot(): string {
  return mkdtempSync(join(tmpdir(), 'granary-conformance-'));
}

/** Opens an engine; an internal error ends the test process. */
function engineOf(options: EngineOptions): Promise<Engine> {
  const onFatal = (error: unknown): void => {
    queueMicrotask(() => {
      throw error;
    });
  };
  return openEngine({ ...options, onFatal });
}

/** One engine, called as its shard calls it. */
export async function engineTarget(): Promise<Target> {
  const root = newRoot();
  const engine = await engineOf((await optionsIn(root, 1))(0));
  const call: Call = async (method, context, input) => {
    // Both sides of the table go by the same method, which TypeScript does not follow through the two doors.
    if (CALL_ROWS[method as Method].kind === 'read')
      return engine.read(method as 'get', context, input as In<'get'>) as never;
    return engine.write(method as 'add', context, input as In<'add'>) as never;
  };
  return targetOf('engine', 1, call, async () => {
    await engine.close();
    rmSync(root, { recursive: true });
  });
}

/** Shards in worker threads. */
export async function threadsTarget({
  shards,
  workers,
  partitions,
}: {
  readonly shards: number;
  readonly workers: number;
  readonly partitions: number;
}): Promise<Target> {
  const root = newRoot();
  const pool = await ShardPool.start({
    shards,
    workers,
    entry: new URL('../../src/server/shard-worker.ts', import.meta.url),
    engineOptions: await optionsIn(root, shards),
    threads: USED_THREADS,
    log: { info: () => undefined, error: (fields, message) => console.error(message, fields) },
  });
  const callers = Array.from({ length: shards }, (_, shard) => pool.caller(shard));
  return routedTarget(`threads, ${partitions} of ${shards} shards`, partitions, callers, async () => {
    await pool.close();
    rmSync(root, { recursive: true });
  });
}

function routedTarget(
  name: string,
  partitions: number,
  shards: ConstructorParameters<typeof Router>[0]['shards'],
  close: () => Promise<void>,
): Target {
  const known = new Map<number, MemorySettings>();
  const router = new Router({ shards, settingsOf: (memory) => known.get(memory), placementOf });
  const call: Call = async (method, context, input) => {
    const answer = await router.call(method, context, input);
    // As with the server's control log, settings are known from then on.
    if (method === 'attachMemory') known.set(context.memory, (input as In<'attachMemory'>).settings);
    return answer;
  };
  return targetOf(name, partitions, call, close);
}

/** Numbers of memories, each used once: targets may share their shards. */
let memories = 0;

function targetOf(name: string, partitions: number, call: Call, close: () => Promise<void>): Target {
  return {
    name,
    partitions,
    features: FEATURES,
    memory: async (options = {}) => {
      memories += 1;
      const number = memories;
      const settings: MemorySettings = {
        number,
        id: `m${number}`,
        partitions,
        language: String(options['language'] ?? 'en'),
        dedup: (options['dedup'] ?? 'exact') as MemorySettings['dedup'], // the suite asks for none but these
        dedupThreshold: Number(options['dedup_threshold'] ?? 0.85),
        createdAtMs: Date.now(),
      };
      const context: CallContext = { memory: number, partition: 0, actor: 'key:suite', requestId: 'req_suite' };
      await call('attachMemory', context, { settings });
      return new EngineMemory(call, context);
    },
    close,
  };
}

class EngineMemory implements Memory {
  readonly #call: Call;
  readonly #context: CallContext;
  readonly #repeatKey: string | undefined;

  constructor(call: Call, context: CallContext, repeatKey?: string) {
    this.#call = call;
    this.#context = context;
    this.#repeatKey = repeatKey;
  }

  async as({ namespace, user_id: userId, idempotencyKey }: Caller): Promise<Memory> {
    const context = {
      ...this.#context,
      ...(namespace === undefined ? {} : { namespace }),
      ...(userId === undefined ? {} : { userId }),
    };
    return new EngineMemory(this.#call, context, idempotencyKey);
  }

  async #ask<M extends keyof MemoryCalls>(method: M, input: In<M>, reason?: string): Promise<Out<M>> {
    const key = this.#repeatKey;
    const bodyHash = createHash('sha256')
      .update(`${method}${JSON.stringify(input)}`)
      .digest('hex');
    const context = {
      ...this.#context,
      ...(reason === undefined ? {} : { reason }),
      ...(key === undefined ? {} : { idempotency: { key, bodyHash } }),
    };
    try {
      return await this.#call(method, context, input);
    } catch (error) {
      if (error instanceof EngineError) throw new Refusal(error.code, error.message, error.details);
      throw error;
    }
  }

  async add(grainType: string, fields: Fields, options: Fields = {}): Promise<Added> {
    const { hash, duplicate } = await this.#ask('add', {
      ...itemOf({ grain_type: grainType, fields }),
      sync: options['sync'] === true,
    });
    return { hash, duplicate };
  }

  async batchAdd(items: readonly Item[]): Promise<BatchAnswer> {
    const { outcomes } = await this.#ask('addBatch', { items: items.map(itemOf) });
    const answer = { added: [], duplicates: [], errors: [] } as {
      added: { index: number; hash: string }[];
      duplicates: { index: number; hash: string }[];
      errors: { index: number; code: string }[];
    };
    outcomes.forEach((outcome, index) => {
      if ('error' in outcome) answer.errors.push({ index, code: outcome.error.code });
      else (outcome.duplicate ? answer.duplicates : answer.added).push({ index, hash: outcome.hash });
    });
    return answer;
  }

  async get(hash: string) {
    return grainOf(await this.#ask('get', { hash }));
  }

  async raw(hash: string) {
    return (await this.#ask('getRaw', { hash })).blob;
  }

  async list(query: Fields): Promise<ListAnswer> {
    const { limit, cursor, offset, order, created_after: after, created_before: before, ...conditions } = query;
    const { grains, total, more, next } = await this.#ask('list', {
      filter: filterOf({ ...conditions, time_start: after, time_end: before } as Fields),
      limit: Number(limit ?? 50),
      order: order === 'asc' ? 'asc' : 'desc',
      ...(offset === undefined ? {} : { offset: Number(offset) }),
      ...(cursor === undefined ? {} : { after: JSON.parse(String(cursor)) }),
    });
    return { grains: grains.map(listedOf), total, next: more ? JSON.stringify(next) : null };
  }

  /** Uses the server's own operation, so that its request and answer mapping is not reimplemented. */
  async recall(query: Fields): Promise<RecallAnswer> {
    const planned = refusing(() => recall.plan!(recall.readArgs(query, [])));
    const output = await this.#ask('recall', planned.asked.input as In<'recall'>); // what this row asks with
    return hitsOf(recall.writeResult(planned.answer(output)));
  }

  search(query: string, options: Fields = {}): Promise<RecallAnswer> {
    return this.#recall({ query, ...options });
  }

  async #recall(fields: Fields): Promise<RecallAnswer> {
    const limit = Number(fields['limit'] ?? 20);
    const filter = filterOf(fields);
    const { subject, relation, object, entity } = filter;
    const query: RecallQuery = {
      ...(typeof fields['query'] === 'string' ? { query: fields['query'] } : {}),
      filter,
      limit,
      candidateLimit: Number(fields['candidate_limit'] ?? Math.max(100, 5 * limit)),
      structural: [subject, relation, object, entity].some((one) => one !== undefined),
      operators: true,
    };
    const { hits, total, coverage } = await this.#ask('recall', query);
    return {
      hits: hits.map(({ grain, score, superseded }) => ({ ...grainOf(grain), score, superseded })),
      total,
      coverage,
      warnings: [],
      entities: [],
      raw: {},
    };
  }

  async cal(query: string): Promise<CalAnswer> {
    const reply = await this.#ask('cal', { query, session: PLAIN_SESSION, vectors: [] });
    if ('tooLong' in reply) throw new Error(`the suite does not use this query: ${query}`);
    if (isRefused(reply)) throw new Refusal(reply.refused, `${reply.refused}: ${reply.message}`);
    const { resultJson, warnings, statementType: type, resultCount: count } = reply;
    return { result: JSON.parse(resultJson), warnings, type, count };
  }

  async supersede(hash: string, fields: Fields, { grainType, reason }: { grainType?: string; reason?: string } = {}) {
    const input = {
      oldHash: hash,
      fields: fields as JsonObject,
      ...(grainType === undefined ? {} : { grainType }),
    };
    return (await this.#ask('supersede', input, reason)).newHash;
  }

  async accumulate(target: Fields, deltas: Fields, set: Fields = {}) {
    const input = {
      target: target as In<'accumulate'>['target'],
      deltas: deltas as Record<string, number>, // the engine must reject a wrong one
      set: set as JsonObject,
    };
    const { oldHash, newHash, applied, fields } = await this.#ask('accumulate', input);
    return { old_hash: oldHash, new_hash: newHash, applied: applied as never, fields: fields as Fields };
  }

  async forget(hash: string): Promise<void> {
    const { hashes, notFound } = await this.#ask('forget', { hashes: [hash], check: false });
    // The server reports a single missing hash as an error; the shard call lists it.
    if (notFound.length > 0) throw new Refusal('MEM-E001', 'MEM-E001: grain not found');
    if (hashes.length !== 1) throw new Error(`forgot ${hashes.length} grains by one hash`);
  }

  async forgetMany(which: { hashes?: readonly string[]; subject?: string; user_id?: string }): Promise<Forgotten> {
    const { user_id: userId, ...rest } = which;
    const { hashes, notFound } = await this.#ask('forget', {
      ...rest,
      ...(userId === undefined ? {} : { userId }),
      check: false,
    });
    return { hashes, not_found: notFound };
  }

  async eraseUser(userId: string) {
    const {
      userId: user_id,
      count,
      keyFingerprint: key_fingerprint,
      timestamp,
    } = await this.#ask('eraseUser', { userId });
    return { user_id, count, key_fingerprint, timestamp };
  }

  async flush() {
    return { pending: (await this.#ask('flush', {})).pending };
  }

  async statistics() {
    const raw = await this.#ask('statistics', {});
    return {
      total_grains: raw.totalGrains,
      superseded_grains: raw.supersededGrains,
      type_counts: raw.typeCounts,
      namespaces: raw.namespaces,
      users: raw.userCount,
      audit_entries: raw.auditEntries!,
    };
  }

  async history(hash: string) {
    const { versions } = await this.#ask('history', { hash });
    return versions.map(({ hash, grainType, fields, createdAt, relation }) => ({
      hash,
      grain_type: grainType,
      fields: fields as Listed['fields'],
      created_at: createdAt,
      relation,
    }));
  }

  async verifyAudit() {
    const { valid, checked } = await this.#ask('verifyAudit', {});
    return { valid, checked };
  }
}

function refusing<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof EngineError) throw new Refusal(error.code, error.message, error.details);
    throw error;
  }
}

function itemOf({ grain_type: grainType, fields }: Item): AddItem {
  return { grainType, fields: fields as JsonObject };
}

/** `fields` of the suite have no integers past 2^53, so plain JSON is enough. */
function grainOf({ hash, grainType, fields }: GrainView) {
  return { hash, grain_type: grainType, fields: fields as Listed['fields'] };
}

function listedOf(view: GrainView): Listed {
  return {
    ...grainOf(view),
    version_status: view.supersededBy === undefined ? 'current' : 'superseded',
    ...(view.supersededBy === undefined ? {} : { superseded_by: view.supersededBy }),
  };
}

function filterOf(fields: Fields): GrainFilter {
  const seconds = (name: string) => (fields[name] === undefined ? undefined : Number(fields[name]));
  const [from, to] = [seconds('time_start'), seconds('time_end')];
  const list = (value: unknown) => (value === undefined ? undefined : Array.isArray(value) ? value : [value]);
  const filter = {
    grainTypes: list(fields['grain_type']),
    namespace: fields['namespace'],
    userId: fields['user_id'],
    sessionId: fields['session_id'],
    subject: fields['subject'],
    relation: fields['relation'],
    object: fields['object'],
    entity: fields['entity'],
    tags: list(fields['tags'] ?? fields['tag']),
    excludeTags: list(fields['exclude_tags']),
    createdFromMs: from === undefined ? undefined : from * 1000,
    createdToMs: to === undefined ? undefined : to * 1000 + 999,
    confidenceMin: fields['confidence_threshold'],
    importanceMin: fields['importance_threshold'],
    includeSuperseded:
      fields['exclude_superseded'] === false || fields['include_superseded'] === true ? true : undefined,
  };
  // Drops absent members; the rest have types that the suite writes.
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as GrainFilter;
}
