// The calibration of relevance: of the hits that are said to bear on a question with some probability, how many do. The
// chats and abstracts of `relevance`, asked with vectors and without. `foreign` asks each question of a chat of another
// chat, which knows nothing of it: relevances should be low there, and topic_coverage `none`. The numbers of
// src/engine/recall/legs/relevance.ts were fitted to these chats, so their figures are in-sample; the abstracts are
// not.
import { join } from 'node:path';
import { hasNativeRuntime, type RuntimeName } from '../../src/embed/builtin/runtime.ts';
import { inFolder } from '../lib/folder.ts';
import { abstracts, chats, fourPlaces, missingData, type Question, someOf } from '../lib/judged.ts';
import { type Answers, importCorpus, recallAll } from '../lib/judged-client.ts';
import { cacheFolder } from '../lib/kept-vectors.ts';
import type { Measured, Options, Scenario, Skipped } from '../lib/scenario.ts';
import { serverSize, sized } from '../lib/scenario.ts';
import { embedded, startServer } from '../lib/server.ts';
import { median, named } from '../lib/statistics.ts';

const BINS = 10;
const SMOKE_DOCUMENTS = 4;

export const scenario: Scenario = {
  name: 'calibration',
  about: 'of the hits that are said to bear on a question with some probability, how many do',
  aims: [
    { metric: 'beam_vectors_error_ratio', atMost: 0.02 },
    { metric: 'beam_words_error_ratio', atMost: 0.02 },
    { metric: 'foreign_vectors_first_median_ratio', atMost: 0.15 },
    { metric: 'foreign_words_first_median_ratio', atMost: 0.2 },
    { metric: 'beam_vectors_none_ratio', atMost: 0.05 },
  ],
  run,
};

async function run({ size, profile, start: startOne = startServer }: Options): Promise<Measured | Skipped> {
  const skipped = missingData();
  if (skipped !== undefined) return { skipped };
  const asked = sized(size, { full: Number.POSITIVE_INFINITY, quick: 100, smoke: 5 });
  const tries = sized(size, { full: 1, quick: 1, smoke: 100 });
  const runtime: RuntimeName = hasNativeRuntime() ? 'native' : 'wasm';
  const metrics: Record<string, number> = {};
  const counts: Record<string, number> = {};
  await inFolder(async (data) => {
    const collections = [chats(), abstracts()].map((whole) => {
      const collection = size === 'smoke' ? someOf(whole, data, SMOKE_DOCUMENTS) : whole;
      return { ...collection, questions: collection.questions.slice(0, asked) };
    });
    const options = {
      dataDirectory: join(data, 'granary'),
      ...serverSize(size),
      auth: 'api-key',
      isOwn: true,
      profile,
    } as const;
    const [chat, abstract] = collections.map(({ documents }) => [...documents.keys()]);
    // A smoke run has one chat.
    const foreign = foreignQuestions(collections[0]!.questions, chat!.length > 1 ? chat! : [...chat!, ...abstract!]);
    for (const mode of ['vectors', 'words'] as const) {
      const embedder = mode === 'vectors' ? { runtime, folder: cacheFolder(), grains: 'kept' as const } : undefined;
      const server = await startOne({ ...options, embedder });
      try {
        for (const collection of collections) {
          const { name, documents, questions } = collection;
          if (mode === 'vectors') {
            await importCorpus(server, collection);
            await embedded(server, [...documents.keys()]);
          }
          const answers = await recallAll(server, questions, { tries });
          Object.assign(metrics, named(`${name}_${mode}`, reliability(questions, answers)));
          Object.assign(counts, named(`${name}_${mode}`, hitsByBin(answers)));
        }
        Object.assign(metrics, named(`foreign_${mode}`, ofUnknown(await recallAll(server, foreign, { tries }))));
      } finally {
        await server.stop();
      }
    }
  });
  return { parameters: { ...counts, runtime }, metrics: fourPlaces(metrics) };
}

/** The same questions, each of another memory. */
function foreignQuestions(questions: readonly Question[], memories: readonly string[]): Question[] {
  const half = memories.length >> 1;
  return questions.map((question) => {
    const at = memories.indexOf(question.memory);
    return { ...question, memory: memories[(at + half) % memories.length]!, judged: new Map() };
  });
}

interface Said {
  readonly relevance: number;
  readonly bears: boolean;
}

/** By tenth of the relevance: the share of hits that bear on their question. And the mean difference to what was said. */
function reliability(questions: readonly Question[], answers: Answers): Record<string, number> {
  const said = answers.ranked.flatMap((ids, i) =>
    ids.map((id, rank): Said => ({ relevance: answers.relevances[i]![rank]!, bears: questions[i]!.judged.has(id) })),
  );
  const bins = Map.groupBy(said, binOf);
  const figures: Record<string, number> = {};
  let error = 0;
  for (const [bin, some] of [...bins].sort(([a], [b]) => a - b)) {
    const bearing = some.filter(({ bears }) => bears).length / some.length;
    const mean = some.reduce((sum, { relevance }) => sum + relevance, 0) / some.length;
    figures[`said_0_${bin}_said_ratio`] = mean;
    figures[`said_0_${bin}_bears_ratio`] = bearing;
    error += (Math.abs(bearing - mean) * some.length) / said.length;
  }
  return { ...figures, error_ratio: error, none_ratio: noneRatio(answers) };
}

function binOf({ relevance }: Pick<Said, 'relevance'>): number {
  return Math.min(BINS - 1, Math.floor(relevance * BINS));
}

function hitsByBin({ relevances }: Answers): Record<string, number> {
  const bins = Map.groupBy(relevances.flat(), (relevance) => binOf({ relevance }));
  return Object.fromEntries([...bins].sort(([a], [b]) => a - b).map(([bin, some]) => [`said_0_${bin}`, some.length]));
}

function ofUnknown(answers: Answers): Record<string, number> {
  return {
    first_median_ratio: median(answers.relevances.map(([first = 0]) => first)),
    none_ratio: noneRatio(answers),
  };
}

function noneRatio({ coverages }: Answers): number {
  return coverages.filter((coverage) => coverage === 'none').length / coverages.length;
}
