// Query expansion by rules: other forms of the query's words, synonyms, and words of the memory that look or sound
// alike. The forms listed here are those that the analyser's stemming does not find.
import type { AlikeWords } from '../../calls/recall.ts';

/** Merges the partitions' similar words into one list for each word. A word that some partition holds gets an empty list. */
export function alikeOf(answers: readonly AlikeWords[], limit: number): string[][] {
  return (answers[0]?.words ?? []).map((_, at) => {
    const here = answers.flatMap(({ words }) => words[at] ?? []);
    if (here.some(({ known }) => known)) return [];
    const alike = here.flatMap((found) => found.alike);
    alike.sort((a, b) => b.similarity - a.similarity || (a.word < b.word ? -1 : 1));
    return [...new Set(alike.map(({ word }) => word))].slice(0, limit);
  });
}

/** Looks up similar words of the memory, most likely first. */
export type AskVocabulary = (word: string, limit: number) => readonly string[];

const EXPANDED_WORDS_MAX = 12;
/** Maximum number of similar words for a word that the memory does not hold. */
export const ALIKE_MAX = 3;
const QUERY_CHARS_READ = 2_048;

/** Groups of word forms that do not share a stem. */
const FORMS: readonly string[] = [
  'go went gone',
  'buy bought purchase',
  'eat ate eaten',
  'see saw seen',
  'take took taken',
  'give gave given',
  'get got gotten',
  'make made',
  'meet met',
  'write wrote written',
  'drive drove driven',
  'fly flew flown',
  'run ran',
  'teach taught',
  'think thought',
  'bring brought',
  'leave left',
  'feel felt',
  'keep kept',
  'sleep slept',
  'build built',
  'spend spent',
  'send sent',
  'sell sold sale',
  'tell told',
  'say said',
  'pay paid payment',
  'speak spoke spoken',
  'break broke broken',
  'choose chose chosen choice',
  'begin began begun',
  'swim swam swum',
  'sing sang sung',
  'win won',
  'lose lost loss',
  'know knew known knowledge',
  'grow grew grown growth',
  'child children',
  'person people',
  'man men',
  'woman women',
  'mouse mice',
  'foot feet',
  'tooth teeth',
  'life lives',
  'wife wives',
  'marry married marriage wedding',
  'die died dead death',
  'born birth birthday',
  'decide decision',
  'describe description',
  'analyse analyze analysis',
  'good better best',
  'bad worse worst',
];

/** Groups of synonyms, chosen for conversations with an assistant. */
const SYNONYMS: readonly string[] = [
  'job work career profession occupation',
  'employer company firm',
  'boss manager supervisor',
  'colleague coworker teammate',
  'house home apartment flat',
  'car vehicle automobile',
  'doctor physician',
  'movie film',
  'picture photo image',
  'holiday vacation trip',
  'travel journey visit',
  'kid child',
  'mother mom mum',
  'father dad',
  'spouse husband wife partner',
  'friend buddy pal',
  'like love enjoy prefer',
  'dislike hate',
  'favorite favourite preferred',
  'big large huge',
  'small little tiny',
  'begin start',
  'end finish complete',
  'buy purchase order',
  'fix repair resolve',
  'bug error defect issue problem',
  'happy glad pleased',
  'sad unhappy upset',
  'ill sick unwell',
  'medicine medication drug',
  'meal food dish',
  'money budget cost price',
  'salary pay wage income',
  'phone telephone mobile',
  'mail email',
  'meeting appointment call',
  'plan goal intention',
  'idea suggestion proposal',
  'learn study',
  'school university college',
  'teacher instructor tutor',
  'pet dog cat',
  'hobby interest pastime',
  'sport exercise workout',
  'town city',
  'country nation',
  'address location place',
  'deadline due',
  'delete remove',
  'create make build',
  'change modify update',
  'choose pick select',
  'quick fast rapid',
  'help assist support',
];

const FORMS_OF = groupsByWord(FORMS);
const SYNONYMS_OF = groupsByWord(SYNONYMS);

function groupsByWord(groups: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const byWord = new Map<string, string[]>();
  for (const group of groups.map((words) => words.split(' '))) {
    for (const word of group)
      byWord.set(word, [...(byWord.get(word) ?? []), ...group.filter((other) => other !== word)]);
  }
  return byWord;
}

/**
 * At most three rewordings of a query, each for its own leg: by word forms, by synonyms, by similar words. Operators
 * stay unchanged. Empty if no rule applies.
 */
export function expandQuery(text: string, vocabulary?: AskVocabulary): string[] {
  const wordings = [
    reword(text, (word) => FORMS_OF.get(word) ?? FORMS_OF.get(singular(word)) ?? derived(word)),
    reword(text, (word) => SYNONYMS_OF.get(word) ?? SYNONYMS_OF.get(singular(word)) ?? []),
    vocabulary === undefined ? undefined : reword(text, (word) => vocabulary(word, ALIKE_MAX)),
  ];
  return [...new Set(wordings.filter((wording) => wording !== undefined))];
}

/** The distinct words of a query that an expansion looks up. */
export function wordsToExpand(text: string): string[] {
  const words = new Set<string>();
  reword(text, (word) => {
    words.add(word);
    return [];
  });
  return [...words].slice(0, EXPANDED_WORDS_MAX);
}

/** The text with words replaced by their alternatives; undefined if no word has any. */
function reword(text: string, othersOf: (word: string) => readonly string[]): string | undefined {
  let replaced = 0;
  const tokens = text
    .slice(0, QUERY_CHARS_READ)
    .split(/\s+/)
    .map((token) => {
      // Leave operators and quoted words unchanged.
      if (replaced >= EXPANDED_WORDS_MAX || /^[-+]|["“”:]/.test(token)) return token;
      const word = token
        .toLowerCase()
        .replace(/[^\p{L}\p{N}'-]/gu, '')
        .replace(/'s$/, '');
      const others = word.length < 2 ? [] : othersOf(word);
      if (others.length === 0) return token;
      replaced++;
      return others.join(' ');
    });
  return replaced === 0 ? undefined : tokens.join(' ');
}

function singular(word: string): string {
  return word.replace(/ies$/, 'y').replace(/s$/, '');
}

/** Converts between a verb and its noun, for endings that Porter's stemmer does not unify. */
function derived(word: string): readonly string[] {
  for (const [ending, verb] of [
    ['ation', 'e'],
    ['ition', 'e'],
    ['ment', ''],
    ['ance', ''],
    ['ness', ''],
    ['ist', 'y'],
  ] as const) {
    const stem = word.slice(0, -ending.length);
    if (word.endsWith(ending) && stem.length >= 4) return [stem + verb, stem];
  }
  return [];
}
