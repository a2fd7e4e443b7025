// All that a running query can ask of a store: a closed union. The executor yields one of these and gets its answer; it
// never holds the store, and nothing here takes a grain away or changes one.
import type { GrainFilter, GrainView, JsonObject, RecallHit, RecallQuery, VersionView } from '../../calls.ts';
import { SHORT_READ_GRAINS_MAX } from '../../limits.ts';
import type { Extractor } from '../ast.ts';
import type { FieldTest } from './field-test.ts';
import type { Keyed, Order } from './order.ts';

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

interface AllReads extends PartitionReads, RivalReads {}

export type PartitionRead = {
  [K in keyof AllReads]: { readonly kind: K; readonly input: AllReads[K]['input'] };
}[keyof AllReads];
/**
 * True for what may have to open many grains: asked of a partition in slices, so that its shard goes on with others' calls.
 */
export function isLongRead({ kind, input }: PartitionRead): boolean {
  switch (kind) {
    case 'select':
      return (
        input.tests.length > 0 ||
        input.order.by === 'field' ||
        input.dedup !== undefined ||
        input.take > SHORT_READ_GRAINS_MAX
      );
    case 'count':
      return input.tests.length > 0;
    case 'values':
    case 'group':
    case 'pairs':
    case 'rivals':
      return true;
    default:
      return false;
  }
}

export type PartitionAnswer = {
  [K in keyof AllReads]: { readonly kind: K; readonly output: AllReads[K]['output'] };
}[keyof AllReads];

export interface CalAsks extends AllReads {
  /** A search by words and vectors; hits best first. */
  search: { input: RecallQuery; output: { readonly hits: readonly RecallHit[]; readonly total: number } };
  /** How many grains the memory's policy lets one recall give; null: as many as are asked for. */
  cap: { input: Record<never, never>; output: { readonly recallMax: number | null } };
  /** Oldest first; without versions when there is no such grain, or it is somebody else's. */
  history: { input: { readonly hash: string }; output: { readonly versions: readonly VersionView[] } };
  add: {
    input: { readonly grainType: string; readonly fields: JsonObject; readonly reason: string };
    output: { readonly hash: string };
  };
  /** MEM-E001 or MEM-E002 as a supersession is refused. */
  supersede: {
    input: { readonly oldHash: string; readonly fields: JsonObject; readonly reason: string };
    output: { readonly newHash: string };
  };
}
export type AskKind = keyof CalAsks;

export type SingleAsk = { [K in AskKind]: { readonly kind: K; readonly input: CalAsks[K]['input'] } }[AskKind];
export type SingleAnswer = { [K in AskKind]: { readonly kind: K; readonly output: CalAsks[K]['output'] } }[AskKind];

/** One question, or several at once whose answers come together, each with its own failure. */
export type CalAsk = SingleAsk | { readonly kind: 'several'; readonly asks: readonly SingleAsk[] };
export type Settled = { readonly answer: SingleAnswer } | { readonly error: unknown };
export type CalAnswer = SingleAnswer | { readonly kind: 'several'; readonly settled: readonly Settled[] };

/** A stretch of a query under way. What a driver throws into it is the failure of what it asked. */
export type Running<T> = Generator<CalAsk, T, CalAnswer>;

/** Asks one thing. */
export function* ask<K extends AskKind>(kind: K, input: CalAsks[K]['input']): Running<CalAsks[K]['output']> {
  // Kind and input were paired by the caller; drivers answer a kind with its output.
  const answer = yield { kind, input } as SingleAsk;
  return (answer as { readonly output: CalAsks[K]['output'] }).output;
}
