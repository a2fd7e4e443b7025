// Suggests words of a memory for a query word without matches. flexsearch holds the lists (letter pairs and sounds to
// words); spelling then confirms or rejects its guesses. Built from a memory's vocabulary on demand; the caller keeps
// it within the heap budget.
import { Index } from 'flexsearch';
import { VOCABULARY_CANDIDATES_MAX, VOCABULARY_WORDS_MAX } from '../../base/limits.ts';
import { toNfkc } from '../../base/nfc.ts';
import type { Sliced } from '../files/section.ts';
import { editDistance } from './edit-distance.ts';
import { phoneticKey } from './phonetic.ts';

export interface Expansion {
  /** The word as it stands in the vocabulary. */
  readonly term: string;
  /** `prefix`: one of the two words is a prefix of the other. */
  readonly kind: 'typo' | 'phonetic' | 'prefix';
  /** 0..1: the share of letters that agree; for a prefix, its share of the longer word. */
  readonly similarity: number;
}

const WORD_CHARS_MIN = 3;
const WORD_CHARS_MAX = 48;
const PREFIX_SHARE_MIN = 0.5;
const PHONETIC_SIMILARITY_MIN = 0.3;
const PHONETIC_KEY_MIN = 2;
const SLICE_WORDS = 32;
const SLICE_READ = 1_024;
/** Words of one letter pair that are examined, most frequent first. */
const PAIR_WORDS_MAX = 8_192;

/** Separates the keys of a word for flexsearch, which asks an encoder for them. Neither words nor keys contain it. */
const SEPARATOR = '\u0000';
const SOUND = '\u0001';
const EDGE = '\u0002';

