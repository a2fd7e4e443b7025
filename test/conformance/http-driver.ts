// The suite's calls over HTTP.
import assert from 'node:assert/strict';
import { Refusal } from './contract.ts';
import type {
  Added,
  BatchAnswer,
  CalAnswer,
  Caller,
  Fields,
  Grain,
  Item,
  Json,
  Listed,
  Memory,
  RecallAnswer,
  Target,
} from './driver.ts';
import { accepted, type HttpClient } from './http-client.ts';

let memories = 0;

export function httpTarget(name: string, client: HttpClient, partitions: number): Target {
  return {
    name,
    partitions,
    features: new Set(['many', 'server', 'repeat']),
    memory: async (options = {}) => new HttpMemory(client, await newMemory(client, partitions, options)),
    close: async () => undefined,
  };
}

/** Id of a new memory. */
export async function newMemory(client: HttpClient, partitions: number, options: Fields = {}): Promise<string> {
  memories += 1;
  const id = `m${memories}-p${partitions}`;
  const made = await client.post('/memories', { id, partitions, ...options });
  assert.equal(made.id, id);
  return id;
}

/** A key bound like the caller, or the client's own key. */
export async function boundKey(client: HttpClient, memory: string, caller: Caller): Promise<string> {
  const { namespace, user_id } = caller;
  if (namespace === undefined && user_id === undefined) return client.key;
  const bound = { memory_id: memory, ...(namespace === undefined ? {} : { namespace }), ...(user_id && { user_id }) };
  return (await client.post('/auth/keys', { scopes: ['read', 'write'], ...bound })).raw_key;
}

