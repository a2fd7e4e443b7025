// Answers of RECALL, rule by rule of the specification: filters, orders, stages, options.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { AddItem } from '../../src/engine/calls/grain.ts';
import type { JsonObject } from '../../src/engine/grain/api/json-value.ts';
import { NOW_MS } from './fixture.ts';
import { CalMemory, type ParsedJson, temporaryMemory } from './memory.ts';

describe('RECALL', () => {
  const opened = temporaryMemory(before);

  /** The main field of each grain. */
  const said = (query: string, options = {}): unknown[] =>
    opened.memory
      .ask(query, { namespace: 'home', ...options })
      .result['grains'].map((grain: { fields: Record<string, unknown> }) => {
        const { object, content, description } = grain.fields;
        return object ?? content ?? description;
      });

  test('section 7.1: without an order, structural answers are sorted by hash, all with the same score', () => {
    const { result } = opened.memory.ask('RECALL LIMIT 1000');
    const hashes = result['grains'].map((grain: { hash: string }) => grain.hash);
    assert.equal(hashes.length, opened.memory.items.length);
    assert.deepEqual(hashes, [...hashes].sort());
    assert.deepEqual(new Set(result['grains'].map((grain: { score: number }) => grain.score)), new Set([1]));
    const first = opened.memory.ask('RECALL').result['grains'].map((grain: { hash: string }) => grain.hash);
    assert.deepEqual(first, hashes.slice(0, 20));
  });

  test('section 7.1: the first results of an order are those of the whole match set, ties by hash', () => {
    for (const order of [
      'confidence',
      'confidence DESC',
      'subject',
      'time DESC',
      'importance',
      'importance DESC',
      'object',
    ]) {
      const all = opened.memory.ask(`RECALL beliefs ORDER BY ${order} LIMIT 1000`).result['grains'];
      const some = opened.memory.ask(`RECALL beliefs ORDER BY ${order} LIMIT 7 OFFSET 3`).result['grains'];
      assert.deepEqual(some, all.slice(3, 7), order);
      assert.equal(opened.memory.ask(`RECALL beliefs ORDER BY ${order} LIMIT 1`).result['total'], all.length, order);
    }
  });

  test('section 10: missing values sort last in both directions', () => {
    for (const direction of ['ASC', 'DESC']) {
      const { result } = opened.memory.ask(`RECALL beliefs ORDER BY importance ${direction} LIMIT 1000`);
      const values = result['grains'].map(
        (grain: { fields: { importance?: number } }) => grain.fields.importance ?? null,
      );
      assert.deepEqual(values.slice(0, 3), direction === 'ASC' ? [0.2, 0.5, 0.9] : [0.9, 0.5, 0.2]);
      assert.ok(values.slice(3).every((value: unknown) => value === null));
    }
  });

  test('D-18: a part of an address is looked up, and refused where whole ones are compared', () => {
    const { memory } = opened;
    const hash = memory.hash('peanuts');
    const all = memory.ask('RECALL | COUNT').result['count'];
    assert.deepEqual(said(`RECALL WHERE hash IN (sha256:${hash.slice(0, 12)})`), ['peanuts']);
    assert.equal(memory.ask(`RECALL WHERE hash NOT IN (sha256:${hash}) | COUNT`).result['count'], all - 1);
    const part = `sha256:${hash.slice(0, 12)}`;
    for (const condition of [
      `hash NOT IN (${part})`,
      `NOT hash IN (${part})`,
      `NOT hash = ${part}`,
      `(hash IN (${part}) OR subject = "nobody")`,
      `(hash NOT IN (${part}) AND NOT subject = "nobody")`,
    ])
      assert.equal(memory.code(`RECALL WHERE ${condition}`), 'CAL-E015', condition);
    const plan = memory.ask(`EXPLAIN RECALL WHERE hash IN (${part})`).result['plan'];
    assert.deepEqual(plan.filters, ['hash']);
  });

  test('section 5.5: no belief has a blank side', () => {
    const count = (where: string): number => opened.memory.ask(`RECALL beliefs WHERE ${where} | COUNT`).result['count'];
    const all = count('confidence >= 0');
    for (const side of ['subject', 'relation', 'object']) {
      for (const blank of ['""', '" "']) {
        assert.equal(count(`${side} = ${blank}`), 0, `${side} = ${blank}`);
        assert.equal(count(`NOT ${side} = ${blank}`), all, `NOT ${side} = ${blank}`);
        assert.equal(count(`${side} != ${blank}`), all, `${side} != ${blank}`);
        assert.equal(count(`(${side} = ${blank} OR subject = "carol")`), count('subject = "carol"'));
      }
    }
    assert.equal(count('relation IN ("", "works_at")'), count('relation = "works_at"'));
  });

  test('section 5.5: a missing field fails every operator, != too; EXCLUDE passes it', () => {
    assert.equal(opened.memory.ask('RECALL beliefs WHERE importance != 0.5 LIMIT 1000').count, 2);
    assert.equal(opened.memory.ask('RECALL beliefs WHERE user_id != "ann" | COUNT').result['count'], 12);
    assert.equal(opened.memory.ask('RECALL beliefs WHERE tags EXCLUDE ["ui"] | COUNT').result['count'], 23);
    assert.equal(opened.memory.ask('RECALL beliefs WHERE hc:age != 41 | COUNT').result['count'], 1);
  });

  test('the grains of a user and of nobody are found by the index, wherever the condition stands', () => {
    const count = (where: string): number => opened.memory.ask(`RECALL beliefs WHERE ${where} | COUNT`).result['count'];
    const all = opened.memory.ask('RECALL beliefs | COUNT').result['count'];
    const others = count('user_id != "ann"');
    assert.equal(count('NOT user_id != "ann"'), all - others);
    assert.equal(count('NOT user_id != ""'), all - count('user_id != ""'));
    assert.equal(count('NOT user_id != "ann" AND NOT user_id != "ann"'), all - others);
    assert.equal(count('NOT user_id != "ann" AND NOT user_id != "ben"'), count('NOT user_id != ""'));
    assert.equal(count('NOT (NOT user_id != "ann")'), others);
    assert.equal(count('user_id = "ben" OR NOT user_id != "ann"'), count('user_id = "ben"') + all - others);
    const { plan } = opened.memory.ask('EXPLAIN RECALL beliefs WHERE NOT user_id != "ann"').result;
    assert.deepEqual(plan.residual, []);
  });

  test('D-17: INCLUDE with several tags requires all of them', () => {
    assert.deepEqual(said('RECALL beliefs WHERE tags INCLUDE ["food", "health"]'), ['peanuts']);
    assert.equal(said('RECALL beliefs WHERE tags INCLUDE ["food"]').length, 2);
  });

  test('D-15: fields have CAL’s names, whatever the store calls them', () => {
    assert.deepEqual(said('RECALL goals WHERE object = "finish report 2"'), ['finish report 2']);
    assert.deepEqual(said('RECALL goals WHERE goal_state = "abandoned"'), ['finish report 2']);
    assert.deepEqual(said('RECALL goals WHERE goal_state = "failed"'), ['finish report 2']);
    assert.equal(
      opened.memory.ask('RECALL consents WHERE consent_action = "grant" AND purpose = "analytics"').count,
      1,
    );
    assert.equal(opened.memory.ask('RECALL consents WHERE grantor_did = "did:key:z1"').count, 1);
    assert.equal(opened.memory.ask('RECALL consensuses WHERE object = "door is open 1"').count, 1);
    assert.equal(opened.memory.ask('RECALL consensuses WHERE threshold >= 0.5').count, 3);
  });

  test('D-19: time means timestamp_ms, else creation; SINCE is time =', () => {
    assert.deepEqual(said('RECALL events SINCE "last 2 hours"'), ['the boiler was repaired']);
    assert.deepEqual(said('RECALL events WHERE time = "last 2 hours"'), ['the boiler was repaired']);
    assert.deepEqual(said('RECALL events WHERE time = "today"'), ['the boiler was repaired']);
    assert.deepEqual(said('RECALL events SINCE "2026-03-02"'), ['the boiler was repaired']);
    assert.equal(said('RECALL events RECENT 1')[0], 'the boiler was repaired');
    const seconds = Math.floor(NOW_MS / 1000);
    assert.equal(said(`RECALL events BETWEEN ${seconds - 7_200} AND ${seconds}`).length, 1);
    assert.equal(said(`RECALL events BETWEEN ${NOW_MS - 7_200_000} AND ${NOW_MS}`).length, 1);
    assert.deepEqual(said(`RECALL events BETWEEN ${seconds} AND ${seconds - 7_200}`), []);
    assert.equal(opened.memory.ask('RECALL goals WHERE deadline = "2026-03-04"').count, 1);
    assert.equal(opened.memory.ask('RECALL goals WHERE deadline BETWEEN "2026-03-03" AND "2026-03-05"').count, 3);
    assert.equal(opened.memory.code('RECALL events SINCE "when it rained"'), 'CAL-E020');
  });

  test('D-20: COUNT and GROUP BY count the whole match set; a LIMIT before COUNT bounds it', () => {
    assert.equal(opened.memory.ask('RECALL | COUNT').result['count'], opened.memory.items.length);
    assert.equal(opened.memory.ask('RECALL LIMIT 7 | COUNT').result['count'], 7);
    assert.equal(
      opened.memory.ask('RECALL LIMIT 1000 OFFSET 60 | COUNT').result['count'],
      opened.memory.items.length - 60,
    );
    const { result } = opened.memory.ask('RECALL | GROUP BY type');
    const groups = result['groups'] as { key: string; count: number; grains: unknown[] }[];
    assert.deepEqual(
      groups.map(({ key }) => key),
      [...groups.map(({ key }) => key)].sort(),
    );
    assert.equal(
      groups.reduce((sum, { count }) => sum + count, 0),
      opened.memory.items.length,
    );
    assert.equal(groups.find(({ key }) => key === 'belief')?.grains.length, 20);
  });

  test('a count from the indexes opens no grain, and says so', () => {
    for (const query of [
      'RECALL beliefs | COUNT',
      'RECALL beliefs WHERE subject = "alice" | COUNT',
      'RECALL beliefs WHERE subject IN ("alice", "bob") AND tags EXCLUDE ["ui"] | COUNT',
      'RECALL beliefs WHERE confidence >= 0.5 AND user_id = "ann" | COUNT',
      'RECALL beliefs WHERE confidence < 0.5 AND importance != 0.2 | COUNT',
      'RECALL events WHERE session_id = "s1" AND time = "last month" | COUNT',
      'RECALL events WHERE role = "user" | COUNT',
      'RECALL goals WHERE goal_state != "abandoned" | COUNT',
      'RECALL actions WHERE tool_name IN ("search", "mail") AND is_error = false AND action_phase = "complete" | COUNT',
      'RECALL WHERE source_type = "agent" | COUNT',
      'RECALL beliefs WHERE verification_status = "contested" | COUNT',
      'RECALL beliefs CONTRADICTIONS | COUNT',
    ])
      assert.equal(opened.memory.ask(query).result['_cal'].budget.grains_scanned, 0, query);
    const opening = opened.memory.ask('RECALL beliefs WHERE subject != "alice" | COUNT');
    assert.equal(opening.result['_cal'].budget.grains_scanned, 25);
  });

  test('D-21: a thread is complete and oldest first; FROM finds it by any of its events', () => {
    const whole = said('RECALL events THREAD "s1"');
    assert.equal(whole.length, 8);
    assert.equal(whole[0], 'question 0: where is the saffron?');
    assert.equal(whole[7], 'answer 7: on the upper shelf');
    const hash = opened.memory.hash('answer 3: on the upper shelf');
    assert.deepEqual(said(`RECALL events THREAD FROM sha256:${hash}`), whole);
    assert.deepEqual(said(`RECALL events THREAD FROM sha256:${'0'.repeat(64)}`), []);
    assert.deepEqual(said('RECALL events THREAD "s1" WHERE role = "user" LIMIT 2'), [
      'question 0: where is the saffron?',
      'question 2: where is the saffron?',
    ]);
    // Its other conditions hold too, whatever serves them.
    const from = `RECALL events THREAD FROM sha256:${hash}`;
    assert.deepEqual(said(`${from} LIKE "boiler"`), []);
    assert.deepEqual(said(`${from} LIKE "saffron" LIMIT 3`), whole.slice(0, 3));
    assert.deepEqual(said(`${from} WHERE hash = sha256:${hash}`), ['answer 3: on the upper shelf']);
    const elsewhere = opened.memory.hash('question 8: where is the saffron?');
    assert.deepEqual(said(`${from} WHERE hash = sha256:${elsewhere}`), []);
    assert.deepEqual(said(`${from} WHERE score > 1`), []);
    assert.deepEqual(said(`${from} ABOUT "boiler"`), []);
    // Words only: neighbours in the text are not meant.
    assert.deepEqual(
      said(`${from} ABOUT "saffron"`),
      whole.filter((text) => String(text).includes('saffron')),
    );
  });

  test('ABOUT matches a subject, else words of a text with a warning', () => {
    const subject = opened.memory.ask('RECALL beliefs ABOUT "bob"');
    assert.equal(subject.count, 3);
    assert.equal(subject.result['_cal'].about, 'subject');
    assert.deepEqual(subject.warnings, []);
    const tea = opened.memory.ask('RECALL beliefs ABOUT "green tea"');
    assert.equal(tea.result['_cal'].about, 'fallback');
    assert.equal(tea.result['grains'][0].fields.object, 'green tea');
    assert.match(tea.warnings.join(), /^CAL-W010: nothing has the subject "green tea"/);
    // Both conditions must fail before texts are searched.
    const both = opened.memory.ask('RECALL beliefs ABOUT "bob" WHERE relation = "lives_in"');
    assert.equal(both.result['_cal'].about, 'fallback');
    assert.equal(both.count, 0);
    // A word in most texts names no one.
    assert.equal(opened.memory.ask('RECALL ABOUT "Zacharias of the upper shelf and mode"').count, 0);
  });

  test('operators of LIKE and ABOUT move grains, and a warning counts those that do not meet them', () => {
    const all = opened.memory.ask('RECALL beliefs LIKE "mode" LIMIT 50');
    const quoted = opened.memory.ask('RECALL beliefs LIKE "was it \\"light mode\\" that bob liked" LIMIT 50');
    assert.deepEqual(all.warnings, []);
    assert.equal(quoted.result['grains'][0].fields.object, 'light mode');
    assert.ok(quoted.count >= all.count);
    assert.match(quoted.warnings.join(), /^CAL-W011: 1 of the \d+ matches meet the operators of the text/);
    // Only what is shown counts.
    assert.deepEqual(opened.memory.ask('RECALL beliefs LIKE "\\"light mode\\"" LIMIT 1').warnings, []);
    const about = opened.memory.ask('RECALL ABOUT "\\"green tea\\" -yesterday"');
    assert.equal(about.result['_cal'].about, 'fallback');
    assert.ok(about.count > 0);
  });

  test('D-24: a strict server treats an ABOUT without such a subject as a search', () => {
    const session = { strict: true };
    const query = opened.memory.ask('RECALL beliefs ABOUT "green tea"', { session });
    assert.deepEqual([query.result['_cal'].about, query.warnings], ['query', []]);
    const bare = opened.memory.ask('RECALL ABOUT "Zacharias mode"', { session });
    assert.ok(bare.count > 0, 'half of the words are enough');
  });

  test('ASSEMBLE reports for each source how its ABOUT matched, and adds no unrelated grains', () => {
    const query =
      'ASSEMBLE FROM known: (RECALL beliefs ABOUT "bob"), said: (RECALL beliefs ABOUT "green tea"), ' +
      'none: (RECALL ABOUT "Zacharias"), rest: (RECALL goals)';
    const { result, warnings } = opened.memory.ask(query);
    assert.deepEqual(
      result['sources'].map(({ label, about, grain_count }: ParsedJson) => [label, about, grain_count > 0]),
      [
        ['known', 'subject', true],
        ['said', 'fallback', true],
        ['none', 'fallback', false],
        ['rest', undefined, true],
      ],
    );
    assert.equal(warnings.filter((warning) => warning.startsWith('CAL-W010')).length, 2);
  });

  test('section 7.1: a search answers by score descending; conditions that no index serves still hold', () => {
    const { result } = opened.memory.ask('RECALL beliefs LIKE "dark mode"');
    const scores = result['grains'].map((grain: { score: number }) => grain.score);
    assert.deepEqual(
      scores,
      [...scores].sort((a, b) => b - a),
    );
    assert.equal(result['grains'][0].fields.object, 'dark mode');
    assert.deepEqual(said('RECALL beliefs LIKE "mode" WHERE confidence < 0.6'), ['light mode']);
    assert.deepEqual(said('RECALL beliefs WHERE query = "mode" AND relation != "mg:prefers"'), []);
    assert.equal(opened.memory.ask('RECALL beliefs LIKE "mode" | COUNT').result['count'], 2);
    assert.deepEqual(said('RECALL beliefs LIKE "mode" WHERE score >= 2'), []);
    assert.deepEqual(said('RECALL beliefs LIKE "mode" ORDER BY confidence LIMIT 1'), ['light mode']);
    assert.deepEqual(said('RECALL reasonings WHERE premises = "smoke" LIMIT 1').length, 1);
  });

  test('section 10: SELECT keeps the fields that it names, by the names of CAL', () => {
    const { result } = opened.memory.ask('RECALL goals SELECT object, goal_state, deadline ORDER BY deadline LIMIT 1');
    assert.deepEqual(result['grains'][0].fields, { object: 'finish report 0', goal_state: 'active', deadline: NOW_MS });
    assert.match(result['grains'][0].hash, /^sha256:[0-9a-f]{64}$/);
  });

  test('section 10: extractors give distinct strings in the order in which they are first seen', () => {
    const { result, count } = opened.memory.ask('RECALL beliefs ORDER BY time LIMIT 100 | SUBJECTS', {
      namespace: 'home',
    });
    assert.deepEqual(result['values'], ['alice', 'bob', 'carol', 'dave', 'patient-1', 'patient-2']);
    assert.equal(count, 6);
    assert.deepEqual(
      opened.memory.ask('RECALL beliefs WHERE subject = "bob" ORDER BY time | HASHES').result['values'],
      [
        `sha256:${opened.memory.hash('light mode')}`,
        ...opened.memory
          .ask('RECALL beliefs WHERE subject = "bob" ORDER BY time LIMIT 3 OFFSET 1')
          .result['grains'].map((grain: { hash: string }) => grain.hash),
      ],
    );
  });

  test('section 9: dedup keeps the first grain of a value; grains without the field stay', () => {
    assert.equal(said('RECALL beliefs WITH dedup(subject) LIMIT 100').length, 6);
    assert.equal(said('RECALL beliefs WITH dedup(importance) LIMIT 100').length, 14);
    assert.deepEqual(said('RECALL beliefs ORDER BY time LIMIT 2 OFFSET 1 WITH dedup(subject)'), ['light mode']);
    const count = (query: string): unknown => opened.memory.ask(query, { namespace: 'home' }).result['count'];
    assert.equal(count('RECALL beliefs WITH dedup(subject) | COUNT'), 6);
    assert.equal(count('RECALL beliefs WITH dedup(importance) | COUNT'), 14);
    assert.equal(count('RECALL beliefs LIKE "mode" WITH dedup(subject) | COUNT'), 2);
  });

  test('section 9: options add what they promise, and W004 says which have no effect', () => {
    const result = opened.memory.ask('RECALL beliefs LIKE "tea" WITH score_breakdown, explanation, provenance');
    const [first] = result.result['grains'];
    assert.equal(first.score_breakdown.final, first.score);
    assert.match(first.explanation, /is one of the beliefs; is like the text/);
    assert.deepEqual(first.derived_from, []);
    assert.deepEqual(result.warnings, []);
    const idle = opened.memory.ask(
      'RECALL beliefs LIMIT 1 WITH score_breakdown, diversity(mmr), locale("de"), x_fast(1)',
    );
    assert.equal(idle.result['grains'][0].score_breakdown, null);
    assert.equal(idle.warnings.filter((warning) => warning.startsWith('CAL-W004')).length, 4);
    const varied = opened.memory.ask('RECALL events LIKE "saffron shelf" WITH diversity(mmr, lambda=0.1) LIMIT 5');
    assert.equal(varied.count, 5);
    assert.equal(typeof opened.memory.ask('RECALL goals WITH summarize').result['summary'], 'string');
  });

  test('section 9: contradiction_detection names contradicting grains and leaves none out', () => {
    const where = 'RECALL beliefs WHERE subject = "alice" AND relation = "mg:prefers" ORDER BY time';
    const plain = opened.memory.ask(where, { namespace: 'home' });
    const { result } = opened.memory.ask(`${where} WITH contradiction_detection`, { namespace: 'home' });
    assert.equal(result['grains'].length, plain.count);
    const hash = (text: string): string => `sha256:${opened.memory.hash(text)}`;
    assert.deepEqual(
      result['grains'].map((grain: { contested_by: string[] }) => grain.contested_by),
      [[hash('green tea')], [hash('dark mode')]],
    );
    // One that was marked, and those that contradict each other.
    assert.deepEqual(said('RECALL beliefs CONTRADICTIONS').sort(), ['Bern', 'dark mode', 'green tea']);
    assert.equal(said('RECALL beliefs WHERE contradicted = false LIMIT 100').length, 11);
  });

  test('D-18: a prefix of a hash names the one grain that begins so, and is ambiguous for more', () => {
    const hash = opened.memory.hash('peanuts');
    assert.deepEqual(said(`RECALL beliefs WHERE hash = sha256:${hash.slice(0, 8)}`), ['peanuts']);
    assert.deepEqual(said(`RECALL beliefs WHERE hash = sha256:${hash}`), ['peanuts']);
    assert.deepEqual(said(`RECALL events WHERE hash = sha256:${hash}`), []);
    assert.deepEqual(said('RECALL beliefs WHERE hash = sha256:00000000'), []);
  });

  test('section 1.3: MY is the session’s user; without one it is E008', () => {
    assert.equal(opened.memory.code('RECALL MY beliefs'), 'CAL-E008');
    assert.equal(opened.memory.code('RECALL beliefs WHERE user_id = $current_user_id'), 'CAL-E008');
    assert.deepEqual(said('RECALL MY beliefs ORDER BY time', { userId: 'ann' }), ['Acme', 'Zürich']);
    assert.equal(said('RECALL beliefs WHERE user_id = $current_user_id', { userId: 'ann' }).length, 2);
  });

  test('section 1.1, D-3: statement_type is from the table, and result_count counts the top level of the payload', () => {
    for (const [query, type, payload, count] of [
      ['RECALL beliefs LIMIT 3', 'recall', 'grains', 3],
      ['RECALL beliefs | COUNT', 'recall', 'count', 1],
      ['RECALL beliefs WHERE subject = "alice" | SUBJECTS', 'recall', 'values', 1],
      ['RECALL beliefs | GROUP BY relation', 'recall', 'groups', 8],
      ['RECALL beliefs LIMIT 2 AS text', 'recall', 'formatted', 2],
      ['RECALL beliefs LIMIT 2 AS [text, json]', 'recall', 'multi_formatted', 2],
      ['EXPLAIN RECALL beliefs', 'explain', 'explain', 1],
      ['DESCRIBE fields event', 'describe', 'describe', 1],
    ] as const) {
      const answer = opened.memory.ask(query);
      assert.deepEqual([answer.type, answer.result['type'], answer.count], [type, payload, count], query);
      const { _cal: cal } = answer.result;
      assert.equal(cal.version, '1.2');
      assert.equal(cal.statement_type, type);
      assert.equal(cal.tier, 0);
      assert.match(cal.query_hash, /^sha256:[0-9a-f]{64}$/);
    }
  });

  test('sections 14 and 12.1, D-38: content is the text, grains the envelope; json is data', () => {
    const { result } = opened.memory.ask('RECALL beliefs WHERE subject = "bob" ORDER BY time LIMIT 1 AS sml');
    assert.equal(result['format'], 'sml');
    assert.match(result['content'], /<belief subject="bob" confidence="0.55">prefers light mode<\/belief>/);
    assert.ok(!result['content'].includes(result['grains'][0].hash));
    const { result: data } = opened.memory.ask(
      'RECALL beliefs WHERE subject = "bob" ORDER BY time LIMIT 1 AS [data AS d]',
    );
    assert.ok(Array.isArray(data['formats'].d));
    assert.equal(data['grain_count'], 1);
    assert.ok(!('content' in data));
  });
});

