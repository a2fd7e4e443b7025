// One RECALL: conditions to the store, the rest over what comes back. A generator: what it needs of the store it yields.
import type { GrainFilter, RecallHit } from '../../calls.ts';
import { CANDIDATE_LIMIT_MAX } from '../../limits.ts';
import type { Condition, GrainReference, Recall, Stage, WithOption } from '../ast.ts';
import { CalError, calWarning } from '../errors.ts';
import { diversified } from '../output/diversity.ts';
import type { CalGrain } from '../output/grain.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { ask, type Running, type Selection } from './asks.ts';
import { account, bounds, checkTime } from './bounds.ts';
import { atMost, checkWritten } from './cap.ts';
import { type Conditions, conditionsOf, type Meaning } from './conditions.ts';
import { contested, needsRivals } from './contested.ts';
import { passes } from './field-test.ts';
import { calGrain } from './grain-of.ts';
import { OF_SEARCH, warnOfIdle } from './idle.ts';
import { BY_HASH, byScore, ordered } from './order.ts';
import { type Page, type PlainStage, pageOf } from './page.ts';
import { withoutRepeats } from './repeats.ts';
import type { Run } from './session.ts';
import { extracted, type GrainOutcome, type Outcome, runStages } from './stages.ts';
import { threadOf } from './thread.ts';

/** What two queries have in common: the answer of a recall, whose subqueries ran first. */
export function* runRecall(recall: Recall, run: Run): Running<Outcome> {
  checkWritten(recall, run);
  const values = new Map<Condition, readonly string[]>();
  for (const condition of recall.where) {
    if (condition.op !== 'in' || !('recall' in condition)) continue;
    values.set(condition, yield* runValues(condition.recall, condition.extract, run));
  }
  const thread = recall.thread !== undefined && 'from' in recall.thread ? recall.thread.from : undefined;
  let within: GrainFilter | undefined = {};
  if (thread !== undefined) {
    const hash = yield* resolveReference(thread, run);
    within = hash === undefined ? undefined : yield* threadOf(hash, run);
    if (within === undefined) return finish({ kind: 'grains', grains: [], total: 0 }, recall, run);
  }
  const meaning = meaningOf(run);
  const subquery = (condition: Condition) => values.get(condition);
  const outcome = yield* match(recall, narrowed(conditionsOf(recall, meaning, subquery), within), run);
  if (recall.about === undefined) return outcome;
  if (!isEmpty(outcome)) return { ...outcome, about: 'subject' };
  const asText = conditionsOf(recall, meaning, subquery, { aboutAsText: true });
  const searched = yield* match(recall, narrowed(asText, within), run);
  return { ...searched, about: 'query' };
}

/** The conditions inside of a conversation. */
function narrowed(conditions: Conditions, { anyOf = [], addresses }: GrainFilter): Conditions {
  const { filter } = conditions;
  return {
    ...conditions,
    filter: {
      ...filter,
      ...(addresses === undefined ? {} : { addresses }),
      ...(anyOf.length === 0 ? {} : { anyOf: [...(filter.anyOf ?? []), ...anyOf] }),
    },
  };
}

function isEmpty(outcome: Outcome): boolean {
  return outcome.total === 0;
}

