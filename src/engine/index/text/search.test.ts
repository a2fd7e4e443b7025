import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { CorruptBlock } from '../files/section.ts';
import type { AnalyzedText } from '../parts/part.ts';
import { analyzer } from './analyze.ts';
import { countedLength, inverseDocumentFrequency, lengthNorm, termScore } from './bm25.ts';
import { chunkOf, tailOf } from './congruence.ts';
import { parseQuery, type TextClause, type TextQuery } from './query.ts';
import { scoreFloor } from './score-floor.ts';
import { collectStatistics, docBits, searchText, type TextStatistics, weightsOf } from './search.ts';
import type { SearchPart } from './search-part.ts';
import { termListsOf } from './term-list.ts';

interface Doc {
  readonly text: AnalyzedText;
  readonly removed: boolean;
  readonly allowed: boolean;
  readonly createdAtMs: number;
}

const word = fc.constantFrom('a', 'a', 'a', 'b', 'b', 'c', 'd', 'e', 'f');
const doc: fc.Arbitrary<Doc> = fc.record({
  text: fc
    .array(word, { maxLength: 30 })
    .map((terms): AnalyzedText => ({ terms, positions: terms.map((_, position) => position) })),
  removed: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  // Few docs of most parts are allowed, so that both ways of searching are taken.
  allowed: fc.integer({ min: 0, max: 6 }).map((n) => n === 0),
  createdAtMs: fc.nat(3),
});
const clause: fc.Arbitrary<TextClause> = fc.record({
  required: fc.boolean(),
  terms: fc.array(word, { minLength: 1, maxLength: 2 }),
  offsets: fc.constant([0, 1]),
});
const query = fc
  .record({
    words: fc.array(fc.oneof(word, fc.constant('none')), { maxLength: 6 }),
    clauses: fc.array(clause, { maxLength: 2 }),
  })
  .map(({ words, clauses }) =>
    makeQuery([...words, ...clauses.flatMap((one) => (one.required ? one.terms : []))], clauses),
  );

function makeQuery(words: readonly string[], clauses: readonly TextClause[] = []): TextQuery {
  return { terms: [...new Set(words)], pairs: [], clauses, fields: [], truncated: false };
}

/** Cuts docs into parts of `size`, alternating between tails and chunks. */
function partsOf(docs: readonly Doc[], size: number, chronological: boolean): SearchPart[] {
  const parts: SearchPart[] = [];
  for (let start = 0; start < docs.length; start += size) {
    const run = docs.slice(start, start + size);
    const texts = run.map((one) => one.text);
    const allowedDocs = Uint32Array.from(run.flatMap((one, at) => (one.allowed ? [at] : [])));
    parts.push({
      text: parts.length % 2 === 0 ? chunkOf(texts) : tailOf(texts),
      removed: (at) => run[at]!.removed,
      allowed: docBits(allowedDocs, run.length),
      allowedDocs,
      createdAtMs: Float64Array.from(run, (one) => one.createdAtMs),
      ordinals: Uint32Array.from(run, (_, at) => start + at),
      chronological,
    });
  }
  return parts;
}

interface Found {
  readonly ordinal: number;
  readonly score: number;
}

/** The model: scores every live doc in full, checks and sorts. */
function exhaustive(docs: readonly Doc[], asked: TextQuery, limit: number): Found[] {
  const live = docs.filter((one) => !one.removed);
  const mean = live.reduce((sum, one) => sum + countedLength(one.text.terms.length), 0) / live.length;
  const found: (Found & { createdAtMs: number })[] = [];
  for (const [ordinal, one] of docs.entries()) {
    if (one.removed || !one.allowed) continue;
    const { terms } = one.text;
    if (!asked.clauses.every((each) => holds(terms, each) === each.required)) continue;
    let score = 0;
    for (const term of asked.terms) {
      const frequency = terms.filter((each) => each === term).length;
      if (frequency === 0) continue;
      const df = live.filter((each) => each.text.terms.includes(term)).length;
      score += termScore(inverseDocumentFrequency(live.length, df), frequency, lengthNorm(terms.length, mean));
    }
    if (score > 0) found.push({ ordinal, score, createdAtMs: one.createdAtMs });
  }
  found.sort((a, b) => b.score - a.score || b.createdAtMs - a.createdAtMs || b.ordinal - a.ordinal);
  return found.slice(0, limit).map(({ ordinal, score }) => ({ ordinal, score }));
}

function holds(terms: readonly string[], { terms: phrase }: TextClause): boolean {
  return terms.some((_, at) => phrase.every((term, i) => terms[at + i] === term));
}

function search(parts: readonly SearchPart[], asked: TextQuery, statistics: TextStatistics, limit: number): Found[] {
  return searchText(parts, asked, statistics, limit).map(({ part, doc: at, score }) => ({
    ordinal: parts[part]!.ordinals![at]!,
    score,
  }));
}

