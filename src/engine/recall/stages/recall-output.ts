// A recall with its stages, from whoever answers recalls without: the engine at once, the main thread with promises.

import { assert } from '../../base/assert.ts';
import type { MemoryCalls } from '../../calls/calls.ts';
import type { Excluded, RecallQuery } from '../../calls/recall.ts';
import { AnswerRoom, partOfGrain, withinRoom } from '../../grain/api/answer-room.ts';
import { type Answer, type Ask, answerLater, answerNow } from '../asking/asking.ts';
import { Exclusions } from './excluded.ts';
import type { StageHit } from './hit.ts';
import { asksPreference } from './preferences.ts';
import { recallHit, stageHit } from './recall-hit.ts';
import { hitsWanted, type StageContext, stages } from './run.ts';
import type { Staged } from './staged.ts';

type RecallOutput = MemoryCalls['recall']['output'];
/** What is asked for beside recalls. */
export type OtherAsk = Exclude<Ask, { kind: 'search' | 'rerank' }>;
type StageTools = Pick<StageContext, 'nowMs'>;
/** A recall's stages, about to run. */
interface Begun {
  readonly wide: RecallQuery;
  readonly context: StageContext;
  readonly excluded: Exclusions | undefined;
}
/** Puts hits in order, or leaves them (undefined); rejects with what ends the recall. */
export type Rerank = (hits: readonly StageHit[]) => Promise<readonly number[] | undefined>;

/** Whether the stages have anything to do: for most recalls they have not. */
function hasStages({ query, options, filter }: RecallQuery, reranks: boolean): boolean {
  if (reranks) return true;
  if (options === undefined) return false;
  return (
    Object.keys(options).length > 0 ||
    filter.includeSuperseded === true ||
    filter.scope !== undefined ||
    asksPreference(query)
  );
}

/** The whole answer in the engine; `recall` gives that of a query without options. */
export function recallStagedNow(
  query: RecallQuery,
  tools: StageTools,
  recall: (query: RecallQuery) => RecallOutput,
  answer: (ask: OtherAsk) => Answer,
): RecallOutput {
  const { wide, context, excluded } = begin(query, tools, false);
  const found = recall(wide);
  if (!hasStages(query, false)) return withinAnswer(unstaged(found, excluded));
  const respond = (ask: Ask): Answer => {
    assert(ask.kind !== 'rerank', 'no model is asked where nobody can wait for it');
    return ask.kind === 'search' ? searched(recall(ask.query), ask.query) : answer(ask);
  };
  const hits = found.hits.map((hit) => stageHit(hit, wide));
  return withinAnswer(finish(found, answerNow(stages(hits, context), respond), excluded));
}

/** The same where recalls take their time. */
export async function recallStaged(
  query: RecallQuery,
  tools: StageTools,
  recall: (query: RecallQuery) => Promise<RecallOutput>,
  answer: (ask: OtherAsk) => Promise<Answer>,
  rerank?: Rerank,
): Promise<RecallOutput> {
  const reranks = rerank !== undefined;
  const { wide, context, excluded } = begin(query, tools, reranks);
  const found = await recall(wide);
  if (!hasStages(query, reranks)) return withinAnswer(unstaged(found, excluded));
  const respond = async (ask: Ask): Promise<Answer> => {
    if (ask.kind === 'search') return searched(await recall(ask.query), ask.query);
    return ask.kind === 'rerank' ? { kind: 'rerank', order: await rerank?.(ask.hits) } : answer(ask);
  };
  const hits = found.hits.map((hit) => stageHit(hit, wide));
  return withinAnswer(finish(found, await answerLater(stages(hits, context), respond), excluded));
}

function begin(query: RecallQuery, tools: StageTools, reranks: boolean): Begun {
  const { options = {}, record, ...asked } = query;
  // What leaves a record is told of candidates beyond its limit, and takes down what its stages drop.
  const plain = record === undefined ? asked : { ...asked, tellBeyond: true };
  const excluded = query.tellExcluded === true || record !== undefined ? new Exclusions() : undefined;
  const wide = hasStages(query, reranks) ? { ...plain, limit: hitsWanted(query, options, reranks) } : plain;
  return { wide, excluded, context: { query: plain, options, reranks, ...tools, ...(excluded && { excluded }) } };
}

/** What was taken down of conditions is told with what the limit cut off, as after stages. */
function unstaged(found: RecallOutput, excluded: Exclusions | undefined): RecallOutput {
  const { excluded: before, hits, total } = found;
  if (before === undefined || excluded === undefined) return found;
  excluded.join(before);
  excluded.count('limit_exceeded', total - hits.length);
  return { ...found, excluded: excluded.plain() };
}

/** What has no room in one answer is left out, the last hits first; sources share the room. */
function withinAnswer(output: RecallOutput): RecallOutput {
  const { hits, sources, excluded } = output;
  const room = new AnswerRoom();
  const kept = withinRoom(hits, room, ({ grain }) => partOfGrain(grain));
  const keptSources = sources === undefined ? undefined : withinRoom(sources, room, ({ grain }) => partOfGrain(grain));
  if (kept === hits && keptSources === sources) return output;
  const left = hits.length - kept.length;
  return {
    ...output,
    hits: kept,
    truncated: true,
    ...(keptSources === undefined ? {} : { sources: keptSources }),
    ...(excluded === undefined ? {} : { excluded: withCut(excluded, left) }),
  };
}

function withCut(before: Excluded, left: number): Excluded {
  const excluded = new Exclusions();
  excluded.join(before);
  excluded.count('budget_capped', left);
  return excluded.plain();
}

function searched({ hits }: RecallOutput, query: RecallQuery): Answer {
  return { kind: 'search', hits: hits.map((hit) => stageHit(hit, query)) };
}

function finish(
  { hits: found, total, coverage, truncated, vectorsBehind, queryCut, legCut, excluded: before, beyond }: RecallOutput,
  { hits, sources, ...rest }: Staged,
  excluded: Exclusions | undefined,
): RecallOutput {
  if (before !== undefined) excluded?.join(before);
  // What the stages did not get to see.
  excluded?.count('limit_exceeded', total - found.length);
  return {
    hits: hits.map(recallHit),
    total,
    coverage,
    ...(truncated === undefined ? {} : { truncated }),
    ...(vectorsBehind === undefined ? {} : { vectorsBehind }),
    ...(queryCut === undefined ? {} : { queryCut }),
    ...(legCut === undefined ? {} : { legCut }),
    ...(sources === undefined ? {} : { sources: sources.map(recallHit) }),
    ...(excluded === undefined ? {} : { excluded: excluded.plain() }),
    ...(beyond === undefined ? {} : { beyond }),
    ...rest,
  };
}
