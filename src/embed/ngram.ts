// The fallback embedder: words and their character n-grams, hashed into 512 signed buckets (feature hashing, Weinberger
// et al. 2009). It matches spelling, not meaning.
import { ENCODER_TEXT_CHARS_MAX } from '../engine/base/limits.ts';
import { type Embedder, EmbedError } from './embedder.ts';
import { unitVector } from './unit-vector.ts';

export const NGRAM_NAME = 'ngram-hash-512/1';
const DIMENSIONS = 512;
const WORD = /[\p{L}\p{N}]+/gu;
const GRAM_CHARS_MIN = 3;
const GRAM_CHARS_MAX = 5;
/** Characters of a word used for n-grams. Sentences without spaces count as one word. */
const GRAMMED_CHARS_MAX = 1_024;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
/** Words of up to three letters are mostly ones that every text has. */
const SHORT_WORD_CHARS = 3;
const SHORT_WORD_WEIGHT = 0.5;
/** Texts embedded between two turns of the event loop. */
const TEXTS_A_TURN = 8;

/** Opens an embedder of hashed n-grams. It runs in the caller's thread, yields between texts, and needs no model. */
export function openNgramEmbedder(): Embedder {
  let closed = false;
  return {
    name: NGRAM_NAME,
    dimensions: DIMENSIONS,
    async embed(texts, { signal } = {}) {
      const vectors: (Float32Array | undefined)[] = [];
      for (const [i, text] of texts.entries()) {
        if (i % TEXTS_A_TURN === TEXTS_A_TURN - 1) await new Promise(setImmediate);
        signal?.throwIfAborted();
        if (closed) throw new EmbedError('the embedder is closed', { retryable: false });
        vectors.push(ngramVector(text));
      }
      return vectors;
    },
    async close() {
      closed = true;
    },
  };
}

/** The unit vector of the first ENCODER_TEXT_CHARS_MAX characters; undefined for a text without letters or digits. */
export function ngramVector(text: string): Float32Array | undefined {
  const counts = new Map<string, number>();
  for (const [word] of text.slice(0, ENCODER_TEXT_CHARS_MAX).normalize('NFKC').toLowerCase().matchAll(WORD))
    counts.set(word, (counts.get(word) ?? 0) + 1);
  const sums = new Float64Array(DIMENSIONS);
  for (const [word, count] of counts) {
    // A word that occurs four times counts twice as much.
    const weight = Math.sqrt(count) * (word.length <= SHORT_WORD_CHARS ? SHORT_WORD_WEIGHT : 1);
    add(sums, word, weight);
    const grams = gramsOf(`<${word}>`);
    // All grams together weigh as much as the word, whatever its length.
    for (const gram of grams) add(sums, gram, weight / Math.sqrt(grams.length));
  }
  return unitVector(sums);
}

/** All runs of three to five characters; of two in scripts that put no spaces between words. */
function gramsOf(word: string): string[] {
  const grams: string[] = [];
  const end = Math.min(word.length, GRAMMED_CHARS_MAX);
  for (let size = UNSPACED.test(word) ? 2 : GRAM_CHARS_MIN; size <= GRAM_CHARS_MAX; size++)
    for (let start = 0; start + size <= end; start++) grams.push(word.slice(start, start + size));
  return grams;
}

function add(sums: Float64Array, feature: string, weight: number): void {
  const hash = mix(feature);
  sums[hash & (DIMENSIONS - 1)]! += hash >>> 31 === 0 ? weight : -weight;
}

/** FNV-1a over UTF-16 units, then murmur's final step, so that every bit depends on every character. */
function mix(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
