// Counts what a partition's grains say about the quality of a memory, from the index alone, and draws the samples.
import { DAY_MS } from '../../base/clock.ts';
import { METRIC_RECALLS_MAX, METRIC_SAMPLE, METRIC_SAMPLE_GRAIN_BYTES } from '../../base/limits.ts';
import type { IntelMeasures, RecallTally } from '../../calls/metrics.ts';
import { BREAKDOWN_FIELDS, type KeptRecall } from '../../govern/trail/provenance.ts';
import { DocSet } from '../../index/docs/docset.ts';
import type { Sliced } from '../../index/files/section.ts';
import { type Doc, fieldKey, type IndexPart } from '../../index/parts/part.ts';
import { isFailure, isSuccess } from '../../store/action-numbers.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { type Binding, isBound } from '../../store/within.ts';
import { vectorState } from '../housekeeping/embed.ts';
import { countRecalls, newestRecalls } from '../reports/recall-records.ts';
import { seenDocs } from '../reports/users.ts';
import { Lowest } from './lowest.ts';
import { openBeliefs, openGrains } from './sample.ts';
import { deepestChain } from './versions.ts';

const GOAL_WINDOW_MS = 30 * DAY_MS;
const LOW_CONFIDENCE = 0.3;
/** Docs that are counted before other work gets its turn. */
const SLICE_DOCS = 16_384;
const NOTHING = new Uint32Array(0);
const FINAL_SCORE = BREAKDOWN_FIELDS.indexOf('final_score');
/** Scores are stored in millionths. */
const SCORE_DIGITS = 1e6;

type Counts = { -readonly [K in keyof IntelMeasures as IntelMeasures[K] extends number ? K : never]: number };

export function* measureIntel(
  store: Store,
  memory: Memory,
  { binding, partition }: { readonly binding: Binding; readonly partition: number },
): Sliced<IntelMeasures> {
  const nowMs = store.clock.nowMs();
  const counts = noCounts();
  const grains = new Lowest(METRIC_SAMPLE);
  const beliefs = new Lowest(METRIC_SAMPLE);
  let live = 0;
  for (const part of store.parts(memory.number)) {
    const seen = isBound(binding) ? DocSet.of(part.docCount, seenDocs(part, binding)) : undefined;
    const isBelief = DocSet.of(part.docCount, part.facet('type', 'belief') ?? NOTHING);
    const confidences = part.numbers('confidence');
    const { removed, superseded } = store.index;
    const isCurrent = (doc: Doc): boolean => {
      const ordinal = part.ordinals[doc]!;
      return seen?.has(doc) !== false && !removed.get(ordinal) && !superseded.get(ordinal);
    };
    for (let doc = 0; doc < part.docCount; doc++) {
      if (doc % SLICE_DOCS === SLICE_DOCS - 1) yield;
      const ordinal = part.ordinals[doc]!;
      if (!removed.get(ordinal)) live += 1;
      if (!isCurrent(doc)) continue;
      counts.grains += 1;
      if ((confidences?.[doc] ?? 1) < LOW_CONFIDENCE) counts.lowConfidence += 1;
      if (part.blobBytes[doc]! > METRIC_SAMPLE_GRAIN_BYTES) continue;
      grains.take(part.addressHeads[doc]!, ordinal);
      if (isBelief.has(doc)) beliefs.take(part.addressHeads[doc]!, ordinal);
    }
    counts.beliefs += countIf(isBelief, isCurrent);
    yield;
    countGoals(part, isCurrent, nowMs, counts);
    countActions(part, isCurrent, nowMs, counts);
    yield;
  }
  return {
    ...counts,
    consentMode: memory.governed.rules['consent.mode'],
    sample: yield* openGrains(store, memory, { drawn: grains.all(), partition }),
    beliefSample: yield* openBeliefs(store, memory, beliefs.all()),
    ...(isBound(binding) ? {} : { whole: yield* measureWhole(store, memory, live) }),
  };
}

function noCounts(): Counts {
  return {
    grains: 0,
    beliefs: 0,
    lowConfidence: 0,
    goals: 0,
    suspendedGoals: 0,
    satisfiedGoals: 0,
    failedGoals: 0,
    endedActions: 0,
    failedActions: 0,
  };
}

function countIf(docs: DocSet, test: (doc: Doc) => boolean): number {
  let count = 0;
  for (let doc = docs.next(0); doc < docs.docCount; doc = docs.next(doc + 1)) if (test(doc)) count += 1;
  return count;
}

/** A goal was closed when its current version was written. */
function countGoals(part: IndexPart, isCurrent: (doc: Doc) => boolean, nowMs: number, counts: Counts): void {
  const countState = (state: string, sinceMs: number): number => {
    let count = 0;
    for (const doc of part.facet('field', fieldKey('goal_state', state)) ?? NOTHING)
      if (part.createdAtMs[doc]! >= sinceMs && isCurrent(doc)) count += 1;
    return count;
  };
  for (const doc of part.facet('type', 'goal') ?? NOTHING) if (isCurrent(doc)) counts.goals += 1;
  counts.suspendedGoals += countState('suspended', Number.NEGATIVE_INFINITY);
  counts.satisfiedGoals += countState('satisfied', nowMs - GOAL_WINDOW_MS);
  counts.failedGoals += countState('failed', nowMs - GOAL_WINDOW_MS);
}

function countActions(part: IndexPart, isCurrent: (doc: Doc) => boolean, nowMs: number, counts: Counts): void {
  const outcomes = part.numbers('outcome');
  if (outcomes === undefined) return;
  for (const doc of part.facet('type', 'action') ?? NOTHING) {
    if (part.createdAtMs[doc]! < nowMs - DAY_MS || !isCurrent(doc)) continue;
    const isFailed = isFailure(outcomes[doc]!);
    if (isFailed) counts.failedActions += 1;
    if (isFailed || isSuccess(outcomes[doc]!)) counts.endedActions += 1;
  }
}

function* measureWhole(store: Store, memory: Memory, live: number): Sliced<NonNullable<IntelMeasures['whole']>> {
  const chains = yield* deepestChain(store, memory.number);
  return {
    live,
    notEmbedded: vectorState(store, memory.number).lag,
    deepestChain: chains.versions,
    supersessions: chains.links,
    recalls: yield* tallyRecalls(store, memory),
  };
}

/** Recalls of the last day, of the newest records. */
function* tallyRecalls(store: Store, memory: Memory): Sliced<RecallTally> {
  const sinceMs = store.clock.nowMs() - DAY_MS;
  const tally = { kept: countRecalls(store, memory), recalls: 0, withResults: 0, scored: 0, scoreSum: 0 };
  let looked = 0;
  for (const record of newestRecalls(store, memory)) {
    yield;
    looked += 1;
    if (looked > METRIC_RECALLS_MAX || (record !== undefined && record.atMs < sinceMs)) break;
    if (record === undefined) continue;
    tally.recalls += 1;
    if (record.kept.resultCount > 0) tally.withResults += 1;
    const score = bestScore(record.kept);
    if (score === undefined) continue;
    tally.scored += 1;
    tally.scoreSum += score;
  }
  return tally;
}

/** The highest final score of a recall by text; undefined for another recall or one without results. */
function bestScore({ query, results }: KeptRecall): number | undefined {
  if (!query.has_text || results.length === 0) return undefined;
  let best = 0;
  for (const { score } of results)
    for (let i = 0; i + 1 < score.length; i += 2) if (score[i] === FINAL_SCORE) best = Math.max(best, score[i + 1]!);
  return best / SCORE_DIGITS;
}
