// Counts tokens exactly, by a model's encoding: some tenths of a millisecond for a text of budget size. The tables of an
// encoding take a quarter of a second and some 50 MB to load, so they are loaded on first use.

import { createRequire } from 'node:module';
import type { TokenCounterName } from '../../calls/cal.ts';
import { ESTIMATE, type TokenCounter } from './tokens.ts';

/** `require` instead of `import()`, because a query runs synchronously. */
const require = createRequire(import.meta.url);

/** Characters encoded at once. The time for one word grows with the square of its length. */
const PIECE_CHARACTERS_MAX = 512;

/** The interface of a loaded encoding module, the same for every encoding. */
interface Encoding {
  countTokens(text: string, options: { readonly disallowedSpecial: Set<string> }): number;
}

const loaded = new Map<TokenCounterName, TokenCounter>();

/** The counter with this name, loaded on first use. Throws the error of `require` if the package is missing. */
export function tokenCounter(name: TokenCounterName): TokenCounter {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const made = name === 'estimate' ? ESTIMATE : exactCounter(name);
  loaded.set(name, made);
  return made;
}

function exactCounter(name: Exclude<TokenCounterName, 'estimate'>): TokenCounter {
  const encoding = require(`gpt-tokenizer/encoding/${name}`) as Encoding; // the package's own types say so
  // Count the text of a control token such as <|endoftext|> as ordinary text.
  const options = { disallowedSpecial: new Set<string>() };
  return {
    name,
    count(text) {
      let tokens = 0;
      for (let from = 0; from < text.length; ) {
        const to = endOfPiece(text, from);
        tokens += encoding.countTokens(text.slice(from, to), options);
        from = to;
      }
      return tokens;
    },
  };
}

const BLANK = /\s/;

/** The end of a piece: before a single blank if there is one. The encodings split there too, so the sum stays exact. */
function endOfPiece(text: string, from: number): number {
  const furthest = from + PIECE_CHARACTERS_MAX;
  if (furthest >= text.length) return text.length;
  for (let at = furthest; at > from; at--) {
    if (text[at] === ' ' && !BLANK.test(text[at - 1]!) && !BLANK.test(text[at + 1] ?? ' ')) return at;
  }
  const isInPair = text.codePointAt(furthest - 1)! > 0xffff;
  return isInPair ? furthest - 1 : furthest;
}