test('a search gives the same as scoring everything, with ties, filters and clauses, for every split into parts', () => {
  fc.assert(
    fc.property(
      fc.array(doc, { minLength: 1, maxLength: 60 }),
      query,
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 12 }),
      fc.boolean(),
      (unordered, asked, size, limit, chronological) => {
        const docs = chronological ? unordered.toSorted((a, b) => a.createdAtMs - b.createdAtMs) : unordered;
        const parts = partsOf(docs, size, chronological);
        assert.deepEqual(
          search(parts, asked, collectStatistics(parts, asked.terms), limit),
          exhaustive(docs, asked, limit),
        );
      },
    ),
    { numRuns: runs(500) },
  );
});

for (const [name, isAllowed] of [
  ['most', (n: number) => n >= 4],
  ['few', (n: number) => n === 0],
  ['some', (n: number) => n % 5 === 0],
  ['no', () => false],
] as const)
  test(`long lists, many windows and many ties give the same as scoring everything, where ${name} docs are allowed`, () =>
    compareLong(isAllowed));

/** `isAllowed` decides by a number from 0 to 39. */
function compareLong(isAllowed: (n: number) => boolean): void {
  let seed = 11;
  const next = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  const docs = Array.from({ length: 10_000 }, (_, at): Doc => {
    const terms = Array.from({ length: 4 + next(24) }, () => `t${Math.floor(2 ** (next(1_000) / 100)) - 1}`);
    return {
      text: { terms, positions: terms.map((_one, i) => i) },
      removed: next(10) === 0,
      allowed: isAllowed(next(40)),
      createdAtMs: at >> 4,
    };
  });
  const whole = partsOf(docs, 10_000, true);
  const cut = partsOf(docs, 3_000, true);
  for (const terms of [['t0'], ['t0', 't1'], ['t0', 't5', 't900'], ['t1', 't2', 't3', 't4', 't77', 't300'], ['t511']]) {
    const asked = makeQuery(terms);
    const expected = exhaustiveFast(docs, asked, 50);
    for (const parts of [whole, cut]) {
      assert.deepEqual(search(parts, asked, collectStatistics(parts, terms), 50), expected, terms.join());
    }
  }
}

function exhaustiveFast(docs: readonly Doc[], asked: TextQuery, limit: number): Found[] {
  const wanted = new Set(asked.terms);
  const few = docs.map((one) => ({
    ...one,
    kept: new Set(one.text.terms.filter((term) => wanted.has(term))),
  }));
  const live = few.filter((one) => !one.removed);
  const mean = live.reduce((sum, one) => sum + countedLength(one.text.terms.length), 0) / live.length;
  const weights = asked.terms.map((term) =>
    inverseDocumentFrequency(live.length, live.filter((one) => one.kept.has(term)).length),
  );
  return few
    .map((one, ordinal) => {
      let score = 0;
      for (const [i, term] of asked.terms.entries()) {
        if (!one.kept.has(term)) continue;
        const frequency = one.text.terms.filter((each) => each === term).length;
        score += termScore(weights[i]!, frequency, lengthNorm(one.text.terms.length, mean));
      }
      return { ordinal, score, createdAtMs: one.createdAtMs, live: !one.removed && one.allowed };
    })
    .filter((one) => one.live && one.score > 0)
    .sort((a, b) => b.score - a.score || b.createdAtMs - a.createdAtMs || b.ordinal - a.ordinal)
    .slice(0, limit)
    .map(({ ordinal, score }) => ({ ordinal, score }));
}

test('as many docs as are wanted reach the floor of a search, and it is often the score of the last of them', () => {
  let exact = 0;
  fc.assert(
    fc.property(
      fc.array(doc, { minLength: 30, maxLength: 120 }),
      fc.uniqueArray(word, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 120 }),
      fc.integer({ min: 1, max: 4 }),
      (docs, terms, size, limit) => {
        const parts = partsOf(docs, size, false);
        const weights = weightsOf(terms, collectStatistics(parts, terms));
        const lists = parts.map(({ text }) => termListsOf(text, terms, weights));
        const floor = scoreFloor(parts, lists, weights.norms, limit);
        const scores = exhaustive(docs, makeQuery(terms), docs.length).map(({ score }) => score);
        assert.ok(floor === Number.NEGATIVE_INFINITY || scores.filter((score) => score >= floor).length >= limit);
        if (scores[limit - 1] === floor) exact += 1;
      },
    ),
    { numRuns: runs(300) },
  );
  assert.ok(exact > runs(300) / 10, `${exact}`);
});