/** Checks the outer members of a grain against the fields that they repeat (contract 4.1, read shape). */
function grainOf(view: Record<string, Json>): Listed {
  const fields = view['fields'] as Record<string, Json>; // the shape that the lines below assert
  const { hash, grain_type: grainType, version_status: versionStatus, superseded_by: supersededBy } = view;
  assert.ok(typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash));
  assert.equal(view['blob_hash'], hash);
  assert.ok(typeof grainType === 'string');
  for (const name of ['created_at', 'namespace', 'user_id']) assert.equal(view[name], fields[name], name);
  assert.ok(Number.isInteger(view['size_bytes']) && Number(view['size_bytes']) > 9, 'size_bytes');
  assert.equal(versionStatus, supersededBy === undefined ? 'current' : 'superseded');
  return {
    hash,
    grain_type: grainType,
    fields,
    version_status: String(versionStatus),
    ...(typeof supersededBy === 'string' ? { superseded_by: supersededBy } : {}),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a reply's members are asserted as they are read
type Answer = any;

export function hitsOf(answer: Answer): RecallAnswer {
  assert.equal(answer.count, answer.results.length);
  return {
    hits: answer.results.map((hit: Answer) => {
      assert.equal(hit.blob_hash, hit.hash);
      assert.equal(hit.type, hit.grain_type);
      assert.equal(hit.created_at, hit.fields.created_at);
      assert.equal(hit.namespace, hit.fields.namespace);
      const superseded = hit.supersession_status === 'superseded';
      return { hash: hit.hash, grain_type: hit.grain_type, fields: hit.fields, score: hit.score, superseded };
    }),
    total: answer.total_candidates,
    coverage: answer.topic_coverage ?? null,
    warnings: answer.warnings ?? [],
    entities: answer.entities ?? [],
    raw: answer,
  };
}

export class HttpMemory implements Memory {
  readonly client: HttpClient;
  readonly id: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(client: HttpClient, id: string, headers: Readonly<Record<string, string>> = {}) {
    this.client = client;
    this.id = id;
    this.#headers = headers;
  }

  async as(caller: Caller): Promise<HttpMemory> {
    const headers = caller.idempotencyKey === undefined ? {} : { 'idempotency-key': caller.idempotencyKey };
    return new HttpMemory(this.client.with(await boundKey(this.client, this.id, caller)), this.id, headers);
  }

  get path(): string {
    return `/memories/${this.id}`;
  }

  #post(path: string, json: unknown): Promise<Answer> {
    return this.client.post(`${this.path}/${path}`, json, { headers: this.#headers });
  }

  /** Beliefs by H1; other types by H2, whose item errors are thrown. */
  async add(grainType: string, fields: Fields, options?: Fields): Promise<Added> {
    const extra = options === undefined ? {} : { options };
    if (grainType === 'belief') {
      const answer = await this.#post('add', { grain_type: grainType, fields, ...extra });
      assert.equal(answer.status, 'added');
      return { hash: answer.blob_hash, duplicate: answer.duplicate === true };
    }
    const { added, duplicates, errors } = await this.#post('batch-add', {
      grains: [{ grain_type: grainType, fields }],
      ...extra,
    });
    const [failed] = errors;
    if (failed !== undefined) {
      assert.ok(failed.error.startsWith(`${failed.code}: `), failed.error);
      throw new Refusal(failed.code, failed.error);
    }
    return { hash: (added[0] ?? duplicates[0]).blob_hash, duplicate: duplicates.length > 0 };
  }

  async cal(query: string): Promise<CalAnswer> {
    const { result } = await this.#post('app/exec', { command: 'cal', args: { query } });
    assert.equal(result.query, query);
    assert.equal(result.result._cal.query_hash, `sha256:${result.query_hash}`);
    return {
      result: result.result,
      warnings: result.warnings,
      type: result.statement_type,
      count: result.result_count,
    };
  }

  async batchAdd(items: readonly Item[]): Promise<BatchAnswer> {
    const answer = await this.#post('batch-add', { grains: items });
    assert.equal(answer.total_added, answer.added.length);
    assert.equal(answer.total_errors, answer.errors.length);
    assert.equal(answer.total_duplicates, answer.duplicates.length);
    const place = ({ index, blob_hash: hash }: Answer) => ({ index, hash });
    for (const { index, grain_type: grainType } of [...answer.added, ...answer.errors])
      assert.equal(grainType, items[index]?.grain_type);
    return {
      added: answer.added.map(place),
      duplicates: answer.duplicates.map(place),
      errors: answer.errors.map(({ index, code }: Answer) => ({ index, code })),
    };
  }

  async get(hash: string): Promise<Grain> {
    const { hash: address, grain_type, fields } = grainOf(await this.client.get(`${this.path}/grains/${hash}`));
    return { hash: address, grain_type, fields };
  }

  async raw(hash: string): Promise<Uint8Array> {
    const path = `${this.path}/grains/${hash}/raw`;
    const reply = accepted(await this.client.ask('GET', path), path);
    assert.equal(reply.headers.get('content-type'), 'application/octet-stream');
    assert.equal(reply.headers.get('etag'), `"${hash}"`);
    return reply.bytes;
  }

  async recall(query: Fields): Promise<RecallAnswer> {
    const answer = await this.#post('recall', query);
    assert.match(answer.recall_id, /^[0-9a-f]{64}$/);
    if (query['count_entities'] === true) assert.equal(answer.entity_count, answer.entities.length);
    return hitsOf(answer);
  }

  async search(query: string, options: Fields = {}): Promise<RecallAnswer> {
    return hitsOf(await this.#post('search', { query, ...options }));
  }

  async list(query: Fields): Promise<Awaited<ReturnType<Memory['list']>>> {
    const parameters = Object.entries(query).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, String(one)]),
    );
    const answer = await this.client.get(`${this.path}/grains?${new URLSearchParams(parameters)}`);
    return { grains: answer.grains.map(grainOf), total: answer.total, next: answer.next_cursor };
  }

  async supersede(hash: string, fields: Fields, options: { grainType?: string; reason?: string } = {}) {
    const { grainType, reason } = options;
    const answer = await this.#post('supersede', {
      blob_hash: hash,
      fields,
      ...(grainType === undefined ? {} : { grain_type: grainType }),
      ...(reason === undefined ? {} : { reason }),
    });
    const expected = { blob_hash: answer.new_hash, new_hash: answer.new_hash, superseded: hash, status: 'superseded' };
    assert.deepEqual({ ...answer, warnings: undefined }, { ...expected, warnings: undefined });
    return String(answer.new_hash);
  }

  async accumulate(target: Fields, deltas: Fields, set?: Fields): Promise<Awaited<ReturnType<Memory['accumulate']>>> {
    const { hash, ...triple } = target;
    const answer = await this.#post('accumulate', {
      ...triple,
      ...(hash === undefined ? {} : { blob_hash: hash }),
      deltas,
      ...(set === undefined ? {} : { set }),
    });
    assert.equal(answer.blob_hash, answer.new_hash);
    assert.equal(answer.status, 'accumulated');
    const { old_hash, new_hash, applied, fields } = answer;
    return { old_hash, new_hash, applied, fields };
  }

  async forget(hash: string): Promise<void> {
    const answer = await this.#post('forget', { blob_hash: hash });
    assert.deepEqual(answer, { deleted: 1, hashes: [hash], not_found: [], status: 'forgotten' });
  }

  async forgetMany(which: { hashes?: readonly string[]; subject?: string; user_id?: string }) {
    const { deleted, hashes, not_found, status } = await this.#post('forget', which);
    assert.equal(status, 'forgotten');
    assert.equal(deleted, hashes.length);
    return { hashes, not_found };
  }

  async eraseUser(userId: string) {
    const { status, user_id, count, key_fingerprint, timestamp } = await this.#post('forget', { user_id: userId });
    assert.equal(status, 'erased');
    return { user_id, count, key_fingerprint, timestamp };
  }

  async flush() {
    const { status, pending, flushed } = await this.#post('flush', undefined);
    assert.equal(status, 'flushed');
    assert.ok(Number.isInteger(flushed));
    return { pending };
  }

  async statistics() {
    const answer = await this.client.get(`${this.path}/stats`);
    assert.ok(Number.isInteger(answer.disk_space_bytes));
    assert.equal(answer.has_encryption, true);
    assert.equal(answer.has_policy, false);
    const { total_grains, superseded_grains, type_counts, namespaces, users, audit_entries } = answer;
    return { total_grains, superseded_grains, type_counts, namespaces, users, audit_entries };
  }

  async history(hash: string) {
    const { versions } = await this.#exec('history', { hash });
    return versions;
  }

  async verifyAudit() {
    const { valid, checked } = await this.#exec('verify_audit_chain', {});
    return { valid, checked };
  }

  async #exec(command: string, args: Fields): Promise<Answer> {
    const answer = await this.#post('app/exec', { command, args });
    assert.equal(answer.command, command);
    assert.equal(answer.ok, true);
    assert.ok(Number.isInteger(answer.execution_time_ms));
    return answer.result;
  }
}
