// A recall with its stages: what a recall without stages finds goes through the stages into an answer.

import { ask } from '../../asking/asking.ts';
import type { QuestionInput, QuestionOutput } from '../../asking/questions.ts';
import type { Excluded, RecallQuery } from '../../calls/recall.ts';
import { AnswerRoom, partOfGrain, withinRoom } from '../../grain/api/answer-room.ts';
import { ExclusionTally } from '../exclusion-tally.ts';
import { asksPreference } from './preferences.ts';
import type { Recalling } from './questions.ts';
import { recallHit, stageHits } from './recall-hit.ts';
import { hitsWanted, type StageContext, stages } from './run.ts';
import type { Staged } from './staged.ts';

type RecallOutput = QuestionOutput<'search'>;
type StageTools = Required<Pick<StageContext, 'nowMs' | 'reranks'>>;
/** A recall's stages, about to run. */
interface Begun {
  readonly wide: RecallQuery;
  readonly context: StageContext;
  readonly excluded: ExclusionTally | undefined;
}
/** Puts hits in order, or leaves them (undefined); rejects with what ends the recall. */
export type Rerank = (hits: QuestionInput<'rerank'>['hits']) => Promise<QuestionOutput<'rerank'>['order']>;

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

/** The whole answer. It asks `rerank` only with `reranks`: where a model can be waited for. */
export function* recallStaged(query: RecallQuery, tools: StageTools): Recalling<RecallOutput> {
  const { wide, context, excluded } = begin(query, tools);
  const found = yield* ask('search', wide);
  if (!hasStages(query, tools.reranks)) return withinAnswer(unstaged(found, excluded));
  return withinAnswer(finish(found, yield* stages(stageHits(found.hits, wide), context), excluded));
}

function begin(query: RecallQuery, tools: StageTools): Begun {
  const { options = {}, record, ...asked } = query;
  // What leaves a record is told of candidates beyond its limit, and takes down what its stages drop.
  const plain = record === undefined ? asked : { ...asked, tellBeyond: true };
  const excluded = query.tellExcluded === true || record !== undefined ? new ExclusionTally() : undefined;
  const wide = hasStages(query, tools.reranks) ? { ...plain, limit: hitsWanted(query, options, tools.reranks) } : plain;
  return { wide, excluded, context: { query: plain, options, ...tools, ...(excluded && { excluded }) } };
}

/** What was taken down of conditions is told with what the limit cut off, as after stages. */
function unstaged(found: RecallOutput, excluded: ExclusionTally | undefined): RecallOutput {
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
  const excluded = new ExclusionTally();
  excluded.join(before);
  excluded.count('budget_capped', left);
  return excluded.plain();
}

function finish(
  { hits: found, total, coverage, truncated, vectorsBehind, queryCut, legCut, excluded: before, beyond }: RecallOutput,
  { hits, sources, ...rest }: Staged,
  excluded: ExclusionTally | undefined,
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
