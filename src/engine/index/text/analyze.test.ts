import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { TERM_CHARS_MAX, TERM_NUMBERS_MAX, WORD_TABLE_MAX } from '../../base/limits.ts';
import { anyText } from '../../base/testing/any-text.ts';
import { ANALYZER_VERSION, analyzer, bothPaths } from './analyze.ts';
import { language, languageCode, STEMMED_LANGUAGES } from './languages.ts';
import { TextTail } from './tail.ts';
import { termNumbers, textOf } from './term-numbers.ts';
import { TABLE_WORD_BYTES_MAX, TEXT_UNITS_MAX } from './word-kernel.ts';

const english = analyzer('en');
const terms = (text: string, tag = 'en'): readonly string[] => analyzer(tag).analyze(text).terms;

test('english words are lower-cased, stripped, stemmed; stop words leave gaps', () => {
  assert.deepEqual(english.analyze("The engineers WERE building John's bridges."), {
    terms: ['engin', 'build', 'john', 'bridg'],
    positions: [1, 3, 4, 5],
  });
  assert.deepEqual(english.analyze(''), { terms: [], positions: [] });
  assert.deepEqual(english.analyze("who was it that I'd been with?"), { terms: [], positions: [] });
});

test('a scan is overwritten by the next one, and gives the same terms', () => {
  const texts = ['one long text about engineers, and their 2 bridges', 'short', '', '東京', 'another'];
  for (const text of texts) {
    const own = english.analyze(text);
    assert.deepEqual(textOf(english.scan(text)), own, text);
  }
  const first = english.analyze('bridges');
  english.scan('tunnels');
  assert.deepEqual(first.terms, ['bridg']);
});

test('a text as long as one call of the kernel takes, longer ones, and a shorter one after them agree with the general path', () => {
  const { scanned, general } = bothPaths('en');
  const long = "the engineers’ bridges, dog's 2 naïve ".repeat(1_000);
  const around = [TEXT_UNITS_MAX, 2 * TEXT_UNITS_MAX].flatMap((length) => [length - 1, length, length + 1]);
  for (const length of [...around, long.length]) {
    for (const end of ["'", 'o', '東']) {
      const text = long.slice(0, length - 1) + end;
      assert.deepEqual(textOf(scanned.scan(text)), general(text), `${length} ${end}`);
      assert.deepEqual(textOf(scanned.scan("7's'")), general("7's'"));
    }
  }
  for (const text of [
    'é'.repeat(3 * TEXT_UNITS_MAX),
    '’'.repeat(TEXT_UNITS_MAX),
    `${'é '.repeat(2 * TEXT_UNITS_MAX)}x`,
  ])
    assert.deepEqual(textOf(scanned.scan(text)), general(text));
});

test('three texts are scanned as if they were joined by spaces', () => {
  const { scanned, general } = bothPaths('en');
  const side = fc.oneof(
    fc.constantFrom('', ' ', "o'", "'s", 'engineers', '東京', 'cafe\u0301', '\u0301', '7', '\ud800', '\udc00'),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.nat(3).map((more) => 'bridges '.repeat(TEXT_UNITS_MAX / 24 + more)),
  );
  fc.assert(
    fc.property(side, side, side, (first, second, third) => {
      const joined = `${first} ${second} ${third}`;
      assert.deepEqual(textOf(scanned.scanThree(first, second, third)), general(joined));
    }),
    { numRuns: 300 },
  );
});

test('apostrophes join inside a word, in both shapes, and a contraction is not the word its letters spell', () => {
  assert.deepEqual(terms("O'Brien o’brien"), ['obrien', 'obrien']);
  assert.deepEqual(terms("I'd I’ll we'll dogs' 'quoted'"), ['dog', 'quot']);
  assert.deepEqual(terms('my id is ill, shell'), ['my', 'id', 'ill', 'shell']);
});

test('compatibility forms, capitals and dotted capitals are folded', () => {
  assert.deepEqual(terms('ﬁnance'), terms('finance'));
  assert.deepEqual(terms('ＡＢＣ１２３'), ['abc123']);
  assert.deepEqual(terms('İstanbul'), ['istanbul']);
  assert.deepEqual(terms('cafe\u0301'), ['café']);
});

