// Counts what a partition's grains say about the quality of a memory, from the index alone, and draws the samples.

import { DAY_MS } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
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
    // A column of a million grains takes milliseconds to decode.
    const isBelief = DocSet.of(part.docCount, part.facet('type', 'belief') ?? NOTHING);
    yield;
    const confidences = part.numbers('confidence');
    yield;
    const { ordinals } = part;
    yield;
    const { addressHeads } = part;
    yield;
    const { blobBytes } = part;
    const { removed, superseded } = store.index;
    const isCurrent = (doc: Doc): boolean => {
      const ordinal = ordinals[doc]!;
      return seen?.has(doc) !== false && !removed.get(ordinal) && !superseded.get(ordinal);
    };
    for (let doc = 0; doc < part.docCount; doc++) {
      if (doc % SLICE_DOCS === 0) yield;
      const ordinal = ordinals[doc]!;
      if (!removed.get(ordinal)) live += 1;
      if (!isCurrent(doc)) continue;
      counts.grains += 1;
      const belief = isBelief.has(doc);
      if (belief) counts.beliefs += 1;
      if ((confidences?.[doc] ?? 1) < LOW_CONFIDENCE) counts.lowConfidence += 1;
      if (blobBytes[doc]! > METRIC_SAMPLE_GRAIN_BYTES) continue;
      grains.take(addressHeads[doc]!, ordinal);
      if (belief) beliefs.take(addressHeads[doc]!, ordinal);
    }
    yield* countGoals(part, isCurrent, nowMs, counts);
    yield* countActions(part, isCurrent, nowMs, counts);
  }
  return defined({
    ...counts,
    consentMode: memory.governed.rules['consent.mode'],
    sample: yield* openGrains(store, memory, { drawn: grains.all(), partition }),
    beliefSample: yield* openBeliefs(store, memory, beliefs.all()),
    whole: isBound(binding) ? undefined : yield* measureWhole(store, memory, live),
  });
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

/** A goal was closed when its current version was written. */
function* countGoals(part: IndexPart, isCurrent: (doc: Doc) => boolean, nowMs: number, counts: Counts): Sliced<void> {
  const inState = (state: string, sinceMs: number): Sliced<number> =>
    countIf(
      part.facet('field', fieldKey('goal_state', state)),
      (doc) => part.createdAtMs[doc]! >= sinceMs && isCurrent(doc),
    );
  counts.goals += yield* countIf(part.facet('type', 'goal'), isCurrent);
  counts.suspendedGoals += yield* inState('suspended', Number.NEGATIVE_INFINITY);
  counts.satisfiedGoals += yield* inState('satisfied', nowMs - GOAL_WINDOW_MS);
  counts.failedGoals += yield* inState('failed', nowMs - GOAL_WINDOW_MS);
}

function* countActions(part: IndexPart, isCurrent: (doc: Doc) => boolean, nowMs: number, counts: Counts): Sliced<void> {
  const outcomes = part.numbers('outcome');
  if (outcomes === undefined) return;
  counts.endedActions += yield* countIf(part.facet('type', 'action'), (doc) => {
    if (part.createdAtMs[doc]! < nowMs - DAY_MS || !isCurrent(doc)) return false;
    const isFailed = isFailure(outcomes[doc]!);
    if (isFailed) counts.failedActions += 1;
    return isFailed || isSuccess(outcomes[doc]!);
  });
}

/** Yields between slices. */
function* countIf(docs: Uint32Array = NOTHING, test: (doc: Doc) => boolean): Sliced<number> {
  let count = 0;
  for (let i = 0; i < docs.length; i++) {
    if (i % SLICE_DOCS === 0) yield;
    if (test(docs[i]!)) count += 1;
  }
  return count;
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
  if (!query.has_text || results.scores.length === 0) return undefined;
  let best = 0;
  for (const score of results.scores)
    for (let i = 0; i + 1 < score.length; i += 2) if (score[i] === FINAL_SCORE) best = Math.max(best, score[i + 1]!);
  return best / SCORE_DIGITS;
}
