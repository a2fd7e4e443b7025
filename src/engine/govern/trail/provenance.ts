// What a recall leaves behind (service contract section 14): what was asked, what came of it, and an id that is a hash of
// all that. Names of persons and of things stand there as blind tokens, words as their SHA-256, grains by what the trail calls
// them (record/grain-name.ts); none is quoted.
import { hash } from 'node:crypto';
import { isPlainHash } from '../../record/grain-name.ts';
import { EXCLUSION_REASONS, type ExclusionReason } from './exclusions.ts';

/** On disk by position: only ever appended to. */
export const QUERY_MODES = ['structural', 'text', 'hybrid', 'chain', 'cal', 'harness'] as const;
export type QueryMode = (typeof QUERY_MODES)[number];

/** Members of a score's account, in the order of their names. On disk by position: only ever appended to, at the end. */
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
] as const;
/** Scores are kept to the sixth digit. */
const DIGITS = 1e6;

/** A grain among what was found, with its score. */
export interface FoundResult {
  /** The grain's hash, or what the trail calls it. */
  readonly hash: string;
  /** Pairs of a field's place in BREAKDOWN_FIELDS and its value, in millionths; a rank as it is. Those of 0 are left out. */
  readonly score: readonly number[];
}

/** As it is kept, which may be longer than the grain is: by its name, or by its hash in a record of an older build. */
export interface KeptResult extends Pick<FoundResult, 'score'> {
  readonly grain: string;
}

/** Names of a request: blind tokens, hex. What goes with the person concerned. */
export interface KeptNames {
  readonly entity?: string;
  readonly object?: string;
  readonly relation?: string;
  /** 32 random hex digits: without them nobody can try names until the record's id comes out. Absent in older records. */
  readonly salt?: string;
  readonly subject?: string;
  /** Of the query's text, where a person is concerned. */
  readonly text_sha256?: string;
  /** The person concerned, as called. */
  readonly user_id?: string;
}

export interface KeptQuery {
  readonly detect_contradictions: boolean;
  readonly grain_type: string | null;
  readonly has_embedding: boolean;
  readonly has_text: boolean;
  /** Names of what else was asked for. */
  readonly options: readonly string[];
  readonly text_sha256?: string;
}

/** What a record is made of. */
export interface KeptRecall {
  readonly candidateCount: number;
  readonly excluded: readonly { readonly grain: string; readonly reason: ExclusionReason }[];
  readonly excludedCounts: Readonly<Partial<Record<ExclusionReason, number>>>;
  readonly mode: QueryMode;
  /** '' where the request names none. */
  readonly namespace: string;
  /** Tells apart recalls that are otherwise the same. */
  readonly nonce: number;
  /** As the audit chain names it. */
  readonly principal: string;
  readonly query: KeptQuery;
  readonly requestId: string;
  readonly results: readonly KeptResult[];
  readonly resultCount: number;
  /** Seconds. */
  readonly timestamp: number;
}

/** A record as it is shown, but for `recall_id` and `audit_entry_hash`; members in the order of their names, as hashed. */
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

/** By its name; in a record of an older build by its hash. */
export type ShownGrain = { readonly grain: string } | { readonly hash: string };

/** Takes down a score's account: the fields in the order of BREAKDOWN_FIELDS. */
export class ScoreNumbers {
  readonly numbers: number[] = [];
  #at = 0;

  /** The next field: undefined and 0 are left out. */
  next(value: number | undefined): this {
    const at = this.#at++;
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

/** The record as it is shown; without `names` as it is left when the person concerned was erased. */
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
    query: {
      detect_contradictions: query.detect_contradictions,
      ...(names?.entity === undefined ? {} : { entity: names.entity }),
      grain_type: query.grain_type,
      has_embedding: query.has_embedding,
      has_text: query.has_text,
      ...(names?.object === undefined ? {} : { object: names.object }),
      options: query.options,
      ...(names?.relation === undefined ? {} : { relation: names.relation }),
      ...(names?.salt === undefined ? {} : { salt: names.salt }),
      spo_blinded: true,
      ...(names?.subject === undefined ? {} : { subject: names.subject }),
      ...(text === undefined ? {} : { text_sha256: text }),
      ...(names?.user_id === undefined ? {} : { user_id: names.user_id }),
    },
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
 * The ids of a record with its names and without them: SHA-256, in hex, over the canonical JSON (members in the order of
 * their names, no white space) of what `shownRecall` shows. Written out, as every recall waits for it.
 */
export function recallIds(
  kept: KeptRecall,
  names: KeptNames | undefined,
): { readonly id: string; readonly rest: string } {
  const { query: whole, excluded_counts: counts, excluded_total: total } = shownRecall({ ...kept, ...NOTHING }, names);
  let excluded = '';
  for (const one of kept.excluded)
    excluded += `${excluded === '' ? '' : ','}{${memberOf(one.grain)},"reason":"${one.reason}"}`;
  let results = '';
  for (let i = 0; i < kept.results.length; i++) {
    const { grain, score } = kept.results[i]!;
    results += `${i === 0 ? '' : ','}{${memberOf(grain)},"rank":${i + 1},"score_breakdown":{${scoreText(score)}}}`;
  }
  const before =
    `{"candidate_count":${kept.candidateCount},"excluded":[${excluded}],"excluded_counts":${JSON.stringify(counts)},` +
    `"excluded_total":${total},"namespace":${JSON.stringify(kept.namespace)},` +
    `"nonce":${kept.nonce},"principal":${JSON.stringify(kept.principal)},"query":`;
  const after =
    `,"query_mode":"${kept.mode}","request_id":${JSON.stringify(kept.requestId)},"result_count":${kept.resultCount},` +
    `"results":[${results}],"timestamp":${kept.timestamp}}`;
  const idOf = (query: ShownRecall['query']): string =>
    hash('sha256', `${before}${JSON.stringify(query)}${after}`, 'hex');
  if (names === undefined) return { id: idOf(whole), rest: '' };
  return { id: idOf(whole), rest: idOf(shownRecall({ ...kept, ...NOTHING }, undefined).query) };
}

const NOTHING = { results: [], excluded: [] };

function memberOf(grain: string): string {
  return isPlainHash(grain) ? `"hash":"${grain}"` : `"grain":"${grain}"`;
}

function scoreText(numbers: readonly number[]): string {
  let text = '';
  for (let i = 0; i + 1 < numbers.length; i += 2) {
    const at = numbers[i]!;
    const value = numbers[i + 1]!;
    text += `${i === 0 ? '' : ','}"${BREAKDOWN_FIELDS[at]}":${at === RANK_AT ? value : millionths(value)}`;
  }
  return text;
}

/** Beyond it the digits of a double are not all its own. */
const EXACT_MAX = 1e15;
const ZEROS = ['', '0', '00', '000', '0000', '00000'];

/** What `String(value / 1e6)` is, of an integer: to find the shortest text of a double takes two to three times as long. */
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
