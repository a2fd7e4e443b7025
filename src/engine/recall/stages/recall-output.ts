// A recall with its stages, from whoever answers recalls without: the engine at once, the main thread with promises.
import type { MemoryCalls, RecallQuery } from '../../calls.ts';
import { type Answer, type Ask, answerLater, answerNow } from './asking.ts';
import { asksPreference } from './preferences.ts';
import { recallHit, stageHit } from './recall-hit.ts';
import { hitsWanted, type StageContext, type Staged, stages } from './run.ts';

type RecallOutput = MemoryCalls['recall']['output'];
/** What is asked for beside recalls. */
type OtherAsk = Exclude<Ask, { kind: 'search' }>;
type StageTools = Pick<StageContext, 'nowMs' | 'likeness' | 'vocabulary'>;

/** Whether the stages have anything to do: for most recalls they have not. */
function hasStages({ query, options, filter }: RecallQuery): boolean {
  if (options === undefined) return false;
  return Object.keys(options).length > 0 || filter.includeSuperseded === true || asksPreference(query);
}

/** The whole answer in the engine; `recall` gives that of a query without options. */
export function recallStagedNow(
  query: RecallQuery,
  tools: StageTools,
  recall: (query: RecallQuery) => RecallOutput,
  answer: (ask: OtherAsk) => Answer,
): RecallOutput {
  const { wide, context } = begin(query, tools);
  const found = recall(wide);
  if (!hasStages(query)) return found;
  const respond = (ask: Ask): Answer => (ask.kind === 'search' ? searched(recall(ask.query), ask.query) : answer(ask));
  const hits = found.hits.map((hit) => stageHit(hit, wide));
  return finish(found, answerNow(stages(hits, context), respond));
}

/** The same where recalls take their time. */
export async function recallStaged(
  query: RecallQuery,
  tools: StageTools,
  recall: (query: RecallQuery) => Promise<RecallOutput>,
  answer: (ask: OtherAsk) => Promise<Answer>,
): Promise<RecallOutput> {
  const { wide, context } = begin(query, tools);
  const found = await recall(wide);
  if (!hasStages(query)) return found;
  const respond = async (ask: Ask): Promise<Answer> =>
    ask.kind === 'search' ? searched(await recall(ask.query), ask.query) : answer(ask);
  const hits = found.hits.map((hit) => stageHit(hit, wide));
  return finish(found, await answerLater(stages(hits, context), respond));
}

function begin(query: RecallQuery, tools: StageTools): { wide: RecallQuery; context: StageContext } {
  const { options = {}, ...plain } = query;
  const wide = hasStages(query) ? { ...plain, limit: hitsWanted(query, options) } : plain;
  return { wide, context: { query: plain, options, ...tools } };
}

function searched({ hits }: RecallOutput, query: RecallQuery): Answer {
  return { kind: 'search', hits: hits.map((hit) => stageHit(hit, query)) };
}

function finish({ total, coverage }: RecallOutput, { hits, sources, ...rest }: Staged): RecallOutput {
  return {
    hits: hits.map(recallHit),
    total,
    coverage,
    ...(sources === undefined ? {} : { sources: sources.map(recallHit) }),
    ...rest,
  };
}
