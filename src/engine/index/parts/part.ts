// The interface of a memory's index parts, both the mutable tail and a sealed chunk of a segment file. Search code is
// written once against these interfaces; tail and chunk differ only in how they store the lists.
import type { Sequence } from '../../log/log.ts';
import type { Turn, TurnContext } from '../context/turn.ts';
import type { TextPart } from '../text/types.ts';

/** The shard-local number of a grain: the sequence number of its log record. Code above the index uses it. */
export type Ordinal = Sequence;

/** Position of a grain within one part, 0..docCount-1, in ordinal order. Postings hold docs, never ordinals. */
export type Doc = number;

/**
 * Facets: exact-match conditions with stored postings. `pair` is subject and relation together (join them with
 * `pairKey`). The other two pairs are intersections of two lists.
 */
export const FACETS = {
  type: 1,
  namespace: 2,
  tag: 3,
  user: 4,
  session: 5,
  subject: 6,
  relation: 7,
  object: 8,
  pair: 9,
  source: 10, // address named by derived_from
  field: 11, // a field and one of its values, joined by `fieldKey`
  call: 12, // the task or the call id of an action, with the field's name, joined by `fieldKey`
} as const;
export type Facet = keyof typeof FACETS;

/** Numbers of a grain for filters and ranking. An absent number reads as NaN. */
export const NUMBERS = {
  confidence: 1,
  importance: 2,
  validFromMs: 3,
  validToMs: 4,
  expiresAtMs: 5,
  timestampMs: 6,
  /** Rank of a goal's priority, from 1. */
  priority: 7,
  /** The outcome of an action, as a code of store/action-numbers.ts; absent for a definition. */
  outcome: 8,
  /** Keyed hash of an action's tool name, then keyed hash of the error of a failed action. */
  tool: 9,
  error: 10,
  durationMs: 11,
  /** When a goal fails or is suspended by its expiry_policy. */
  failsAtMs: 12,
  suspendsAtMs: 13,
} as const;
export type NumberField = keyof typeof NUMBERS;

/** Verification flags, which are set after a grain was written. */
export const VERIFICATIONS = ['unverified', 'verified', 'contested', 'retracted'] as const;
export type Verification = (typeof VERIFICATIONS)[number];

/** Keyed entries: small exact look-ups whose value is a sequence number. The record there has the rest. */
export const KEYED = {
  /** user_id -> record of its newest key (made or destroyed). */
  userKey: 1,
  /** scope path -> record of its newest key. */
  scopeKey: 2,
  /** old ordinal (4 bytes BE) -> record of its newest change of version or verification. */
  status: 3,
  /** new ordinal (4 bytes BE) -> record of the version link that made it a new version. */
  predecessor: 4,
  /** idempotency key -> record of the stored reply. */
  reply: 5,
  /** audit seq of the record's first entry (4 bytes BE) -> record of audit entries. */
  audit: 6,
  /** first 4 bytes of a recall's id -> its record. */
  recall: 7,
  /** ordinal of a known grain (4 bytes BE) -> records of its further sources. */
  furtherSource: 8,
} as const;
export type Keyed = keyof typeof KEYED;

/** The value of facet `relation` that lists every grain with a triple, whatever its relation. */
export const ANY_RELATION = '';

/** Separates the two values of a `pair`. Neither can contain it: the API and imports refuse it. */
export const PAIR_SEPARATOR = '\u0000';

/** Joins two facet values into the key of `pair`. */
export function pairKey(subject: string, relation: string): string {
  return `${subject}${PAIR_SEPARATOR}${relation}`;
}

/** The value of facet `field` that lists the grains with `value` in the field `name`. */
export function fieldKey(name: string, value: string): string {
  return `${name}${PAIR_SEPARATOR}${value}`;
}

/** Marks a field whose value is not a text. It cannot equal a text: the API and imports refuse NUL. */
export const NOT_TEXT = '\u0000';

