// Two memories that differ only in data that a caller must not learn about: both must answer the caller alike.
import assert from 'node:assert/strict';
import type { HttpClient } from '../conformance/http-client.ts';

export interface Question {
  readonly name: string;
  readonly verb?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  /** Relative to the memory's path. */
  readonly path: string;
  readonly json?: object;
  readonly body?: () => RequestInit['body'];
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the answer; default 200. */
  readonly status?: number;
}

/** A question that must be rejected. */
export const refused = (question: Question, status = 404): Question => ({ ...question, status });

export const get = (path: string, headers: Question['headers'] & {} = {}): Question => ({
  name: `GET ${path}`,
  path,
  headers,
});
export const post = (path: string, json: object): Question => ({
  name: `POST ${path} ${JSON.stringify(json).slice(0, 160)}`,
  verb: 'POST',
  path,
  json,
});
export const put = (path: string, json: object): Question => ({
  ...post(path, json),
  name: `PUT ${path}`,
  verb: 'PUT',
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

  /** Status and body of any answer, without the parts that differ between equal requests. */
  async shownTo({ verb = 'GET', path, json, body, headers: more }: Question): Promise<string> {
    const asking = json === undefined ? (body === undefined ? {} : { body: body() }) : { json };
    // The request id is part of the answer.
    const headers = { 'x-request-id': 'req_twin', ...more };
    const { status, json: value, bytes } = await this.#http.ask(verb, `${this.path}${path}`, { ...asking, headers });
    const shown = value === undefined ? Buffer.from(bytes).toString('hex') : JSON.stringify(plain(value), null, 1);
    // Each memory has its own names for people in its trail.
    const named = shown.replaceAll(this.id, 'TWIN').replace(/user:[0-9a-f]{32}/g, 'user:TOKEN');
    return `${status} ${named.replace(/ses_[a-z2-7]{24}/g, 'ses_ID')}`;
  }
}

/** Members that differ between two equal requests. */
const VARYING: ReadonlySet<string> = new Set([
  ...[
    'recall_id',
    'thread_id',
    'nonce',
    'execution_time_ms',
    'duration_ms',
    'elapsed_ms',
    'audit_entry_hash',
    'prev_hash',
    ...['next_cursor', 'next', 'flushed', 'salt', 'user_event_hash', 'assistant_event_hash'],
  ],
]);
const NEAR_SECONDS = 3_600;

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return byPartition(value).map(plain);
  if (typeof value === 'number') return isNow(value) ? 'now' : value;
  if (typeof value !== 'object' || value === null) return value;
  const isAuditEntry = 'event_type' in value;
  // An event's id is made with a key of its memory. The grain of a document's chunk has the second of the import.
  const isImport = 'grains_created' in value;
  const varies = (name: string): boolean =>
    VARYING.has(name) || (isAuditEntry && (name === 'hash' || name === 'id')) || (isImport && name === 'hashes');
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, varies(name) ? shapeOf(member) : plain(member)]),
  );
}

/** Audit entries of several partitions are in the order of their seconds, so a second may end between two of them. */
function byPartition(values: readonly unknown[]): readonly unknown[] {
  const partitionOf = (value: unknown): number | undefined =>
    typeof value === 'object' && value !== null && 'event_type' in value && 'partition' in value
      ? Number(value.partition)
      : undefined;
  if (!values.every((value) => partitionOf(value) !== undefined)) return values;
  return values.toSorted((a, b) => partitionOf(a)! - partitionOf(b)!); // every one has a partition
}

/** Sealed cursors must at least have the same length. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  return typeof value === 'string' ? `${value.length} characters` : typeof value;
}

function isNow(value: number): boolean {
  const now = Date.now() / 1000;
  return Math.abs(value - now) < NEAR_SECONDS || Math.abs(value / 1000 - now) < NEAR_SECONDS;
}

/** Asks both memories and fails on the first difference. `never`: text that no answer may contain. */
export async function askTwins(
  [one, other]: readonly [Twin, Twin],
  questions: readonly Question[],
  never: readonly string[] = [],
): Promise<void> {
  for (const question of questions) {
    const answer = await one.shownTo(question);
    assert.equal(await other.shownTo(question), answer, question.name);
    assert.equal(Number(answer.slice(0, 3)), question.status ?? 200, `${question.name}: ${answer}`);
    for (const word of never)
      assert.ok(!answer.toLowerCase().includes(word), `${question.name} reveals ${word}: ${answer}`);
  }
}
