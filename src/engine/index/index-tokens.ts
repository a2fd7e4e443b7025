// The blind tokens of a memory's index, by its token key.
import type { BlindKind, BlindTokens } from '../crypto/blind-tokens.ts';
import type { IndexTokens } from './index-keys.ts';
import type { Facet } from './parts/part.ts';

/** Subject and object share a kind, so that a name has the same token in both places. */
const FACET_KINDS: Record<Facet, BlindKind> = {
  type: 'type',
  namespace: 'namespace',
  tag: 'tag',
  user: 'user_id',
  session: 'session',
  subject: 'entity',
  relation: 'relation',
  object: 'entity',
  pair: 'pair',
  source: 'source',
  field: 'field',
  call: 'call',
};

/** The blind token of a facet's value: 16 bytes. */
export function facetTokenOf(tokens: BlindTokens, facet: Facet, value: string): Buffer {
  return tokens.facet(FACET_KINDS[facet], value);
}

export function indexTokens(tokens: BlindTokens): IndexTokens {
  return {
    term: (text) => tokens.term(text),
    terms: (texts, from, to, high, low) => tokens.terms(texts, from, to, high, low),
    facet: (facet, value) => facetTokenOf(tokens, facet, value),
    writeFacet: (facet, value, into, at) => tokens.writeFacet(FACET_KINDS[facet], value, into, at),
    keyed: (kind, key) => tokens.facet('scope', `${kind}:${key}`),
  };
}
