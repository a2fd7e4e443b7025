// Runs one RECALL: the store applies the conditions that it can, and the rest runs over the returned grains. A
// generator that yields its questions to the store.

import { ask } from '../../asking/asking.ts';
import { defined } from '../../base/defined.ts';
import { CANDIDATE_LIMIT_MAX } from '../../base/limits.ts';
import { EXTRACTORS, type Extractor, type Order, type Selection } from '../../calls/cal.ts';
import type { GrainFilter } from '../../calls/grain.ts';
import type { RecallHit } from '../../calls/recall.ts';
import { type FieldCondition, fieldConditions, type Recall, type Stage, type WithOption } from '../ast.ts';
import { CalError, calWarning } from '../errors.ts';
import { diversified } from '../output/diversity.ts';
import type { CalGrain } from '../output/grain.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { bounds, charge, checkTime, hold } from './bounds.ts';
import { atMost, checkWritten } from './cap.ts';
import type { Meaning } from './condition-values.ts';
import { type Conditions, conditionsOf } from './conditions.ts';
import { contested, needsRivals } from './contested.ts';
import { passes } from './field-test.ts';
import { calGrain } from './grain-of.ts';
import { OF_SEARCH, warnOfIdle } from './idle.ts';
import { BY_HASH, byScore, ordered, withoutScore } from './order.ts';
import { type Page, type PlainStage, pageOf } from './page.ts';
import { resolveAddress, resolveReference, valuesOf } from './references.ts';
import { withoutRepeats } from './repeats.ts';
import type { Running } from './running.ts';
import type { Run } from './session.ts';
import { extracted, type GrainOutcome, type Outcome, runStages } from './stages.ts';
import { threadOf } from './thread.ts';

/** The use of a recall's result. */
export type Purpose =
  /** The answer of a statement or of a source. It has a default limit. */
  | 'answer'
  /** All matching grains, for another statement. */
  | 'operand'
  /** Like `operand`, but addresses suffice. */
  | 'addresses';

/**
 * Runs a recall: first its subqueries, then the recall itself. If nothing has the subject of ABOUT, searches for its
 * words.
 */
export function* runRecall(recall: Recall, run: Run, purpose: Purpose = 'answer'): Running<Outcome> {
  checkWritten(recall, run);
  const values = new Map<FieldCondition, readonly string[]>();
  for (const condition of fieldConditions(recall.where)) {
    if (!('recall' in condition)) continue;
    values.set(condition, yield* runValues(condition.recall, condition.extract, run));
  }
  const thread = recall.thread !== undefined && 'from' in recall.thread ? recall.thread.from : undefined;
  let within: GrainFilter | undefined = {};
  if (thread !== undefined) {
    const hash = yield* resolveReference(thread, run);
    within = hash === undefined ? undefined : yield* threadOf(hash, run);
    if (within === undefined) return finish({ kind: 'grains', grains: [], total: 0 }, recall, run, purpose);
  }
  const meaning = meaningOf(run);
  const subquery = (condition: FieldCondition) => values.get(condition);
  const asked = { recall, run, purpose: isStrict(run) ? 'answer' : purpose };
  const outcome = yield* match(narrowed(conditionsOf(recall, meaning, subquery), within), asked);
  if (recall.about === undefined) return outcome;
  if (!isEmpty(outcome)) return { ...outcome, about: 'subject' };
  const asText = narrowed(conditionsOf(recall, meaning, subquery, { aboutAsText: true }), within);
  if (isStrict(run)) return { ...(yield* match(asText, asked)), about: 'query' };
  const searched = yield* match(asText, { ...asked, evidenceMin: ABOUT_EVIDENCE_MIN });
  run.spent.warnings.push(
    calWarning(
      'CAL-W010',
      `nothing has the subject ${JSON.stringify(recall.about.slice(0, 80))}: ${searched.total === 0 ? 'no text holds' : 'shown are texts that hold'} its words`,
    ),
  );
  return { ...searched, about: 'fallback' };
}

/**
 * The minimum share of the words of ABOUT, weighted by rarity, that a text must hold if nothing has the subject. With
 * one half, a surname without its first name suffices, and a common word does not.
 */
const ABOUT_EVIDENCE_MIN = 0.5;

export function isStrict({ session }: Run): boolean {
  return session.strict === true;
}

/** The default limits that apply, as options of `pageOf`. */
export function limitsOf(run: Run, purpose: Purpose = 'answer') {
  return { isWhole: purpose !== 'answer', valuesOfAll: !isStrict(run) };
}

/** A running recall. */
interface Asked {
  readonly recall: Recall;
  readonly run: Run;
  readonly purpose: Purpose;
  /** If set, the search uses words only, and keeps texts that hold at least this share of them. */
  readonly evidenceMin?: number | undefined;
}

