// The recall record (service contract section 14): the query, its results, and an id that is a hash of both. It holds
// names of persons and things as blind tokens, words as their SHA-256, and grains by their names
// (record/grain-name.ts). It quotes none of them.
import { defined } from '../../base/defined.ts';
import type { NameRun } from '../../record/name-run.ts';
import { EXCLUSION_REASONS, type ExclusionReason } from './exclusions.ts';

/** On disk by index: only append to it. */
export const QUERY_MODES = ['structural', 'text', 'hybrid', 'chain', 'cal', 'harness', 'chat'] as const;
export type QueryMode = (typeof QUERY_MODES)[number];

/** Options of a recall whose caller was bound to the namespace, or the person, that the record names. */
export const BOUND_NAMESPACE = 'bound_namespace';
export const BOUND_USER = 'bound_user';

/** Members of a score breakdown, the first ones sorted by name. On disk by index: only append to the end. */
export const BREAKDOWN_FIELDS = [
  'answer',
  'bm25',
  'bm25_rank',
  'final_score',
  'interference_penalty',
  'near',
  'phrase',
  'recency_decay',
  'role',
  'rrf_score',
  'self',
  'session',
  'session_affinity',
  'speaker',
  'subject_affinity',
  'supersession_demotion',
  'target_date_proximity',
  'temporal_decay_boost',
  'time',
  'vector',
  'vector_score',
  'pooled',
] as const;
/** Scores are stored with six decimal places. */
export const DIGITS = 1e6;

/** A result with its score. */
export interface FoundResult {
  /** The grain's hash or its name. */
  readonly hash: string;
  /**
   * Pairs of a field's index in BREAKDOWN_FIELDS and its value in millionths; a rank is stored as it is. Zeros are left
   * out.
   */
  readonly score: readonly number[];
}

/** The stored form of the results, which may outlive the grains: by name, or by hash in a record of an older build. */
export interface KeptResults {
  readonly grains: NameRun;
  /** One for each grain. */
  readonly scores: readonly FoundResult['score'][];
}

/** The stored form of the grains that are not among the results. */
export interface KeptExclusions {
  readonly grains: NameRun;
  /** One for each grain, by index in EXCLUSION_REASONS. */
  readonly reasons: Uint8Array;
}

/** Names in a request, as blind tokens in hex. They are erased with the person concerned. */
export interface KeptNames {
  readonly entity?: string;
  /** The turn of a harness that showed the results to a model. */
  readonly harness?: KeptTurn;
  readonly object?: string;
  readonly relation?: string;
  /**
   * 32 random hex digits. Without them nobody can guess names by recomputing the record's id. Absent in older records.
   */
  readonly salt?: string;
  readonly subject?: string;
  /** SHA-256 of the query's text, when a person is concerned. */
  readonly text_sha256?: string;
  /** The token of the person concerned. */
  readonly user_id?: string;
}

/** A turn of a harness. It names its grains by their ranks among the results. Members are sorted by name. */
export interface KeptTurn {
  readonly action_ranks: readonly number[];
  readonly assistant_event_rank: number | null;
  readonly conversation_id: string;
  readonly model: string;
  readonly provider: string;
  readonly slug: string;
  readonly user_event_rank: number;
}

export interface KeptQuery {
  readonly detect_contradictions: boolean;
  readonly grain_type: string | null;
  readonly has_embedding: boolean;
  readonly has_text: boolean;
  /** Names of the other options in use. */
  readonly options: readonly string[];
  readonly text_sha256?: string;
}

/** The content of a recall record. */
export interface KeptRecall {
  readonly candidateCount: number;
  readonly excluded: KeptExclusions;
  readonly excludedCounts: Readonly<Partial<Record<ExclusionReason, number>>>;
  readonly mode: QueryMode;
  /** '' when the request names none. */
  readonly namespace: string;
  /** Makes the ids of otherwise equal recalls differ. */
  readonly nonce: number;
  /** The actor as in the audit chain. */
  readonly principal: string;
  readonly query: KeptQuery;
  readonly requestId: string;
  readonly results: KeptResults;
  readonly resultCount: number;
  /** Seconds. */
  readonly timestamp: number;
}

/**
 * A record as answers show it, without `recall_id` and `audit_entry_hash`. Members are sorted by name, as they are
 * hashed.
 */
