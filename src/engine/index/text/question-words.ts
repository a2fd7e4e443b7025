// The words of a question that tell nothing about its subject: pronouns, question words, auxiliaries, articles,
// prepositions. A question that is ranked with vectors and context does not score them. They stay terms of texts and of
// searches by words alone, so an index never depends on these lists.
//
// People ask in their own language whatever language their memory has, so the language is recognised by the function
// words of the question. English questions in an English memory leave out pronouns alone, because the analyser already
// drops the rest: half of a chat's turns contain `I` and `you`, and the first person has a turn flag of its own.
import type { Analyzer } from './analyze.ts';
import { BIGRAM_CLASS, eachBigram } from './cjk.ts';
import { FUNCTION_WORDS, HAN_FUNCTION_WORDS, MEANT_ELSEWHERE, type QuestionLanguage } from './question-lists.ts';

const WORD = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*/gu;
const APOSTROPHES = /['’]/u;
let hanRun: RegExp | undefined;
const HAN = /\p{Script=Han}/u;
const KANA_OR_HANGUL = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
/** Function words by which a language other than the memory's is recognised. One may be a name. */
const FOREIGN_WORDS_MIN = 2;

/** The terms of a question that do not score if others remain. Linear in its length. */
export function unscoredTerms(question: string, analyzer: Analyzer): ReadonlySet<string> {
  const words = wordsOf(question);
  const own = languageOf(analyzer);
  const asked = languageOfWords(words, question, own);
  const bits = bitOf(own) | bitOf(asked);
  const unscored = new Set<string>();
  for (const word of words) {
    if ((languagesOf(word) & bits) === 0) continue;
    for (const term of analyzer.analyze(word).terms) unscored.add(term);
  }
  // Stems of content words may be those of function words.
  if (unscored.size > 0)
    for (const word of words) {
      if ((languagesOf(word) & bits) !== 0 || HAN.test(word)) continue;
      for (const term of analyzer.analyze(word).terms) unscored.delete(term);
    }
  if (own === 'zh' || asked === 'zh') for (const bigram of functionBigrams(question)) unscored.add(bigram);
  return unscored;
}

/** The language of a question: the one whose function words it has most, in doubt that of the memory. */
export function languageOfQuestion(question: string, analyzer: Analyzer): QuestionLanguage | undefined {
  return languageOfWords(wordsOf(question), question, languageOf(analyzer));
}

function languageOfWords(
  words: readonly string[],
  question: string,
  own: QuestionLanguage | undefined,
): QuestionLanguage | undefined {
  if (HAN.test(question) && !KANA_OR_HANGUL.test(question)) return 'zh';
  const counts = LANGUAGES.map(() => 0);
  for (const word of new Set(words)) {
    let bits = languagesOf(word);
    if (MEANT_ELSEWHERE.has(word)) bits &= bitOf(own);
    if (bits !== 0) for (let i = 0; i < counts.length; i++) counts[i]! += (bits >>> i) & 1;
  }
  let best = own;
  let most = Math.max(FOREIGN_WORDS_MIN - 1, own === undefined ? 0 : (counts[LANGUAGES.indexOf(own)] ?? 0));
  for (const [i, count] of counts.entries()) {
    if (count <= most) continue;
    most = count;
    best = LANGUAGES[i];
  }
  return best;
}

function wordsOf(question: string): string[] {
  return question.toLowerCase().match(WORD) ?? [];
}

const LANGUAGES: readonly QuestionLanguage[] = Object.keys(FUNCTION_WORDS) as QuestionLanguage[]; // the table's keys

/** The languages of which a word is a function word, as bits in the order of LANGUAGES. */
const LISTED = new Map<string, number>();
for (const [i, list] of Object.values(FUNCTION_WORDS).entries())
  for (const word of list.split(/\s+/)) if (word !== '') LISTED.set(word, (LISTED.get(word) ?? 0) | (1 << i));

/** A joined word (j'ai, don't) counts if it is listed as such, or if all of its parts are function words. */
function languagesOf(word: string): number {
  const bits = LISTED.get(word) ?? 0;
  if (bits !== 0 || !APOSTROPHES.test(word)) return bits;
  const plain = word.replaceAll('’', "'");
  return (LISTED.get(plain) ?? 0) | plain.split("'").reduce((both, part) => both & (LISTED.get(part) ?? 0), ~0);
}

function bitOf(language: QuestionLanguage | undefined): number {
  const at = language === undefined ? -1 : LANGUAGES.indexOf(language);
  return at < 0 ? 0 : 1 << at;
}

function languageOf({ name }: Analyzer): QuestionLanguage | undefined {
  if (name.startsWith('zh/')) return 'zh';
  return LANGUAGES.find((language) => name.startsWith(`${language}/`));
}

// Chinese has no spaces, so an index holds pairs of characters. A question's function words are cut out as the longest
// listed words. The characters left between them are content: their pairs score, and a pair that crosses into a
// function word scores only for a character that stands alone, such as a verb of one character.
const HAN_LISTED = new Set(HAN_FUNCTION_WORDS.split(/\s+/).filter((word) => word !== ''));
const HAN_LISTED_CHARS_MAX = Math.max(...[...HAN_LISTED].map((word) => [...word].length));

function functionBigrams(question: string): Set<string> {
  const kept = new Set<string>();
  const dropped = new Set<string>();
  hanRun ??= new RegExp(`${BIGRAM_CLASS}+`, 'gv');
  for (const run of question.normalize('NFKC').match(hanRun) ?? []) {
    const characters = [...run];
    const isContent = contentCharacters(characters);
    const isLone = (at: number): boolean => isContent[at] === true && !isContent[at - 1] && !isContent[at + 1];
    let at = 0;
    eachBigram(run, (bigram) => {
      const isKept = (isContent[at] === true && isContent[at + 1] === true) || isLone(at) || isLone(at + 1);
      (isKept ? kept : dropped).add(bigram);
      at += 1;
    });
  }
  return dropped.difference(kept);
}

/** For each character, whether it is outside of the function words, which are matched longest first. */
function contentCharacters(characters: readonly string[]): boolean[] {
  const isContent = characters.map(() => true);
  for (let at = 0; at < characters.length; ) {
    let length = Math.min(HAN_LISTED_CHARS_MAX, characters.length - at);
    while (length > 0 && !HAN_LISTED.has(characters.slice(at, at + length).join(''))) length -= 1;
    isContent.fill(false, at, at + length);
    at += Math.max(1, length);
  }
  return isContent;
}