/** The conditions, restricted to a conversation. */
function narrowed(conditions: Conditions, { anyOf = [], addresses }: GrainFilter): Conditions {
  const { filter } = conditions;
  return {
    ...conditions,
    filter: {
      ...filter,
      ...defined({ addresses, anyOf: anyOf.length === 0 ? undefined : [...(filter.anyOf ?? []), ...anyOf] }),
    },
  };
}

function isEmpty(outcome: Outcome): boolean {
  return outcome.total === 0;
}

/** The distinct strings that an extractor takes from a recall, for a subquery or a LET. */
export function* runValues(recall: Recall, extractor: Extractor, run: Run): Running<readonly string[]> {
  const stages: Recall['stages'] = [...recall.stages, { stage: extractor }];
  const outcome = yield* isStrict(run) ? runRecall(recall, run) : runRecall({ ...recall, stages }, run, 'operand');
  if (outcome.kind === 'grains') return extracted(outcome.grains, extractor);
  return outcome.kind === 'values' ? outcome.values : [];
}

export function meaningOf(run: Run): Meaning {
  return {
    nowMs: run.nowMs,
    namespace: run.namespace,
    userId: run.userId,
    valuesOf: (name) => valuesOf(name, run),
  };
}

function* match(conditions: Conditions, asked: Asked): Running<Outcome> {
  const { recall, run, purpose } = asked;
  const nothing: GrainOutcome = { kind: 'grains', grains: [], total: 0 };
  if (conditions.nothing) return finish(nothing, recall, run, purpose);
  let addresses = conditions.filter.addresses;
  for (const prefixes of conditions.addresses) {
    const found = new Set<string>();
    for (const prefix of prefixes) {
      const address = prefix.length === 64 ? prefix.toLowerCase() : yield* resolveAddress(prefix);
      if (address !== undefined) found.add(address);
    }
    addresses = addresses === undefined ? [...found] : addresses.filter((address) => found.has(address));
  }
  if (addresses !== undefined && addresses.length === 0) return finish(nothing, recall, run, purpose);
  const filter = addresses === undefined ? conditions.filter : { ...conditions.filter, addresses };
  if (conditions.text !== undefined) return yield* search({ ...conditions, filter }, conditions.text, asked);
  // Without a search, every grain has the score 1.
  warnOfIdle(recall.with, OF_SEARCH, 'nothing is searched for', run);
  const scored = { score: 1 } as CalGrain; // A test on the score looks at nothing else.
  if (!conditions.scoreTests.every((test) => passes(scored, test))) return finish(nothing, recall, run, purpose);
  return yield* select({ filter, tests: conditions.tests }, asked);
}

function* select(selection: Selection, { recall, run, purpose }: Asked): Running<Outcome> {
  const stages = plainStages(recall.stages, run);
  const page = pageOf(recall, stages, run.recallMax, limitsOf(run, purpose));
  const repeats = dedupOf(recall.with);
  const order = withoutScore(page.order ?? BY_HASH);
  if (page.countsOnly) {
    const total = yield* countOf(selection, repeats, run);
    const left = Math.max(0, total - page.skip);
    return { kind: 'count', total, count: Math.min(left, page.take ?? left) };
  }
  const [next, ...after] = page.rest;
  const isUncut = page.skip === 0 && repeats === undefined && isUnlimited(stages);
  const isPlain = isUncut && page.take === undefined && page.order === undefined;
  if (isPlain && next?.stage === 'group_by' && after.length === 0)
    return yield* groups(selection, next.field.word, run);
  if (isUncut && recall.recent === undefined && !isStrict(run)) {
    const extractor = next === undefined ? undefined : EXTRACTORS.find((one) => one === next.stage);
    // Under a policy's cap, values come from the first grains only, so the store cannot extract them.
    const isCapped = purpose === 'answer' && run.recallMax !== null;
    if (extractor !== undefined && !isCapped) return yield* valuesIn(selection, { extractor, order, after }, run);
    // Set operations sort their members themselves.
    if (purpose === 'addresses' && page.take === undefined && next === undefined)
      return yield* valuesIn(selection, { extractor: 'hashes', order: BY_HASH, after: [] }, run);
  }
  const isHeld = page.take === undefined && !isStrict(run);
  const most = isHeld ? CAL_LIMITS.grainsHeldMax : CAL_LIMITS.grainsScannedMax;
  // One more shows that there are more. The total does not, because it counts repeats too.
  const all = isHeld ? most + 1 : most;
  const selected = yield* ask('select', {
    ...selection,
    ...bounds(run),
    order,
    take: page.take === undefined ? all : page.skip + page.take,
    ...defined({ dedup: repeats }),
  });
  charge(run, selected);
  const isCut = isHeld && selected.grains.length > most;
  if (isCut) warnOfCut(run, most);
  const grains = (isCut ? selected.grains.slice(0, most) : selected.grains).map((view) => calGrain(view, 1));
  return paged({ kind: 'grains', grains, total: selected.total }, page, run, purpose);
}

