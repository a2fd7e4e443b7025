// Whether a learned ranking would beat the formula: boosted trees over what the text leg knows of a candidate, trained on
// all labelled sets but one and judged on that one (`left_out`). `within`: trained on four fifths of one set and judged
// on the fifth, which is what a set can teach about itself. The bounds of a difference are those of a paired bootstrap
// (95 %). No model is written, and the server has none.
import { hasNativeRuntime, type RuntimeName } from '../../src/embed/builtin/runtime.ts';
import { embedderOver, openEncoder } from '../lib/embedder.ts';
import { fourPlaces, missingData } from '../lib/judged.ts';
import { cacheFolder } from '../lib/kept-vectors.ts';
import type { Measured, Options, Scenario, Skipped } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { median, named } from '../lib/statistics.ts';
import { type DescribedQuestion, describe, FEATURES } from '../train/gather.ts';
import { byFormula, compared, meanOf, ndcgOf } from '../train/judge.ts';
import { labelledSets, notes } from '../train/sets.ts';
import { type Model, scoreOf, type TrainOptions, train } from '../train/trees.ts';

const FOLDS = 5;
/** A set with fewer questions teaches nothing about itself. */
const WITHIN_MIN = 200;
const TREES: TrainOptions = {
  trees: 150,
  leaves: 8,
  rate: 0.05,
  leafMin: 100,
  features: FEATURES.map((_, i) => i),
  formula: 1,
};

export const scenario: Scenario = {
  name: 'learned',
  about: 'a learned ranking beside the formula, on the labelled set that its training left out',
  aims: [],
  run,
};

type Described = ReadonlyMap<string, readonly DescribedQuestion[]>;

async function run({ size }: Options): Promise<Measured | Skipped> {
  const skipped = size === 'smoke' ? undefined : missingData();
  if (skipped !== undefined) return { skipped };
  const options = { ...TREES, ...sized(size, { full: {}, quick: { trees: 15 }, smoke: { trees: 5, leafMin: 5 } }) };
  const runtime: RuntimeName = hasNativeRuntime() ? 'native' : 'wasm';
  const described = await describedSets(size === 'smoke', runtime);
  const metrics: Record<string, number> = {};
  const parameters: Record<string, number | string> = { runtime, trees: options.trees, leaves: options.leaves };
  const aheads: number[] = [];
  let last: Model | undefined;
  for (const [name, questions] of described) {
    const others = [...described].filter(([other]) => other !== name).flatMap(([, some]) => some);
    last = train(others, options);
    const figures = judged(questions, () => last!);
    Object.assign(metrics, named(`${name}_left_out`, figures));
    aheads.push(figures['ahead_ratio']!);
    parameters[`${name}_questions`] = questions.length;
    if (questions.length < WITHIN_MIN) continue;
    const folds = foldsOf(questions);
    const models = Array.from({ length: FOLDS }, (_, fold) =>
      train(
        questions.filter((question) => folds.get(question) !== fold),
        options,
      ),
    );
    Object.assign(
      metrics,
      named(
        `${name}_within`,
        judged(questions, (question) => models[folds.get(question)!]!),
      ),
    );
  }
  metrics['left_out_ahead_mean_ratio'] = meanOf(aheads);
  return { parameters, metrics: { ...fourPlaces(metrics), score_150_ms: scoringMs(last!, described) } };
}

async function describedSets(isSmoke: boolean, runtime: RuntimeName): Promise<Described> {
  const options = { runtime, precision: 'int8', folder: cacheFolder(), grains: 'kept' } as const;
  const embedder = await embedderOver(await openEncoder(options), options);
  try {
    const described = new Map<string, readonly DescribedQuestion[]>();
    for (const set of isSmoke ? [notes(['de']), notes(['fr'])] : labelledSets())
      described.set(set.name, await describe(set, embedder));
    return described;
  } finally {
    await embedder.close();
  }
}

function judged(questions: readonly DescribedQuestion[], modelOf: (question: DescribedQuestion) => Model) {
  return compared(
    questions.map((question) => ndcgOf(question, byFormula)),
    questions.map((question) => ndcgOf(question, (features) => scoreOf(modelOf(question), features))),
  );
}

/** Questions of a memory are in one fold; those of a set with one memory take turns. */
function foldsOf(questions: readonly DescribedQuestion[]): ReadonlyMap<DescribedQuestion, number> {
  const memories = [...new Set(questions.map(({ memory }) => memory))];
  return new Map(
    questions.map((question, i) => [question, (memories.length === 1 ? i : memories.indexOf(question.memory)) % FOLDS]),
  );
}

/** Milliseconds for the candidates of a question. */
function scoringMs(model: Model, described: Described): number {
  const times = [...described.values()].flat().map(({ candidates }) => {
    const start = performance.now();
    for (const { features } of candidates) scoreOf(model, features);
    return performance.now() - start;
  });
  return Number(median(times).toFixed(4));
}
