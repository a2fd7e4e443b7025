// The recall record (service contract section 14): the query, its results, and an id that is a hash of both. It holds
// names of persons and things as blind tokens, words as their SHA-256, and grains by their names
// (record/grain-name.ts). It quotes none of them.
import { hash } from 'node:crypto';
import { defined } from '../../base/defined.ts';
import { isPlainHash } from '../../record/grain-name.ts';
import { EXCLUSION_REASONS, type ExclusionReason } from './exclusions.ts';

/** On disk by index: only append to it. */
export const QUERY_MODES = ['structural', 'text', 'hybrid', 'chain', 'cal', 'harness', 'chat'] as const;
export type QueryMode = (typeof QUERY_MODES)[number];

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
const DIGITS = 1e6;

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

/**
 * The stored form of a result, which may outlive the grain: by its name, or by its hash in a record of an older build.
 */
export interface KeptResult extends Pick<FoundResult, 'score'> {
  readonly grain: string;
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
  readonly excluded: readonly { readonly grain: string; readonly reason: ExclusionReason }[];
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
  readonly results: readonly KeptResult[];
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
  const { query, excludedCounts } = kept;
  const text = names?.text_sha256 ?? query.text_sha256;
  const counts: Record<string, number> = {};
  let total = 0;
  for (const reason of SORTED_REASONS) {
    const count = excludedCounts[reason] ?? 0;
    if (count > 0) counts[reason] = count;
    total += count;
  }
  return {
    candidate_count: kept.candidateCount,
    excluded: kept.excluded.map(({ grain, reason }) => ({ ...shownGrain(grain), reason })),
    excluded_counts: counts,
    excluded_total: total,
    namespace: kept.namespace,
    nonce: kept.nonce,
    principal: kept.principal,
    query: defined({
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
      text_sha256: text,
      user_id: names?.user_id,
    }),
    query_mode: kept.mode,
    request_id: kept.requestId,
    result_count: kept.resultCount,
    results: kept.results.map(({ grain, score }, i) => ({
      ...shownGrain(grain),
      rank: i + 1,
      score_breakdown: shownScore(score),
    })),
    timestamp: kept.timestamp,
  };
}

function shownGrain(grain: string): ShownGrain {
  return isPlainHash(grain) ? { hash: grain } : { grain };
}

const SORTED_REASONS: readonly ExclusionReason[] = [...EXCLUSION_REASONS].sort();

/**
 * The ids of a record with its names and without them: SHA-256, in hex, over the canonical JSON (members sorted by
 * name, no white space) of the result of `shownRecall`. The JSON is written directly, because every recall waits for
 * it, and joined at once: adding texts one by one makes four times as much garbage.
 */
export function recallIds(
  kept: KeptRecall,
  names: KeptNames | undefined,
): { readonly id: string; readonly rest: string } {
  const { query: whole, excluded_counts: counts, excluded_total: total } = shownRecall({ ...kept, ...NOTHING }, names);
  const results: string[] = [];
  for (let i = 0; i < kept.results.length; i++) {
    const { grain, score } = kept.results[i]!;
    results.push(i === 0 ? '{' : ',{', memberOf(grain), grain, '","rank":', `${i + 1}`, ',"score_breakdown":{');
    pushScore(results, score);
    results.push('}}');
  }
  const before =
    `{"candidate_count":${kept.candidateCount},"excluded":[${excludedText(kept.excluded)}],"excluded_counts":${JSON.stringify(counts)},` +
    `"excluded_total":${total},"namespace":${JSON.stringify(kept.namespace)},` +
    `"nonce":${kept.nonce},"principal":${JSON.stringify(kept.principal)},"query":`;
  const after =
    `,"query_mode":"${kept.mode}","request_id":${JSON.stringify(kept.requestId)},"result_count":${kept.resultCount},` +
    `"results":[${results.join('')}],"timestamp":${kept.timestamp}}`;
  const idOf = (query: ShownRecall['query']): string =>
    hash('sha256', `${before}${JSON.stringify(query)}${after}`, 'hex');
  if (names === undefined) return { id: idOf(whole), rest: '' };
  return { id: idOf(whole), rest: idOf(shownRecall({ ...kept, ...NOTHING }, undefined).query) };
}

const NOTHING = { results: [], excluded: [] };

/** Grains that follow one another with one reason are joined in one step: most records have a hundred of them. */
function excludedText(excluded: KeptRecall['excluded']): string {
  const runs: string[] = [];
  for (let from = 0; from < excluded.length; ) {
    const { grain, reason } = excluded[from]!;
    const member = memberOf(grain);
    const grains: string[] = [];
    for (; from < excluded.length; from++) {
      const next = excluded[from]!;
      if (next.reason !== reason || memberOf(next.grain) !== member) break;
      grains.push(next.grain);
    }
    const end = `","reason":"${reason}"}`;
    runs.push(`{${member}${grains.join(`${end},{${member}`)}${end}`);
  }
  return runs.join(',');
}

/** The name of the member that holds a grain, up to its value. */
function memberOf(grain: string): string {
  return isPlainHash(grain) ? '"hash":"' : '"grain":"';
}

function pushScore(texts: string[], numbers: readonly number[]): void {
  for (let i = 0; i + 1 < numbers.length; i += 2) {
    const at = numbers[i]!;
    const value = numbers[i + 1]!;
    texts.push(i === 0 ? '"' : ',"', BREAKDOWN_FIELDS[at] ?? 'undefined', '":');
    texts.push(at === RANK_AT ? `${value}` : millionths(value));
  }
}

/** Above this, the digits of a double are not exact. */
const EXACT_MAX = 1e15;
const ZEROS = ['', '0', '00', '000', '0000', '00000'];

/**
 * The text of `String(value / 1e6)` for an integer. Finding the shortest text of a double takes two to three times as
 * long.
 */
export function millionths(value: number): string {
  const size = Math.abs(value);
  const whole = Math.floor(size / DIGITS);
  let rest = size - whole * DIGITS;
  if (rest === 0 || size >= EXACT_MAX) return `${value / DIGITS}`;
  let digits = 6;
  for (; rest % 10 === 0; digits--) rest /= 10;
  const text = `${rest}`;
  return `${value < 0 ? '-' : ''}${whole}.${ZEROS[digits - text.length]}${text}`;
}

const RANK_AT = BREAKDOWN_FIELDS.indexOf('bm25_rank');
