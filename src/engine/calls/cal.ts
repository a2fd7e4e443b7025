// Queries of the query language, and what a running query reads from a partition.
import type { CalErrorCode } from '../base/errors.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import type { GrainFilter, GrainView } from './grain.ts';
import type { RecallQuery } from './recall.ts';
import type { RowsOf } from './row.ts';

/** The calls of the query language. */
export interface CalCalls {
  /** The whole of a CAL query on a memory with one partition; it changes nothing. */
  cal: { input: CalCall; output: CalReply | { readonly tooLong: true } };
  /** What a partition is asked of a CAL query over several, or of one that changes something. */
  calRead: { input: PartitionRead; output: PartitionAnswer };
  /** The same in slices, for what may have to open many grains. */
  calScan: { input: PartitionRead; output: PartitionAnswer };
}

export const CAL_ROWS = {
  cal: { kind: 'read', trail: 'nothing', refusal: 'first', gather: 'own', governed: 'reads' },
  calRead: { kind: 'read', trail: 'nothing', refusal: 'first', gather: 'own', governed: 'reads' },
  calScan: { kind: 'long', changes: 'nothing', gather: 'own', governed: 'reads', refusal: 'first' },
} as const satisfies RowsOf<CalCalls>;

/** What is asked of a memory. */
export interface CalCall {
  /** As received. */
  readonly query: string;
  readonly session: CalSession;
  /** Of the texts that the query searches for. */
  readonly vectors: readonly QueryVector[];
}

/** An answer, or why there is none; both are data, as they cross threads. */
export type CalReply = CalAnswered | CalRefused;

export interface CalAnswered {
  readonly resultJson: string;
  readonly statementType: string;
  readonly resultCount: number;
  readonly warnings: readonly string[];
  readonly tier: 0 | 1;
  /** Texts that were searched for by their words alone: no vector of theirs came with the call. */
  readonly withoutVector: readonly string[];
}

export interface CalRefused {
  readonly refused: CalErrorCode;
  /** Without the code. */
  readonly message: string;
  /** Section 16.1: `{error: {code, message, …}}`. */
  readonly error: JsonObject;
}

/** A template that a session defined. `sections`: its texts, by the name of the section. */
export interface SessionTemplate {
  readonly extends?: string;
  readonly body: { readonly text: string } | { readonly sections: Readonly<Record<string, string>> };
}

