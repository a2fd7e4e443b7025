// Every bound of a recall, a search, a list and a remember that an answer may meet: either it loses nothing, or the
// answer reports it in `warnings`. On one partition and on two, in the tail of the index and sealed.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { shareServer } from './conformance/shared-server.ts';
import { eventually } from './support/eventually.ts';

const THEN = 1_700_000_000;
/** More than a leg's maximum. */
const MANY = 2_600;

const { send } = shareServer({ embedder: 'ngram' });

for (const partitions of [1, 2])
  describe(`${partitions} partitions`, () => {
    const id = `bounds${partitions}`;
    const at = (verb: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
      send(verb, `/memories/${id}${path}`, json, headers);
    const recall = async (body: object) => (await at('POST', '/recall', body)).body;
    const objectsOf = (body: { results: { fields: { object: string } }[] }) =>
      body.results.map(({ fields }) => fields.object).sort();

    before(async () => {
      assert.equal((await send('POST', '/memories', { id, partitions, vector_backend: 'none' })).status, 201);
      // The oldest grains are searched for, so that the newest 2,500 do not contain them.
      const old = [
        { subject: 'Ada Lovelace', relation: 'wrote about', object: 'the Analytical Engine', tags: ['Early-Work'] },
        { subject: 'ADA', relation: 'drinks', object: 'green Tea', namespace: 'acme/prod' },
        { subject: 'Canada', relation: 'exports', object: 'maple', embedding_text: 'something else' },
      ];
      const others = Array.from({ length: MANY }, (_, i) => ({
        subject: `person ${i % 700}`,
        relation: 'likes',
        object: `thing ${i}`,
      }));
      const grains = [...old, ...others].map((fields, i) => ({
        grain_type: 'belief',
        fields: { ...fields, created_at: THEN + i },
      }));
      for (let from = 0; from < grains.length; from += 1_000) {
        const { body } = await at('POST', '/batch-add', { grains: grains.slice(from, from + 1_000) });
        assert.equal(body.total_errors, 0);
      }
    });

    for (const place of ['in the tail', 'sealed'])
      describe(place, () => {
        if (place === 'sealed')
          before(async () => {
            assert.equal((await at('POST', '/flush')).status, 200);
          });

        test('subject_contains and object_contains find matches beyond 2,500 candidates', async () => {
          const subject = await recall({ subject_contains: 'ada' });
          assert.deepEqual(objectsOf(subject), ['green Tea', 'maple', 'the Analytical Engine']);
          assert.deepEqual([subject.total_candidates, subject.warnings], [3, []]);
          assert.deepEqual(objectsOf(await recall({ object_contains: 'ANALYTICAL eng' })), ['the Analytical Engine']);
          assert.deepEqual(objectsOf(await recall({ subject_contains: 'ada', object_contains: 'tea' })), ['green Tea']);
          assert.deepEqual(objectsOf(await recall({ query: 'engine', subject_contains: 'love' })), [
            'the Analytical Engine',
          ]);
          assert.equal((await recall({ subject_contains: 'nobody at all' })).count, 0);
        });

        test('field:term compares words of the field, whatever their case', async () => {
          const found = async (query: string) => objectsOf(await recall({ query }));
          assert.deepEqual(await found('subject:ada'), ['green Tea', 'the Analytical Engine']);
          assert.deepEqual(await found('subject:"ada lovelace"'), ['the Analytical Engine']);
          assert.deepEqual(await found('subject:"lovelace ada"'), []);
          assert.deepEqual(await found('object:engines'), ['the Analytical Engine']);
          assert.deepEqual(await found('relation:drink'), ['green Tea']);
          assert.deepEqual(await found('tag:work'), ['the Analytical Engine']);
          assert.deepEqual(await found('namespace:acme'), ['green Tea']);
          assert.deepEqual(await found('subject:ada -object:tea'), ['the Analytical Engine']);
          assert.deepEqual(await found('subject:canada'), ['maple']);
        });

        test('exclusions by conditions on names are reported by reason', async () => {
          const { excluded } = await recall({ query: 'green tea', subject_contains: 'lovelace', explanation: true });
          assert.equal(excluded.subject_mismatch, 1);
        });
      });

    test('total_candidates says when it is a lower bound', async () => {
      const found = await recall({ query: 'thing' });
      assert.deepEqual(found.warnings, ['total_candidates is a lower bound: a leg ended at candidate_limit 100']);
      const structure = await recall({ relation: 'likes', candidate_limit: 50 });
      assert.deepEqual(structure.warnings, ['total_candidates is a lower bound: a leg ended at candidate_limit 50']);
      assert.deepEqual((await recall({ query: 'maple exports' })).warnings, []);
    });

    test('count_entities reports that it counts the answer', async () => {
      const { entity_count, warnings } = await recall({ relation: 'likes', limit: 5, count_entities: true });
      assert.equal(entity_count, 5);
      assert.match(warnings[1], /^count_entities counts the subjects of the 5 hits of this answer, of 100 candidates$/);
      const whole = await recall({ subject_contains: 'ada', count_entities: true });
      assert.deepEqual([whole.entity_count, whole.warnings], [3, []]);
    });

    test('a limit and a candidate_limit that are lowered are reported', async () => {
      const { warnings } = await recall({ subject_contains: 'ada', limit: 501, candidate_limit: 2_501 });
      assert.deepEqual(warnings, ['limit 501 is treated as 500', 'candidate_limit 2501 is treated as 2500']);
      const list = await at('GET', '/grains?limit=501');
      assert.deepEqual([list.body.grains.length, list.body.warnings], [500, ['limit 501 is treated as 500']]);
    });

    test('more than 256 words, 16,384 characters or 64 operators are reported, in a search and a chain too', async () => {
      const words = Array.from({ length: 300 }, (_, i) => `word${i}`).join(' ');
      const operators = Array.from({ length: 65 }, (_, i) => `-word${i}`).join(' ');
      const long = 'tea '.repeat(4_100);
      for (const query of [words, operators, long]) {
        const { warnings } = await recall({ query: `maple ${query}` });
        assert.match(warnings.join(), /the query is longer than 16384 characters, 256 words or 64 operators/);
      }
      const search = await at('POST', '/search', { query: words });
      assert.match(search.body.warnings[0], /256 words/);
      const chain = await at('POST', '/recall-chain', { question: words });
      assert.match(chain.body.warnings.join(), /256 words/);
      assert.deepEqual((await recall({ query: 'maple exports' })).warnings, []);
    });

    test('a chain reports the parts that it did not ask', async () => {
      const question = 'What is tea? What is rum? What is milk? What is maple?';
      const chain = await at('POST', '/recall-chain', { question, max_sub_queries: 2, params: { limit: 501 } });
      assert.deepEqual(chain.body.sub_queries.length, 2);
      assert.match(chain.body.warnings.join('\n'), /limit 501 is treated as 500/);
      assert.match(chain.body.warnings.join('\n'), /2 more parts of the question were not asked: max_sub_queries is 2/);
      const long = await at('POST', '/recall-chain', { question: `${'tea '.repeat(600)}?` });
      assert.match(long.body.warnings.join(), /longer than 2048 characters/);
    });

    test('record_provenance false reports when the policy keeps a record nevertheless', async () => {
      const kept = await recall({ subject_contains: 'ada', record_provenance: false });
      assert.ok(kept.recall_id !== undefined);
      assert.deepEqual(kept.warnings, [
        'record_provenance false was overridden: the policy of this memory keeps a record of every recall',
      ]);
      assert.deepEqual((await recall({ subject_contains: 'ada', record_provenance: true })).warnings, []);
    });

    test('a cursor that is used with another order is reported', async () => {
      for (const path of ['/grains', '/audit', '/provenance']) {
        const first = await at('GET', `${path}?limit=2`);
        const { next_cursor: cursor } = first.body;
        assert.ok(typeof cursor === 'string', path);
        const same = await at('GET', `${path}?limit=2&cursor=${cursor}`);
        assert.deepEqual([same.status, same.body.warnings], [200, undefined], path);
        const other = await at('GET', `${path}?limit=2&order=asc&cursor=${cursor}`);
        assert.match(other.body.warnings[0], /the cursor was made for order desc/, path);
      }
    });

    test('a remember reports facts, sentences and names beyond its bounds', async () => {
      const remember = async (text: string) => (await at('POST', '/remember', { text, extract_mode: 'sync' })).body;
      // Two letters per place: all names of places and things differ.
      const word = (i: number) =>
        `${String.fromCharCode(97 + (i % 26))}${String.fromCharCode(97 + Math.floor(i / 26))}x`;
      const facts = Array.from({ length: 300 }, (_, i) => `I love ${word(i)} tea.`).join(' ');
      const many = await remember(facts);
      assert.deepEqual(
        [many.extracted_count, many.warnings],
        [256, ['extraction: 256 facts were taken, the most of one text: what follows was not read']],
      );
      const long = await remember(`I love tea. I love ${'very '.repeat(100)}green tea.`);
      assert.match(long.warnings.join(), /1 sentences of more than 400 characters were not read/);
      assert.deepEqual((await remember('I love rum.')).warnings, []);
    });
  });

test('a question longer than its vector covers causes a warning', async () => {
  const id = 'vectors';
  assert.equal((await send('POST', '/memories', { id })).status, 201);
  const at = (path: string, json: object) => send('POST', `/memories/${id}${path}`, json);
  assert.equal((await at('/add', { subject: 'Ada', relation: 'drinks', object: 'tea' })).status, 200);
  await eventually('the memory is embedded', async () => {
    const { body } = await at('/recall', { query: 'tea' });
    return !/words alone/.test(body.warnings.join());
  });
  const long = await at('/recall', { query: `what does Ada drink ${'with milk '.repeat(60)}` });
  assert.match(
    long.body.warnings.join(),
    /the query is too long to embed as a whole: its vector covers about its first 100 words/,
  );
  const short = await at('/recall', { query: 'what does Ada drink' });
  assert.doesNotMatch(short.body.warnings.join(), /too long to embed/);
});
