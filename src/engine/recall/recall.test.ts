// The text leg over a real shard: the context of a turn, in the tail and in segments, through seals, merges, purges and
// replays; and unusual texts.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { CallContext } from '../calls/context.ts';
import type { RecallHit, RecallQuery } from '../calls/recall.ts';
import type { Engine } from '../engine.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import { analyzer } from '../index/text/analyze.ts';
import { sumOfTerms } from './legs/text-leg.ts';
import type { VectorLeg } from './legs/vector-leg.ts';
import { recall } from './recall.ts';

const START = 1_700_000_000;
const all: RecallQuery = { filter: {}, limit: 50, candidateLimit: 250, structural: false };

async function opened(t: TestContext, root = temporaryDirectory(t)): Promise<{ engine: Engine; root: string }> {
  const engine = await openShard(root);
  t.after(() => engine.abandon());
  if (!engine.store.holds(1)) await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
  return { engine, root };
}

async function add(engine: Engine, items: readonly JsonObject[], grainType = 'event'): Promise<string[]> {
  const hashes: string[] = [];
  for (let from = 0; from < items.length; from += 1_000) {
    const { outcomes } = await engine.write('addBatch', contextOf(1), {
      items: items.slice(from, from + 1_000).map((fields) => ({ grainType, fields })),
    });
    for (const one of outcomes) hashes.push('error' in one ? assert.fail(one.error.message) : one.hash);
  }
  return hashes;
}

function ask(engine: Engine, query: string, rest: Partial<RecallQuery> = {}, vectors?: VectorLeg) {
  const { store } = engine;
  return recall(store, store.memory(1), contextOf(1), { ...all, ...rest, query }, { vectors });
}

const contents = (hits: readonly RecallHit[]): string[] => hits.map(({ grain }) => String(grain.fields['content']));

const turn = (second: number, content: string, rest: JsonObject = {}): JsonObject => ({
  content,
  created_at: START + second,
  session_id: 's1',
  ...rest,
});

const CONVERSATION = [
  turn(0, 'hello there', { role: 'assistant' }),
  turn(1, 'where is the saffron kept?', { role: 'user' }),
  turn(2, 'on the upper shelf since yesterday', { role: 'assistant' }),
  turn(3, 'thank you', { role: 'user' }),
  turn(9, 'good night', { role: 'assistant' }),
];

test('a matching turn brings its neighbours, and an assistant’s turn is not an answer of a speaker', async (t) => {
  const { engine } = await opened(t);
  await add(engine, CONVERSATION);
  const { hits, total } = ask(engine, 'saffron');
  assert.equal(total, 3);
  assert.deepEqual(contents(hits), ['where is the saffron kept?', 'on the upper shelf since yesterday', 'hello there']);
  // h is 1 for the question and 0 for the others.
  const [asked, answer, hello] = hits.map(({ breakdown }) => breakdown);
  const nonzero = (breakdown: RecallHit['breakdown'] | undefined): Record<string, number> => {
    const { rrf: _rrf, final: _final, ...terms } = breakdown!;
    return Object.fromEntries(
      Object.entries(terms).flatMap(([name, value]) => (value === 0 ? [] : [[name, Number((value * 5.4).toFixed(6))]])),
    );
  };
  assert.deepEqual(nonzero(asked), { bm25: 1, session: 0.2, role: 0.4 });
  assert.deepEqual(nonzero(answer), { near: 0.2, session: 0.2 });
  assert.deepEqual(nonzero(hello), { near: 0.2, session: 0.2 });
  const when = ask(engine, 'when was the saffron kept?').hits.find(
    ({ grain }) => grain.fields['created_at'] === START + 2,
  );
  assert.equal(nonzero(when?.breakdown)['time'], 0.2);
});

test('a speaker is recognised by its field, by a leading name, and by another name for an answer', async (t) => {
  const { engine } = await opened(t);
  await add(engine, [
    turn(0, 'did you see the lantern?', { speaker: 'Anna Berg' }),
    turn(1, 'yes, in the harbour', { speaker: 'Tom' }),
    turn(2, 'next steps: find the lantern', {}),
    turn(3, 'Tom: I am off', {}),
  ]);
  const hits = ask(engine, 'what did Anna say of the lantern in the next week').hits;
  const of = (content: string) =>
    hits.find(({ grain }) => String(grain.fields['content']).startsWith(content))!.breakdown;
  assert.ok(of('did you').speaker > 0, 'the first name of a speaker is enough');
  assert.equal(of('next steps').speaker, 0, 'the first word of a heading is not');
  assert.ok(Math.abs(of('yes').answer - 0.3 * of('did you').bm25) < 1e-12 && of('yes').answer > 0);
  assert.equal(of('next steps').answer, 0, 'a turn without a question has no answer');
  assert.ok(
    ask(engine, 'Tom and the lantern').hits.find(({ grain }) => String(grain.fields['content']).startsWith('Tom:'))!
      .breakdown.speaker > 0,
  );
});