test('numbers and keys are not stemmed, and long words are cut', () => {
  assert.deepEqual(terms('2023 3d web3 10s'), ['2023', '3d', 'web3', '10s']);
  const long = 'x'.repeat(500);
  assert.deepEqual(terms(long), ['x'.repeat(TERM_CHARS_MAX)]);
  assert.deepEqual(terms('𝔘'.repeat(5)), ['uuuuu']);
  assert.ok(terms('𐐨'.repeat(40)).every((term) => term.isWellFormed()));
});

test('chinese, japanese and korean are cut into pairs in any language', () => {
  assert.deepEqual(english.analyze('我在東京 x 京'), {
    terms: ['我在', '在東', '東京', 'x', '京'],
    positions: [0, 1, 2, 3, 4],
  });
  assert.deepEqual(terms('iPhone手机'), ['iphon', '手机']);
  assert.deepEqual(terms('コーヒー'), ['コー', 'ーヒ', 'ヒー']);
  assert.deepEqual(terms('한국어를'), ['한국', '국어', '어를']);
  assert.deepEqual(terms('𠀀𠀁𠀂', 'ja'), ['𠀀𠀁', '𠀁𠀂']);
});

test('thai is cut into words by a dictionary, devanagari keeps its vowels', () => {
  assert.deepEqual(terms('ภาษาไทยง่าย'), ['ภาษา', 'ไทย', 'ง่าย']);
  assert.deepEqual(terms('हिन्दी', 'en'), ['हिन्दी']);
});

test('other languages have their stemmer, stop words and elisions', () => {
  assert.deepEqual(terms('Die Häuser der Stadt', 'de'), ['haus', 'stadt']);
  assert.deepEqual(terms('die zwei Jahre', 'de'), ['zwei', 'jahr']);
  assert.deepEqual(terms("L'homme qu’il aimait", 'fr'), ['homm', 'aim']);
  assert.deepEqual(terms('los gatos', 'es'), ['gat']);
  assert.deepEqual(terms('я вижу города', 'ru'), ['виж', 'город']);
  assert.deepEqual(terms('the cats', 'xx'), ['the', 'cats']);
});

test('every stemmer loads and takes any word', () => {
  assert.equal(STEMMED_LANGUAGES.length, 28);
  for (const code of STEMMED_LANGUAGES) {
    const { stem, stopWords } = language(code);
    assert.ok(stopWords instanceof Set);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 12 }), (word) => typeof stem(word) === 'string'),
      { numRuns: runs(50) },
    );
  }
});

test('names identify how an index was made', () => {
  assert.equal(english.name, `en/porter2/${ANALYZER_VERSION}`);
  assert.equal(analyzer('pt-BR').name, `pt/snowball/${ANALYZER_VERSION}`);
  assert.equal(analyzer('nb').name, `no/snowball/${ANALYZER_VERSION}`);
  assert.equal(analyzer('!').name, `und/words/${ANALYZER_VERSION}`);
  assert.equal(languageCode('EN_us'), 'en');
  assert.equal(analyzer('constructor').name, `und/words/${ANALYZER_VERSION}`);
});

const latin = fc.string({
  unit: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(..."abcdefgst IST'’ \n.-éÀßÿ01") },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) },
    { weight: 1, arbitrary: fc.integer({ min: 0x2000, max: 0x2070 }).map((code) => String.fromCharCode(code)) },
  ),
  maxLength: 120,
});

/** Words that differ in one byte, or in their lengths, about the longest that the kernel's table holds. */
const alike = fc
  .array(
    fc
      .tuple(fc.constantFrom('a', 'é', '’b', 'Z'), fc.integer({ min: 0, max: TABLE_WORD_BYTES_MAX + 2 }), fc.nat(3))
      .map(([unit, length, end]) => unit.repeat(length).slice(0, length) + 'abcÀ'.charAt(end)),
  )
  .map((found) => found.join(' '));