export class Vocabulary {
  readonly #index = new Index({
    tokenize: 'strict',
    resolution: 1,
    cache: false,
    fastupdate: false,
    encode: (keys: string): string[] => keys.split(SEPARATOR),
  });
  readonly #words: string[] = [];
  readonly #folded: string[] = [];
  readonly #frequencies: number[] = [];
  #bytes = 0;

  /** Builds from words and their document frequencies, in any order; words may come twice (from several parts). */
  static build(words: Iterable<readonly [string, number]>): Vocabulary {
    const work = Vocabulary.building(words);
    let step = work.next();
    while (step.done !== true) step = work.next();
    return step.value;
  }

  /** The same in slices. Of more than VOCABULARY_WORDS_MAX words the most frequent are kept. */
  static *building(words: Iterable<readonly [string, number]>): Sliced<Vocabulary> {
    let counted = new Map<string, number>();
    let read = 0;
    for (const [word, frequency] of words) {
      if (word.length >= WORD_CHARS_MIN && word.length <= WORD_CHARS_MAX && /\p{L}/u.test(word)) {
        counted.set(word, (counted.get(word) ?? 0) + frequency);
        if (counted.size > VOCABULARY_WORDS_MAX * 2) counted = new Map(yield* mostFrequent(counted));
      }
      if (++read % SLICE_READ === 0) yield;
    }
    const vocabulary = new Vocabulary();
    // The most frequent first: flexsearch returns words in the order of their addition, and lists are read up to a
    // limit.
    for (const [word, frequency] of yield* mostFrequent(counted)) {
      vocabulary.#add(word, frequency);
      if (vocabulary.size % SLICE_WORDS === 0) yield;
    }
    return vocabulary;
  }

  get size(): number {
    return this.#words.length;
  }

  /** Approximate heap bytes, from measurements: 40 a letter pair and 140 a word. */
  get heapBytes(): number {
    return this.#bytes;
  }

  /**
   * Words that may be meant by one without matches, the most similar first, then the more frequent. Do not call it for
   * terms that match. Empty for words too short to guess at.
   */
  expand(term: string, limit: number): Expansion[] {
    const folded = fold(term);
    if (folded.length < WORD_CHARS_MIN || folded.length > WORD_CHARS_MAX) return [];
    const found: { expansion: Expansion; frequency: number }[] = [];
    for (const id of this.#candidates(folded)) {
      const expansion = this.#judge(folded, id);
      if (expansion !== undefined && expansion.term !== term) {
        found.push({ expansion, frequency: this.#frequencies[id]! });
      }
    }
    found.sort(
      (a, b) =>
        b.expansion.similarity - a.expansion.similarity ||
        b.frequency - a.frequency ||
        (a.expansion.term < b.expansion.term ? -1 : 1),
    );
    return found.slice(0, limit).map(({ expansion }) => expansion);
  }

  #add(word: string, frequency: number): void {
    const folded = fold(word);
    const keys = keysOf(folded);
    this.#index.add(this.#words.length, keys.join(SEPARATOR));
    this.#words.push(word);
    this.#folded.push(folded);
    this.#frequencies.push(frequency);
    this.#bytes += 140 + keys.length * 40 + word.length * 2;
  }

  /** The words that share the most letter pairs with it, and all that sound like it. */
  #candidates(folded: string): Iterable<number> {
    const shared = new Map<number, number>();
    const candidates = new Set<number>();
    for (const key of keysOf(folded)) {
      const ids = this.#index.search(key, { limit: PAIR_WORDS_MAX });
      for (const id of ids as number[]) {
        // ids are what #add gave: numbers
        if (key.startsWith(SOUND)) candidates.add(id);
        else shared.set(id, (shared.get(id) ?? 0) + 1);
      }
      if (candidates.size > VOCABULARY_CANDIDATES_MAX) break;
    }
    const byShared = [...shared].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    for (const [id] of byShared.slice(0, VOCABULARY_CANDIDATES_MAX)) candidates.add(id);
    return candidates;
  }

  #judge(folded: string, id: number): Expansion | undefined {
    const word = this.#folded[id]!;
    const term = this.#words[id]!;
    const longer = Math.max(word.length, folded.length);
    const distance = editDistance(folded, word, longer);
    const similarity = 1 - distance / longer;
    if (distance <= slipsAllowed(folded.length)) return { term, kind: 'typo', similarity };
    // Checked both ways: a mistyped ending escapes the stemmer and leaves the stem with letters behind it.
    const shorter = Math.min(word.length, folded.length);
    if (shorter / longer >= PREFIX_SHARE_MIN && (word.startsWith(folded) || folded.startsWith(word))) {
      return { term, kind: 'prefix', similarity: shorter / longer };
    }
    if (similarity < PHONETIC_SIMILARITY_MIN) return undefined;
    const sound = phoneticKey(folded);
    if (sound.length < PHONETIC_KEY_MIN || sound !== phoneticKey(word)) return undefined;
    return { term, kind: 'phonetic', similarity };
  }
}

/**
 * The words to keep, roughly by falling frequency, in steps of an eighth of a power of two. A sort would take too long.
 */
function* mostFrequent(counted: ReadonlyMap<string, number>): Sliced<[string, number][]> {
  const buckets: [string, number][][] = Array.from({ length: 256 }, () => []);
  let read = 0;
  for (const entry of counted) {
    buckets[Math.min(255, Math.floor(Math.log2(Math.max(1, entry[1])) * 8))]!.push(entry);
    if (++read % SLICE_READ === 0) yield;
  }
  const kept: [string, number][] = [];
  for (const bucket of buckets.reverse()) {
    for (const entry of bucket.slice(0, VOCABULARY_WORDS_MAX - kept.length)) {
      kept.push(entry);
      if (kept.length % SLICE_READ === 0) yield;
    }
  }
  return kept;
}

function slipsAllowed(length: number): number {
  if (length < 6) return 1;
  return length < 10 ? 2 : 3;
}

function fold(word: string): string {
  return toNfkc(word).toLowerCase();
}

/** Letter pairs with the word's edges, and its sound. */
function keysOf(folded: string): string[] {
  const letters = EDGE + folded.replaceAll(SEPARATOR, '') + EDGE;
  const keys = new Set<string>();
  for (let i = 0; i + 1 < letters.length; i++) keys.add(letters.slice(i, i + 2));
  const sound = phoneticKey(folded);
  return sound.length < PHONETIC_KEY_MIN ? [...keys] : [SOUND + sound, ...keys];
}
