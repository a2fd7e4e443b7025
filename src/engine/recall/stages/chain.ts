// Splits a question into several recalls by rules: independent parts, or hops that each ask about the previous hop's
// result. The plan explains in words how the question was read.

import { type SplitRule, splitQuery } from './decompose.ts';
import { entitiesOfHits } from './entities.ts';
import type { StageHit } from './hit.ts';

export const CHAIN_QUERIES_DEFAULT = 4;
export const CHAIN_QUERIES_MIN = 2;
export const CHAIN_QUERIES_MAX = 8;

export interface ChainStep {
  /** `BOUND` marks where the previous step's entities go. */
  readonly query: string;
  /** True if the step needs the result of the previous one. */
  readonly binds: boolean;
}

export interface ChainPlan {
  readonly steps: readonly ChainStep[];
  /** An explanation of the plan, for people. */
  readonly reasoning: string;
  /** Which part of the question is left out; absent if none. */
  readonly cut?: string | undefined;
}

/** Placeholder in a step's query for the previous step's entities. A caller's text never contains this character. */
export const BOUND = '\u0000';

const TEXT_CHARS_READ = 2_048;
const BOUND_ENTITIES = 3;
const BOUND_HITS = 3;
/** Hits below this share of the best score count as unrelated. */
const BOUND_SCORE_SHARE = 0.8;
const ENTITIES_READ = 12;

const RULES: Readonly<Record<SplitRule, string>> = {
  questions: 'several questions',
  comparison: 'a comparison, each side asked for alone',
  list: 'a list, each item asked for alone',
  conjunction: 'joined clauses, each asked for alone',
};

/** At most `max` steps (2 to 8) in execution order. A question that no rule splits is one step. */
export function planChain(question: string, max: number = CHAIN_QUERIES_DEFAULT): ChainPlan {
  const plan = planOf(question, max);
  if (question.length <= TEXT_CHARS_READ) return plan;
  return { ...plan, cut: `the question is longer than ${TEXT_CHARS_READ} characters: what is beyond was not read` };
}

function planOf(question: string, max: number): ChainPlan {
  const limit = Math.max(CHAIN_QUERIES_MIN, Math.min(CHAIN_QUERIES_MAX, max));
  const text = question.slice(0, TEXT_CHARS_READ).replaceAll(BOUND, '').replace(/\s+/g, ' ').trim();
  const allHops = possessives(text) ?? relativeClause(text);
  if (allHops !== undefined) {
    const hops = allHops.slice(0, limit);
    const shown = hops.map(({ query }) => `"${query.replaceAll(BOUND, '…')}"`).join(', then ');
    return {
      steps: hops,
      reasoning: `Read as ${hops.length} hops, each about what the one before it finds: ${shown}.`,
      ...notAsked(allHops.length - hops.length, limit),
    };
  }
  const split = splitQuery(text, limit);
  if (split === undefined)
    return { steps: [{ query: text, binds: false }], reasoning: 'Asked unchanged: no rule splits it into parts.' };
  const shown = split.parts.map((part) => `"${part}"`).join(', ');
  return {
    steps: split.parts.map((query) => ({ query, binds: false })),
    reasoning: `Read as ${RULES[split.rule]}: ${shown}.`,
    ...notAsked(split.left, limit),
  };
}

function notAsked(left: number, limit: number): Pick<ChainPlan, 'cut'> {
  return left === 0 ? {} : { cut: `${left} more parts of the question were not asked: max_sub_queries is ${limit}` };
}

/** "Where does Ada's brother's wife work": "Ada brother", then "… wife", then "Where does … work". */
function possessives(text: string): ChainStep[] | undefined {
  const found = /^(?<before>.*?)(?<chain>[\p{L}\p{N}-]+(?:['’]s?\s+[\p{L}\p{N}-]+){2,})(?<after>.*)$/u.exec(text);
  if (found?.groups === undefined) return undefined;
  const { before = '', chain = '', after = '' } = found.groups;
  const [owner = '', ...owned] = chain.split(/['’]s?\s+/);
  const rest = `${before}${BOUND}${after}`.replace(/\?$/, '').trim();
  const links = owned.map((thing, at) => ({ query: `${at === 0 ? owner : BOUND} ${thing}`, binds: at > 0 }));
  // Words around the chain ask something about its last member. "Ada's brother's wife?" alone has no such words.
  const last = rest
    .replaceAll(BOUND, '')
    .replace(/\b(?:who|what|which|is|are|was|were)\b/gi, '')
    .trim();
  return last === '' ? links : [...links, { query: rest, binds: true }];
}

/** "the email of the person who manages Bob": "person manages Bob", then "the email of …". */
function relativeClause(text: string): ChainStep[] | undefined {
  const found =
    /^(?<before>.+?)\b(?:the|a|an)\s+(?<kind>(?:[\p{L}\p{N}-]+\s+){0,2}[\p{L}\p{N}-]+)\s+(?:who|that|which|where|whose)\s+(?<clause>[^?]+)\??$/iu.exec(
      text,
    );
  if (found?.groups === undefined) return undefined;
  const { before = '', kind = '', clause = '' } = found.groups;
  if (!/\p{L}/u.test(before)) return undefined;
  return [
    { query: `${kind} ${clause}`.trim(), binds: false },
    { query: `${before}${BOUND}`, binds: true },
  ];
}

/**
 * The query of a step after the previous one was answered: `BOUND` becomes up to three entities of that step's best
 * hits that the chain has not named yet. Without any, only the surrounding words remain.
 */
export function bindStep(step: ChainStep, before: readonly StageHit[], named: string): string {
  if (!step.binds) return step.query;
  const known = named.toLowerCase();
  const best = before[0]?.score ?? 0;
  const telling = before.slice(0, BOUND_HITS).filter(({ score }) => score >= best * BOUND_SCORE_SHARE);
  const entities = entitiesOfHits(telling, ENTITIES_READ)
    .filter((entity) => !known.includes(entity.toLowerCase()))
    .slice(0, BOUND_ENTITIES);
  return step.query.replaceAll(BOUND, entities.join(' ')).replace(/\s+/g, ' ').trim();
}

interface StepAnswer<H> {
  readonly query: string;
  readonly hits: readonly H[];
}

/**
 * Runs the steps of a plan, independent ones together, and returns each query with its hits in plan order. `ask`
 * returns the hits of a query, best first.
 */
export function runChain<H extends StageHit>(
  { steps }: ChainPlan,
  ask: (query: string) => Promise<readonly H[]>,
): Promise<StepAnswer<H>[]> {
  const answers: Promise<StepAnswer<H>>[] = [];
  for (const step of steps) answers.push(step.binds ? answerBound(step, [...answers], ask) : answerPlain(step, ask));
  return Promise.all(answers);
}

async function answerPlain<H extends StageHit>(
  { query }: ChainStep,
  ask: (query: string) => Promise<readonly H[]>,
): Promise<StepAnswer<H>> {
  return { query, hits: query === '' ? [] : await ask(query) };
}

async function answerBound<H extends StageHit>(
  step: ChainStep,
  before: readonly Promise<StepAnswer<H>>[],
  ask: (query: string) => Promise<readonly H[]>,
): Promise<StepAnswer<H>> {
  const answered = await Promise.all(before);
  const named = answered.map(({ query }) => query).join(' ');
  return answerPlain({ query: bindStep(step, answered.at(-1)?.hits ?? [], named), binds: false }, ask);
}