test('statistics count live docs exactly, whether the removed ones are listed or tested one by one', () => {
  fc.assert(
    fc.property(fc.array(doc, { minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 40 }), (docs, size) => {
      const terms = ['a', 'b', 'none'];
      const parts = partsOf(docs, size, false);
      const live = docs.filter((one) => !one.removed);
      const expected: TextStatistics = {
        docs: live.length,
        totalLength: live.reduce((sum, one) => sum + countedLength(one.text.terms.length), 0),
        documentFrequency: new Map(
          terms.flatMap((term): [string, number][] => {
            const count = live.filter((one) => one.text.terms.includes(term)).length;
            return count === 0 ? [] : [[term, count]];
          }),
        ),
      };
      const listed = parts.map((part): SearchPart => {
        const removed = [...Array(part.text.docCount).keys()].filter((at) => part.removed!(at));
        return { ...part, removedDocs: Uint32Array.from(removed) };
      });
      for (const each of [parts, listed]) {
        const { docs: count, totalLength, documentFrequency } = collectStatistics(each, terms);
        assert.deepEqual(
          { docs: count, totalLength, documentFrequency: new Map([...documentFrequency].sort()) },
          expected,
        );
      }
    }),
  );
});

test('the counted docs of long and short lists are the same when asked again', () => {
  const text = tailOf(
    Array.from({ length: 3_000 }, (_, at) => {
      const terms = ['everywhere', ...(at % 7 === 0 ? ['seldom'] : [])];
      return { terms, positions: terms.map((_, position) => position) };
    }),
  );
  const docs = Array.from({ length: 3_000 }, (_, at) => at).filter((at) => at % 5 !== 0);
  const counted = { count: docs.length, docs: docBits(docs, 3_000), totalLength: docs.length, frequencies: new Map() };
  const part: SearchPart = { text, removed: undefined, allowed: undefined, counted };
  for (let time = 0; time < 2; time++) {
    const { documentFrequency } = collectStatistics([part], ['everywhere', 'seldom', 'never']);
    assert.deepEqual(
      [...documentFrequency],
      [
        ['everywhere', 2_400],
        ['seldom', docs.filter((at) => at % 7 === 0).length],
      ],
    );
  }
  assert.deepEqual([...counted.frequencies.keys()], ['everywhere']);
});

test('a search handles phrases, required and forbidden words', () => {
  const english = analyzer('en');
  const texts = [
    'Anna drinks green tea every morning',
    'the tea that Anna likes is not green',
    'coffee with milk',
    'green coffee beans and black tea',
  ];
  const text = tailOf(texts.map((one) => english.analyze(one)));
  const parts: SearchPart[] = [{ text, removed: undefined, allowed: undefined }];
  const ask = (words: string): number[] => {
    const asked = parseQuery(words, english);
    return searchText(parts, asked, collectStatistics(parts, asked.terms), 10)
      .map((hit) => hit.doc)
      .sort();
  };
  assert.deepEqual(ask('green tea'), [0, 1, 3]);
  assert.deepEqual(ask('"green tea"'), [0]);
  assert.deepEqual(ask('tea -coffee'), [0, 1]);
  assert.deepEqual(ask('tea -"green tea"'), [1, 3]);
  assert.deepEqual(ask('coffee +green'), [0, 1, 3]);
  assert.deepEqual(ask('+coffee +green'), [3]);
  assert.deepEqual(ask('+coffee +nothing'), []);
  assert.deepEqual(ask('tea -nothing'), [0, 1, 3]);
  assert.deepEqual(ask('"tea that Anna"'), [1], 'stop words in a phrase keep their place');
  assert.deepEqual(ask('"tea Anna"'), []);
  assert.deepEqual(ask('who is it'), []);
});

test('a search that a bad block ends changes no later one', () => {
  const english = analyzer('en');
  const texts = ['green tea', 'green leaves and tea', 'tea that is green'].map((one) => english.analyze(one));
  const whole: SearchPart[] = [{ text: chunkOf(texts), removed: undefined, allowed: undefined }];
  const ask = (parts: readonly SearchPart[], words: string) => {
    const asked = parseQuery(words, english);
    return searchText(parts, asked, collectStatistics(whole, asked.terms), 10);
  };
  const expected = ['green tea', '+green tea'].map((words) => ask(whole, words));
  for (const words of ['"green tea"', 'tea -"green tea"']) {
    const text = chunkOf(texts);
    text.occurrences = () => {
      throw new CorruptBlock('segment', 0, 'block checksum does not fit');
    };
    assert.throws(() => ask([{ text, removed: undefined, allowed: undefined }], words), CorruptBlock);
    assert.deepEqual(
      ['green tea', '+green tea'].map((again) => ask(whole, again)),
      expected,
      words,
    );
  }
});

test('an empty search finds nothing', () => {
  const empty: TextStatistics = { docs: 0, totalLength: 0, documentFrequency: new Map() };
  assert.deepEqual(searchText([], makeQuery(['a']), empty, 10), []);
  const parts: SearchPart[] = [{ text: tailOf([]), removed: undefined, allowed: undefined }];
  assert.deepEqual(searchText(parts, makeQuery(['a']), collectStatistics(parts, ['a']), 10), []);
});
