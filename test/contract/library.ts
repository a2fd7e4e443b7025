// A memory with every type of grain and every recallable field, on a server: the tests here query it over HTTP and
// gRPC, and use the names below.
import assert from 'node:assert/strict';
import { Refusal } from '../conformance/contract.ts';
import { GrpcClient } from '../conformance/grpc-client.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

export const THEN = 1_700_000_000;
export const DAY = 86_400;

// biome-ignore lint/suspicious/noExplicitAny: members of answers are asserted one by one where they are used
export type ParsedJson = any;
export type Body = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, string>>;

const people = { namespace: 'people' };
const ada = { ...people, subject: 'Ada', user_id: 'ada' };
const bob = { ...people, subject: 'Bob', user_id: 'bob' };
const quota = { subject: 'quota', relation: 'max' };

/** By name; `day` counts from THEN, default 0. */
const GRAINS: Readonly<Record<string, readonly [type: string, fields: Body, day?: number]>> = {
  paris: [
    'belief',
    {
      ...ada,
      relation: 'lives in',
      object: 'Paris',
      confidence: 0.9,
      importance: 0.8,
      tags: ['home', 'city'],
      valid_from: THEN - 100 * DAY,
    },
  ],
  lyon: [
    'belief',
    { ...ada, relation: 'lives in', object: 'Lyon', confidence: 0.6, importance: 0.2, tags: ['home'] },
    10,
  ],
  acme: ['belief', { ...ada, relation: 'works at', object: 'Acme Corporation', confidence: 0.5 }, 2],
  acmes: ['belief', { ...ada, relation: 'works at', object: 'Acme Corporations', confidence: 0.9 }, 1],
  bobParis: ['belief', { ...bob, relation: 'lives in', object: 'Paris' }, 3],
  rome: ['belief', { ...bob, relation: 'hates', object: 'Rome', verification_status: 'retracted' }, 2],
  whistle: [
    'event',
    {
      content: 'The blue kettle whistled in the kitchen',
      session_id: 's1',
      role: 'user',
      speaker: 'Ada',
      namespace: 'chat',
    },
    4,
  ],
  nice: ['event', { content: 'Nice kettle!', session_id: 's1', role: 'assistant', namespace: 'chat' }, 4.5],
  state: ['state', { data: { city: 'Oslo', battery: 'low' } }, 5],
  workflow: [
    'workflow',
    { trigger: 'on kettle boil', nodes: ['pour', 'steep'], edges: [{ src: 'pour', dst: 'steep' }] },
    5,
  ],
  action: [
    'action',
    { tool_name: 'kettle_api', input: { on: true }, content: 'kettle switched on', subject: 'Kettle' },
    5,
  ],
  observation: [
    'observation',
    { content: 'kettle temperature 97', observer_id: 'sensor-7', subject: 'Kettle', object: 'hot' },
    6,
  ],
  goal: ['goal', { description: 'buy a new kettle', priority: 'HIGH', criteria: 'under 40 euros' }, 6],
  reasoning: ['reasoning', { premises: ['the kettle leaks'], conclusion: 'the kettle must go' }, 7],
  consensus: [
    'consensus',
    { agreed_content: 'kettles are useful', participating_observers: ['a', 'b'], threshold: 0.5 },
    7,
  ],
  consent: ['consent', { user_id: 'carl', grantee_did: 'did:x:y', scope: 'analytics' }, 7],
  tea: ['belief', { ...people, subject: 'Cara', relation: 'drinks', object: 'tea' }, 8],
  derived: ['belief', { subject: 'kettle', relation: 'color', object: 'blue' }, 9],
  ten: ['belief', { ...quota, object: 'ten', namespace: 'acme' }, 20],
  twenty: ['belief', { ...quota, object: 'twenty', namespace: 'acme/prod' }, 20],
  thirty: ['belief', { ...quota, object: 'thirty', namespace: 'acme/prod/bot1' }, 20],
  forty: ['belief', { ...quota, object: 'forty', namespace: 'acme/prod/bot2' }, 20],
  fifty: ['belief', { ...quota, object: 'fifty', namespace: 'acme/dev' }, 20],
  sixty: ['belief', { ...quota, object: 'sixty', namespace: 'acmeX' }, 20],
  deep: ['belief', { subject: 'deep', relation: 'only', object: 'bot', namespace: 'acme/prod/bot1/x' }, 21],
  milk: ['belief', { subject: 'Milk', relation: 'is', object: 'fresh', expires_at: THEN + 30 * DAY }],
  zeppelin: ['belief', { subject: 'Zed', relation: 'r', object: 'o', embedding_text: 'quixotic zeppelin' }],
  walrus0: ['event', { content: 'walrus report of the north', namespace: 'w0', session_id: 'w0' }, 40],
  walrus1: ['event', { content: 'walrus report of the south', namespace: 'w1', session_id: 'w1' }, 41],
  walrus2: ['event', { content: 'walrus report of the east', namespace: 'w0', session_id: 'w0' }, 42],
  walrus3: ['event', { content: 'walrus report of the west', namespace: 'w2', session_id: 'w2' }, 43],
  axolotlOld: ['event', { content: 'an axolotl of long ago' }, -300],
};

