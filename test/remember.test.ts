// A text remembered twice is stored once, whatever the memory's deduplication rule; and messages are remembered as the
// events of a session, in order. On one partition and on two.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { shareServer } from './conformance/shared-server.ts';

const THEN = 1_700_000_000;
const TEXT = 'I live in Paris. I love green tea. I love rum.';

const { send } = shareServer();

let made = 0;
/** A new memory. */
async function memory(options: object = {}) {
  made += 1;
  const id = `remember${made}`;
  assert.equal((await send('POST', '/memories', { id, ...options })).status, 201);
  const at = (verb: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
    send(verb, `/memories/${id}${path}`, json, headers);
  const remember = async (body: object, headers: Record<string, string> = {}) => {
    const answer = await at('POST', '/remember', { extract_mode: 'sync', user_id: 'ada', ...body }, headers);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  const listed = async (type: string, more = '') =>
    (await at('GET', `/grains?limit=500&order=asc&grain_type=${type}${more}`)).body.grains;
  return { at, remember, listed };
}

for (const partitions of [1, 2])
  describe(`${partitions} partitions`, () => {
    for (const dedup of ['exact', 'upsert', 'fuzzy'])
      test(`the same text twice stores its facts once under ${dedup}`, async () => {
        const { remember, listed } = await memory({ partitions, dedup });
        const first = await remember({ text: TEXT, created_at: THEN });
        assert.ok(first.extracted_count >= 2, JSON.stringify(first));
        const before = await listed('belief', '&include_superseded=true');
        const second = await remember({ text: TEXT, created_at: THEN + 60, session_id: undefined });
        const hashes = (list: { hash: string }[]) => list.map(({ hash }) => hash).sort();
        assert.deepEqual(hashes(await listed('belief', '&include_superseded=true')), hashes(before));
        assert.deepEqual([...second.duplicates].sort(), [...first.extracted_hashes].sort());
        assert.deepEqual([...second.extracted_hashes].sort(), [...first.extracted_hashes].sort());
        assert.deepEqual(first.duplicates, []);
        // The text was sent twice: there are two events.
        assert.equal((await listed('event')).length, 2);
      });

    test('a fact of another person, in another namespace, or where nothing is a duplicate, is another fact', async () => {
      const { remember, listed } = await memory({ partitions });
      const { extracted_count: count } = await remember({ text: TEXT, created_at: THEN });
      const other = await remember({ text: TEXT, created_at: THEN, user_id: 'bob' });
      const place = await remember({ text: TEXT, created_at: THEN, namespace: 'diary' });
      assert.deepEqual([other.duplicates, place.duplicates], [[], []]);
      assert.equal((await listed('belief')).length, 3 * count);
      const every = await memory({ partitions, dedup: 'none' });
      await every.remember({ text: TEXT, created_at: THEN });
      const again = await every.remember({ text: TEXT, created_at: THEN + 1 });
      assert.deepEqual([again.duplicates, (await every.listed('belief')).length], [[], 2 * count]);
    });

    test('under upsert a new text replaces the facts of the older one', async () => {
      const { remember, listed } = await memory({ partitions, dedup: 'upsert' });
      await remember({ text: 'I live in Paris.', created_at: THEN });
      await remember({ text: 'I live in Rome.', created_at: THEN + 1 });
      const back = await remember({ text: 'These days I live in Paris again. I live in Paris.', created_at: THEN + 2 });
      const objects = (await listed('belief')).map((grain: { fields: { object: string } }) => grain.fields.object);
      assert.deepEqual([objects, back.duplicates], [['Paris'], []]);
    });

    test('messages are the events of a session, in order, and are extracted from', async () => {
      const { remember, listed } = await memory({ partitions });
      const messages = [
        { role: 'user', content: 'I live in Paris.', time: THEN },
        { role: 'assistant', content: 'Lovely. I live in the cloud.', time: THEN + 5 },
        { role: 'user', content: 'ok' },
        { role: 'user', content: 'ok' },
        { role: 'user', content: 'I love green tea.', time: THEN + 60 },
      ];
      const answer = await remember({ messages, session_id: 's1' });
      const events = await listed('event', '&session_id=s1');
      type Event = { hash: string; fields: Record<string, unknown> };
      assert.deepEqual(
        events.map(({ fields }: Event) => [fields['role'], fields['content'], fields['created_at'], fields['user_id']]),
        [
          ['user', 'I live in Paris.', THEN, 'ada'],
          ['assistant', 'Lovely. I live in the cloud.', THEN + 5, 'ada'],
          ['user', 'ok', THEN + 6, 'ada'],
          ['user', 'ok', THEN + 7, 'ada'],
          ['user', 'I love green tea.', THEN + 60, 'ada'],
        ],
      );
      assert.deepEqual(
        answer.source_hashes,
        events.map(({ hash }: Event) => hash),
      );
      assert.deepEqual([answer.source_hash, answer.session_id, answer.errors], [answer.source_hashes[0], 's1', []]);
      const facts = (await listed('belief')).map(({ fields }: Event) => [fields['subject'], fields['object']]);
      assert.ok(
        facts.some(([subject, object]: string[]) => subject === 'ada' && object === 'Paris'),
        JSON.stringify(facts),
      );
      const derived = (await listed('belief')).map(({ fields }: Event) => fields['derived_from']);
      assert.ok(derived.every((source: string) => answer.source_hashes.includes(source)));
    });

    test('an empty message is refused alone, unless all are', async () => {
      const { remember, listed, at } = await memory({ partitions });
      const messages = [
        { role: 'assistant', content: ' ', time: THEN },
        { role: 'user', content: 'I live in Paris.' },
        { role: 'assistant', content: '' },
        { role: 'user', content: 'ok' },
      ];
      const answer = await remember({ messages, session_id: 'gaps' });
      assert.deepEqual(
        answer.errors.map(({ index, code }: { index: number; code: string }) => [index, code]),
        [
          [0, 'VAL-E003'],
          [2, 'VAL-E003'],
        ],
      );
      const events = await listed('event', '&session_id=gaps');
      assert.deepEqual(
        events.map(({ fields }: { fields: Record<string, unknown> }) => [fields['content'], fields['created_at']]),
        [
          ['I live in Paris.', THEN + 1],
          ['ok', THEN + 3],
        ],
      );
      const empty = await at('POST', '/remember', { messages: [messages[0], messages[2]] });
      assert.deepEqual([empty.status, empty.body.error.code], [422, 'VAL-E003']);
    });

    test('messages without times keep their order, get a session, and are returned again under their key', async () => {
      const { remember, listed } = await memory({ partitions });
      const messages = Array.from({ length: 5 }, () => ({ role: 'user', content: 'yes' }));
      const key = { 'idempotency-key': 'm1' };
      const answer = await remember({ messages }, key);
      assert.match(answer.session_id, /^ses_/);
      assert.equal(new Set(answer.source_hashes).size, 5);
      const times = (await listed('event')).map((grain: { created_at: number }) => grain.created_at);
      assert.deepEqual(
        times,
        times.map((_: number, at: number) => times[0] + at),
      );
      const again = await remember({ messages }, key);
      assert.deepEqual([again.source_hashes, again.session_id], [answer.source_hashes, answer.session_id]);
      assert.equal((await listed('event')).length, 5);
    });

    test('messages are extracted from after the answer too, and again when more of them are sent', async () => {
      const { at, listed } = await memory({ partitions });
      const first = { role: 'user', content: 'I live in Paris.', time: THEN };
      const second = { role: 'user', content: 'I love green tea.', time: THEN + 1 };
      const soon = (messages: object[]) =>
        at('POST', '/remember', { messages, session_id: 's', user_id: 'ada' }).then(({ body }) => body);
      assert.equal((await soon([first])).mode, 'async');
      const more = await soon([first, second]);
      assert.equal(more.source_hashes.length, 2);
      // The same request reports the outcome once it is known.
      let answer = more;
      while (answer.marker_status === 'pending') answer = await soon([first, second]);
      assert.equal(answer.marker_status, 'done');
      assert.equal((await listed('event')).length, 2);
      assert.equal((await listed('belief')).length, 2);
    });

    test('a refused message does not affect the others; bad requests are refused whole', async () => {
      const { at, remember, listed } = await memory({ partitions });
      const answer = await remember({
        messages: [
          { role: 'user', content: 'fine', time: THEN },
          { role: 'user', content: 'from the future', time: 9_000_000_000 },
        ],
      });
      assert.deepEqual([answer.source_hashes.length, answer.errors.length, answer.errors[0].index], [1, 1, 1]);
      for (const [body, code] of [
        [{ text: 'x', messages: [{ role: 'user', content: 'x' }] }, 'VAL-E001'],
        [{ messages: [] }, 'VAL-E001'],
        [{ messages: [{ role: 'user' }] }, 'VAL-E003'],
        [{ messages: [{ role: 'user', content: ' ' }] }, 'VAL-E003'],
        [{ messages: [{ content: 'x' }] }, 'VAL-E003'],
        [{ messages: [{ role: 'user', content: 'x'.repeat(262_145) }] }, 'LIM-E003'],
        [{}, 'VAL-E003'],
      ] as const)
        assert.equal((await at('POST', '/remember', body)).code, code, JSON.stringify(body).slice(0, 80));
      const strange = await remember({ messages: [{ role: 'user', content: 'hm', tme: 5 }] });
      assert.match(strange.warnings.join(), /`messages\[0\].tme` was ignored: did you mean `time`/);
      assert.equal((await listed('event')).length, 2);
    });
  });