/** Plain data: it goes to the shard that runs the query. */
export interface CalSession {
  /** 1: ADD, SUPERSEDE and REVERT may run. */
  readonly tier: 0 | 1;
  /** True where the server lets any session have tier 1; EXPLAIN tells it. */
  readonly tierOneEnabled: boolean;
  /** True for who may define templates. */
  readonly mayDefine: boolean;
  /** Templates of the session's namespace, by name. */
  readonly templates: Readonly<Record<string, SessionTemplate>>;
  readonly server: { readonly name: string; readonly version: string };
  /** Absent: nothing makes vectors. */
  readonly embedder?: string;
  readonly autoToon: boolean;
  /** What budgets are counted by; absent: the estimate. */
  readonly tokens?: TokenCounterName;
  /** Extensions are refused, and limits are those of the specification. */
  readonly strict?: boolean;
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
  /** By address. */
  | { readonly by: 'hash' }
  /** `next` decides between grains that are equal by the first key. */
  | (SortKey & { readonly next?: SortKey });

export type SortKey =
  /** By the time that a grain tells of. */
  | { readonly by: 'time'; readonly descending: boolean }
  /** By any other field; grains without it last, either way. */
  | { readonly by: 'field'; readonly field: string; readonly descending: boolean };

export type OrderKey = string | number | undefined;

export interface Keyed {
  readonly key: OrderKey;
  /** By the second key of the order, where it has one. */
  readonly next?: OrderKey;
  readonly hash: string;
}

/** Which grains: what the indexes serve, and what is asked of each that is left. */
export interface Selection {
  readonly filter: GrainFilter;
  /** No index serves these: grains are opened for them. */
  readonly tests: readonly FieldTest[];
  /**
   * Whose beliefs speak against one another, by `standOf`, where a test asks for it and grains of other partitions count;
   * absent: what lies in the same partition is all there is.
   */
  readonly contested?: readonly string[];
}

/** How far a read may go. */
export interface Bounds {
  /** Grains that may be opened. */
  readonly scanMax: number;
  /** Epoch ms after which nobody waits. */
  readonly untilMs: number;
}

/** Said instead of an answer that would have gone too far: grains to open, time, or bytes of grains to hold. */
export interface Stopped {
  readonly stopped?: 'scan' | 'time' | 'bytes';
  /** Grains opened to look at. */
  readonly scanned: number;
}

export interface Selected extends Stopped {
  /** The first of the order, as many as were wanted. */
  readonly grains: readonly GrainView[];
  /** All that were let through, before any was left out as a repeat. */
  readonly total: number;
}

export interface GroupView {
  readonly key: string;
  readonly count: number;
  readonly grains: readonly GrainView[];
}

/** What each partition is asked. */
export interface PartitionReads {
  select: {
    input: Selection &
      Bounds & {
        readonly order: Order;
        readonly take: number;
        /** Of grains with the same value of this field the first alone; those without it stay. */
        readonly dedup?: string;
      };
    output: Selected;
  };
  count: { input: Selection & Bounds; output: Stopped & { readonly total: number } };
  /** Groups by key in the order of code points; grains without the field are in none. */
  group: {
    input: Selection &
      Bounds & {
        readonly field: string;
        /** Grains of each group, the first by address, and of all of them. */
        readonly shown: number;
        readonly shownMax: number;
      };
    output: Stopped & { readonly groups: readonly GroupView[]; readonly total: number };
  };
  /** Distinct values that an extractor takes, in the order of the first grain that has each. */
  values: {
    input: Selection &
      Bounds & {
        readonly extractor: Extractor;
        readonly order: Order;
        /** Grains that are looked at where no test asks for more. */
        readonly max: number;
      };
    output: Stopped & {
      /** What each is put in order by. */
      readonly values: readonly (Keyed & { readonly value: string })[];
      readonly total: number;
      /** True where there were more grains than `max`. */
      readonly isCut: boolean;
    };
  };
  /** Addresses that begin so (8 to 64 hex digits), versions of every standing; at most two are told. */
  find: { input: { readonly prefix: string }; output: { readonly hashes: readonly string[] } };
  /** How many grains each condition's index lists, by the condition's name; no grain is looked at. */
  estimate: {
    input: { readonly filters: readonly { readonly name: string; readonly filter: GrainFilter }[] };
    output: { readonly counts: readonly { readonly name: string; readonly grains: number }[] };
  };
}

/** What is asked of partitions on the way to an answer of theirs: who speaks against whom, wherever their grains lie. */
export interface RivalReads {
  /** What the selected beliefs speak of, each pair once. */
  pairs: { input: Selection & Bounds; output: Stopped & { readonly pairs: readonly Spoken[] } };
  /** What is said of these pairs. */
  rivals: {
    input: Bounds & { readonly pairs: readonly Spoken[] };
    output: Stopped & { readonly stands: readonly Stand[] };
  };
}

export interface Spoken {
  readonly subject: string;
  readonly relation: string;
}

/** What the live beliefs of one namespace and user say of a pair. */
export interface Stand {
  /** As `standOf` has it. */
  readonly of: string;
  /** As they are compared; two at most: more change nothing. */
  readonly objects: readonly string[];
}

export interface AllReads extends PartitionReads, RivalReads {}

export type PartitionRead = {
  [K in keyof AllReads]: { readonly kind: K; readonly input: AllReads[K]['input'] };
}[keyof AllReads];

export type PartitionAnswer = {
  [K in keyof AllReads]: { readonly kind: K; readonly output: AllReads[K]['output'] };
}[keyof AllReads];