/** The distinct strings of a recall: of a subquery, or of a LET. */
export function* runValues(
  recall: Recall,
  extractor: 'subjects' | 'objects' | 'hashes',
  run: Run,
): Running<readonly string[]> {
  const outcome = yield* runRecall(recall, run);
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

/** The strings that a parameter stands for. */
export function valuesOf(name: string, run: Run): readonly string[] {
  if (name === 'current_user_id' && !run.lets.has(name)) {
    if (run.userId !== undefined) return [run.userId];
    throw new CalError('CAL-E008', '$current_user_id needs a session that is bound to a user', {
      suggestion: 'Send x-user-id, or use a key that is bound to a user.',
    });
  }
  const bound = run.lets.get(name);
  if (bound === undefined) throw new CalError('CAL-E008', `$${name} is not bound`);
  if (bound.kind === 'values') return bound.values;
  throw new CalError('CAL-E020', `$${name} is a set of grains, not a list of values`, {
    suggestion: 'End its LET with SUBJECTS, OBJECTS or HASHES.',
  });
}

/** The address that a reference names; undefined: no grain here has it. */
export function* resolveReference(reference: GrainReference, run: Run): Running<string | undefined> {
  if (reference.kind === 'hash') return yield* resolveAddress(reference.hex, run);
  const values = valuesOf(reference.name, run);
  const [only] = values;
  if (values.length === 0) return undefined;
  if (values.length > 1 || only === undefined || !/^sha256:[0-9a-f]{64}$/.test(only))
    throw new CalError('CAL-E020', `$${reference.name} does not hold one hash`, { at: reference.at });
  return yield* resolveAddress(only.slice('sha256:'.length), run);
}

/** Full, also when the grain is superseded; undefined: no grain of this session has it. E015 when several have. */
export function* resolveAddress(prefix: string, _run: Run): Running<string | undefined> {
  const { hashes } = yield* ask('find', { prefix: prefix.toLowerCase() });
  if (hashes.length > 1)
    throw new CalError('CAL-E015', `sha256:${prefix} is ambiguous: several grains begin so`, {
      suggestion: 'Write more digits.',
    });
  return hashes[0];
}

function* match(recall: Recall, conditions: Conditions, run: Run): Running<Outcome> {
  const nothing: GrainOutcome = { kind: 'grains', grains: [], total: 0 };
  if (conditions.nothing) return finish(nothing, recall, run);
  const addresses = new Set<string>();
  for (const prefix of conditions.addresses) {
    const address = prefix.length === 64 ? prefix.toLowerCase() : yield* resolveAddress(prefix, run);
    if (address === undefined) return finish(nothing, recall, run);
    addresses.add(address);
  }
  const among = conditions.filter.addresses;
  if (addresses.size > 1 || (among !== undefined && [...addresses].some((address) => !among.includes(address))))
    return finish(nothing, recall, run);
  const filter = addresses.size === 0 ? conditions.filter : { ...conditions.filter, addresses: [...addresses] };
  if (conditions.text !== undefined) return yield* search(recall, { ...conditions, filter }, conditions.text, run);
  // All that structure finds has the score 1.
  warnOfIdle(recall.with, OF_SEARCH, 'nothing is searched for', run);
  const scored = { score: 1 } as CalGrain; // A test on the score looks at nothing else.
  if (!conditions.scoreTests.every((test) => passes(scored, test))) return finish(nothing, recall, run);
  return yield* select(recall, { filter, tests: conditions.tests }, run);
}

function* select(recall: Recall, selection: Selection, run: Run): Running<Outcome> {
  const stages = plainStages(recall.stages, run);
  const page = pageOf(recall, stages, run.recallMax);
  const repeats = dedupOf(recall.with);
  if (page.countsOnly) {
    const total = yield* countOf(selection, repeats, run);
    const left = Math.max(0, total - page.skip);
    return { kind: 'count', total, count: Math.min(left, page.take ?? left) };
  }
  const [next, ...after] = page.rest;
  const isPlain = page.take === undefined && page.skip === 0 && page.order === undefined && repeats === undefined;
  if (isPlain && next?.stage === 'group_by' && after.length === 0)
    return yield* groups(selection, next.field.word, run);
  const selected = yield* ask('select', {
    ...selection,
    ...bounds(run),
    order: page.order ?? BY_HASH,
    take: page.take === undefined ? CAL_LIMITS.grainsScannedMax : page.skip + page.take,
    ...(repeats === undefined ? {} : { dedup: repeats }),
  });
  account(run, selected);
  const grains = selected.grains.map((view) => calGrain(view, 1));
  return paged({ kind: 'grains', grains, total: selected.total }, page, run);
}

/** How many match; of repeats each once. */
function* countOf(selection: Selection, repeats: string | undefined, run: Run): Running<number> {
  if (repeats === undefined) {
    const counted = yield* ask('count', { ...selection, ...bounds(run) });
    account(run, counted);
    return counted.total;
  }
  const grouped = yield* ask('group', { ...selection, ...bounds(run), field: repeats, shown: 0, shownMax: 0 });
  account(run, grouped);
  const { groups: of, total } = grouped;
  return total - of.reduce((sum, { count }) => sum + count - 1, 0);
}

/** Of all that matches: the store counts, and gives the grains that are shown. */
function* groups(selection: Selection, field: string, run: Run): Running<Outcome> {
  const grouped = yield* ask('group', {
    ...selection,
    ...bounds(run),
    field,
    shown: CAL_LIMITS.limitDefault,
    shownMax: atMost(run.recallMax, CAL_LIMITS.limitMax),
  });
  account(run, grouped);
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

/** Skips and takes, and runs the stages that are left. `start` holds the beginning of the order. */
function paged(start: GrainOutcome, page: Page, { recallMax }: Run): Outcome {
  const end = page.take === undefined ? undefined : page.skip + page.take;
  const uncut = page.take === undefined;
  return runStages({ ...start, grains: start.grains.slice(page.skip, end) }, page.rest, { uncut, recallMax });
}

/** As `paged`, of grains that are all here and in the order of a query that names none. */
function finish(start: GrainOutcome, recall: Recall, run: Run): Outcome {
  const page = pageOf(recall, plainStages(recall.stages, run), run.recallMax);
  const inOrder = page.order === undefined ? start.grains : ordered(page.order, start.grains);
  return paged({ ...start, grains: unrepeated(inOrder, recall) }, page, run);
}

/** Candidates that are looked at for one hit that is wanted, and at least. */
const CANDIDATES_A_HIT = 5;
const CANDIDATES_MIN = 100;

function* search(recall: Recall, { filter, tests, scoreTests }: Conditions, text: string, run: Run): Running<Outcome> {
  const page = pageOf(recall, plainStages(recall.stages, run), run.recallMax);
  const looksAtAll =
    page.order !== undefined ||
    page.take === undefined ||
    tests.length + scoreTests.length > 0 ||
    recall.with.some(({ option }) => option === 'dedup' || option === 'diversity');
  const wanted = page.skip + (page.take ?? 0);
  const candidateLimit = looksAtAll
    ? CANDIDATE_LIMIT_MAX
    : Math.min(CANDIDATE_LIMIT_MAX, Math.max(CANDIDATES_MIN, CANDIDATES_A_HIT * wanted));
  const vector = run.vectors.get(text);
  if (vector === undefined) run.spent.withoutVector.add(text);
  const { hits, total } = yield* ask('search', {
    query: text,
    filter,
    limit: looksAtAll ? candidateLimit : Math.min(candidateLimit, wanted),
    candidateLimit,
    structural: false,
    ...(vector === undefined ? {} : { vector }),
  });
  run.spent.scanned += hits.length;
  checkTime(run);
  const candidates = hits.map(hitGrain);
  const isAsked = needsRivals(tests);
  const grains = (isAsked ? yield* contested(candidates, run) : candidates).filter(
    (grain) => tests.every((test) => passes(grain, test)) && scoreTests.every((test) => passes(grain, test)),
  );
  const found = byScore(grains);
  const start: GrainOutcome = { kind: 'grains', grains: found, total: looksAtAll ? found.length : total };
  const inOrder = page.order === undefined ? varied(found, recall) : ordered(page.order, found);
  const unlike = unrepeated(inOrder, recall);
  // What is behind the last candidate scores no more than it: where that is enough already, nothing was missed.
  const last = candidates.at(-1);
  const wantsMore = page.order !== undefined || page.take === undefined || unlike.length < wanted;
  const isCut = hits.length >= candidateLimit && last !== undefined && scoreTests.every((test) => passes(last, test));
  if (isCut && wantsMore)
    run.spent.warnings.push(
      calWarning('CAL-W006', `the best ${candidateLimit} matches alone were looked at, and more may match`),
    );
  return paged({ ...start, grains: unlike }, page, run);
}

function varied(found: readonly CalGrain[], recall: Recall): readonly CalGrain[] {
  const diversity = recall.with.find((one) => one.option === 'diversity');
  return diversity === undefined ? found : diversified(found, diversity);
}

function hitGrain(hit: RecallHit): CalGrain {
  const { bm25, phrase, vector, near, answer, session, role, speaker, time, self, final } = hit.breakdown;
  return {
    ...calGrain(hit.grain, hit.score),
    scoreBreakdown: { bm25, phrase, vector, near, answer, session, role, speaker, time, self, final },
  };
}

/** Parameters of OFFSET are numbers of nobody: no LET holds one. */
export function plainStages(stages: readonly Stage[], run: Run): PlainStage[] {
  return stages.map((stage) => {
    if (stage.stage !== 'offset' || typeof stage.count === 'number') return stage as PlainStage; // Not an OFFSET with a name.
    const [only, ...others] = valuesOf(stage.count.name, run);
    const count = Number(only);
    if (others.length === 0 && Number.isInteger(count) && count >= 0) return { stage: 'offset', count };
    throw new CalError('CAL-E020', `$${stage.count.name} is no number of grains`, { at: stage.count.at });
  });
}