test('a speaker is named in the plural, as a possessive, by kind, and by role', async (t) => {
  const { engine } = await opened(t);
  const say = (second: number, speaker: string | undefined, content: string, role = 'user') =>
    turn(second, content, { role, ...(speaker === undefined ? {} : { speaker }) });
  await add(engine, [
    say(0, 'Anna Miller', 'lantern one'),
    say(1, 'Professor B', 'lantern two'),
    say(2, 'Professor D', 'lantern three'),
    say(3, undefined, 'lantern four'),
    say(4, undefined, 'lantern five', 'assistant'),
    say(5, undefined, 'Grad E: lantern six'),
    say(6, undefined, 'Step 2: lantern seven'),
  ]);
  const named = (query: string): string =>
    ask(engine, query)
      .hits.filter(({ breakdown }) => breakdown.speaker > 0)
      .map(({ grain }) => String(grain.fields['content']).split(' ').at(-1)!)
      .sort()
      .join(' ');
  assert.equal(named('lantern'), '');
  assert.equal(named('the lantern of the Millers'), 'one');
  assert.equal(named('Annas lantern'), 'one');
  assert.equal(named('which lantern did the professors see'), 'three two');
  assert.equal(named('the lantern of Professor D'), 'three');
  assert.equal(named('the lantern of the grads'), 'six');
  assert.equal(named('the first step to the lantern'), '', 'a heading is no kind of person');
  assert.equal(named('what did the user say about the lantern?'), 'four seven six');
  assert.equal(named('which lantern did you recommend?'), 'five');
  assert.equal(named('can you find the lantern?'), '');
});

test('two people with the role of a user answer each other, and one alone does not answer himself', async (t) => {
  const { engine } = await opened(t);
  const say = (second: number, speaker: string, content: string) => turn(second, content, { role: 'user', speaker });
  await add(engine, [
    say(0, 'alice', 'where did you put the lantern?'),
    say(1, 'bob', 'on the shelf'),
    say(2, 'bob', 'or is the lantern in the shed?'),
    say(3, 'bob', 'yes it is there'),
    turn(10, 'alice: who lit the lantern?', { session_id: 's2', role: 'user' }),
    turn(11, 'Bob: I did', { session_id: 's2', role: 'user' }),
    turn(20, 'is the lantern lit?', { session_id: 's3', role: 'user' }),
    turn(21, 'it shines', { session_id: 's3', role: 'user', speaker: 'bob' }),
    turn(30, 'does the lantern need oil?', { session_id: 's4', role: 'user' }),
    turn(31, 'it is empty', { session_id: 's4', role: 'assistant' }),
  ]);
  const { hits } = ask(engine, 'lantern');
  const answers = hits.filter(({ breakdown }) => breakdown.answer > 0).map(({ grain }) => grain.fields['content']);
  assert.deepEqual(answers.sort(), ['Bob: I did', 'on the shelf']);
});

test('grains without context stay comparable, and alone they have no neutral value', async (t) => {
  const { engine } = await opened(t);
  await add(engine, [{ subject: 'Ada', relation: 'keeps', object: 'saffron', created_at: START }], 'belief');
  assert.equal(ask(engine, 'saffron').hits[0]!.breakdown.role, 0);
  await add(engine, CONVERSATION);
  const belief = ask(engine, 'saffron').hits.find(({ grain }) => grain.grainType === 'belief')!;
  assert.equal(belief.breakdown.role, 0.4 / 5.4);
  assert.equal(belief.breakdown.near + belief.breakdown.session, 0);
});

