// Runs the stages after fusion (service contract 8.3) in their order. The engine, which answers synchronously, and the
// main thread, which waits for several partitions, share this code: the same hits give the same answer.

import { defined } from '../../base/defined.ts';
import type { CensusMetadata, ExhaustiveMetadata, RecallOptions, RecallQuery } from '../../calls/recall.ts';
import type { ExclusionReason } from '../../govern/trail/exclusions.ts';
import type { ExclusionTally } from '../exclusion-tally.ts';
import { favourSession, favourSubject } from './affinity.ts';
import { sourcesOf, subjectsOf } from './annotate.ts';
import { coverageRatio, sessionCensus } from './census.ts';
import { asksForChoice, asksForDiversity } from './choosing.ts';
import { containsTest } from './contains.ts';
import { demoteSuperseded, markConflicts, penaliseOutdated } from './contradictions.ts';
import { cutToLimit, dropWeak, keepBestNamespaces } from './cut.ts';
import { DIVERSITY_HITS_MAX, diversify, likenessOf } from './diversity.ts';
import { dropDuplicates, preferDeepest, resolveConflicts } from './duplicates.ts';
import { exhaust } from './exhaustive.ts';
import { explain } from './explain.ts';
import { compareHits, type StageHit } from './hit.ts';
import { furtherLegs, fuseLegs } from './legs.ts';
import { backfillNamespaces } from './namespaces.ts';
import { asksPreference, enrichPreferences } from './preferences.ts';
import { askVectors, type Recalling } from './questions.ts';
import { rerank } from './rerank.ts';
import { Similarity } from './similarity.ts';
import type { Staged } from './staged.ts';
import { annotateTime, approachTarget, weighRecency, weighTarget } from './time.ts';

export interface StageContext {
  readonly query: RecallQuery;
  readonly options: RecallOptions;
  readonly nowMs: number;
  /** True if a reranking model is available. */
  readonly reranks?: boolean | undefined;
  /** Collects dropped hits with their reasons. */
  readonly excluded?: ExclusionTally | undefined;
}

/** Runs every stage that the options ask for and returns at most `limit` hits. */
export function* stages(hits: readonly StageHit[], context: StageContext): Recalling<Staged> {
  const { query, options, nowMs } = context;
  const found = yield* legs(hits, context);
  const adjusted = adjust(found, options, nowMs, context.excluded);
  const narrowed = yield* narrow(adjusted, context);
  const { hits: filled, reserved, exhaustive, census } = yield* backfill(narrowed, context);
  const { minPerNamespace } = options;
  // Diversity has its own order of preference, by which the limit cuts. The answer is sorted by score again.
  const preferred = asksForDiversity(options) ? filled : [...filled].sort(compareHits);
  const cut = cutToLimit(preferred, { limit: query.limit, reserved, minPerNamespace });
  context.excluded?.left(preferred, cut, reasonOfCut(options));
  const answered = annotate(cut, options, nowMs);
  const sources = options.includeSources === true ? yield* sourcesOf(answered) : {};
  return defined({
    hits: answered,
    ...sources,
    entities: options.countEntities === true ? subjectsOf(answered) : undefined,
    exhaustive,
    census,
    sessionCoverageRatio: census && coverageRatio(census),
  });
}

/** The hits of all legs, including the request's additional ones, that pass the conditions on text. */
function* legs(found: readonly StageHit[], { query, options, excluded }: StageContext): Recalling<StageHit[]> {
  const hits = found.toSorted(compareHits);
  const further = yield* furtherLegs(hits, query, options);
  const fused = fuseLegs(hits, further);
  const test = containsTest(options);
  if (test === undefined) return fused;
  const kept = fused.filter(({ grain }) => test(grain));
  const bySubject = containsTest({ subjectContains: options.subjectContains ?? '' });
  excluded?.left(fused, kept, ({ grain }) => (bySubject?.(grain) === false ? 'subject_mismatch' : 'object_mismatch'));
  return kept;
}

/** Why the limit cut a hit: a stage that lowered its score, if there is one. */
function reasonOfCut(options: RecallOptions): (hit: StageHit) => ExclusionReason {
  const diverse = asksForDiversity(options);
  return ({ breakdown: { changes } }) => {
    if (changes.interferencePenalty !== undefined) return 'contradicted';
    if (changes.supersessionDemotion !== undefined) return 'supersession_demoted';
    return diverse ? 'diversity_filtered' : 'limit_exceeded';
  };
}

/** Runs the stages that change scores. Each has its own member of the breakdown. */
function adjust(
  found: readonly StageHit[],
  options: RecallOptions,
  nowMs: number,
  excluded: ExclusionTally | undefined,
): StageHit[] {
  let hits = weighRecency(found, options.recencyWeight ?? 0, nowMs);
  if (options.targetDate !== undefined) hits = approachTarget(hits, options.targetDate, options.temporalField);
  hits = weighTarget(hits, options);
  hits = favourSession(hits, options.sessionAffinityBoost ?? 0);
  hits = favourSubject(hits, options.subjectAffinityBoost ?? 0);
  const contradicted = options.includeContradicted !== false;
  if (options.detectContradictions === true || !contradicted) hits = markConflicts(hits);
  if (options.detectContradictions === true) hits = penaliseOutdated(hits);
  if (!contradicted) {
    const kept = hits.filter(({ conflictStatus }) => conflictStatus !== 'outdated');
    excluded?.left(hits, kept, 'contradicted_filtered');
    hits = kept;
  }
  return options.aggregationIntent === true ? hits : demoteSuperseded(hits);
}

