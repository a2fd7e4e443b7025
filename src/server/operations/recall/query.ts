// Converts a recall's fields to the shards' query (service contract 6.3 and 8).
import { systemClock } from '../../../engine/base/clock.ts';
import { defined } from '../../../engine/base/defined.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import {
  CANDIDATE_LIMIT_MAX,
  QUERY_CHARS_MAX,
  RECALL_LIMIT_DEFAULT,
  RECALL_LIMIT_MAX,
  SECONDS_MAX,
} from '../../../engine/base/limits.ts';
import { packVectors } from '../../../engine/index/vectors/transfer.ts';
import { scopeView } from '../../../engine/recall/filter/scope.ts';
import type { GrainFilter, RecallQuery } from '../../../shards/protocol.ts';
import type { QueryVector } from '../../embedding/query-vector.ts';
import type { QueryMode } from '../../query-mode.ts';
import { checkedGrainType } from '../grains/grain-type.ts';
import { given, type RecallInput } from './fields.ts';
import { recallOptions } from './options.ts';
import { isDuration, readPhrase, type TimeSpan } from './time-phrase.ts';

/** The fields of a recall, and what its HTTP body or its headers add to them. */
export type QueryInput = RecallInput & { readonly queryMode?: QueryMode | undefined };

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Default minimum of first-stage candidates: enough for filters and fusion to choose from. */
const CANDIDATES_MIN = 100;
const CANDIDATES_A_HIT = 5;
/** An exhaustive recall takes ten times as many candidates, and at least EXHAUSTIVE_CANDIDATES_MIN. */
const EXHAUSTIVE_TIMES = 10;
const EXHAUSTIVE_CANDIDATES_MIN = 2_000;

/**
 * The trimmed query text, cut to QUERY_CHARS_MAX + 1 characters because copying a long text costs this thread time. The
 * extra character shows later steps that the text was too long.
 */
export function queryText({ query = '' }: Pick<RecallInput, 'query'>): string {
  return query.slice(0, QUERY_CHARS_MAX + 1).trim();
}

/** The query without options, and warnings about limits that were lowered. Throws VAL-E001 and MEM-E005. */
export function recallQuery(input: QueryInput): { readonly query: RecallQuery; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  let limit = input.limit ?? 0;
  if (limit === 0) limit = RECALL_LIMIT_DEFAULT;
  if (limit > RECALL_LIMIT_MAX) {
    warnings.push(`limit ${limit} is treated as ${RECALL_LIMIT_MAX}`);
    limit = RECALL_LIMIT_MAX;
  }
  let candidateLimit = input.candidateLimit ?? 0;
  if (candidateLimit === 0) candidateLimit = defaultCandidates(input, limit);
  if (candidateLimit > CANDIDATE_LIMIT_MAX) {
    warnings.push(`candidate_limit ${candidateLimit} is treated as ${CANDIDATE_LIMIT_MAX}`);
    candidateLimit = CANDIDATE_LIMIT_MAX;
  }
  const filter = filterOf(input);
  const text = queryText(input);
  return {
    query: {
      ...defined({ query: text === '' ? undefined : text, operators: input.queryMode === 'operators' || undefined }),
      filter,
      limit,
      askedLimit: limit,
      candidateLimit,
      structural:
        filter.entity !== undefined ||
        filter.subject !== undefined ||
        filter.relation !== undefined ||
        filter.object !== undefined,
    },
    warnings,
  };
}

/** The query with the options of its stages and its vector. */
export function stagedQuery(input: QueryInput): RecallQuery {
  const { query } = recallQuery(input);
  const vector = vectorOf(input, query.query);
  return {
    ...query,
    options: recallOptions(input),
    ...defined({ vector, showExcluded: input.explanation === true || undefined }),
  };
}

/** The staged query of a recall that leaves a record if the policy or the request asks for one. */
export function recordedQuery(input: QueryInput): RecallQuery {
  return { ...stagedQuery(input), record: { asked: input.recordProvenance === true } };
}

/** Symbols, so that no caller can send these members. */
const VECTOR = Symbol('vector of the query');
const WARNING = Symbol('why there is none');
type WithVector = QueryInput & {
  readonly [VECTOR]?: RecallQuery['vector'] | undefined;
  readonly [WARNING]?: string | undefined;
};

/** The request with the vector of its query. */
export function withVector(input: QueryInput, vector: NonNullable<RecallQuery['vector']>): WithVector {
  return { ...input, [VECTOR]: vector };
}

/** The request with the vector that another thread made, or with the warning why there is none. */
export function withMade(input: QueryInput, { vector, warning }: QueryVector): WithVector {
  return { ...input, [VECTOR]: vector, [WARNING]: warning };
}

/** The warning that `withMade` kept, for the answer. */
export function madeWarnings({ [WARNING]: warning }: WithVector): readonly string[] {
  return warning === undefined ? [] : [warning];
}

/** True when the server made a vector of the request's query. */
export function hasMadeVector({ [VECTOR]: vector }: WithVector): boolean {
  return vector !== undefined;
}

/** True when the request contains its own vector. */
export function givesVector({ embedding }: RecallInput): boolean {
  return embedding !== undefined && embedding.length > 0;
}

function vectorOf(input: WithVector, text: string | undefined): RecallQuery['vector'] {
  if (text === undefined || !givesVector(input)) return input[VECTOR];
  return { bytes: packVectors([new Float32Array(input.embedding ?? [])]), of: text };
}