/** The index entries of one grain. Strings are NFC, and trimmed where the contract matches them exactly. */
export interface IndexedGrain {
  readonly ordinal: Ordinal;
  readonly address: string;
  /** First 8 bytes of the keyed identity hash (exact-duplicate rule) as hex, or undefined when it has none. */
  readonly identity: string | undefined;
  readonly createdAtMs: number;
  readonly type: string;
  readonly namespace: string;
  readonly user: string | undefined;
  readonly session: string | undefined;
  readonly tags: readonly string[];
  readonly subject: string | undefined;
  readonly relation: string | undefined;
  readonly object: string | undefined;
  readonly source: string | undefined;
  /** Distinct values of its listed fields, each made by `fieldKey`. */
  readonly fields?: readonly string[] | undefined;
  /** An action's task and call id, each made by `fieldKey`. */
  readonly calls?: readonly string[] | undefined;
  readonly numbers: Readonly<Partial<Record<NumberField, number>>>;
  /** Bytes of the plaintext blob, and of its record in the log. */
  readonly blobBytes: number;
  readonly recordBytes: number;
  /** Its text, which is analysed when it is published: a grain that waits for its commit holds no terms. */
  readonly text: IndexedText;
  /** The context of an event; other grains have none. */
  readonly turn?: Turn | undefined;
}

export interface IndexedText {
  /** Its terms. They may be overwritten by those of the next text. */
  analyzed(): AnalyzedText | NumberedText;
}

/** Terms of a text in reading order. `terms[i]` is at `positions[i]`; stop words leave gaps in the positions. */
export interface AnalyzedText {
  readonly terms: readonly string[];
  readonly positions: readonly number[];
}

/**
 * The same as `count` pairs of a term's number (text/term-numbers.ts) and a position, from index `start` on. Valid until
 * the next text is analysed.
 */
export interface NumberedText {
  readonly pairs: Int32Array;
  readonly start: number;
  readonly count: number;
}

/** `docs` reads the list on demand, since it may be long. */
export type FacetList = { readonly docs: () => Uint32Array } & ({ readonly token: string } | { readonly text: string });

/** One memory's grains in one place. Arrays are views: read-only, valid until the next publish or merge. */
export interface IndexPart {
  readonly docCount: number;
  /** Ordinal of each doc, ascending; at least docCount long. */
  readonly ordinals: Uint32Array;
  /** Creation time of each doc in epoch ms. */
  readonly createdAtMs: Float64Array;
  /** True when createdAtMs never falls from one doc to the next. */
  readonly chronological: boolean;
  /** Bytes of each doc's plaintext blob. */
  readonly blobBytes: Uint32Array;
  /** Docs with that facet value, ascending; undefined when there are none. */
  facet(facet: Facet, value: string): Uint32Array | undefined;
  /** The values of a listed field in facet `field`, in any order, `NOT_TEXT` included. */
  fieldValues(name: string): readonly string[];
  /**
   * Every value of a facet with its docs. A sealed part identifies a value by its blind token (16 bytes as latin1), a
   * tail by its text. Lists are not cached.
   */
  facetLists(facet: Facet): Iterable<FacetList>;
  /**
   * The facet's values in plain text with their doc counts (removed docs included until a merge). Only for type,
   * namespace, tag and session, for statistics and scope look-ups.
   */
  facetValues(facet: 'type' | 'namespace' | 'tag' | 'session'): Iterable<readonly [value: string, count: number]>;
  /**
   * The values of such a facet, or of subject, relation or object, in plain text, each with its docs (removed ones
   * included).
   */
  docsByValue(
    facet: 'type' | 'namespace' | 'tag' | 'session' | 'subject' | 'relation' | 'object',
  ): Iterable<readonly [value: string, docs: () => Uint32Array]>;
  /** Number of distinct values of a facet (removed docs included until a merge). */
  facetCardinality(facet: Facet): number;
  /** A number of every doc (NaN when absent), or undefined when no doc has one. At least docCount long. */
  numbers(field: NumberField): Float64Array | undefined;
  /** Docs whose address begins with the first 8 bytes of `address` (verify against the record). Usually 0 or 1. */
  address(address: string): readonly Doc[];
  /**
   * The first 32 bits of each doc's address, which order docs by address without opening them. At least docCount long.
   */
  readonly addressHeads: Uint32Array;
  /** Docs with that identity hash. */
  identity(identity: string): readonly Doc[];
  /** Sequence numbers under a keyed entry, ascending (usually 0 or 1; the last is the newest). */
  keyed(kind: Keyed, key: string | number): readonly Sequence[];
  /** All sequence numbers of a kind, ascending (audit, replies). */
  keyedSequences(kind: Keyed): readonly Sequence[];
  /** The context of the events; undefined when the part has none. */
  readonly context: TurnContext | undefined;
  readonly text: TextPart;
}