/** True if no stage limits the number of grains. A default limit may still apply. */
function isUnlimited(stages: readonly PlainStage[]): boolean {
  return !stages.some(({ stage }) => stage === 'limit' || stage === 'first');
}

export function warnOfCut(run: Run, most: number): void {
  run.spent.warnings.push(calWarning('CAL-W009', `there are more than ${most} grains: the first ${most} were taken`));
}

/** The values of all matching grains, or of the first ones in order if there are more than may be read. */
function* valuesIn(
  selection: Selection,
  { extractor, order, after }: { extractor: Extractor; order: Order; after: readonly PlainStage[] },
  run: Run,
): Running<Outcome> {
  const max = CAL_LIMITS.grainsScannedMax;
  const found = yield* ask('values', { ...selection, ...bounds(run), extractor, order, max });
  charge(run, found);
  if (found.isCut) warnOfCut(run, max);
  let values = found.values.map(({ value }) => value);
  for (const stage of after) {
    if (stage.stage === 'limit') values = values.slice(0, stage.count);
    if (stage.stage === 'count') return { kind: 'count', total: found.total, count: values.length };
  }
  return { kind: 'values', total: found.total, extractor, values };
}

/** The number of matching grains. Grains with the same value of the field `repeats` count once. */
function* countOf(selection: Selection, repeats: string | undefined, run: Run): Running<number> {
  if (repeats === undefined) {
    const counted = yield* ask('count', { ...selection, ...bounds(run) });
    charge(run, counted);
    return counted.total;
  }
  const grouped = yield* ask('group', { ...selection, ...bounds(run), field: repeats, shown: 0, shownMax: 0 });
  charge(run, grouped);
  const { groups: of, total } = grouped;
  return total - of.reduce((sum, { count }) => sum + count - 1, 0);
}

/** Groups all matching grains in the store, which returns the counts and the shown grains. */
function* groups(selection: Selection, field: string, run: Run): Running<Outcome> {
  const grouped = yield* ask('group', {
    ...selection,
    ...bounds(run),
    field,
    shown: CAL_LIMITS.limitDefault,
    shownMax: atMost(run.recallMax, CAL_LIMITS.limitMax),
  });
  charge(run, { ...grouped, grains: grouped.groups.flatMap(({ grains }) => grains) });
  let room = atMost(run.recallMax, CAL_LIMITS.limitMax);
  return {
    kind: 'groups',
    field,
    total: grouped.total,
    groups: grouped.groups.map(({ key, count, grains }) => {
      const shown = grains.slice(0, room);
      room -= shown.length;
      return { key, count, grains: shown.map((view) => calGrain(view, 1)) };
    }),
  };
}

function dedupOf(options: readonly WithOption[]): string | undefined {
  return options.find((one) => one.option === 'dedup')?.field.word;
}

function unrepeated(grains: readonly CalGrain[], recall: Recall): readonly CalGrain[] {
  const field = dedupOf(recall.with);
  return field === undefined ? grains : withoutRepeats(grains, (grain) => grain, field);
}

/** Applies skip and take, then runs the remaining stages. `start` has the first grains in order. */
export function paged(start: GrainOutcome, page: Page, run: Run, purpose: Purpose = 'answer'): Outcome {
  const end = page.take === undefined ? undefined : page.skip + page.take;
  return runStages({ ...start, grains: start.grains.slice(page.skip, end) }, page.rest, {
    uncut: page.take === undefined,
    recallMax: run.recallMax,
    isWhole: !isStrict(run),
    isOperand: purpose !== 'answer',
  });
}

/** Like `paged`, for a complete list of grains in default order. Also sorts them and drops repeats. */
function finish(start: GrainOutcome, recall: Recall, run: Run, purpose: Purpose): Outcome {
  const page = pageOf(recall, plainStages(recall.stages, run), run.recallMax, limitsOf(run, purpose));
  const inOrder = page.order === undefined ? start.grains : ordered(page.order, start.grains);
  return paged({ ...start, grains: unrepeated(inOrder, recall) }, page, run, purpose);
}

/** Candidates for each wanted hit, and the minimum number of candidates. */
const CANDIDATES_A_HIT = 5;
const CANDIDATES_MIN = 100;

