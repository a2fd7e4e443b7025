// Remembering texts and extracting from added grains, on both transports, with one partition and with four.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { refused } from './contract.ts';
import type { Fields, Grain, Json, ParsedJson } from './driver.ts';
import type { GrpcClient } from './grpc-client.ts';
import { HttpClient } from './http-client.ts';
import { newMemory } from './http-driver.ts';
import { shareServer } from './shared-server.ts';

const THEN = 1_700_000_000;
const TEXT = 'My name is Ada Lovelace. I live in Paris and I work at Acme.';
const WORDS = { user_id: 'ada', namespace: 'diary', session_id: 's1', tags: ['chat'], created_at: THEN };

/** Members that both transports report; a missing one is filled in. */
interface Remembered {
  readonly source_hash: string;
  readonly mode: string;
  readonly extracted_hashes: readonly string[];
  readonly extracted_count: number;
  readonly warnings: readonly string[];
  readonly source_forgotten: boolean;
  readonly marker_status: string;
}

interface Face {
  remember(request: Fields, idempotencyKey?: string): Promise<Remembered>;
  /** One grain with options; its hash, and the warnings. */
  add(grainType: string, fields: Fields, options: Fields): Promise<{ hash: string; warnings: string }>;
  /** A batch that shares its options; hashes by place, '' for what failed. */
  batch(grains: readonly { grain_type: string; fields: Fields }[], options: Fields): Promise<readonly string[]>;
}

const keyed = (key: string | undefined) => (key === undefined ? {} : { 'idempotency-key': key });

function overHttp(http: HttpClient, M: string): Face {
  const post = (path: string, json: unknown, key?: string): Promise<ParsedJson> =>
    http.post(`${M}/${path}`, json, { headers: keyed(key) });
  return {
    remember: async (request, key) => {
      const { blob_hash: hash, status, ...answer } = await post('remember', request, key);
      assert.deepEqual([hash, status], [answer['source_hash'], 'remembered']);
      return answer as unknown as Remembered; // what the cases look at, member by member
    },
    add: async (grainType, fields, options) => {
      if (grainType === 'belief') {
        const answer = await post('add', { ...fields, options });
        assert.equal('extracted_count' in answer, options['extract_memories'] === true);
        return { hash: answer['blob_hash'], warnings: (answer['warnings'] ?? []).join() };
      }
      const answer = await post('batch-add', { grains: [{ grain_type: grainType, fields }], options });
      return {
        hash: [...answer['added'], ...answer['duplicates']][0].blob_hash,
        warnings: (answer['warnings'] ?? []).join(),
      };
    },
    batch: async (grains, options) => {
      const answer = await post('batch-add', { grains, options });
      const hashes = grains.map(() => '');
      for (const { index, blob_hash: hash } of [...answer['added'], ...answer['duplicates']]) hashes[index] = hash;
      return hashes;
    },
  };
}

function overGrpc(client: GrpcClient): Face {
  return {
    remember: (request, key) => client.call('Remember', request, keyed(key)),
    add: async (grain_type, fields, options) => {
      const { message, trailers } = await client.ask('Add', {
        grain_type,
        fields_json: JSON.stringify(fields),
        options,
      });
      return { hash: message.hash, warnings: trailers.get('x-warnings').join() };
    },
    batch: async (grains, options) => {
      const items = grains.map(({ grain_type, fields }) => ({
        grain_type,
        fields_json: JSON.stringify(fields),
        options,
      }));
      const { results } = await client.call('BatchAdd', { items });
      return results.map(({ hash }: { hash: string }) => hash);
    },
  };
}

const shared = shareServer({ shards: '4', workers: '1' });
const { http } = shared;

