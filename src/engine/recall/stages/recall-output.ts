// A recall with stages: passes the hits of a recall without stages through the stages and builds the answer.

import { ask } from '../../asking/asking.ts';
import type { QuestionInput, QuestionOutput } from '../../asking/questions.ts';
import { defined } from '../../base/defined.ts';
import type { Excluded, RecallQuery } from '../../calls/recall.ts';
import { AnswerRoom, partOfGrain, withinRoom } from '../../grain/api/answer-room.ts';
import { ExclusionTally } from '../exclusion-tally.ts';
import { asksPreference } from './preferences.ts';
import type { Recalling } from './questions.ts';
import { recallHit, stageHits } from './recall-hit.ts';
import { hitsWanted, type StageContext, stages } from './run.ts';
import type { Staged } from './staged.ts';

type RecallOutput = QuestionOutput<'search'>;
type StageTools = Pick<StageContext, 'nowMs'> & { readonly reranks: boolean };
/** The input of a recall's stages. */
interface Begun {
  readonly wide: RecallQuery;
  readonly context: StageContext;
  readonly excluded: ExclusionTally | undefined;
}
/** Reorders hits with a model; undefined: no change. A rejection ends the recall. */
export type Rerank = (hits: QuestionInput<'rerank'>['hits']) => Promise<QuestionOutput<'rerank'>['order']>;

/** True if any stage has work to do; most recalls need none. */
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

/** The complete answer. Asks `rerank` only if `reranks` is set: the caller can then wait for a model. */
export function* recallStaged(query: RecallQuery, tools: StageTools): Recalling<RecallOutput> {
  const { wide, context, excluded } = begin(query, tools);
  const found = yield* ask('search', wide);
  if (!hasStages(query, tools.reranks)) return withinAnswer(unstaged(found, excluded));
  return withinAnswer(finish(found, yield* stages(stageHits(found.hits, wide), context), excluded));
}

function begin(query: RecallQuery, tools: StageTools): Begun {
  const { options = {}, record, ...asked } = query;
  // A recall that leaves a record reports candidates beyond its limit and hits that its stages drop.
  const plain = record === undefined ? asked : { ...asked, tellBeyond: true };
  const excluded = query.showExcluded === true || record !== undefined ? new ExclusionTally() : undefined;
  const wide = hasStages(query, tools.reranks) ? { ...plain, limit: hitsWanted(query, options, tools.reranks) } : plain;
  return { wide, excluded, context: { query: plain, options, ...tools, excluded } };
}

/** Without stages, adds the candidates beyond the limit to those excluded by conditions, as the stages do. */
function unstaged(found: RecallOutput, excluded: ExclusionTally | undefined): RecallOutput {
  const { excluded: before, hits, total } = found;
  if (before === undefined || excluded === undefined) return found;
  excluded.join(before);
  excluded.count('limit_exceeded', total - hits.length);
  return { ...found, excluded: excluded.plain() };
}

/** Drops hits from the end until the answer fits its size; sources count too. */
function withinAnswer(output: RecallOutput): RecallOutput {
  const { hits, sources, excluded } = output;
  const room = new AnswerRoom();
  // Most answers are small.
  const all = sources === undefined ? hits : [...hits, ...sources];
  if (room.holds(all.map(({ grain }) => partOfGrain(grain)))) return output;
  const kept = withinRoom(hits, room, ({ grain }) => partOfGrain(grain));
  const keptSources = sources === undefined ? undefined : withinRoom(sources, room, ({ grain }) => partOfGrain(grain));
  if (kept === hits && keptSources === sources) return output;
  const left = hits.length - kept.length;
  return defined({
    ...output,
    hits: kept,
    truncated: true,
    sources: keptSources,
    excluded: excluded && withCut(excluded, left),
  });
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
  // Candidates that never reached the stages.
  excluded?.count('limit_exceeded', total - found.length);
  return defined({
    hits: hits.map(recallHit),
    total,
    coverage,
    truncated,
    vectorsBehind,
    queryCut,
    legCut,
    sources: sources?.map(recallHit),
    excluded: excluded?.plain(),
    beyond,
    ...rest,
  });
}