/** Runs the stages that drop hits or prefer other ones. */
function* narrow(
  adjusted: readonly StageHit[],
  { query, options, reranks, excluded }: StageContext,
): Recalling<StageHit[]> {
  let hits = [...adjusted];
  const keep = (kept: StageHit[], reason: ExclusionReason): void => {
    excluded?.left(hits, kept, reason);
    hits = kept;
  };
  const { scope } = query.filter;
  const similarity = new Similarity();
  if (scope !== undefined) keep(preferDeepest(hits, scope.line), 'conflict_resolved');
  if (options.deduplicate === true)
    keep(dropDuplicates(hits, options.deduplicateThreshold, similarity), 'deduplicated');
  if (options.conflictResolution === true)
    keep(resolveConflicts(hits, options.conflictSimilarityThreshold, similarity), 'conflict_resolved');
  if (reranks === true) hits = yield* rerank(hits);
  if (options.diversityLambda !== undefined && asksForDiversity(options)) {
    const likeness = likenessOf(yield* askVectors(hits.slice(0, DIVERSITY_HITS_MAX)));
    hits = diversify(hits, options.diversityLambda, query.limit, likeness);
  }
  if (options.minScore !== undefined) keep(dropWeak(hits, options.minScore), 'below_min_score');
  if (options.maxNamespaces !== undefined) keep(keepBestNamespaces(hits, options.maxNamespaces), 'namespace_capped');
  return hits;
}

interface Filled {
  readonly hits: readonly StageHit[];
  /** Hashes of hits with a reserved place. */
  readonly reserved: ReadonlySet<string>;
  readonly exhaustive?: ExhaustiveMetadata | undefined;
  readonly census?: CensusMetadata | undefined;
}

/** Runs the stages that search for more hits, each on the output of the previous one. Added hits come after found ones. */
function* backfill(found: readonly StageHit[], { query, options, excluded }: StageContext): Recalling<Filled> {
  const reserved = new Set<string>();
  const admit = admission(options);
  let hits = [...found];
  if (options.minPerNamespace !== undefined)
    hits = admit(hits, yield* backfillNamespaces(hits, query, options.minPerNamespace));
  let census: CensusMetadata | undefined;
  if (options.sessionCensus === true) {
    const counted = yield* sessionCensus(hits, query, options);
    census = counted.metadata;
    hits = admit(hits, counted.hits);
    for (const hash of counted.added) reserved.add(hash);
  }
  let exhaustive: ExhaustiveMetadata | undefined;
  if (options.exhaustive === true) {
    const expanded = yield* exhaust(hits, query, options);
    exhaustive = expanded.metadata;
    excluded?.count('budget_capped', exhaustive.expansionGrainsBudgetCapped);
    excluded?.count('below_min_score', exhaustive.expansionGrainsFiltered);
    hits = admit(hits, expanded.hits);
  }
  // If the wording alone triggers this stage, it only fills free places.
  if (options.preferenceEnrichment ?? (hits.length < query.limit && asksPreference(query.query))) {
    const enriched = yield* enrichPreferences(hits, query);
    hits = admit(hits, enriched.hits);
    if (options.preferenceEnrichment === true) for (const hash of enriched.added) reserved.add(hash);
  }
  return {
    hits,
    reserved,
    exhaustive,
    census,
  };
}

/** Applies the request's conditions on hits to the hits that a stage added. */
function admission(options: RecallOptions): (before: readonly StageHit[], after: readonly StageHit[]) => StageHit[] {
  const test = containsTest(options);
  return (before, after) => {
    const known = new Set(before.map(({ grain }) => grain.hash));
    return after.filter(({ grain }) => {
      if (known.has(grain.hash)) return true;
      if (options.includeContradicted === false && grain.fields['verification_status'] === 'retracted') return false;
      return test === undefined || test(grain);
    });
  };
}

function annotate(hits: readonly StageHit[], options: RecallOptions, nowMs: number): StageHit[] {
  let annotated = [...hits];
  if (options.annotateRelativeTime === true) {
    const seenFrom = options.referenceDate === undefined ? nowMs : options.referenceDate * 1000;
    annotated = annotateTime(annotated, seenFrom, options.temporalField);
  }
  if (options.explanation === true) annotated = annotated.map((hit) => ({ ...hit, explanation: explain(hit) }));
  return annotated;
}

/** Number of fused hits that the stages need. Stages that reorder or drop hits select from all candidates. */
export function hitsWanted(
  { limit, candidateLimit, filter }: RecallQuery,
  options: RecallOptions,
  reranks: boolean = false,
): number {
  const demotes = filter.includeSuperseded === true && options.aggregationIntent !== true;
  const chooses = demotes || reranks || filter.scope !== undefined || asksForChoice(options);
  return chooses ? Math.max(limit, candidateLimit) : limit;
}
