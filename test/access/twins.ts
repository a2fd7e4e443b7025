// Two memories that differ in what a caller must not learn of. Whatever that caller asks, both answer the same.
import assert from 'node:assert/strict';
import type { HttpClient } from '../conformance/http-client.ts';

export interface Question {
  readonly name: string;
  readonly verb?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the memory's path. */
  readonly path: string;
  readonly json?: object;
  readonly body?: () => RequestInit['body'];
  /** Of the answer; 200 unless it is said. */
  readonly status?: number;
}

/** A question that is refused. */
export const refused = (question: Question, status = 404): Question => ({ ...question, status });

export const get = (path: string): Question => ({ name: `GET ${path}`, path });
export const post = (path: string, json: object): Question => ({
  name: `POST ${path} ${JSON.stringify(json).slice(0, 160)}`,
  verb: 'POST',
  path,
  json,
});
export const exec = (command: string, args: object): Question => post('/app/exec', { command, args });
export const cal = (query: string): Question => exec('cal', { query });

/** A memory as one caller sees it. */
export class Twin {
  readonly id: string;
  readonly #http: HttpClient;

  constructor(http: HttpClient, id: string) {
    this.#http = http;
    this.id = id;
  }

  as(key: string): Twin {
    return new Twin(this.#http.with(key), this.id);
  }

  get path(): string {
    return `/memories/${this.id}`;
  }

  /** The JSON of an answer that must be one. */
  post(path: string, json: object, headers: Readonly<Record<string, string>> = {}) {
    return this.#http.post(`${this.path}${path}`, json, { headers });
  }

  put(path: string, json: object) {
    return this.#http.call('PUT', `${this.path}${path}`, { json });
  }

  get(path: string) {
    return this.#http.get(`${this.path}${path}`);
  }

  /** Status and body of any answer, without what differs between any two requests. */
  async told({ verb = 'GET', path, json, body }: Question): Promise<string> {
    const asking = json === undefined ? (body === undefined ? {} : { body: body() }) : { json };
    // The id of a request is part of what an answer is made of.
    const headers = { 'x-request-id': 'req_twin' };
    const { status, json: value, bytes } = await this.#http.ask(verb, `${this.path}${path}`, { ...asking, headers });
    const shown = value === undefined ? Buffer.from(bytes).toString('hex') : JSON.stringify(plain(value), null, 1);
    // A memory has names of its own for people in its trail.
    return `${status} ${shown.replaceAll(this.id, 'TWIN').replace(/user:[0-9a-f]{32}/g, 'user:TOKEN')}`;
  }
}

/** Members that two equal requests answer differently. */
const VARYING: ReadonlySet<string> = new Set([
  ...[
    'recall_id',
    'nonce',
    'execution_time_ms',
    'duration_ms',
    'elapsed_ms',
    'audit_entry_hash',
    'prev_hash',
    ...['next_cursor', 'flushed', 'salt'],
  ],
]);
const NEAR_SECONDS = 3_600;

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'number') return isNow(value) ? 'now' : value;
  if (typeof value !== 'object' || value === null) return value;
  const isAuditEntry = 'event_type' in value;
  const varies = (name: string): boolean => VARYING.has(name) || (isAuditEntry && name === 'hash');
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, varies(name) ? shapeOf(member) : plain(member)]),
  );
}

/** Of a cursor that is sealed its length is to be the same too. */
function shapeOf(value: unknown): string {
  return typeof value === 'string' ? `${value.length} characters` : typeof value;
}

function isNow(value: number): boolean {
  const now = Date.now() / 1000;
  return Math.abs(value - now) < NEAR_SECONDS || Math.abs(value / 1000 - now) < NEAR_SECONDS;
}

/** Asks both, and fails for the first answers that differ. `never`: what no answer may hold. */
export async function askTwins(
  [one, other]: readonly [Twin, Twin],
  questions: readonly Question[],
  never: readonly string[] = [],
): Promise<void> {
  for (const question of questions) {
    const told = await one.told(question);
    assert.equal(await other.told(question), told, question.name);
    assert.equal(Number(told.slice(0, 3)), question.status ?? 200, `${question.name}: ${told}`);
    for (const word of never) assert.ok(!told.toLowerCase().includes(word), `${question.name} tells ${word}: ${told}`);
  }
}
