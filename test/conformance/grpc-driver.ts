// The suite's calls over gRPC. HTTP is used where the contract has no rpc: creating memories and keys.
import assert from 'node:assert/strict';
import type { BatchAnswer, CalAnswer, Caller, Fields, Grain, Item, Memory, RecallAnswer, Target } from './driver.ts';
import { lacks } from './driver.ts';
import type { GrpcClient, Message } from './grpc-client.ts';
import type { HttpClient } from './http-client.ts';
import { boundKey, newMemory } from './http-driver.ts';

export function grpcTarget(name: string, client: GrpcClient, admin: HttpClient, partitions: number): Target {
  return {
    name,
    partitions,
    features: new Set(['server', 'repeat']),
    memory: async (options = {}) => {
      const id = await newMemory(admin, partitions, options);
      return new GrpcMemory(client.with({ 'x-memory-id': id }), admin, id);
    },
    close: async () => client.close(),
  };
}

class GrpcMemory implements Memory {
  readonly #client: GrpcClient;
  readonly #admin: HttpClient;
  readonly #id: string;

  constructor(client: GrpcClient, admin: HttpClient, id: string) {
    this.#client = client;
    this.#admin = admin;
    this.#id = id;
  }

  async as(caller: Caller): Promise<Memory> {
    const key = await boundKey(this.#admin, this.#id, caller);
    const client = this.#client.with({
      authorization: `Bearer ${key}`,
      ...(caller.idempotencyKey === undefined ? {} : { 'idempotency-key': caller.idempotencyKey }),
    });
    return new GrpcMemory(client, this.#admin, this.#id);
  }

  async add(grainType: string, fields: Fields, options?: Fields) {
    const { hash } = await this.#client.call('Add', {
      grain_type: grainType,
      fields_json: JSON.stringify(fields),
      ...(options === undefined ? {} : { options }),
    });
    return { hash };
  }

  async cal(query: string): Promise<CalAnswer> {
    const answer = await this.#client.call('CalQuery', { query });
    const result = JSON.parse(answer.result_json);
    assert.equal(answer.query, query);
    assert.equal(result._cal.query_hash, `sha256:${answer.query_hash}`);
    assert.ok(Number.isInteger(answer.execution_time_ms) && answer.execution_time_ms >= 0);
    return { result, warnings: answer.warnings, type: answer.statement_type, count: answer.result_count };
  }

  async batchAdd(items: readonly Item[]): Promise<BatchAnswer> {
    const answer = await this.#client.call('BatchAdd', {
      items: items.map(({ grain_type, fields }) => ({ grain_type, fields_json: JSON.stringify(fields) })),
    });
    assert.deepEqual(
      answer.results.map((one: Message) => one.index),
      items.map((_, at) => at),
    );
    const place = ({ index, hash }: Message) => ({ index, hash });
    const good = answer.results.filter((one: Message) => one.error_code === '');
    const bad = answer.results.filter((one: Message) => one.error_code !== '');
    for (const one of bad) {
      assert.ok(one.error_message.startsWith(`${one.error_code}: `), one.error_message);
      assert.deepEqual([one.hash, one.duplicate], ['', false]);
    }
    const found = {
      added: good.filter((one: Message) => !one.duplicate).map(place),
      duplicates: good.filter((one: Message) => one.duplicate).map(place),
      errors: bad.map(({ index, error_code: code }: Message) => ({ index, code })),
    };
    assert.deepEqual(
      [answer.total_added, answer.total_duplicates, answer.total_errors],
      [found.added.length, found.duplicates.length, found.errors.length],
    );
    return found;
  }

  async get(hash: string) {
    return grainOf(await this.#client.call('Get', { hash }));
  }

  async recall({ query_mode: mode, ...query }: Fields): Promise<RecallAnswer> {
    const answer = await this.#client.call('Recall', query, mode === undefined ? {} : { 'x-query-mode': String(mode) });
    assert.match(answer.recall_id, /^[0-9a-f]{64}$/);
    assert.equal(answer.count, answer.results.length);
    if (query['count_entities'] === true) assert.equal(answer.entity_count, answer.entities.length);
    return {
      hits: answer.results.map((hit: Message) => ({
        ...grainOf(hit),
        score: hit.score,
        superseded: hit.supersession_status === 'superseded',
      })),
      total: answer.total_candidates,
      coverage: answer.topic_coverage ?? null,
      warnings: answer.warnings,
      entities: answer.entities,
      raw: { ...answer, results: answer.results.map(withFields), sources: answer.sources.map(withFields) },
    };
  }

  async supersede(
    hash: string,
    fields: Fields,
    { grainType = '', reason }: { grainType?: string; reason?: string } = {},
  ) {
    const answer = await this.#client.call(
      'Supersede',
      { old_hash: hash, grain_type: grainType, fields_json: JSON.stringify(fields) },
      reason === undefined ? {} : { 'x-reason': reason },
    );
    return answer.new_hash;
  }

  async accumulate(target: Fields, deltas: Fields, set?: Fields) {
    const answer = await this.#client.call('Accumulate', {
      ...target,
      deltas_json: JSON.stringify(deltas),
      ...(set === undefined ? {} : { set_json: JSON.stringify(set) }),
    });
    const { old_hash, new_hash } = answer;
    return { old_hash, new_hash, applied: JSON.parse(answer.applied_json), fields: JSON.parse(answer.fields_json) };
  }

  async forget(hash: string): Promise<void> {
    assert.deepEqual(await this.#client.call('Forget', { hash }), {});
  }

  async flush() {
    return { pending: (await this.#client.call('Flush', {})).pending };
  }

  async statistics() {
    const answer = await this.#client.call('Stats', {});
    assert.deepEqual([answer.has_encryption, answer.has_policy], [true, false]);
    return {
      total_grains: answer.total_grains,
      superseded_grains: answer.superseded_grains,
      type_counts: JSON.parse(answer.type_counts_json),
      namespaces: answer.namespaces,
      users: answer.user_count,
      audit_entries: answer.audit_entries,
    };
  }

  async history(hash: string) {
    const { versions } = await this.#client.call('GetHistory', { hash });
    return versions.map((one: Message) => ({ ...grainOf(one), created_at: one.created_at, relation: one.relation }));
  }

  readonly raw = lacks;
  readonly list = lacks;
  readonly search = lacks;
  readonly forgetMany = lacks;
  readonly eraseUser = lacks;
  readonly verifyAudit = lacks;
}

function grainOf({ hash, grain_type, fields_json }: Message): Grain {
  return { hash, grain_type, fields: JSON.parse(fields_json) };
}

function withFields(hit: Message): Message {
  return { ...hit, fields: JSON.parse(hit.fields_json) };
}
