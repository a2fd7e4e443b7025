// Everything that a recall or a query can ask of a memory while it runs: a closed map of questions to their inputs and outputs.
// Each output is plain data, so a question can be answered by the shard at hand or by several partitions. No question removes
// a grain.
import type { AllReads } from '../calls/cal.ts';
import type { GrainFilter, GrainView, VersionView } from '../calls/grain.ts';
import type { RecallCalls, RecallQuery } from '../calls/recall.ts';
import type { JsonObject } from '../grain/api/json-value.ts';

/** AllReads, listed with the call that carries them, has the questions of CAL to a partition's indexes. */
export interface Questions extends AllReads {
  /** A recall without stages: legs, fusion and the best hits, at most `limit` of the query. */
  search: { input: RecallQuery; output: RecallCalls['recall']['output'] };
  /** The grains of these hashes, in their order; null for one that is gone or that the caller may not see. May end early. */
  fetch: { input: { readonly hashes: readonly string[] }; output: { readonly grains: readonly (GrainView | null)[] } };
  /** Namespaces of grains that the caller may see, in any order. */
  namespaces: { input: { readonly filter: GrainFilter }; output: { readonly namespaces: readonly string[] } };
  /** For each word of a query, in their order: similar words of the memory, the likeliest first, if the memory lacks the word. */
  alike: {
    input: { readonly words: readonly string[]; readonly limit: number };
    output: { readonly words: readonly (readonly string[])[] };
  };
  /** A unit vector for each grain, in the order of the hashes; undefined for one without. */
  vectors: {
    input: { readonly hashes: readonly string[] };
    output: { readonly vectors: readonly (Float32Array | undefined)[] };
  };
  /** The order that a model gives these hits: the places of all of them, each once, best first. Undefined: no change. */
  rerank: {
    input: { readonly hits: readonly { readonly grain: GrainView }[] };
    output: { readonly order: readonly number[] | undefined };
  };
  /** How many grains the memory's policy lets one recall return; null: no cap. */
  cap: { input: Record<never, never>; output: { readonly recallMax: number | null } };
  /** Oldest first, at most the newest ones; no versions where the grain does not exist or the caller may not see it. */
  history: {
    input: { readonly hash: string; readonly newest?: number };
    output: { readonly versions: readonly VersionView[] };
  };
  add: {
    input: { readonly grainType: string; readonly fields: JsonObject; readonly reason: string };
    output: { readonly hash: string };
  };
  /** Fails with MEM-E001 or MEM-E002 as a supersession does. */
  supersede: {
    input: { readonly oldHash: string; readonly fields: JsonObject; readonly reason: string };
    output: { readonly newHash: string };
  };
}

export type QuestionKind = keyof Questions;
export type QuestionInput<K extends QuestionKind> = Questions[K]['input'];
export type QuestionOutput<K extends QuestionKind> = Questions[K]['output'];

/** Questions of a recall and its stages. */
export type RecallQuestion = 'search' | 'fetch' | 'namespaces' | 'alike' | 'vectors' | 'rerank';
/** Questions of a CAL query. */
export type CalQuestion = keyof AllReads | 'search' | 'cap' | 'history' | 'add' | 'supersede';