export interface ShownRecall {
  readonly candidate_count: number;
  readonly excluded: readonly (ShownGrain & { readonly reason: string })[];
  readonly excluded_counts: Readonly<Record<string, number>>;
  readonly excluded_total: number;
  readonly namespace: string;
  readonly nonce: number;
  readonly principal: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly query_mode: string;
  readonly request_id: string;
  readonly result_count: number;
  readonly results: readonly (ShownGrain & {
    readonly rank: number;
    readonly score_breakdown: Readonly<Record<string, number>>;
  })[];
  readonly timestamp: number;
}

/** By its name, or by its hash in a record of an older build. */
export type ShownGrain = { readonly grain: string } | { readonly hash: string };

/** The fields sorted by name: the order of the numbers, because a record's canonical JSON has it. */
export const SORTED_FIELDS = BREAKDOWN_FIELDS.toSorted();
const SORTED_AT = SORTED_FIELDS.map((name) => BREAKDOWN_FIELDS.indexOf(name));

/** Collects the numbers of a score breakdown, in the order of SORTED_FIELDS. */
export class ScoreNumbers {
  readonly numbers: number[] = [];
  #at = 0;

  /** The next field. Undefined and 0 are left out. */
  next(value: number | undefined): this {
    const at = SORTED_AT[this.#at++]!;
    if (value !== undefined && value !== 0) this.numbers.push(at, at === RANK_AT ? value : Math.round(value * DIGITS));
    return this;
  }
}

function shownScore(numbers: readonly number[]): Record<string, number> {
  const score: Record<string, number> = {};
  for (let i = 0; i + 1 < numbers.length; i += 2) {
    const name = BREAKDOWN_FIELDS[numbers[i]!];
    if (name !== undefined) score[name] = name === 'bm25_rank' ? numbers[i + 1]! : numbers[i + 1]! / DIGITS;
  }
  return score;
}

/** The record as answers show it. Without `names`: as it remains after the person concerned was erased. */
export function shownRecall(kept: KeptRecall, names: KeptNames | undefined): ShownRecall {
  const { excluded, results } = kept;
  const { counts, total } = shownCounts(kept);
  const excludedGrains = shownGrains(excluded.grains);
  return {
    candidate_count: kept.candidateCount,
    excluded: excludedGrains.map((grain, i) => ({ ...grain, reason: EXCLUSION_REASONS[excluded.reasons[i]!]! })),
    excluded_counts: counts,
    excluded_total: total,
    namespace: kept.namespace,
    nonce: kept.nonce,
    principal: kept.principal,
    query: shownQuery(kept, names),
    query_mode: kept.mode,
    request_id: kept.requestId,
    result_count: kept.resultCount,
    results: shownGrains(results.grains).map((grain, i) => ({
      ...grain,
      rank: i + 1,
      score_breakdown: shownScore(results.scores[i] ?? []),
    })),
    timestamp: kept.timestamp,
  };
}

function shownGrains(grains: NameRun): ShownGrain[] {
  return grains.texts().map((grain) => (grains.isHashes ? { hash: grain } : { grain }));
}

/** The query as answers show it. Without `names`: as it remains after the person concerned was erased. */
export function shownQuery({ query }: Pick<KeptRecall, 'query'>, names: KeptNames | undefined): ShownRecall['query'] {
  return defined({
    detect_contradictions: query.detect_contradictions,
    entity: names?.entity,
    grain_type: query.grain_type,
    harness: names?.harness,
    has_embedding: query.has_embedding,
    has_text: query.has_text,
    object: names?.object,
    options: query.options,
    relation: names?.relation,
    salt: names?.salt,
    spo_blinded: true,
    subject: names?.subject,
    text_sha256: names?.text_sha256 ?? query.text_sha256,
    user_id: names?.user_id,
  });
}

/** The counts of excluded grains that are not zero, by the names of their reasons, and their sum. */
export function shownCounts({ excludedCounts }: Pick<KeptRecall, 'excludedCounts'>): {
  readonly counts: ShownRecall['excluded_counts'];
  readonly total: number;
} {
  const counts: Record<string, number> = {};
  let total = 0;
  for (const reason of SORTED_REASONS) {
    const count = excludedCounts[reason] ?? 0;
    if (count > 0) counts[reason] = count;
    total += count;
  }
  return { counts, total };
}

/** In the order of their names, as a record lists their counts. */
const SORTED_REASONS: readonly ExclusionReason[] = [...EXCLUSION_REASONS].sort();

/** The field that is stored as it is. */
export const RANK_AT = BREAKDOWN_FIELDS.indexOf('bm25_rank');