test('the kernel gives the same result as the general path, for new words and for known ones', () => {
  for (const code of ['en', 'fr', 'de', 'xx']) {
    const { scanned, general } = bothPaths(code);
    fc.assert(
      fc.property(fc.oneof(latin, anyText(), alike), (text) => {
        const expected = general(text);
        assert.deepEqual(scanned.analyze(text), expected);
        assert.deepEqual(scanned.analyze(text), expected);
        assert.deepEqual(textOf(scanned.scan(text)), expected);
      }),
      { numRuns: runs(100) },
    );
  }
});

test('a tail has the same words from the kernel as from the general path', () => {
  const { scanned, general } = bothPaths('en');
  const contentOf = (tail: TextTail): unknown => ({
    terms: [...tail.vocabulary()],
    lengths: [...tail.lengths.subarray(0, tail.docCount)],
    total: tail.totalLength,
    places: tail.names.map((term) => {
      const postings = tail.postings(term)!;
      const docs = [...postings.docs.subarray(0, postings.count)];
      return docs.map((doc) => [doc, ...tail.positions(term, doc)]);
    }),
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.oneof(latin, anyText(), alike), fc.boolean())), (texts) => {
      const kernel = new TextTail();
      const plain = new TextTail();
      for (const [doc, [text, asks]] of texts.entries()) {
        kernel.add(doc, scanned.scan(text));
        plain.add(doc, general(text));
        // A query unrolls the list of a term, which later texts then continue.
        if (asks) kernel.postings(kernel.names[0] ?? '');
      }
      assert.deepEqual(contentOf(kernel), contentOf(plain));
    }),
    { numRuns: runs(100) },
  );
});

test('any text gives terms within bounds, ascending positions, and the same result again', () => {
  fc.assert(
    fc.property(fc.oneof(anyText({ maxLength: 300 }), fc.string({ unit: 'grapheme' })), (text) => {
      const first = english.analyze(text);
      assert.equal(first.terms.length, first.positions.length);
      for (const term of first.terms) assert.ok(term.length > 0 && term.length <= TERM_CHARS_MAX * 2);
      for (let i = 1; i < first.positions.length; i++) assert.ok(first.positions[i]! > first.positions[i - 1]!);
      assert.deepEqual(english.analyze(text), first);
    }),
  );
});

test('words beyond the capacity of the table and of the numbers give the same terms', () => {
  const { scanned } = bothPaths('en');
  const before = scanned.analyze('running horses');
  const tail = new TextTail();
  tail.add(0, scanned.scan('running horses run'));
  const { epoch } = termNumbers;
  // A word with a digit is its own term. Many words of a full table share a slot, and all but their last bytes.
  const wordOf = (i: number): string => `${'x'.repeat((i % 3) * 8)}${i.toString(36).padStart(5, '7')}`;
  let numberOf = new Map<number, string>();
  let epochSeen = epoch;
  for (let i = 0; i < Math.max(WORD_TABLE_MAX, TERM_NUMBERS_MAX) * 2; i += 64) {
    const expected = Array.from({ length: 64 }, (_, j) => wordOf(i + j));
    const scan = scanned.scan([...expected, ...expected].join(' '));
    assert.deepEqual(textOf(scan).terms, [...expected, ...expected]);
    if (termNumbers.epoch !== epochSeen) {
      numberOf = new Map();
      epochSeen = termNumbers.epoch;
    }
    for (let at = scan.start; at < scan.start + scan.count * 2; at += 2) {
      const term = termNumbers.term(scan.pairs[at]!);
      assert.equal(numberOf.get(scan.pairs[at]!) ?? term, term, 'a number never identifies two terms of an epoch');
      numberOf.set(scan.pairs[at]!, term);
    }
  }
  assert.ok(epochSeen > epoch, 'an epoch ended');
  assert.deepEqual(scanned.analyze('running horses'), before);
  // A tail that had the terms by their old numbers.
  tail.add(1, scanned.scan('a horse runs, new words'));
  tail.add(2, scanned.scan('words of horses'));
  assert.deepEqual(
    [...tail.vocabulary()],
    [
      ['run', 2],
      ['hors', 3],
      ['new', 1],
      ['word', 2],
    ],
  );
  assert.deepEqual([...tail.postings('hors')!.docs.subarray(0, 3)], [0, 1, 2]);
});
