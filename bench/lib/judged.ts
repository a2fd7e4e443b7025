// Judged data: long chats (a memory per chat) and abstracts, questions with their relevant documents, and ranking
// measures. It reads ../shared/data beside the repository, which has none of it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { percentile } from './statistics.ts';

const DATA = new URL('../../../shared/data/', import.meta.url);
/** Deep enough for every measure below. */
export const DEPTH = 20;

/** Why a scenario that needs the data cannot run; undefined when it can. */
export function missingData(): string | undefined {
  return existsSync(DATA) ? undefined : 'the data sets are missing (../shared/data beside the repository)';
}

export interface Line {
  readonly _id: string;
  readonly text: string;
  readonly title?: string;
  readonly conv?: string;
  readonly speaker?: string;
  readonly session?: number;
  readonly role?: string;
  readonly evidence?: readonly string[];
}

/** A query's gains by document. */
export type Judged = ReadonlyMap<string, number>;

export interface Question {
  readonly memory: string;
  readonly text: string;
  readonly judged: Judged;
}

export interface Collection {
  readonly name: string;
  readonly corpus: string;
  /** Arguments by which the import chooses the memory. */
  readonly memoryWords: readonly string[];
  /** Documents of the memory, for the bare index. */
  readonly documents: ReadonlyMap<string, readonly Line[]>;
  readonly questions: readonly Question[];
}

/** 20 chats, and 355 questions with known evidence. */
export function chats(): Collection {
  const documents = Map.groupBy(lines('beam100k/corpus.jsonl'), (line) => line.conv!);
  const questions = lines('beam100k/queries.jsonl').flatMap(({ conv, text, evidence = [] }) =>
    evidence.length === 0 ? [] : [{ memory: conv!, text, judged: new Map(evidence.map((id) => [id, 1])) }],
  );
  const corpus = fileURLToPath(new URL('beam100k/corpus.jsonl', DATA));
  return { name: 'beam', corpus, memoryWords: ['--memory-from', 'conv'], documents, questions };
}

/** 1,400 abstracts in one memory, with graded judgments. */
export function abstracts(): Collection {
  const judged = new Map<string, Map<string, number>>();
  const rows = readFileSync(new URL('cranfield/qrels.tsv', DATA), 'utf8').trim().split('\n').slice(1);
  for (const row of rows) {
    const [query, doc, gain] = row.split('\t') as [string, string, string]; // three columns by the file's format
    judged.set(query, (judged.get(query) ?? new Map<string, number>()).set(doc, Number(gain)));
  }
  const memory = 'cranfield';
  const questions = lines('cranfield/queries.jsonl').flatMap(({ _id, text }) => {
    const gains = judged.get(_id);
    return gains === undefined ? [] : [{ memory, text, judged: gains }];
  });
  const documents = new Map([[memory, lines('cranfield/corpus.jsonl')]]);
  const corpus = fileURLToPath(new URL('cranfield/corpus.jsonl', DATA));
  return { name: memory, corpus, memoryWords: ['--memory', memory], documents, questions };
}

/** The first memory's first `count` documents, with questions about that memory. */
export function someOf(
  { name, memoryWords, documents, questions }: Collection,
  folder: string,
  count: number = 50,
): Collection {
  const [memory, all] = documents.entries().next().value!; // every collection has documents
  const some = all.slice(0, count);
  const corpus = join(folder, `${name}.jsonl`);
  writeFileSync(corpus, some.map((line) => JSON.stringify(line)).join('\n'));
  const asked = questions.filter((question) => question.memory === memory);
  return { name, corpus, memoryWords, documents: new Map([[memory, some]]), questions: asked };
}

/** Means over the questions: hit@10, hit@20, recall@10, all@10 (all evidence among the first ten), nDCG@10. */
export function quality(questions: readonly Question[], rankings: readonly string[][]): Record<string, number> {
  const mean = (of: (ranked: readonly string[], judged: Judged) => number): number =>
    rankings.reduce((sum, ranked, i) => sum + of(ranked, questions[i]!.judged), 0) / rankings.length;
  const found = (ranked: readonly string[], judged: Judged, depth: number): number =>
    ranked.slice(0, depth).filter((id) => judged.has(id)).length;
  return {
    hit_at_10_ratio: mean((ranked, judged) => Math.min(1, found(ranked, judged, 10))),
    hit_at_20_ratio: mean((ranked, judged) => Math.min(1, found(ranked, judged, 20))),
    recall_at_10_ratio: mean((ranked, judged) => found(ranked, judged, 10) / judged.size),
    all_at_10_ratio: mean((ranked, judged) => (found(ranked, judged, 10) === judged.size ? 1 : 0)),
    ndcg_at_10_ratio: mean((ranked, judged) => {
      const ideal = [...judged.values()].sort((a, b) => b - a);
      return discounted(ranked.map((id) => judged.get(id) ?? 0)) / discounted(ideal);
    }),
  };
}

function discounted(gains: readonly number[]): number {
  return gains.slice(0, 10).reduce((sum, gain, rank) => sum + gain / Math.log2(rank + 2), 0);
}

export function distribution(latenciesMs: readonly number[]): Record<string, number> {
  return {
    p50_ms: percentile(latenciesMs, 0.5),
    p90_ms: percentile(latenciesMs, 0.9),
    p99_ms: percentile(latenciesMs, 0.99),
    max_ms: Math.max(...latenciesMs),
  };
}

export function fourPlaces(values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value.toFixed(4))]));
}

/** The lines of one of the data's files. */
export function lines<T = Line>(path: string): T[] {
  const text = readFileSync(new URL(path, DATA), 'utf8').trim();
  return text.split('\n').map((line) => JSON.parse(line) as T); // the format of the data's README
}