test('an excluded neighbour gives only its scores, and one that nobody may see not even those', async (t) => {
  const { engine } = await opened(t);
  await add(engine, [
    turn(0, 'saffron one', { tags: ['kept'], user_id: 'u1' }),
    turn(1, 'saffron two', { user_id: 'u2' }),
    turn(2, 'nothing at all', { tags: ['kept'], user_id: 'u1' }),
  ]);
  const tagged = ask(engine, 'saffron', { filter: { tags: ['kept'] } }).hits;
  assert.deepEqual(contents(tagged), ['saffron one']);
  assert.ok(tagged[0]!.breakdown.near > 0);
  const { store } = engine;
  const bound = { ...contextOf(1), userId: 'u1' };
  const seen = recall(store, store.memory(1), bound, { ...all, query: 'saffron' }).hits;
  assert.deepEqual(contents(seen), ['saffron one', 'nothing at all']);
  // The turn of another user is ignored.
  assert.equal(seen[0]!.breakdown.near, 0);
  assert.ok(seen[1]!.breakdown.near > 0);
});

test('a tag of a query is found in either form of its letters', async (t) => {
  const { engine } = await opened(t);
  await add(engine, [turn(0, 'saffron one', { tags: ['caf\u00e9'] }), turn(1, 'saffron two')]);
  for (const tag of ['caf\u00e9', 'cafe\u0301']) {
    assert.deepEqual(contents(ask(engine, `tag:${tag}`).hits), ['saffron one']);
    assert.deepEqual(contents(ask(engine, `saffron -tag:${tag}`, { operators: true }).hits), ['saffron two']);
  }
});

test('as a condition, a required word excludes neighbours that lack it', async (t) => {
  const { engine } = await opened(t);
  await add(engine, CONVERSATION);
  const search = (query: string) => ask(engine, query, { operators: true }).hits;
  assert.deepEqual(contents(search('+saffron')), ['where is the saffron kept?']);
  assert.equal(search('saffron -hello').length, 2);
});

test('the operators of a question exclude nothing, and move hits up and down', async (t) => {
  const { engine } = await opened(t);
  await add(engine, [
    turn(0, 'the green tea of Ann', { session_id: 'a', tags: ['cups'] }),
    turn(1, 'the tea that is green in spring', { session_id: 'b' }),
    turn(2, 'coffee with milk', { session_id: 'c' }),
  ]);
  const of = (query: string, asked: Partial<RecallQuery> = {}) =>
    new Map(ask(engine, query, asked).hits.map((hit) => [String(hit.grain.fields['content']).split(' ')[1], hit]));
  for (const wordsOnly of [false, true]) {
    const plain = of('green tea milk', { wordsOnly });
    assert.equal(plain.size, 3);
    const score = (hits: typeof plain, key: string) => hits.get(key)!.score;
    const up = of('"green tea" milk', { wordsOnly });
    assert.equal(up.size, 3, 'a quotation that two grains lack leaves them in');
    assert.deepEqual([up.get('green')!.unmet, up.get('tea')!.unmet, up.get('with')!.unmet], [undefined, true, true]);
    const ratio = (hits: typeof plain, a: string, b: string) => score(hits, a) / score(hits, b);
    assert.ok(ratio(up, 'green', 'tea') > ratio(plain, 'green', 'tea') * 1.2);
    const down = of('green tea milk -spring -"milk with"', { wordsOnly });
    assert.equal(down.get('tea')!.unmet, true);
    assert.equal(down.get('green')!.unmet, undefined);
    assert.ok(Math.abs(ratio(down, 'tea', 'green') - ratio(plain, 'tea', 'green') / 2) < 1e-9);
    const tagged = of('green tea milk tag:cups', { wordsOnly });
    assert.deepEqual([tagged.get('green')!.unmet, tagged.get('tea')!.unmet], [undefined, true]);
  }
  // Explained: the terms still add up to the score.
  for (const hit of of('"green tea" milk -coffee').values())
    assert.ok(Math.abs(sumOfTerms(hit.breakdown) - hit.score) < 1e-12);
  assert.equal(of('tag:cups').size, 1, 'a query of fields alone is no prose');
  assert.equal(of('zebra "green tea"', { limit: 1 }).size, 1);
});

test('words alone rank by raw BM25 and find nothing else', async (t) => {
  const { engine } = await opened(t);
  await add(engine, CONVERSATION);
  const { hits } = ask(engine, 'saffron shelf', { wordsOnly: true });
  assert.equal(hits.length, 2);
  assert.equal(hits[0]!.score, 1);
  assert.equal(sumOfTerms(hits[1]!.breakdown), hits[1]!.breakdown.bm25);
});

