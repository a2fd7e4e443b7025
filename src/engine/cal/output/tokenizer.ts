// Tokens as a model counts them, for who would rather wait for exact budgets than have estimated ones: some tenths of a
// millisecond for a text of budget size. The tables take a quarter of a second and some 50 MB to load, so nothing is
// loaded that was not asked for.

import { createRequire } from 'node:module';
import type { TokenCounterName } from '../../calls/cal.ts';
import { ESTIMATE, type TokenCounter } from './tokens.ts';

/** Not `import`: a query does not wait for anything. */
const require = createRequire(import.meta.url);

/** Characters that are encoded at once: the time that one word takes grows with the square of its length. */
const PIECE_CHARACTERS_MAX = 512;

/** The interface of a loaded encoding module, the same for every encoding. */
interface Encoding {
  countTokens(text: string, options: { readonly disallowedSpecial: Set<string> }): number;
}

const loaded = new Map<TokenCounterName, TokenCounter>();

/** The counter of a name, loaded when it is first asked for. Throws what `require` does where the package is missing. */
export function tokenCounter(name: TokenCounterName): TokenCounter {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const made = name === 'estimate' ? ESTIMATE : exactCounter(name);
  loaded.set(name, made);
  return made;
}

function exactCounter(name: Exclude<TokenCounterName, 'estimate'>): TokenCounter {
  const encoding = require(`gpt-tokenizer/encoding/${name}`) as Encoding; // the package's own types say so
  // What looks like a token of the model's own control is text like any other.
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

/** In front of a single blank where there is one: the encodings part words there too, so the sum is that of the whole. */
function endOfPiece(text: string, from: number): number {
  const furthest = from + PIECE_CHARACTERS_MAX;
  if (furthest >= text.length) return text.length;
  for (let at = furthest; at > from; at--) {
    if (text[at] === ' ' && !BLANK.test(text[at - 1]!) && !BLANK.test(text[at + 1] ?? ' ')) return at;
  }
  const isInPair = text.codePointAt(furthest - 1)! > 0xffff;
  return isInPair ? furthest - 1 : furthest;
}
