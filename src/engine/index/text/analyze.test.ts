import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { TERM_CHARS_MAX, WORD_CACHE_MAX } from '../../base/limits.ts';
import { anyText } from '../../base/testing/any-text.ts';
import type { AnalyzedText } from '../parts/part.ts';
import { ANALYZER_VERSION, analyzer, bothPaths } from './analyze.ts';
import { language, languageCode, STEMMED_LANGUAGES } from './languages.ts';

const english = analyzer('en');
const terms = (text: string, tag = 'en'): readonly string[] => analyzer(tag).analyze(text).terms;
/** Without the numbers, which depend on the texts analysed before. */
const words = ({ terms: found, positions }: AnalyzedText): AnalyzedText => ({ terms: found, positions });

test('english words are lower-cased, stripped, stemmed; stop words leave gaps', () => {
  assert.deepEqual(words(english.analyze("The engineers WERE building John's bridges.")), {
    terms: ['engin', 'build', 'john', 'bridg'],
    positions: [1, 3, 4, 5],
  });
  assert.deepEqual(words(english.analyze('')), { terms: [], positions: [] });
  assert.deepEqual(words(english.analyze("who was it that I'd been with?")), { terms: [], positions: [] });
});

test('the arrays of a scan are those of the next one, and the same terms for each', () => {
  const texts = ['one long text about engineers, and their 2 bridges', 'short', '', '東京', 'another'];
  for (const text of texts) {
    const own = english.analyze(text);
    const scanned = english.scan(text);
    const count = scanned.count ?? scanned.terms.length;
    const { terms: found, positions, numbers } = scanned;
    const cut = {
      terms: found.slice(0, count),
      positions: positions.slice(0, count),
      numbers: numbers?.slice(0, count),
    };
    assert.deepEqual(cut, { numbers: undefined, ...own }, text);
  }
  const first = english.analyze('bridges');
  english.scan('tunnels');
  assert.deepEqual(first.terms, ['bridg']);
});

test('a text as long as the scanner keeps room for, one longer, and a shorter one after them agree with the general path', () => {
  const { scanned, general } = bothPaths('en');
  const cut = ({ terms: found, positions, count }: AnalyzedText): AnalyzedText => ({
    terms: found.slice(0, count),
    positions: positions.slice(0, count),
  });
  const long = "the engineers’ bridges, dog's 2 naïve ".repeat(1_000);
  for (const length of [16_383, 16_384, 16_385, long.length]) {
    for (const end of ["'", 'o', '東']) {
      const text = long.slice(0, length - 1) + end;
      assert.deepEqual(cut(scanned.scan(text)), general(text), `${length} ${end}`);
      assert.deepEqual(cut(scanned.scan("7's'")), general("7's'"));
    }
  }
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

test('the scanner gives the same result as the general path', () => {
  for (const code of ['en', 'fr', 'de', 'xx']) {
    const { scanned, general } = bothPaths(code);
    fc.assert(
      fc.property(fc.oneof(latin, anyText()), (text) => {
        assert.deepEqual(words(scanned.analyze(text)), general(text));
      }),
      { numRuns: runs(100) },
    );
  }
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

test('words beyond the capacity of the cache give the same terms', () => {
  const { scanned } = bothPaths('en');
  const before = scanned.analyze('running horses');
  const termOf = new Map<number, string>();
  for (let i = 0; i < WORD_CACHE_MAX * 3; i += 64) {
    const { terms: found, numbers } = scanned.analyze(
      Array.from({ length: 64 }, (_, j) => `q${(i + j).toString(36)}`).join(' '),
    );
    assert.equal(numbers?.length, found.length);
    for (const [at, term] of found.entries()) {
      const number: number = numbers![at]!;
      assert.equal(termOf.get(number) ?? term, term, 'a number never names two terms');
      termOf.set(number, term);
    }
  }
  assert.deepEqual(words(scanned.analyze('running horses')), words(before));
});