export interface Answer {
  readonly status: number;
  /** Of a refusal. */
  readonly code: string | undefined;
  readonly json: ParsedJson;
}

export class Library {
  readonly #server: TestServer;
  readonly #client: GrpcClient;
  readonly #names = new Map<string, string>();
  readonly #hashes = new Map<string, string>();
  readonly #memory = '/memories/default/';

  private constructor(server: TestServer) {
    this.#server = server;
    this.#client = GrpcClient.open(server.grpc, '');
  }

  static async open(): Promise<Library> {
    const library = new Library(await startTestServer({ auth: 'none', shards: '1' }));
    await library.#fill();
    return library;
  }

  async close(): Promise<void> {
    this.#client.close();
    await this.#server.close();
  }

  hashOf(name: string): string {
    return this.#hashes.get(name) ?? assert.fail(`no grain is called ${name}`);
  }

  /** The results, best first, by name; by hash if they have none. */
  namesIn(json: ParsedJson): string[] {
    return json.results.map(({ hash }: ParsedJson) => this.#names.get(hash) ?? hash);
  }

  async http(path: string, body: Body | string, headers: Headers = {}): Promise<Answer> {
    const answer = await fetch(`${this.#server.http}/api${this.#memory}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const json = (await answer.json()) as ParsedJson;
    return { status: answer.status, code: json.error?.code, json };
  }

  async grain(hash: string): Promise<ParsedJson> {
    const answer = await fetch(`${this.#server.http}/api${this.#memory}grains/${hash}`);
    return answer.json();
  }

  async rpc(name: string, body: Body, headers: Headers = {}): Promise<Answer> {
    try {
      return { status: 0, code: undefined, json: await this.#client.with(headers).call(name, body) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: 1, code: error.code, json: undefined };
    }
  }

  /** Recalls over both transports, which must return the same hits and scores, or the same error code. */
  async recall(body: Body, headers: Headers = {}): Promise<Answer> {
    const answer = await this.http('recall', body, headers);
    const { query_mode: mode, ...message } = body;
    const inMetadata = mode === undefined ? {} : { 'x-query-mode': String(mode) };
    const other = await this.rpc('Recall', message, { ...headers, ...inMetadata });
    assert.equal(other.code, answer.code, `gRPC ${other.code}, HTTP ${JSON.stringify(answer.json).slice(0, 300)}`);
    if (answer.code !== undefined) return answer;
    const shown = ({ results, count, total_candidates }: ParsedJson): unknown => [
      count,
      total_candidates,
      results.map(({ hash, score }: ParsedJson) => [hash, Number(score.toFixed(9))]),
    ];
    // Scores that depend on age change every second.
    if (body['recency_weight'] === undefined) assert.deepEqual(shown(other.json), shown(answer.json));
    return answer;
  }

  async #fill(): Promise<void> {
    for (const [name, [grain_type, fields, day = 0]] of Object.entries(GRAINS))
      await this.add(name, grain_type, {
        created_at: THEN + day * DAY,
        ...fields,
        ...(name === 'derived' ? { derived_from: this.hashOf('whistle') } : {}),
      });
    const { json } = await this.http('supersede', { blob_hash: this.hashOf('tea'), object: 'coffee' });
    this.#name('coffee', json.new_hash);
    await this.add('axolotl', 'event', { content: 'an axolotl today' });
  }

  async add(name: string, grain_type: string, fields: Body): Promise<void> {
    const { json } = await this.http('batch-add', { grains: [{ grain_type, fields }] });
    assert.equal(json.total_added, 1, JSON.stringify(json));
    this.#name(name, json.added[0].blob_hash);
  }

  #name(name: string, hash: string): void {
    this.#names.set(hash, name);
    this.#hashes.set(name, hash);
  }
}
