// Converts text to piece ids with SentencePiece's unigram model (Kudo 2018): the segmentation with the greatest sum of
// scores, found by Viterbi in one pass over the text.
//
// Pieces lie in a trie whose edges are one open-addressed table: (node, UTF-16 unit) to node. An edge's key is `node <<
// 16 | unit`, which limits the trie to 65,535 nodes.
import { assert } from '../../engine/base/assert.ts';
import { EMBED_WINDOW_PIECES_MAX, ENCODER_TEXT_CHARS_MAX } from '../../engine/base/limits.ts';

/** Marks white space, and begins every text. */
const BLANK = '▁';
/** The id of text that no piece matches. Ids up to RESERVED match nothing in a text. */
export const UNKNOWN_ID = 0;
const RESERVED = 6;
const UNKNOWN_COST = 20;
const NODES_MAX = 65_535;
const TABLE_SIZE = 1 << 17;
/** One ASCII word, which normalisation leaves unchanged. Most counted words are of this kind. */
const PLAIN = /^[\x21-\x7e]+$/;

/** A vocabulary entry: piece and log probability. Its position is its id. */
export type Piece = readonly [piece: string, score: number | null];

export class Tokenizer {
  readonly #edgeKeys = new Uint32Array(TABLE_SIZE);
  /** Zero marks an empty slot: no edge leads to the root. */
  readonly #edgeNodes = new Uint16Array(TABLE_SIZE);
  /** By node: id of the piece that ends there, or 0. */
  readonly #ids = new Uint16Array(NODES_MAX + 1);
  readonly #scores = new Float64Array(NODES_MAX + 1);
  /** By id: 1 if the piece contains a letter or a digit. */
  readonly #words: Uint8Array;
  #nodes = 1;
  #best = new Float64Array(1024);
  #from = new Int32Array(1024);
  #piece = new Uint16Array(1024);

  constructor(vocabulary: readonly Piece[]) {
    assert(vocabulary.length > RESERVED && vocabulary.length <= NODES_MAX, 'a vocabulary of the encoder');
    this.#words = new Uint8Array(vocabulary.length);
    for (let id = RESERVED; id < vocabulary.length; id++) {
      const [piece, score] = vocabulary[id]!;
      let node = 0;
      for (let i = 0; i < piece.length; i++) node = this.#child(node, piece.charCodeAt(i), true);
      // A duplicate piece takes the later id. Pieces with a colon have no score: the model's training read it as zero,
      // so the reference vectors do too.
      this.#ids[node] = id;
      this.#scores[node] = score ?? 0;
      this.#words[id] = Number(/[\p{L}\p{N}]/u.test(piece));
    }
  }

  /**
   * Ids of the first 128 pieces of `text`; a run of unknown characters is one piece. Reads the first
   * ENCODER_TEXT_CHARS_MAX characters. Empty for a blank text.
   */
  encode(text: string): Int32Array {
    const length = this.#walk(normalized(text));
    const ids = new Int32Array(this.#countBack(length));
    let at = ids.length;
    for (let end = length, later = -1; end > 0; end = this.#from[end]!) {
      const id = this.#piece[end]!;
      if (id !== UNKNOWN_ID || later !== UNKNOWN_ID) ids[--at] = id;
      later = id;
    }
    return ids.slice(0, EMBED_WINDOW_PIECES_MAX);
  }

  /** Number of pieces in `text`, without the limit of 128. */
  count(text: string): number {
    return this.#countBack(this.#walk(normalized(text)));
  }

  /** True if any of `ids` contains letters or digits, rather than punctuation or unknown text. */
  hasWord(ids: Int32Array): boolean {
    return ids.some((id) => this.#words[id] === 1);
  }

  /** Finds the best piece that ends at each position in `symbols`. Returns the last position. */
  #walk(symbols: string): number {
    const length = symbols.length;
    this.#grow(length + 1);
    const best = this.#best;
    const from = this.#from;
    const piece = this.#piece;
    best.fill(Number.NEGATIVE_INFINITY, 0, length + 1);
    best[0] = 0;
    for (let start = 0; start < length; ) {
      const base = best[start]!;
      const code = symbols.codePointAt(start)!;
      const next = start + (code > 0xffff ? 2 : 1);
      let known = false;
      let node = 0;
      // No piece begins or ends within a surrogate pair.
      for (let end = start; end < length; ) {
        node = this.#child(node, symbols.charCodeAt(end), false);
        if (node === 0) break;
        end++;
        const id = this.#ids[node]!;
        if (id === 0) continue;
        if (end === next) known = true;
        const score = base + this.#scores[node]!;
        if (score > best[end]!) {
          best[end] = score;
          from[end] = start;
          piece[end] = id;
        }
      }
      if (!known && base - UNKNOWN_COST > best[next]!) {
        best[next] = base - UNKNOWN_COST;
        from[next] = start;
        piece[next] = UNKNOWN_ID;
      }
      start = next;
    }
    return length;
  }

  /** Number of pieces on the best path to `end`. */
  #countBack(end: number): number {
    let count = 0;
    for (let later = -1; end > 0; end = this.#from[end]!) {
      const id = this.#piece[end]!;
      if (id !== UNKNOWN_ID || later !== UNKNOWN_ID) count++;
      later = id;
    }
    return count;
  }

  /** The child of `node` for `unit`. Creates it when `make` is set; otherwise 0 if absent. */
  #child(node: number, unit: number, make: boolean): number {
    const key = ((node << 16) | unit) >>> 0;
    let slot = Math.imul(key, 0x9e3779b1) >>> 15;
    for (; this.#edgeNodes[slot] !== 0; slot = (slot + 1) & (TABLE_SIZE - 1))
      if (this.#edgeKeys[slot] === key) return this.#edgeNodes[slot]!;
    if (!make) return 0;
    assert(this.#nodes <= NODES_MAX, 'the trie has room');
    this.#edgeKeys[slot] = key;
    this.#edgeNodes[slot] = this.#nodes;
    return this.#nodes++;
  }

  #grow(size: number): void {
    if (size <= this.#best.length) return;
    this.#best = new Float64Array(2 * size);
    this.#from = new Int32Array(2 * size);
    this.#piece = new Uint16Array(2 * size);
  }
}

/** NFKC, trimmed, with one BLANK in front and one for each run of white space; empty for a blank text. */
function normalized(text: string): string {
  if (PLAIN.test(text)) return BLANK + text.slice(0, ENCODER_TEXT_CHARS_MAX);
  // Truncate first: normalising a long run of combining marks takes quadratic time.
  const symbols = text.slice(0, ENCODER_TEXT_CHARS_MAX).normalize('NFKC').trim();
  return symbols === '' ? '' : BLANK + symbols.replace(/\s+/gu, BLANK);
}
