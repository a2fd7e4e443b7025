// How well plain BM25 ranks, in process: evidence messages of long chats (an index per chat) and judged abstracts. Reads
// ../shared/data beside the repository and says so where that is absent; nothing of it is part of the repository.
import { existsSync, readFileSync } from 'node:fs';
import { type Analyzer, analyzer } from '../../src/engine/index/text/analyze.ts';
import { parseQuery } from '../../src/engine/index/text/query.ts';
import { collectStatistics, type SearchPart, searchText } from '../../src/engine/index/text/search.ts';
import { TextTail } from '../../src/engine/index/text/tail.ts';

const DATA = new URL('../../../shared/data/', import.meta.url);

export const scenario = { name: 'relevance', run };

interface Line {
  readonly _id: string;
  readonly text: string;
  readonly title?: string;
  readonly conv?: string;
  readonly speaker?: string;
  readonly evidence?: readonly string[];
}

/** A query's gains by document. */
type Judged = ReadonlyMap<string, number>;

async function run(): Promise<Record<string, number>> {
  if (!existsSync(DATA)) {
    console.error('relevance: skipped, ../shared/data is not there');
    return {};
  }
  const english = analyzer('en');
  return { ...chats(english), ...abstracts(english) };
}

function chats(english: Analyzer): Record<string, number> {
  const corpora = Map.groupBy(lines('beam100k/corpus.jsonl'), (line) => line.conv!);
  const rankings: [ranked: string[], judged: Judged][] = [];
  for (const [conv, queries] of Map.groupBy(lines('beam100k/queries.jsonl'), (line) => line.conv!)) {
    const search = indexOf(corpora.get(conv)!, english);
    for (const query of queries) {
      const evidence = query.evidence ?? [];
      if (evidence.length > 0) rankings.push([search(query.text), new Map(evidence.map((id) => [id, 1]))]);
    }
  }
  return named('beam', metrics(rankings));
}

function abstracts(english: Analyzer): Record<string, number> {
  const search = indexOf(lines('cranfield/corpus.jsonl'), english);
  const judged = new Map<string, Map<string, number>>();
  const rows = readFileSync(new URL('cranfield/qrels.tsv', DATA), 'utf8').trim().split('\n').slice(1);
  for (const row of rows) {
    const [query, doc, gain] = row.split('\t') as [string, string, string]; // three columns by the file's format
    judged.set(query, (judged.get(query) ?? new Map<string, number>()).set(doc, Number(gain)));
  }
  const rankings = lines('cranfield/queries.jsonl').flatMap((query): [string[], Judged][] => {
    const gains = judged.get(query._id);
    return gains === undefined ? [] : [[search(query.text), gains]];
  });
  return named('cranfield', metrics(rankings));
}

function indexOf(corpus: readonly Line[], english: Analyzer): (query: string) => string[] {
  const tail = new TextTail();
  for (const [doc, { title, text, speaker }] of corpus.entries()) {
    tail.add(doc, english.analyze([title, speaker, text].filter((one) => one !== undefined).join(' ')));
  }
  const parts: SearchPart[] = [{ text: tail, removed: undefined, allowed: undefined }];
  return (text) => {
    const query = parseQuery(text, english);
    return searchText(parts, query, collectStatistics(parts, query.terms), 100).map((hit) => corpus[hit.doc]!._id);
  };
}

function metrics(rankings: readonly [ranked: readonly string[], judged: Judged][]): Record<string, number> {
  const mean = (of: (ranked: readonly string[], judged: Judged) => number): number =>
    rankings.reduce((sum, [ranked, judged]) => sum + of(ranked, judged), 0) / rankings.length;
  const found = (ranked: readonly string[], judged: Judged, depth: number): number =>
    ranked.slice(0, depth).filter((id) => judged.has(id)).length;
  return {
    queries: rankings.length,
    hit_at_10: mean((ranked, judged) => Math.min(1, found(ranked, judged, 10))),
    hit_at_20: mean((ranked, judged) => Math.min(1, found(ranked, judged, 20))),
    recall_at_10: mean((ranked, judged) => found(ranked, judged, 10) / judged.size),
    ndcg_at_10: mean((ranked, judged) => {
      const ideal = [...judged.values()].sort((a, b) => b - a);
      return discounted(ranked.map((id) => judged.get(id) ?? 0)) / discounted(ideal);
    }),
  };
}

function discounted(gains: readonly number[]): number {
  return gains.slice(0, 10).reduce((sum, gain, rank) => sum + gain / Math.log2(rank + 2), 0);
}

function named(prefix: string, values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`${prefix}_${name}`, Number(value.toFixed(4))]),
  );
}

function lines(path: string): Line[] {
  const text = readFileSync(new URL(path, DATA), 'utf8').trim();
  return text.split('\n').map((line) => JSON.parse(line) as Line); // the format of the data's README
}

if (import.meta.main) console.log(JSON.stringify({ scenario: scenario.name, ...(await run()) }));