for (const transport of ['HTTP', 'gRPC'])
  for (const partitions of [1, 4])
    describe(`${transport}, ${partitions} partitions`, () => {
      /** A new memory with its transport and helpers. */
      async function place() {
        const id = await newMemory(http, partitions);
        const M = `/memories/${id}`;
        const face = transport === 'HTTP' ? overHttp(http, M) : overGrpc(shared.grpc.with({ 'x-memory-id': id }));
        const beliefs = async (): Promise<Grain[]> => (await http.get(`${M}/grains?grain_type=belief`)).grains;
        const get = (hash: string): Promise<Grain> => http.get(`${M}/grains/${hash}`);
        /** Polls until the extraction of that request has ended. */
        const ended = async (request: Fields): Promise<Remembered> => {
          let answer: Remembered | undefined;
          await eventually('the extraction ends', async () => {
            answer = await face.remember(request);
            return answer.marker_status !== 'pending';
          });
          return answer ?? assert.fail('it was asked');
        };
        return { id, M, face, beliefs, get, ended };
      }

      const triples = (grains: readonly Grain[]) =>
        grains.map(({ fields }) => [fields['subject'], fields['relation'], fields['object']].join(' ')).sort();

      test('sync returns the extracted beliefs, which inherit flags and validity of their source', async () => {
        const { M, face, beliefs, get } = await place();
        const answer = await face.remember({ ...WORDS, text: TEXT, extract_mode: 'sync', source_type: 'agent' });
        assert.equal(answer.mode, 'sync');
        assert.deepEqual([answer.source_forgotten, answer.marker_status, answer.warnings], [false, 'done', []]);
        const source = await get(answer.source_hash);
        assert.equal(source.grain_type, 'event');
        const { content, confidence, ...rest } = source.fields;
        assert.deepEqual([content, confidence], [TEXT, 1]);
        const stored = await beliefs();
        assert.deepEqual(stored.map(({ hash }) => hash).sort(), [...answer.extracted_hashes].sort());
        assert.equal(answer.extracted_count, answer.extracted_hashes.length);
        assert.deepEqual(triples(stored), ['ada lives_in Paris', 'ada name Ada Lovelace', 'ada works_at Acme']);
        for (const { fields } of stored) {
          assert.deepEqual([fields['derived_from'], fields['confidence']], [answer.source_hash, 0.9]);
          for (const name of ['user_id', 'namespace', 'session_id', 'tags', 'created_at', 'source_type'])
            assert.deepEqual(fields[name], rest[name] as Json, name);
        }
        const found = await http.post(`${M}/recall`, { query: 'Lovelace', grain_type: 'event' });
        assert.equal(found.results[0]?.hash, answer.source_hash);
      });

      test('async answers first, and reports the result on a repeated request', async () => {
        const { face, beliefs, get, ended } = await place();
        const request = { ...WORDS, text: TEXT };
        const answer = await face.remember(request);
        assert.deepEqual([answer.mode, answer.marker_status, answer.extracted_count], ['async', 'pending', 0]);
        assert.equal((await get(answer.source_hash)).fields['content'], TEXT);
        const after = await ended(request);
        assert.deepEqual([after.source_hash, after.marker_status], [answer.source_hash, 'done']);
        assert.deepEqual((await beliefs()).map(({ hash }) => hash).sort(), [...after.extracted_hashes].sort());
        assert.equal(after.extracted_count, 3);
      });

      test('a source that is not to be kept is removed after extraction, but only if it is new', async () => {
        const { M, face, beliefs, get } = await place();
        const request = { ...WORDS, text: TEXT, extract_mode: 'sync', keep_source: false };
        const answer = await face.remember(request);
        assert.equal(answer.source_forgotten, true);
        await refused(get(answer.source_hash), 'MEM-E001', 'MEM-E006');
        assert.equal((await beliefs()).length, 3);
        const other = { ...request, text: 'I like tea.' };
        const first = await face.remember({ ...other, keep_source: true });
        const second = await face.remember(other);
        assert.deepEqual([second.source_hash, second.source_forgotten], [first.source_hash, false]);
        assert.match(second.warnings.join(), /was stored before this request/);
        assert.equal(
          (await http.post(`${M}/app/exec`, { command: 'verify_audit_chain', args: {} })).result.valid,
          true,
        );
      });

      test('an idempotency key covers the source, its beliefs and its forgetting', async () => {
        const { M, face } = await place();
        const request = { text: TEXT, user_id: 'ada', extract_mode: 'sync', keep_source: false };
        const answer = await face.remember(request, 'once');
        const count = async () => (await http.get(`${M}/stats`)).total_grains;
        assert.equal(await count(), 3);
        assert.deepEqual(await face.remember(request, 'once'), answer);
        assert.equal(await count(), 3);
        await refused(face.remember({ ...request, text: 'I like tea.' }, 'once'), 'VAL-E005');
        await refused(face.remember({ text: ' ' }, 'twice'), 'VAL-E003');
        const later = await face.remember({ text: 'I like tea.' }, 'twice');
        assert.equal(later.marker_status, 'pending');
      });

      test('the first date of a text is its time, unless one is given', async () => {
        const { face, get } = await place();
        const text = 'We met on 14 May 2023 in Rome.';
        const day = Date.UTC(2023, 4, 14) / 1000;
        const dated = await face.remember({ text, created_at: THEN, extract_event_date: true, auto_relate: true });
        assert.equal((await get(dated.source_hash)).fields['valid_from'], day);
        assert.match(dated.warnings.join(), /auto_relate/);
        const relative = await face.remember({
          text: 'I moved yesterday.',
          created_at: THEN,
          extract_event_date: true,
        });
        assert.equal(
          (await get(relative.source_hash)).fields['valid_from'],
          Math.floor(THEN / 86_400) * 86_400 - 86_400,
        );
        const plain = await face.remember({ text: `${text} Or so.`, created_at: THEN });
        assert.equal((await get(plain.source_hash)).fields['valid_from'], undefined);
        const options = { extract_event_date: true };
        const event = await face.add('event', { content: text, created_at: THEN }, options);
        assert.equal((await get(event.hash)).fields['valid_from'], day);
        const said = await face.add('event', { content: text, created_at: THEN, valid_from: 5 }, options);
        assert.equal((await get(said.hash)).fields['valid_from'], 5);
        const triple = { subject: 'Ada', relation: 'met', object: 'Bob on 14 May 2023', valid_to: 5 };
        const closed = await face.add('belief', triple, options);
        assert.equal((await get(closed.hash)).fields['valid_from'], undefined);
        assert.deepEqual([event.warnings, closed.warnings], ['', '']);
      });

      test('extract_memories extracts beliefs from added grains, single or in a batch', async () => {
        const { face, beliefs } = await place();
        const options = { extract_memories: true };
        const one = await face.add('event', { ...WORDS, content: TEXT }, options);
        assert.equal(one.warnings, '');
        assert.deepEqual(triples(await beliefs()), [
          'ada lives_in Paris',
          'ada name Ada Lovelace',
          'ada works_at Acme',
        ]);
        const hashes = await face.batch(
          [
            { grain_type: 'event', fields: { content: 'I like tea.', speaker: 'Bob' } },
            { grain_type: 'event', fields: {} },
            { grain_type: 'observation', fields: { content: 'Carol lives in Oslo.' } },
            { grain_type: 'belief', fields: { subject: 'Dan', relation: 'lives_in', object: 'Bonn' } },
          ],
          options,
        );
        assert.equal(hashes[1], '');
        const found = (await beliefs()).filter(({ fields }) => fields['derived_from'] !== one.hash);
        assert.deepEqual(
          found.map(({ fields }) => [fields['subject'], fields['object'], fields['derived_from']].join(' ')).sort(),
          [`Bob tea ${hashes[0]}`, `Carol Oslo ${hashes[2]}`, 'Dan Bonn '],
        );
        const none = await face.add('belief', { subject: 'a', relation: 'b', object: 'c' }, options);
        assert.equal(none.warnings, '');
      });

      test('invalid, oversized or unknown input is rejected, and nothing is stored', async () => {
        const { M, face } = await place();
        for (const [request, ...codes] of [
          [{ text: '' }, 'VAL-E003'],
          [{}, 'VAL-E003'],
          [{ text: ' \n' }, 'VAL-E003'],
          [{ text: 'é'.repeat(131_073) }, 'LIM-E003'],
          [{ text: 'x', extract_mode: 'later' }, 'VAL-E001'],
          [{ text: 'x', confidence: 2 }, 'VAL-E001'],
          [{ text: 'x', created_at: 99_999_999_999 }, 'VAL-E001'],
          [{ text: 'x', tags: Array.from({ length: 65 }, (_, at) => `t${at}`) }, 'VAL-E001'],
          [{ text: 'a\0b' }, 'VAL-E001', 'VAL-E002', 'VAL-E003'],
        ] as const)
          await refused(face.remember(request), ...codes);
        assert.equal((await http.get(`${M}/stats`)).total_grains, 0);
        const long = await face.remember({ text: 'é'.repeat(131_072), extract_mode: 'sync' });
        assert.deepEqual([long.extracted_count, long.marker_status], [0, 'done']);
      });

      test('a bound caller remembers only as itself', async () => {
        const { id, get } = await place();
        const { raw_key: key } = await http.post('/auth/keys', {
          memory_id: id,
          user_id: 'ada',
          namespace: 'hers',
          scopes: ['read', 'write'],
        });
        const face =
          transport === 'HTTP'
            ? overHttp(http.with(key), `/memories/${id}`)
            : overGrpc(shared.grpc.with({ authorization: `Bearer ${key}`, 'x-memory-id': id }));
        const answer = await face.remember({ text: 'I live in Paris.', extract_mode: 'sync' });
        for (const hash of [answer.source_hash, ...answer.extracted_hashes]) {
          const { user_id: user, namespace } = (await get(hash)).fields;
          assert.deepEqual([user, namespace], ['ada', 'hers']);
        }
        const [extracted] = answer.extracted_hashes;
        assert.equal((await get(String(extracted))).fields['subject'], 'ada');
        await refused(face.remember({ text: 'I live in Paris.', user_id: 'bob' }), 'AUT-E001');
        await refused(face.remember({ text: 'I live in Paris.', namespace: 'bob' }), 'AUT-E001');
      });
    });