test('a thread is of events alone, and a subquery in it counts', async (t) => {
  const said = (grainType: string, fields: JsonObject): AddItem => ({
    grainType,
    fields: { session_id: 's', created_at: 1_700_000_000, ...fields },
  });
  const memory = await CalMemory.open(t, [
    said('event', { content: 'hello', subject: 'ann' }),
    said('event', { content: 'goodbye', subject: 'ben', created_at: 1_700_000_001 }),
    said('belief', { subject: 'ann', relation: 'is', object: 'here' }),
  ]);
  const contents = (query: string): unknown[] =>
    memory.ask(query).result['grains'].map(({ fields }: { fields: JsonObject }) => fields['content']);
  assert.deepEqual(contents('RECALL THREAD "s"'), ['hello', 'goodbye']);
  const whose = 'WHERE subject IN (RECALL beliefs | SUBJECTS)';
  for (const thread of ['"s"', `FROM sha256:${memory.hashes[0]}`])
    assert.deepEqual(contents(`RECALL events THREAD ${thread} ${whose}`), ['hello'], thread);
});

test('beliefs that contradict a belief are its own user’s, however many others there are', async (t) => {
  const said = (object: string, user: string): AddItem => ({
    grainType: 'belief',
    fields: { subject: 'tea', relation: 'is', object, user_id: user, created_at: 1_700_000_000 },
  });
  const others = Array.from({ length: 400 }, (_, i) => said(`kind ${i}`, `user ${i}`));
  const memory = await CalMemory.open(t, [...others, said('green', 'ann'), said('black', 'ann')]);
  const { grains } = memory.ask('RECALL beliefs WHERE user_id = "ann" WITH contradiction_detection').result as {
    readonly grains: readonly { readonly hash: string; readonly contested_by?: readonly string[] }[];
  };
  const [one, other] = grains;
  assert.deepEqual([one?.contested_by, other?.contested_by], [[other?.hash], [one?.hash]]);
  assert.equal(memory.ask('RECALL beliefs CONTRADICTIONS').result['total'], 2);
});
