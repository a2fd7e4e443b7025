// Calls of the query language: whole queries, and the reads that a running query makes in a partition.
import type { CalErrorCode } from '../base/errors.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import type { GrainFilter, GrainView } from './grain.ts';
import type { RecallQuery } from './recall.ts';
import type { RowsOf } from './row.ts';

/** The calls of the query language. */
export interface CalCalls {
  /** Runs a whole read-only CAL query on a memory with one partition. */
  cal: { input: CalCall; output: CalReply | { readonly tooLong: true } };
  /** One read in one partition, for a CAL query over several partitions or one that writes. */
  calRead: { input: PartitionRead; output: PartitionAnswer };
  /** Like `calRead`, but in slices: for reads that may open many grains. */
  calScan: { input: PartitionRead; output: PartitionAnswer };
}

export const CAL_ROWS = {
  cal: { kind: 'read', trail: 'nothing', refusal: 'first', gather: 'own', governed: 'reads', access: 'viewer' },
  calRead: { kind: 'read', trail: 'nothing', refusal: 'first', gather: 'own', governed: 'reads', access: 'viewer' },
  calScan: { kind: 'long', changes: 'nothing', gather: 'own', governed: 'reads', refusal: 'first', access: 'viewer' },
} as const satisfies RowsOf<CalCalls>;

/** A CAL query with everything that it needs from its caller. */
export interface CalCall {
  /** The text as received. */
  readonly query: string;
  readonly session: CalSession;
  /** Vectors of the texts that the query searches for. */
  readonly vectors: readonly QueryVector[];
}

/** An answer or a refusal. Both are plain data, because they cross threads. */
export type CalReply = CalAnswered | CalRefused;

export interface CalAnswered {
  readonly resultJson: string;
  readonly statementType: string;
  readonly resultCount: number;
  readonly warnings: readonly string[];
  readonly tier: 0 | 1;
  /** Texts searched by words only, because the call carried no vector for them. */
  readonly withoutVector: readonly string[];
}

export interface CalRefused {
  readonly refused: CalErrorCode;
  /** The message without the code. */
  readonly message: string;
  /** Section 16.1: `{error: {code, message, …}}`. */
  readonly error: JsonObject;
}

export function isRefused(reply: CalReply): reply is CalRefused {
  return 'refused' in reply;
}

/** A template that a session defined. `sections`: template text by section name. */
export interface SessionTemplate {
  readonly extends?: string | undefined;
  readonly body: { readonly text: string } | { readonly sections: Readonly<Record<string, string>> };
}

/** The session of a query. Plain data: the shard that runs the query gets it. */
export interface CalSession {
  /** The session's tier. In tier 1, ADD, SUPERSEDE and REVERT may run. */
  readonly tier: 0 | 1;
  /** True if the server allows tier 1 at all; EXPLAIN reports it. */
  readonly tierOneEnabled: boolean;
  /** True if the caller may define templates. */
  readonly mayDefine: boolean;
  /** Templates of the session's namespace, by name. */
  readonly templates: Readonly<Record<string, SessionTemplate>>;
  readonly server: { readonly name: string; readonly version: string };
  /** The name of the server's embedder; absent if it has none. */
  readonly embedder?: string | undefined;
  readonly autoToon: boolean;
  /** The token counter for budgets. Defaults to the estimate. */
  readonly tokens?: TokenCounterName | undefined;
  /** Refuse extensions and apply the limits of the specification. */
  readonly strict?: boolean | undefined;
  readonly queryTimeoutMs: number;
  readonly assembleTimeoutMs: number;
}

export type QueryVector = NonNullable<RecallQuery['vector']>;

/** Names that `tokenCounter` knows: the estimate, and encodings of the gpt-tokenizer package. */
export const TOKEN_COUNTERS = ['estimate', 'o200k_base', 'cl100k_base'] as const;

export type TokenCounterName = (typeof TOKEN_COUNTERS)[number];

export const EXTRACTORS = ['subjects', 'objects', 'hashes'] as const;

export type Extractor = (typeof EXTRACTORS)[number];

export const COMPARATORS = ['=', '!=', '>=', '<=', '>', '<'] as const;

export type Comparator = (typeof COMPARATORS)[number];

export type Scalar = string | number | boolean;

export type FieldTest = LeafTest | JunctionTest;

export type LeafTest = { readonly field: string } & (
  | { readonly op: Comparator; readonly value: Scalar }
  | { readonly op: 'in' | 'not_in'; readonly values: readonly Scalar[] }
  | { readonly op: 'include' | 'exclude'; readonly values: readonly string[] }
  /** Inclusive, in epoch ms. */
  | { readonly op: 'between'; readonly low: number; readonly high: number }
  | { readonly op: 'present' }
);

export type JunctionTest =
  | { readonly op: 'or' | 'and'; readonly of: readonly FieldTest[] }
  | { readonly op: 'not'; readonly of: FieldTest };

export type Order =
  /** Sort by address. */
  | { readonly by: 'hash' }
  /** `next` breaks ties of the first key. Remaining ties are broken by address. */
  | (SortKey & { readonly next?: SortKey | undefined });

