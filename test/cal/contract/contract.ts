// Runs rows of queries against a server and checks each answer against the contract.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { HttpClient } from '../../conformance/http-client.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Named, namedGrains } from './grains.ts';

/** An answer as parsed JSON. */
// biome-ignore lint/suspicious/noExplicitAny: rows look into it as callers do
export type ParsedJson = Record<string, any>;

/** A query and its expected result; members left out of a row are not checked. `@name@` is the hash of a grain. */
export interface Row {
  readonly q: string;
  /** Error code without `CAL-`; several where the contract allows a choice. */
  readonly code?: string;
  /** The part of the query that the error's position covers. */
  readonly at?: string;
  /** The session's namespace; default `home`, '' for none. */
  readonly ns?: string;
  /** The session's user. */
  readonly user?: string;
  readonly type?: string;
  /** `type` of the result. */
  readonly body?: string;
  /** Names of exactly these grains, ordered by hash. */
  readonly set?: string;
  /** Names of exactly these grains, in this order. */
  readonly list?: string;
  readonly total?: number;
  readonly count?: number;
  /** Codes of the warnings without `CAL-`; default none, any for `*`. */
  readonly warn?: string;
  /** The whole text of `content`. */
  readonly content?: string | ((now: number) => string);
  /** Members of the result. */
  readonly is?: ParsedJson;
  readonly check?: (result: ParsedJson, answer: ParsedJson) => void;
}

/** HTTP status of each code other than 400, by the gRPC status of section 1.2. */
const STATUSES: Readonly<Record<string, number>> = {
  E030: 429,
  E031: 504,
  E040: 409,
  E041: 409,
  E042: 409,
  E043: 429,
  E044: 403,
  E045: 403,
  E046: 404,
  E052: 429,
  E075: 504,
  E079: 501,
  E085: 404,
  E088: 409,
  E089: 429,
};

export class Contract {
  readonly client: HttpClient;
  readonly memory: string;
  readonly now: number;
  readonly #hashes = new Map<string, string>();
  readonly #names = new Map<string, string>();

  constructor(client: HttpClient, memory: string, now: number) {
    this.client = client;
    this.memory = memory;
    this.now = now;
  }

  static async load(client: HttpClient): Promise<Contract> {
    const memory = `contract-${process.pid}-${Date.now()}`;
    await client.post('/memories', { id: memory });
    const contract = new Contract(client, memory, Math.floor(Date.now() / 1000));
    const together: Named[] = [];
    for (const grain of namedGrains(contract.now)) {
      // A grain that refers to another one waits until that has a hash.
      if (grain.replaces !== undefined || JSON.stringify(grain.fields).includes('@')) {
        await contract.#add(together.splice(0));
        if (grain.replaces === undefined) await contract.#add([grain]);
        else await contract.#supersede(grain, grain.replaces);
      } else together.push(grain);
    }
    await contract.#add(together);
    return contract;
  }

  async #add(grains: readonly Named[]): Promise<void> {
    if (grains.length === 0) return;
    const items = grains.map((grain) => ({ grain_type: grain.type, fields: this.#fields(grain) }));
    const { added, errors } = await this.client.post(`/memories/${this.memory}/batch-add`, { grains: items });
    assert.deepEqual([added.length, errors], [grains.length, []]);
    for (const { index, blob_hash } of added) this.#called(grains[index]?.name, blob_hash);
  }

  async #supersede(grain: Named, old: string): Promise<void> {
    const json = { blob_hash: this.hash(old), grain_type: grain.type, fields: this.#fields(grain) };
    const { blob_hash } = await this.client.post(`/memories/${this.memory}/supersede`, json);
    this.#called(grain.name, blob_hash);
  }

  #fields({ fields, namespace }: Named): ParsedJson {
    return JSON.parse(this.#bare(JSON.stringify({ ...fields, namespace }))) as ParsedJson;
  }

  #called(name: string | undefined, hash: string): void {
    assert.ok(name !== undefined);
    assert.match(hash, /^[0-9a-f]{64}$/, name);
    this.#hashes.set(name, hash);
    this.#names.set(`sha256:${hash}`, name);
  }

  hash(name: string): string {
    const hash = this.#hashes.get(name);
    assert.ok(hash !== undefined, `no grain ${name}`);
    return hash;
  }

  #bare(text: string): string {
    return text.replace(/@(\w+)@/g, (_, name: string) => this.hash(name));
  }

  query(text: string): string {
    return text.replace(/@(\w+)@/g, (_, name: string) => `sha256:${this.hash(name)}`);
  }