/** Vectors from a table of contents to cosines. */
function vectorsOf(engine: Engine, cosines: Readonly<Record<string, number>>): VectorLeg {
  const { store } = engine;
  const memory = store.memory(1);
  const known = store.parts(1).flatMap((part) =>
    [...part.ordinals.subarray(0, part.docCount)].flatMap((ordinal) => {
      const content = String(store.readGrain(memory, ordinal)?.grain.fields['content']);
      return cosines[content] === undefined ? [] : [{ ordinal, cosine: cosines[content] }];
    }),
  );
  return {
    search: ({ limit, isAllowed, allowedOrdinals }) =>
      known
        .filter(({ ordinal }) => isAllowed(ordinal) && (allowedOrdinals?.includes(ordinal) ?? true))
        .sort((a, b) => b.cosine - a.cosine)
        .slice(0, limit),
    cosinesOf: (ordinals) => ordinals.map((at) => known.find(({ ordinal }) => ordinal === at)?.cosine ?? Number.NaN),
  };
}

test('vectors find what words do not, normalised over the scored grains', async (t) => {
  const { engine } = await opened(t);
  await add(engine, CONVERSATION);
  const vectors = vectorsOf(engine, { 'thank you': 0.9, 'good night': 0.3, 'where is the saffron kept?': 0.6 });
  const { hits } = ask(engine, 'saffron', {}, vectors);
  const of = (content: string): RecallHit => hits.find(({ grain }) => grain.fields['content'] === content)!;
  assert.equal(of('thank you').breakdown.vector, 1 / 5.4);
  assert.ok(Math.abs(of('where is the saffron kept?').breakdown.vector - 0.5 / 5.4) < 1e-12);
  assert.equal(of('good night').breakdown.vector, 0);
  assert.ok(
    Math.abs(of('hello there').breakdown.vector - 0.5 / 5.4) < 1e-12,
    'a grain without a vector gets the median',
  );
  assert.equal(of('thank you').evidence, 0.9);
  assert.equal(of('where is the saffron kept?').evidence, 1);
  const filtered = ask(engine, 'thyme', { filter: { createdToMs: (START + 2) * 1_000 } }, vectors).hits;
  assert.ok(!contents(filtered).includes('thank you'));
  assert.equal(filtered[0]!.breakdown.vector, 1 / 5.4);
  assert.deepEqual(ask(engine, '+saffron', { operators: true }, vectors).hits.length, 1);
});

test('beside vectors, the words of a session count as one text, of the turns that the caller sees', async (t) => {
  const { engine } = await opened(t);
  const say = (second: number, session: string, content: string, user = 'ada') =>
    turn(second, content, { session_id: session, user_id: user, role: 'user' });
  const first = [
    say(0, 'a', 'the saffron is in the kitchen'),
    say(1, 'a', 'the saffron again and the lantern'),
    say(2, 'b', 'a lantern in the harbour'),
    say(3, 'b', 'saffron saffron saffron by the boats', 'ben'),
    say(4, 'c', 'nothing of that'),
    say(5, 'd', 'all of this is of ben alone: lantern', 'ben'),
  ];
  const later = [say(6, 'b', 'the lantern shines'), say(7, 'a', 'and the kitchen is cold')];
  const query = 'saffron lantern';
  /** BM25 over sessions, computed from the turns. */
  const expected = (turns: readonly JsonObject[]): Map<string, number> => {
    const spoken = analyzer('en');
    const texts = Map.groupBy(turns, (one) => String(one['session_id']));
    const pooled = [...texts].map(([session, said]) => ({
      session,
      terms: said.flatMap((one) => spoken.analyze(String(one['content'])).terms),
    }));
    const mean = pooled.reduce((sum, { terms }) => sum + Math.max(16, terms.length), 0) / pooled.length;
    const scores = pooled.map(({ session, terms }) => {
      const score = spoken.analyze(query).terms.reduce((sum, term) => {
        const holding = pooled.filter((one) => one.terms.includes(term)).length;
        const idf = Math.log(1 + (pooled.length - holding + 0.5) / (holding + 0.5));
        const frequency = terms.filter((one) => one === term).length;
        const norm = 1.2 * (1 - 0.75 + (0.75 * Math.max(16, terms.length)) / mean);
        return sum + (idf * frequency * 2.2) / (frequency + norm);
      }, 0);
      return [session, score] as const;
    });
    const best = Math.max(...scores.map(([, score]) => score));
    return new Map(scores.map(([session, score]) => [session, best === 0 ? 0 : (0.2 * score) / best / 5.4]));
  };
  const check = (turns: readonly JsonObject[], context: Partial<CallContext> = {}, what = ''): void => {
    const { store } = engine;
    const vectors = vectorsOf(
      engine,
      Object.fromEntries(turns.map(({ content }, i) => [String(content), 0.5 + i / 50])),
    );
    const caller = { ...contextOf(1), ...context };
    const { hits } = recall(store, store.memory(1), caller, { ...all, query }, { vectors });
    assert.equal(hits.length, turns.length, what);
    const scores = expected(turns);
    for (const { grain, breakdown } of hits) {
      const wanted = scores.get(String(grain.fields['session_id']))!;
      assert.ok(Math.abs(breakdown.pooled - wanted) < 1e-9, `${what}: ${breakdown.pooled}, not ${wanted}`);
    }
  };
  const ofAda = (turns: readonly JsonObject[]): JsonObject[] => turns.filter(({ user_id }) => user_id === 'ada');
  const hashes = await add(engine, first);
  check(first, {}, 'in a tail');
  check(ofAda(first), { userId: 'ada' }, 'a bound caller');
  await engine.write('flush', contextOf(1), {});
  check(first, {}, 'in a segment');
  check(ofAda(first), { userId: 'ada' }, 'a bound caller, in a segment');
  await add(engine, later);
  check([...first, ...later], {}, 'in both');
  check(ofAda([...first, ...later]), { userId: 'ada' }, 'a bound caller, in both');
  await engine.write('forget', contextOf(1), { hashes: [hashes[1]!, hashes[4]!], check: false });
  const left = [...first, ...later].filter((one) => one !== first[1] && one !== first[4]);
  check(left, {}, 'after a removal');
  await engine.write('eraseUser', contextOf(1), { userId: 'ben' });
  check(ofAda(left), {}, 'after an erasure');
  const words = ask(engine, query).hits;
  assert.ok(words.length > 0 && words.every(({ breakdown }) => breakdown.pooled === 0), 'not without vectors');
});

