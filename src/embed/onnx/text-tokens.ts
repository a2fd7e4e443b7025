// Splits texts into the tokens of a model, by its tokenizer.json (WordPiece, Unigram or BPE).
import { readFileSync } from 'node:fs';
import { Tokenizer } from '@huggingface/tokenizers';
import { EmbedError } from '../embedder.ts';
import { type SentenceModel, unusable } from './model-folder.ts';

export interface Tokens {
  readonly ids: readonly number[];
  /** 0 for the first text, 1 for the second of a pair. */
  readonly types: readonly number[];
  /** False when no token belongs to a known word. */
  readonly hasWord: boolean;
}

type Source = Pick<SentenceModel, 'tokenizerFile' | 'tokenizerConfigFile' | 'tokensMax' | 'lowersCase'>;

export class TextTokens {
  readonly #tokenizer: Tokenizer;
  readonly #tokensMax: number;
  readonly #lowersCase: boolean;
  /** Ids of no word: the ones around a text, and the unknown one. */
  readonly #empty: ReadonlySet<number>;
  /** Number of ids after the text. */
  readonly #after: number;

  /** Throws EmbedError for a tokenizer that cannot be read. */
  constructor({ tokenizerFile, tokenizerConfigFile, tokensMax, lowersCase }: Source) {
    this.#tokensMax = tokensMax;
    this.#lowersCase = lowersCase;
    try {
      const json = JSON.parse(readFileSync(tokenizerFile, 'utf8')) as { readonly model?: UnknownToken };
      const config = tokenizerConfigFile === undefined ? {} : JSON.parse(readFileSync(tokenizerConfigFile, 'utf8'));
      this.#tokenizer = new Tokenizer(json, config);
      const around = this.#tokenizer.encode('').ids;
      this.#empty = new Set([...around, ...unknownIds(json.model ?? {}, this.#tokenizer)]);
      this.#after = afterText(around, this.#tokenizer.encode('a').ids);
    } catch (cause) {
      if (cause instanceof EmbedError) throw cause;
      throw unusable(tokenizerFile, 'its tokenizer cannot be read', cause);
    }
  }

  of(text: string): Tokens {
    const ids: readonly number[] = this.#tokenizer.encode(this.#cased(text)).ids;
    const cut = this.#cut(ids);
    return { ids: cut, types: cut.map(() => 0), hasWord: cut.some((id) => !this.#empty.has(id)) };
  }

  /** Both texts, as the model was trained on pairs. Too long a pair loses the end of its second text. */
  ofPair(first: string, second: string): Tokens {
    const encoded = this.#tokenizer.encode(this.#cased(first), {
      text_pair: this.#cased(second),
      return_token_type_ids: true,
    });
    return { ids: this.#cut(encoded.ids), types: this.#cut(encoded.token_type_ids), hasWord: true };
  }

  #cased(text: string): string {
    return this.#lowersCase ? text.toLowerCase() : text;
  }

  /** The first ids, and those that end every text. */
  #cut(ids: readonly number[]): readonly number[] {
    if (ids.length <= this.#tokensMax) return ids;
    return [...ids.slice(0, this.#tokensMax - this.#after), ...ids.slice(ids.length - this.#after)];
  }
}

interface UnknownToken {
  /** Of WordPiece and BPE. */
  readonly unk_token?: string | null;
  /** Of Unigram. */
  readonly unk_id?: number | null;
}

function unknownIds({ unk_token: token, unk_id: id }: UnknownToken, tokenizer: Tokenizer): number[] {
  const found = typeof token === 'string' ? tokenizer.token_to_id(token) : (id ?? undefined);
  return found === undefined ? [] : [found];
}

/** The number of ids that an empty text and another one have in common at their end. */
function afterText(around: readonly number[], one: readonly number[]): number {
  let count = 0;
  while (count < around.length && around.at(-1 - count) === one.at(-1 - count)) count++;
  return count;
}