  /** Names of an answer's grains, in its order. */
  names(grains: readonly { readonly hash: string }[]): string[] {
    return grains.map(({ hash }) => this.#names.get(hash) ?? hash);
  }

  /** HTTP status and body of a query. */
  async ask(
    query: string,
    { ns = 'home', user }: Pick<Row, 'ns' | 'user'> = {},
  ): Promise<{ status: number; json: ParsedJson }> {
    const headers = {
      ...(ns === '' ? {} : { 'x-namespace': ns }),
      ...(user === undefined ? {} : { 'x-user-id': user }),
    };
    const json = { command: 'cal', args: { query } };
    return await this.client.ask('POST', `/memories/${this.memory}/app/exec`, { json, headers });
  }

  async hold(row: Row): Promise<void> {
    const query = this.query(row.q);
    const { status, json } = await this.ask(query, row);
    if (row.code !== undefined) return this.#refused(row, query, status, json);
    assert.equal(status, 200, `answered ${JSON.stringify(json).slice(0, 600)}`);
    const answer = json['result'] as ParsedJson;
    this.#envelope(query, answer);
    const result = answer['result'] as ParsedJson;
    const codes = answer['warnings'].map((text: string) => /^CAL-(W\d{3}): ./.exec(text)?.[1] ?? text);
    if (row.warn !== '*') assert.deepEqual(codes, row.warn === undefined ? [] : row.warn.split(' '), 'warnings');
    if (row.type !== undefined) assert.equal(answer['statement_type'], row.type);
    if (row.body !== undefined) assert.equal(result['type'], row.body);
    if (row.set !== undefined) {
      assert.deepEqual(this.names(result['grains']).sort(), words(row.set).sort());
      const hashes = result['grains'].map(({ hash }: { hash: string }) => hash);
      assert.deepEqual(hashes, [...hashes].sort(), 'by hash ascending');
    }
    if (row.list !== undefined) assert.deepEqual(this.names(result['grains']), words(row.list));
    if (row.set !== undefined || row.list !== undefined) assert.equal(answer['result_count'], result['grains'].length);
    if (row.total !== undefined) assert.equal(result['total'], row.total, 'total');
    if (row.count !== undefined) assert.equal(answer['result_count'], row.count, 'result_count');
    if (row.content !== undefined)
      assert.equal(result['content'], typeof row.content === 'string' ? row.content : row.content(this.now));
    for (const [name, value] of Object.entries(row.is ?? {}))
      assert.deepEqual(result[name], this.#resolved(value), name);
    row.check?.(result, answer);
  }

  #resolved(value: unknown): unknown {
    return JSON.parse(this.query(JSON.stringify(value)));
  }

  #refused(row: Row, query: string, status: number, json: ParsedJson): void {
    const error = json['error'] as ParsedJson | undefined;
    assert.ok(error !== undefined, `answered ${JSON.stringify(json).slice(0, 600)}`);
    const code = String(error['code']).replace('CAL-', '');
    assert.ok(words(row.code ?? '').includes(code), `${error['message']} instead of ${row.code}`);
    assert.equal(status, STATUSES[code] ?? 400, `status of ${code}`);
    assert.ok(error['message'].startsWith(`CAL-${code}: `), error['message']);
    assert.ok(typeof error['suggestion'] === 'string' && error['suggestion'] !== '', 'a suggestion');
    const position = error['position'] as ParsedJson | undefined;
    if (position !== undefined) checkPosition(query, position);
    if (row.at !== undefined) {
      assert.ok(position !== undefined, 'a position');
      const bytes = Buffer.from(query);
      assert.equal(bytes.subarray(position['start'], position['end']).toString(), this.query(row.at), 'position');
    }
  }

  /** Sections 1.1 and 14: members common to all answers. */
  #envelope(query: string, answer: ParsedJson): void {
    const hash = createHash('sha256').update(query.trim()).digest('hex');
    assert.equal(answer['query'], query);
    assert.equal(answer['query_hash'], hash);
    assert.ok(Number.isInteger(answer['execution_time_ms']) && answer['execution_time_ms'] >= 0);
    const result = answer['result'] as ParsedJson;
    assert.equal(typeof result['type'], 'string');
    const cal = result['_cal'] as ParsedJson;
    assert.equal(cal['version'], '1.2');
    assert.equal(cal['statement_type'], answer['statement_type']);
    assert.equal(cal['tier'], 0);
    assert.equal(cal['query_hash'], `sha256:${hash}`);
    assert.equal(typeof cal['duration_ms'], 'number');
    for (const name of ['tokens_used', 'grains_returned', 'grains_scanned'])
      assert.equal(typeof cal['budget'][name], 'number', name);
    for (const [text] of JSON.stringify(result).matchAll(/"(?:hash|old_hash|new_hash|superseded_by)":"[^"]*"/g))
      assert.match(text, /:"sha256:[0-9a-f]{8,64}"$/);
    for (const grain of result['grains'] ?? [])
      assert.ok(
        ['hash', 'grain_type', 'score', 'text', 'fields'].every((member) => member in grain),
        JSON.stringify(grain),
      );
  }
}

/** Section 16.1: byte range, and line and column of its first byte. */
function checkPosition(query: string, { start, end, line, col }: ParsedJson): void {
  const bytes = Buffer.from(query);
  assert.ok(
    Number.isInteger(start) && Number.isInteger(end) && 0 <= start && start <= end && end <= bytes.length,
    'bytes',
  );
  const before = bytes.subarray(0, start).toString().split('\n');
  assert.deepEqual([line, col], [before.length, [...(before.at(-1) ?? '')].length + 1], 'line and column');
}

const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');

/** One test per row, against the server that the file's rows share unless another is given. */
export function contract(section: string, rows: readonly Row[]): void {
  const [url, key] = words(process.env['CAL_CONTRACT_SERVER'] ?? '');
  let server: TestServer | undefined;
  let loaded: Contract;
  before(async () => {
    if (url === undefined) server = await startTestServer({ calStrict: 'true' });
    loaded = await Contract.load(new HttpClient(url ?? server?.http ?? '', key ?? server?.key ?? ''));
  });
  after(async () => {
    await server?.close();
    assert.deepEqual(server?.errors ?? [], []);
  });
  for (const row of rows) {
    const name = row.q.length > 160 ? `${row.q.slice(0, 150)}… (${row.q.length})` : row.q;
    test(`${section}: ${name}${row.ns === undefined ? '' : ` in ${row.ns || 'no namespace'}`}`, () => loaded.hold(row));
  }
}