test('pairs distinguish what words do not', async (t) => {
  const { engine } = await opened(t);
  await add(engine, [
    turn(0, 'red harbour and a green lantern', { session_id: 'a' }),
    turn(1, 'green harbour and a red lantern', { session_id: 'b' }),
  ]);
  const hits = ask(engine, 'red lantern').hits;
  assert.deepEqual(contents(hits), ['green harbour and a red lantern', 'red harbour and a green lantern']);
  assert.equal(hits[0]!.breakdown.phrase, 0.3 / 5.4);
  assert.equal(hits[1]!.breakdown.phrase, 0);
});

/** The parts of an answer that must not depend on where the grains are stored. */
function comparable({ hits, total, coverage }: ReturnType<typeof ask>): unknown {
  return [total, coverage, hits.map(({ grain, ...scores }) => [grain.hash, scores])];
}

test('seals, merges, purges and replays keep the context, and late turns find their place', async (t) => {
  const { engine, root } = await opened(t);
  const questions = ['saffron', 'where is the upper shelf', 'when did Ada thank you', 'night hello'];
  const similar = { 'thank you': 0.9, 'hello from elsewhere': 0.8, 'after the secret': 0.4 };
  const answers = (of: Engine): unknown =>
    questions.flatMap((query) => [
      comparable(ask(of, query)),
      // With vectors, the words of sessions are pooled.
      comparable(ask(of, query, {}, vectorsOf(of, similar))),
    ]);
  const flush = (of: Engine) => of.write('flush', contextOf(1), {});
  const bare = await opened(t);
  const rounds = [
    CONVERSATION,
    // A late turn that belongs in between, another session, and a user who is erased.
    [
      turn(1, 'Ada: between the saffron and the shelf?', {}),
      turn(2, 'hello from elsewhere', { session_id: 's2', speaker: 'Ada' }),
    ],
    [turn(4, 'a secret saffron', { user_id: 'gone' }), turn(5, 'after the secret', { role: 'user' })],
  ];
  for (const items of rounds) {
    await add(engine, items);
    await add(bare.engine, items);
    assert.deepEqual(answers(engine), answers(bare.engine));
    await flush(engine);
    assert.deepEqual(answers(engine), answers(bare.engine));
  }
  assert.ok(engine.store.parts(1).length > 1, 'the sessions lie in several parts');
  await engine.write('eraseUser', contextOf(1), { userId: 'gone' });
  await bare.engine.write('eraseUser', contextOf(1), { userId: 'gone' });
  assert.deepEqual(answers(engine), answers(bare.engine));
  while (engine.maintain(50));
  await engine.write('compact', contextOf(1), {});
  assert.equal(engine.store.parts(1).filter(({ docCount }) => docCount > 0).length, 1);
  assert.deepEqual(answers(engine), answers(bare.engine));
  await engine.abandon();
  const again = await opened(t, root);
  assert.deepEqual(answers(again.engine), answers(bare.engine));
  await again.engine.write('rebuildIndexes', contextOf(1), {});
  assert.deepEqual(answers(again.engine), answers(bare.engine));
});

