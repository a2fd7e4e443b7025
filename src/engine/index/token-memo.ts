// A cache of one memory's last tokens: a query asks every part of a memory for the same token, which is a keyed hash.
import type { IndexTokens } from './index-keys.ts';
import type { Facet, Keyed } from './parts/part.ts';

const TOKENS_KEPT_MAX = 64;

export class TokenMemo implements Omit<IndexTokens, 'terms' | 'writeFacet'> {
  readonly #tokens: () => IndexTokens;
  readonly #kept = new Map<string, Uint8Array>();

  /** `tokens` is called each time: the key store decides how long it keeps a memory open. */
  constructor(tokens: () => IndexTokens) {
    this.#tokens = tokens;
  }

  term(text: string): Uint8Array {
    return this.#keep(`t${text}`, () => this.#tokens().term(text));
  }

  facet(facet: Facet, value: string): Uint8Array {
    return this.#keep(`f${facet}/${value}`, () => this.#tokens().facet(facet, value));
  }

  keyed(kind: Keyed, key: string | number): Uint8Array {
    return this.#keep(`k${kind}/${key}`, () => this.#tokens().keyed(kind, key));
  }

  #keep(name: string, make: () => Uint8Array): Uint8Array {
    const known = this.#kept.get(name);
    if (known !== undefined) return known;
    const token = make();
    if (this.#kept.size >= TOKENS_KEPT_MAX) this.#kept.clear();
    this.#kept.set(name, token);
    return token;
  }
}