export type SortKey =
  /** Sort by the grain's own time (its `timestamp_ms`, otherwise its creation time). */
  | { readonly by: 'time'; readonly descending: boolean }
  /** Sort by the time at which the grain was recorded. */
  | { readonly by: 'created'; readonly descending: boolean }
  /** Sort by any other field. Grains without it come last in both directions. */
  | { readonly by: 'field'; readonly field: string; readonly descending: boolean };

export type OrderKey = string | number | undefined;

export interface Keyed {
  readonly key: OrderKey;
  /** Value of the second sort key, if the order has one. */
  readonly next?: OrderKey;
  readonly hash: string;
}

/** Selects grains: conditions that the indexes serve, then tests on each remaining grain. */
export interface Selection {
  readonly filter: GrainFilter;
  /** Tests that no index serves: each candidate is opened. */
  readonly tests: readonly FieldTest[];
  /**
   * Contested pairs over all partitions, as `standOf` keys. Set if a test asks for contested grains and the memory has
   * several partitions. If absent, only the partition's own grains count.
   */
  readonly contested?: readonly string[] | undefined;
}

/** Limits of a read. */
export interface Bounds {
  /** Maximum number of grains to open. */
  readonly scanMax: number;
  /** Deadline: a time of `steadyMs` (base/clock.ts). */
  readonly untilMs: number;
  /** Bytes of grains that the answer may hold; absent: as many as a whole query. */
  readonly heldMax?: number;
}

/** Why a read stopped before its end: too many grains to open, too much time, or too many bytes to hold. */
export interface Stopped {
  readonly stopped?: 'scan' | 'time' | 'bytes';
  /** Number of grains opened. */
  readonly scanned: number;
}

export interface Selected extends Stopped {
  /** The first grains in the requested order, at most the requested number. */
  readonly grains: readonly GrainView[];
  /** Number of matching grains, before `dedup` drops any. */
  readonly total: number;
}

export interface GroupView {
  readonly key: string;
  readonly count: number;
  readonly grains: readonly GrainView[];
}

/** The reads of a partition. */
export interface PartitionReads {
  select: {
    input: Selection &
      Bounds & {
        readonly order: Order;
        readonly take: number;
        /** Keep only the first grain for each value of this field. Grains without the field stay. */
        readonly dedup?: string;
      };
    output: Selected;
  };
  count: { input: Selection & Bounds; output: Stopped & { readonly total: number } };
  /** Groups by key, in code point order. Grains without the field belong to no group. */
  group: {
    input: Selection &
      Bounds & {
        readonly field: string;
        /** Maximum number of grains to return for each group, lowest addresses first. */
        readonly shown: number;
        /** Maximum number of grains to return for all groups together. */
        readonly shownMax: number;
      };
    output: Stopped & { readonly groups: readonly GroupView[]; readonly total: number };
  };
  /** Distinct values that an extractor takes from grains, each at the position of its first grain. */
  values: {
    input: Selection &
      Bounds & {
        readonly extractor: Extractor;
        readonly order: Order;
        /** Maximum number of grains to read. Applies only if the selection has no tests. */
        readonly max: number;
      };
    output: Stopped & {
      /** Distinct values with their sort keys. */
      readonly values: readonly (Keyed & { readonly value: string })[];
      readonly total: number;
      /** True if `max` applied and there were more grains. */
      readonly isCut: boolean;
    };
  };
  /** Addresses with this prefix (8 to 64 hex digits), old versions included. Returns at most two. */
  find: { input: { readonly prefix: string }; output: { readonly hashes: readonly string[] } };
  /** Number of grains that the index lists for each condition, by the condition's name. Opens no grain. */
  estimate: {
    input: { readonly filters: readonly { readonly name: string; readonly filter: GrainFilter }[] };
    output: { readonly counts: readonly { readonly name: string; readonly grains: number }[] };
  };
}

/** Auxiliary reads that find contradictions across partitions. */
export interface RivalReads {
  /** The pairs (subject and relation) of the selected beliefs, each once. */
  pairs: { input: Selection & Bounds; output: Stopped & { readonly pairs: readonly Spoken[] } };
  /** The objects that the partition's live beliefs state for these pairs. */
  rivals: {
    input: Bounds & { readonly pairs: readonly Spoken[] };
    output: Stopped & { readonly stands: readonly Stand[] };
  };
}

export interface Spoken {
  readonly subject: string;
  readonly relation: string;
}

/** The objects that the live beliefs of one namespace and user state for a pair. */
export interface Stand {
  /** Key of the pair with its namespace and user, as made by `standOf`. */
  readonly of: string;
  /** Objects in the form in which they are compared. At most two: two suffice for a contradiction. */
  readonly objects: readonly string[];
}

export interface AllReads extends PartitionReads, RivalReads {}

export type PartitionRead = {
  [K in keyof AllReads]: { readonly kind: K; readonly input: AllReads[K]['input'] };
}[keyof AllReads];

export type PartitionAnswer = {
  [K in keyof AllReads]: { readonly kind: K; readonly output: AllReads[K]['output'] };
}[keyof AllReads];