function defaultCandidates({ exhaustive }: RecallInput, limit: number): number {
  const candidates = Math.max(CANDIDATES_MIN, CANDIDATES_A_HIT * limit);
  if (exhaustive !== true) return candidates;
  return Math.min(CANDIDATE_LIMIT_MAX, Math.max(EXHAUSTIVE_CANDIDATES_MIN, EXHAUSTIVE_TIMES * candidates));
}

function filterOf(input: RecallInput): GrainFilter {
  const filter: Mutable<GrainFilter> = {};
  // An entity replaces subject, relation and object.
  if (given(input.entity)) filter.entity = input.entity;
  else {
    if (given(input.subject)) filter.subject = input.subject;
    if (given(input.relation)) filter.relation = input.relation;
    if (given(input.object)) filter.object = input.object;
  }
  if (given(input.subjectContains)) filter.subjectContains = input.subjectContains;
  if (given(input.objectContains)) filter.objectContains = input.objectContains;
  if (given(input.grainType)) filter.grainTypes = [checkedGrainType(input.grainType)];
  if (given(input.namespace)) filter.namespace = input.namespace;
  if (given(input.userId)) filter.userId = input.userId;
  if (input.tags !== undefined && input.tags.length > 0) filter.tags = input.tags;
  if (input.excludeTags !== undefined && input.excludeTags.length > 0) filter.excludeTags = input.excludeTags;
  const scope = scopeView(input.scopePath ?? '', input.includeSiblings === true);
  if (scope !== undefined) filter.scope = scope;
  if (input.confidenceThreshold !== undefined) filter.confidenceMin = input.confidenceThreshold;
  if (input.importanceThreshold !== undefined) filter.importanceMin = input.importanceThreshold;
  // An aggregation counts every version.
  if (input.excludeSuperseded === false || input.aggregationIntent === true) filter.includeSuperseded = true;
  return { ...filter, ...timeFilter(input) };
}

function timeFilter(input: RecallInput): Partial<GrainFilter> {
  const fromMs = secondsToMs(input.timeStart, 'time_start', 0);
  // Inclusive: created_at shows whole seconds, so time_end covers its whole second.
  const toMs = secondsToMs(input.timeEnd, 'time_end', 999);
  if (fromMs !== undefined && toMs !== undefined && fromMs > toMs)
    throw new EngineError('VAL-E001', 'time_start is after time_end', {
      details: [{ field: 'time_start', issue: 'after time_end' }],
    });
  const field = input.temporalField ?? 'created_at';
  return onField(field, within({ fromMs, toMs }, phraseSpan(input)));
}

interface Span {
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
}

/**
 * The intersection of `span` and the phrase's span. If they do not overlap, the result starts after it ends and
 * matches nothing.
 */
function within({ fromMs, toMs }: Span, phrase: TimeSpan): Span {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = phrase;
  const first = Math.max(fromMs ?? Number.NEGATIVE_INFINITY, from * 1000);
  const last = Math.min(toMs ?? Number.POSITIVE_INFINITY, to * 1000 + 999);
  return { fromMs: Number.isFinite(first) ? first : undefined, toMs: Number.isFinite(last) ? last : undefined };
}

/** The span of temporal_expr relative to the reference date, in seconds. Throws VAL-E001 for an unknown phrase. */
function phraseSpan({ temporalExpr, referenceDate }: RecallInput): TimeSpan {
  if (!given(temporalExpr)) return {};
  const span = readPhrase(temporalExpr, referenceDate ?? Math.floor(systemClock.nowMs() / 1000));
  if (span === undefined) throw badPhrase('is not a known time phrase, such as "last month" or "2024-05"');
  const { from, to } = span;
  if (from !== undefined && to !== undefined && from > to) throw badPhrase('ends before it begins');
  return span;
}

/** Refuses durations: over HTTP a phrase must name a calendar time, and the caller converts durations to time_start. */
export function refuseDuration(input: { readonly temporalExpr?: unknown }): void {
  if (typeof input.temporalExpr === 'string' && isDuration(input.temporalExpr))
    throw badPhrase('is a duration, which HTTP does not accept: send time_start instead');
}

function badPhrase(issue: string): EngineError {
  return new EngineError('VAL-E001', `\`temporal_expr\` ${issue}`, { details: [{ field: 'temporal_expr', issue }] });
}

function onField(field: NonNullable<RecallInput['temporalField']>, { fromMs, toMs }: Span): Partial<GrainFilter> {
  if (field === 'both') {
    if (fromMs === undefined && toMs === undefined) return {};
    return { eitherTime: { fromMs, toMs } };
  }
  const filter: Mutable<Partial<GrainFilter>> = {};
  if (field === 'created_at') {
    if (fromMs !== undefined) filter.createdFromMs = fromMs;
    if (toMs !== undefined) filter.createdToMs = toMs;
  }
  if (field === 'event_date') {
    if (fromMs !== undefined) filter.validFromMs = fromMs;
    if (toMs !== undefined) filter.validToMs = toMs;
  }
  return filter;
}

/**
 * Converts seconds to their first (`within` 0) or last (999) millisecond. Throws VAL-E001 for values that must be
 * milliseconds.
 */
export function secondsToMs(seconds: number | undefined, field: string, within: 0 | 999): number | undefined {
  if (seconds === undefined) return undefined;
  if (Math.abs(seconds) > SECONDS_MAX)
    throw new EngineError('VAL-E001', `${field} seems to be in milliseconds: send Unix seconds`, {
      details: [{ field, issue: `above ${SECONDS_MAX}` }],
    });
  return seconds * 1000 + within;
}
