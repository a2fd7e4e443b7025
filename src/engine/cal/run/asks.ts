// All that a running query can ask of a store: a closed union. The executor yields one of these and gets its answer; it
// never holds the store, and nothing here takes a grain away or changes one.

import { SHORT_READ_GRAINS_MAX } from '../../base/limits.ts';
import type { AllReads, PartitionRead } from '../../calls/cal.ts';
import type { VersionView } from '../../calls/grain.ts';
import type { RecallHit, RecallQuery } from '../../calls/recall.ts';
import type { JsonObject } from '../../grain/api/json-value.ts';
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