test('a session of 10,000 turns works when most are removed or out of order', async (t) => {
  const { engine } = await opened(t);
  const turns = Array.from({ length: 10_000 }, (_, i) =>
    // Later turns arrive first, and a hundred share one time.
    turn(10_000 - Math.floor(i / 100), `turn ${i} of many ${i % 1_000 === 0 ? 'saffron' : 'words'}?`, {
      role: i % 2 === 0 ? 'user' : 'assistant',
    }),
  );
  const hashes = await add(engine, turns);
  const before = ask(engine, 'saffron').hits;
  assert.deepEqual(contents(before).filter((content) => content.includes('saffron')).length, 10);
  const at = (i: number, hits: readonly RecallHit[]): RecallHit | undefined =>
    hits.find(({ grain }) => grain.fields['content'] === turns[i]!['content']);
  // 5000 is the first of its second; before it in time comes 5199, the last of the second before.
  assert.ok(at(5_199, before) !== undefined && at(5_001, before) !== undefined && at(4_999, before) === undefined);
  const gone = hashes.slice(5_001, 5_099);
  await engine.write('forget', contextOf(1), { hashes: gone, check: false });
  const after = ask(engine, 'saffron').hits;
  assert.ok(at(5_099, after) !== undefined, 'removed turns are skipped, however many');
  await engine.write('flush', contextOf(1), {});
  assert.deepEqual(contents(ask(engine, 'saffron').hits), contents(after));
});

test('unusual texts are found or refused, and cause no bug', async (t) => {
  const { engine } = await opened(t);
  const texts = [
    '::::',
    ': : :',
    'a: b: c: ?',
    '?',
    ' ',
    'x:'.repeat(5_000),
    `${'n '.repeat(60)}: saffron`,
    '\u202eabc: saffron',
    '🙂: saffron?',
  ];
  await add(
    engine,
    texts.map((content, i) =>
      turn(i, content, { speaker: i % 2 === 0 ? ':' : ' '.repeat(500) + 'S'.repeat(400), role: '' }),
    ),
  );
  await add(engine, [
    {
      content_blocks: [{ type: 'text', text: '' }],
      content: '',
      subject: 'saffron',
      created_at: START + 50,
      session_id: 's1',
    },
  ]);
  for (const query of ['saffron', ':', '?', 'when', 'x', 'S'.repeat(400), '"saffron', 'speaker:x saffron']) {
    const { hits } = ask(engine, query);
    for (const { score, breakdown } of hits) {
      assert.ok(score >= 0 && score <= 1);
      assert.equal(score, Math.min(1, sumOfTerms(breakdown)));
    }
  }
  await engine.write('flush', contextOf(1), {});
  assert.ok(ask(engine, 'saffron').hits.length >= 4);
});

/** A value of every member of a query. A new member does not compile without one. */
const EVERY_MEMBER: Required<RecallQuery> = {
  vector: { bytes: new Uint8Array(16), of: 'saffron' },
  options: {},
  query: 'saffron',
  operators: false,
  filter: {},
  limit: 5,
  askedLimit: 5,
  candidateLimit: 25,
  structural: false,
  wordsOnly: false,
  showExcluded: true,
  record: { asked: true },
  tellBeyond: true,
};
/** Members that others read: the shard's vectors, the stages, the policy's cap, and the trail of recalls. */
const READ_ELSEWHERE = ['vector', 'options', 'askedLimit', 'record'];

test('a search reads every member of its query', async (t) => {
  const { engine } = await opened(t);
  await add(engine, CONVERSATION);
  const read = new Set<string>();
  const query = new Proxy(EVERY_MEMBER, {
    get: (target, name) => {
      read.add(String(name));
      return Reflect.get(target, name);
    },
    ownKeys: () => assert.fail('a copy of the query reads all members, also those that nothing needs'),
  });
  const { store } = engine;
  assert.ok(recall(store, store.memory(1), contextOf(1), query).hits.length > 0);
  const unread = Object.keys(EVERY_MEMBER).filter((name) => !read.has(name));
  assert.deepEqual(unread, READ_ELSEWHERE, 'members of RecallQuery that no search reads');
});
