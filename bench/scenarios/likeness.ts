// Relevance once every grain has its vectors: the chats and abstracts of `relevance` in a server with the built-in
// encoder, imported by the command line, embedded by the server's own follower, queried over gRPC with the question
// alone. `recall` is by the encoder in bytes, which is the default, `fp32` by the same one in floats. `words` is the same data directory in a server without an embedder; `formula` is the ranking text computed
// directly from its words over every unit, with exact cosines: the reference for the server.
import { join } from 'node:path';
import { type BuiltinEmbedder, openBuiltinEmbedder } from '../../src/embed/builtin/builtin.ts';
import { hasNativeRuntime, type RuntimeName } from '../../src/embed/builtin/runtime.ts';
import { windowsOf } from '../../src/embed/windows.ts';
import { analyzer } from '../../src/engine/index/text/analyze.ts';
import { inFolder } from '../lib/folder.ts';
import { Formula } from '../lib/formula.ts';
import {
  abstracts,
  type Collection,
  chats,
  DEPTH,
  distribution,
  fourPlaces,
  missingData,
  type Question,
  quality,
  someOf,
} from '../lib/judged.ts';
import { importCorpus, recallAll } from '../lib/judged-client.ts';
import { cacheFolder, keeping } from '../lib/kept-vectors.ts';
import type { Measured, Options, Scenario, Skipped } from '../lib/scenario.ts';
import { serverSize, sized } from '../lib/scenario.ts';
import { embedded, startServer } from '../lib/server.ts';
import { named } from '../lib/statistics.ts';

/** Long texts: each is several windows. */
const SMOKE_DOCUMENTS = 4;
/** Begin of a warning that says nothing about vectors. */
const BOUND = 'total_candidates is a lower bound';

export const scenario: Scenario = {
  name: 'likeness',
  about: 'real chats and abstracts, every grain embedded: what is found, beside words alone and the bare formula',
  aims: [
    { metric: 'beam_recall_hit_at_10_ratio', atLeast: 0.77 },
    { metric: 'beam_recall_all_at_10_ratio', atLeast: 0.495 },
    { metric: 'beam_recall_ndcg_at_10_ratio', atLeast: 0.525 },
    { metric: 'beam_words_ndcg_at_10_ratio', atLeast: 0.48 },
    { metric: 'cranfield_recall_ndcg_at_10_ratio', atLeast: 0.375 },
    ...['beam', 'cranfield'].map((name) => ({ metric: `${name}_ndcg_at_10_fp32_ahead_ratio`, atMost: 0.004 })),
  ],
  run,
};

async function run({ size, profile, start: startOne = startServer }: Options): Promise<Measured | Skipped> {
  const skipped = missingData();
  if (skipped !== undefined) return { skipped };
  const asked = sized(size, { full: Number.POSITIVE_INFINITY, quick: 100, smoke: 5 });
  const runtime: RuntimeName = hasNativeRuntime() ? 'native' : 'wasm';
  // The embedder of a busy machine answers late, which a smoke run forgives.
  const tries = sized(size, { full: 1, quick: 1, smoke: 100 });
  const folder = cacheFolder();
  const metrics: Record<string, number> = {};
  const counts: Record<string, number> = {};
  await inFolder(async (data) => {
    const collections = [chats(), abstracts()].map((whole) => {
      const collection = size === 'smoke' ? someOf(whole, data, SMOKE_DOCUMENTS) : whole;
      return { ...collection, questions: collection.questions.slice(0, asked) };
    });
    const options = {
      ...serverSize(size),
      auth: 'api-key',
      isOwn: true,
      profile,
    } as const;
    for (const [label, precision] of [
      ['fp32', 'fp32'],
      ['recall', 'int8'],
    ] as const) {
      const embedder = { runtime, precision, folder, grains: 'kept' } as const;
      const server = await startOne({ ...options, dataDirectory: join(data, label), embedder });
      try {
        for (const collection of collections) {
          const { name, documents, questions } = collection;
          await importCorpus(server, collection);
          const start = performance.now();
          await embedded(server, [...documents.keys()]);
          metrics[`${name}_${label}_embedded_s`] = (performance.now() - start) / 1_000;
          const { ranked, latenciesMs, warnings } = await recallAll(server, questions, { tries });
          const [warning] = warnings.filter((one) => !one.startsWith(BOUND));
          if (warning !== undefined) throw new Error(`recall warned: ${warning}`);
          Object.assign(metrics, named(`${name}_${label}`, quality(questions, ranked)));
          Object.assign(metrics, named(`${name}_${label}`, distribution(latenciesMs)));
        }
      } finally {
        await server.stop();
      }
    }
    for (const { name } of collections)
      metrics[`${name}_ndcg_at_10_fp32_ahead_ratio`] =
        metrics[`${name}_fp32_ndcg_at_10_ratio`]! - metrics[`${name}_recall_ndcg_at_10_ratio`]!;
    const plain = await startOne({ ...options, dataDirectory: join(data, 'recall') });
    try {
      for (const { name, questions } of collections)
        Object.assign(metrics, named(`${name}_words`, quality(questions, (await recallAll(plain, questions)).ranked)));
    } finally {
      await plain.stop();
    }
    const encoder = openBuiltinEmbedder({ cacheFolder: join(folder, 'models'), runtime });
    try {
      for (const collection of collections) {
        const { name, questions } = collection;
        const { ranked, windows } = await byFormula(encoder, folder, collection);
        counts[`${name}_questions`] = questions.length;
        counts[`${name}_windows`] = windows;
        Object.assign(metrics, named(`${name}_formula`, quality(questions, ranked)));
      }
    } finally {
      await encoder.close();
    }
  });
  return { parameters: { ...counts, depth: DEPTH, runtime }, metrics: fourPlaces(metrics) };
}

async function byFormula(
  encoder: BuiltinEmbedder,
  folder: string,
  { documents, questions }: Collection,
): Promise<{ readonly ranked: string[][]; readonly windows: number }> {
  const kept = keeping(encoder, folder);
  const english = analyzer('en');
  const ranked = new Map<Question, string[]>();
  let windows = 0;
  for (const [memory, lines] of documents) {
    const units = [];
    for (const { _id: id, title, text, session, role } of lines) {
      const whole = title === undefined ? text : `${title}\n\n${text}`;
      const texts = windowsOf(whole);
      const vectors = (await kept.embed(texts)).filter((vector) => vector !== undefined);
      windows += vectors.length;
      if (whole.trim() !== '') units.push({ id, text: whole, session: session?.toString(), role, vectors });
    }
    const formula = new Formula(units, english);
    for (const question of questions) {
      if (question.memory !== memory) continue;
      const [vector] = await encoder.embed([question.text], { priority: 'query' });
      ranked.set(question, formula.rank(question.text, vector, DEPTH));
    }
  }
  return { ranked: questions.map((question) => ranked.get(question)!), windows };
}