test('a server that shuts down finishes what it has answered for', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'granary-extraction-'));
  const started: TestServer[] = [];
  const start = async (): Promise<TestServer> => {
    const server = await startTestServer({ dataDir });
    started.push(server);
    return server;
  };
  try {
    const first = await start();
    const client = new HttpClient(first.http, first.key);
    // Shutdown waits only for a bounded time, so the reading thread must have started before.
    await client.post('/memories/default/remember', { text: 'Nothing is said here.', extract_mode: 'sync' });
    // Each states a different fact: a known fact would keep the source it was first read from.
    const texts = Array.from({ length: 30 }, (_, at) => `I love ${'abcdefghijklmnopqrstuvwxyzABCD'[at]}xy tea.`);
    const sources = await Promise.all(
      texts.map(async (text) => (await client.post('/memories/default/remember', { text })).source_hash),
    );
    await first.close();
    assert.deepEqual(first.errors, []);
    const second = await start();
    const { grains } = await new HttpClient(second.http, first.key).get(
      '/memories/default/grains?limit=500&grain_type=belief',
    );
    const derived = new Set(grains.map(({ fields }: Grain) => fields['derived_from']));
    assert.deepEqual([...derived].sort(), sources.sort());
  } finally {
    // Closing a closed server returns at once.
    for (const server of started) await server.close();
    rmSync(dataDir, { recursive: true });
  }
});