function* search(
  { filter, tests, scoreTests }: Conditions,
  text: string,
  { recall, run, purpose, evidenceMin }: Asked,
): Running<Outcome> {
  const page = pageOf(recall, plainStages(recall.stages, run), run.recallMax, limitsOf(run, purpose));
  const wordsOnly = evidenceMin !== undefined;
  const looksAtAll =
    page.order !== undefined ||
    page.take === undefined ||
    tests.length + scoreTests.length > 0 ||
    wordsOnly ||
    recall.with.some(({ option }) => option === 'dedup' || option === 'diversity');
  const wanted = page.skip + (page.take ?? 0);
  const candidateLimit = looksAtAll
    ? CANDIDATE_LIMIT_MAX
    : Math.min(CANDIDATE_LIMIT_MAX, Math.max(CANDIDATES_MIN, CANDIDATES_A_HIT * wanted));
  const vector = wordsOnly ? undefined : run.vectors.get(text);
  if (vector === undefined && !wordsOnly) run.spent.withoutVector.add(text);
  const { hits, total } = yield* ask('search', {
    query: text,
    filter,
    limit: looksAtAll ? candidateLimit : Math.min(candidateLimit, wanted),
    candidateLimit,
    structural: false,
    vector,
    wordsOnly: wordsOnly || undefined,
  });
  run.spent.scanned += hits.length;
  hold(
    run,
    hits.map(({ grain }) => grain),
  );
  checkTime(run);
  const candidates = hits.filter(({ evidence = 0 }) => !wordsOnly || evidence >= evidenceMin).map(hitGrain);
  const isAsked = needsRivals(tests);
  const grains = (isAsked ? yield* contested(candidates, run) : candidates).filter(
    (grain) => tests.every((test) => passes(grain, test)) && scoreTests.every((test) => passes(grain, test)),
  );
  const found = byScore(grains);
  const start: GrainOutcome = defined({
    kind: 'grains',
    grains: found,
    total: looksAtAll ? found.length : total,
    isLeast: (total >= candidateLimit && !isStrict(run)) || undefined,
  });
  const inOrder = page.order === undefined ? varied(found, recall) : ordered(page.order, found);
  const unlike = unrepeated(inOrder, recall);
  // Further matches score no more than the last candidate. If its score fails the query's tests, none was missed.
  const last = candidates.at(-1);
  const wantsMore = page.order !== undefined || page.take === undefined || unlike.length < wanted;
  const isCut = hits.length >= candidateLimit && last !== undefined && scoreTests.every((test) => passes(last, test));
  if (isCut && wantsMore)
    run.spent.warnings.push(
      calWarning('CAL-W006', `only the best ${candidateLimit} matches were examined; more may match`),
    );
  warnOfUnmet(unlike.slice(page.skip, page.take === undefined ? undefined : wanted), hits, run);
  return paged({ ...start, grains: unlike }, page, run, purpose);
}

/** Warns if some of the shown grains do not meet the operators of the searched text. */
function warnOfUnmet(shown: readonly CalGrain[], hits: readonly RecallHit[], run: Run): void {
  const unmet = new Set(hits.filter((hit) => hit.unmet === true).map(({ grain }) => grain.hash));
  const met = shown.filter(({ hash }) => !unmet.has(hash)).length;
  if (met < shown.length)
    run.spent.warnings.push(
      calWarning(
        'CAL-W011',
        `${met} of the ${shown.length} matches meet the operators of the text; the others answer its words`,
      ),
    );
}

function varied(found: readonly CalGrain[], recall: Recall): readonly CalGrain[] {
  const diversity = recall.with.find((one) => one.option === 'diversity');
  return diversity === undefined ? found : diversified(found, diversity);
}

function hitGrain(hit: RecallHit): CalGrain {
  const { bm25, phrase, vector, near, answer, session, pooled, role, speaker, time, self, final } = hit.breakdown;
  return {
    ...calGrain(hit.grain, hit.score),
    scoreBreakdown: { bm25, phrase, vector, near, answer, session, pooled, role, speaker, time, self, final },
  };
}

/** Resolves parameters of OFFSET. Throws E020 if the parameter's only value is no count. */
export function plainStages(stages: readonly Stage[], run: Run): PlainStage[] {
  return stages.map((stage) => {
    if (stage.stage !== 'offset' || typeof stage.count === 'number') return stage as PlainStage; // No OFFSET with a parameter.
    const [only, ...others] = valuesOf(stage.count.name, run);
    const count = Number(only);
    if (others.length === 0 && Number.isInteger(count) && count >= 0) return { stage: 'offset', count };
    throw new CalError('CAL-E020', `$${stage.count.name} is not a number of grains`, { at: stage.count.at });
  });
}
