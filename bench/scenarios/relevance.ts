// Relevance and latency for real questions: long chats (one memory per chat) and judged abstracts, imported by the
// command line into a running server, then queried from here. `recall` is the whole ranking over gRPC, `words` is BM25
// alone over HTTP, `bare` is the text index in this process without a service around it. `quoted` is `recall` with two
// words of each question in quotes, which are wishes, and `quoted_operators` the same with quotes as conditions. Reads ../shared/data beside
// the repository and reports when it is absent; nothing of it is part of the repository.
import { type Analyzer, analyzer } from '../../src/engine/index/text/analyze.ts';
import { parseQuery } from '../../src/engine/index/text/query.ts';
import { collectStatistics, searchText } from '../../src/engine/index/text/search.ts';
import type { SearchPart } from '../../src/engine/index/text/search-part.ts';
import { TextTail } from '../../src/engine/index/text/tail.ts';
import { inFolder } from '../lib/folder.ts';
import {
  abstracts,
  type Collection,
  chats,
  DEPTH,
  distribution,
  fourPlaces,
  type Line,
  missingData,
  type Question,
  quality,
  someOf,
} from '../lib/judged.ts';
import { idOf, importCorpus, recallAll } from '../lib/judged-client.ts';
import { type Measured, type Options, type Scenario, type Skipped, sized } from '../lib/scenario.ts';
import { askJson, startServer, type Target } from '../lib/server.ts';
import { named } from '../lib/statistics.ts';

export const scenario: Scenario = {
  name: 'relevance',
  about: 'real chats and abstracts imported and asked: what is found, and how quickly',
  // Plain BM25 (k1 1.2, b 0.75) over the same data, by another program.
  aims: [
    { metric: 'beam_words_hit_at_10_ratio', atLeast: 0.606 },
    { metric: 'beam_words_hit_at_20_ratio', atLeast: 0.696 },
    { metric: 'beam_words_recall_at_10_ratio', atLeast: 0.431 },
    { metric: 'beam_words_ndcg_at_10_ratio', atLeast: 0.335 },
    // The ranking with pairs and context, without vectors.
    { metric: 'beam_recall_ndcg_at_10_ratio', atLeast: 0.48 },
    { metric: 'beam_recall_hit_at_10_ratio', atLeast: 0.72 },
    { metric: 'beam_quoted_hit_at_10_ratio', atLeast: 0.72 },
    { metric: 'cranfield_words_ndcg_at_10_ratio', atLeast: 0.359 },
  ],
  run,
};

async function run({ size, profile, start: startOne = startServer }: Options): Promise<Measured | Skipped> {
  const skipped = missingData();
  if (skipped !== undefined) return { skipped };
  const asked = sized(size, { full: Number.POSITIVE_INFINITY, quick: 100, smoke: 10 });
  const metrics: Record<string, number> = {};
  const counts: Record<string, number> = {};
  await inFolder(async (folder) => {
    const server = await startOne({ dataDirectory: folder, workers: 2, shards: 8, auth: 'api-key', profile });
    try {
      for (const whole of [chats(), abstracts()]) {
        const collection = size === 'smoke' ? someOf(whole, folder) : whole;
        const { name } = collection;
        const questions = collection.questions.slice(0, asked);
        counts[`${name}_questions`] = questions.length;
        const start = performance.now();
        await importCorpus(server, collection);
        metrics[`${name}_import_s`] = (performance.now() - start) / 1_000;
        const recalled = await recallAll(server, questions);
        const quotes = questions.map((question) => ({ ...question, text: quoted(question.text) }));
        const wishes = await recallAll(server, quotes);
        const conditions = await recallAll(server, quotes, { headers: { 'x-query-mode': 'operators' } });
        const found = await searchAll(server, questions);
        Object.assign(metrics, named(`${name}_recall`, quality(questions, recalled.ranked)));
        Object.assign(metrics, named(`${name}_quoted`, quality(questions, wishes.ranked)));
        Object.assign(metrics, named(`${name}_quoted_operators`, quality(questions, conditions.ranked)));
        Object.assign(metrics, named(`${name}_words`, quality(questions, found)));
        Object.assign(metrics, named(`${name}_bare`, quality(questions, bareSearch(collection, questions))));
        Object.assign(metrics, named(`${name}_recall`, distribution(recalled.latenciesMs)));
      }
    } finally {
      await server.stop();
    }
  });
  return { parameters: { ...counts, depth: DEPTH }, metrics: fourPlaces(metrics) };
}

/** The question with its two middle words in quotes, as a writer may quote any of them. */
function quoted(question: string): string {
  const words = question.replaceAll(/["“”]/g, '').split(' ');
  const at = Math.max(0, (words.length >> 1) - 1);
  return words.toSpliced(at, 2, `"${words.slice(at, at + 2).join(' ')}"`).join(' ');
}

/** BM25 alone, over HTTP. */
async function searchAll(server: Target, questions: readonly Question[]): Promise<string[][]> {
  const ranked: string[][] = [];
  for (const { memory, text } of questions) {
    const answer = await askJson(server, 'POST', `/memories/${memory}/search`, { query: text, limit: DEPTH });
    const hits = answer['results'] as { readonly fields: unknown }[]; // the contract's answer
    ranked.push(hits.map((hit) => idOf(hit.fields)));
  }
  return ranked;
}

function bareSearch({ documents }: Collection, questions: readonly Question[]): string[][] {
  const english = analyzer('en');
  const searches = new Map([...documents].map(([memory, corpus]) => [memory, indexOf(corpus, english)]));
  return questions.map(({ memory, text }) => searches.get(memory)!(text));
}

function indexOf(corpus: readonly Line[], english: Analyzer): (query: string) => string[] {
  const tail = new TextTail();
  for (const [doc, { title, text, speaker }] of corpus.entries()) {
    tail.add(doc, english.analyze([title, speaker, text].filter((one) => one !== undefined).join(' ')));
  }
  const parts: SearchPart[] = [{ text: tail, removed: undefined, allowed: undefined }];
  return (text) => {
    const query = parseQuery(text, english);
    return searchText(parts, query, collectStatistics(parts, query.terms), DEPTH).map((hit) => corpus[hit.doc]!._id);
  };
}
