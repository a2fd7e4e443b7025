// How well real questions are answered, and how quickly: long chats (a memory a chat) and judged abstracts, imported by
// the command line into a running server, then asked from here. `recall` is the whole ranking over gRPC, `words` is
// BM25 alone over HTTP, `bare` is the text index in this process without a service around it. Reads ../shared/data
// beside the repository and says so where that is absent; nothing of it is part of the repository.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Analyzer, analyzer } from '../../src/engine/index/text/analyze.ts';
import { parseQuery } from '../../src/engine/index/text/query.ts';
import { collectStatistics, type SearchPart, searchText } from '../../src/engine/index/text/search.ts';
import { TextTail } from '../../src/engine/index/text/tail.ts';
import { RecallRequest, RecallResponse } from '../../src/server/gen/memory/v1/memory.ts';
import { inFolder } from '../lib/folder.ts';
import { callHead, framed, GrpcConnection } from '../lib/grpc-client.ts';
import type { Measured, Options, Scenario, Skipped } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { askJson, startServer, type Target } from '../lib/server.ts';
import { percentile } from '../lib/statistics.ts';

const DATA = new URL('../../../shared/data/', import.meta.url);
const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
/** Deep enough for every measure below. */
const DEPTH = 20;

export const scenario: Scenario = {
  name: 'relevance',
  about: 'real chats and abstracts imported and asked: what is found, and how quickly',
  // Plain BM25 (k1 1.2, b 0.75) over the same data, by another program.
  aims: [
    { metric: 'beam_words_hit_at_10_ratio', atLeast: 0.606 },
    { metric: 'beam_words_hit_at_20_ratio', atLeast: 0.696 },
    { metric: 'beam_words_recall_at_10_ratio', atLeast: 0.431 },
    { metric: 'beam_words_ndcg_at_10_ratio', atLeast: 0.335 },
    // The ranking with pairs and surroundings, without vectors.
    { metric: 'beam_recall_ndcg_at_10_ratio', atLeast: 0.48 },
    { metric: 'beam_recall_hit_at_10_ratio', atLeast: 0.72 },
    { metric: 'cranfield_words_ndcg_at_10_ratio', atLeast: 0.359 },
  ],
  run,
};

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

interface Question {
  readonly memory: string;
  readonly text: string;
  readonly judged: Judged;
}

interface Collection {
  readonly name: string;
  readonly corpus: string;
  /** How the import finds the memory. */
  readonly memoryWords: readonly string[];
  /** The documents of the memory that the bare index is made of. */
  readonly documents: ReadonlyMap<string, readonly Line[]>;
  readonly questions: readonly Question[];
}

async function run({ size, profile, start: startOne = startServer }: Options): Promise<Measured | Skipped> {
  if (!existsSync(DATA)) return { skipped: 'the data sets are not there (../shared/data beside the repository)' };
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
        const found = await searchAll(server, questions);
        Object.assign(metrics, named(`${name}_recall`, quality(questions, recalled.ranked)));
        Object.assign(metrics, named(`${name}_words`, quality(questions, found.ranked)));
        Object.assign(metrics, named(`${name}_bare`, quality(questions, bareSearch(collection, questions))));
        Object.assign(metrics, named(`${name}_recall`, distribution(recalled.latenciesMs)));
      }
    } finally {
      await server.stop();
    }
  });
  return { parameters: { ...counts, depth: DEPTH }, metrics: fourPlaces(metrics) };
}

function chats(): Collection {
  const documents = Map.groupBy(lines('beam100k/corpus.jsonl'), (line) => line.conv!);
  const questions = lines('beam100k/queries.jsonl').flatMap(({ conv, text, evidence = [] }) =>
    evidence.length === 0 ? [] : [{ memory: conv!, text, judged: new Map(evidence.map((id) => [id, 1])) }],
  );
  const corpus = fileURLToPath(new URL('beam100k/corpus.jsonl', DATA));
  return { name: 'beam', corpus, memoryWords: ['--memory-from', 'conv'], documents, questions };
}

function abstracts(): Collection {
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

/** The first memory's first documents, and what is asked about that memory. */
function someOf({ name, memoryWords, documents, questions }: Collection, folder: string): Collection {
  const [memory, all] = documents.entries().next().value!; // every collection has documents
  const some = all.slice(0, 50);
  const corpus = join(folder, `${name}.jsonl`);
  writeFileSync(corpus, some.map((line) => JSON.stringify(line)).join('\n'));
  const asked = questions.filter((question) => question.memory === memory);
  return { name, corpus, memoryWords, documents: new Map([[memory, some]]), questions: asked };
}

/** `granary import`, as a person runs it. */
async function importCorpus(server: Target, { corpus, memoryWords }: Collection): Promise<void> {
  const address = ['--url', `127.0.0.1:${server.grpc}`, '--http-url', `http://127.0.0.1:${server.http}`];
  const child = spawn(process.execPath, [MAIN, 'import', corpus, ...memoryWords, ...address, '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, GRANARY_API_KEY: server.key },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-10_000);
    });
  }
  const [code] = await once(child, 'close');
  // Documents without text are refused, one by one, and make the exit code 1.
  if (code !== 0 && !said.includes('"added":')) throw new Error(`the import ended with ${code}:\n${said}`);
}

interface Answers {
  /** Ids by question, best first. */
  readonly ranked: readonly string[][];
  readonly latenciesMs: readonly number[];
}

/** Recall over gRPC, one question after another. */
async function recallAll(server: Target, questions: readonly Question[]): Promise<Answers> {
  const connection = await GrpcConnection.open(server.grpc);
  const ranked: string[][] = [];
  const latenciesMs: number[] = [];
  for (const { memory, text } of questions) {
    const head = callHead('/memory.v1.MemoryService/Recall', {
      'x-memory-id': memory,
      ...(server.key === undefined ? {} : { authorization: `Bearer ${server.key}` }),
    });
    const request = RecallRequest.encode(RecallRequest.fromPartial({ query: text, limit: DEPTH })).finish();
    const start = performance.now();
    const reply = await new Promise<Buffer | undefined>((resolve) =>
      connection.call(head, framed(request), (message) => resolve(message)),
    );
    latenciesMs.push(performance.now() - start);
    if (reply === undefined) throw new Error(`recall failed for ${JSON.stringify(text)}`);
    ranked.push(RecallResponse.decode(reply).results.map((hit) => idOf(JSON.parse(hit.fieldsJson))));
  }
  connection.close();
  return { ranked, latenciesMs };
}

/** BM25 alone, over HTTP. */
async function searchAll(server: Target, questions: readonly Question[]): Promise<Answers> {
  const ranked: string[][] = [];
  const latenciesMs: number[] = [];
  for (const { memory, text } of questions) {
    const start = performance.now();
    const answer = await askJson(server, 'POST', `/memories/${memory}/search`, { query: text, limit: DEPTH });
    latenciesMs.push(performance.now() - start);
    const hits = answer['results'] as { readonly fields: unknown }[]; // the contract's answer
    ranked.push(hits.map((hit) => idOf(hit.fields)));
  }
  return { ranked, latenciesMs };
}

/** The corpus's own id, which the import keeps as an extra field. */
function idOf(fields: unknown): string {
  return (fields as { readonly _id: string })._id; // every line of the data has one
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

function quality(questions: readonly Question[], rankings: readonly string[][]): Record<string, number> {
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

function distribution(latenciesMs: readonly number[]): Record<string, number> {
  return {
    p50_ms: percentile(latenciesMs, 0.5),
    p90_ms: percentile(latenciesMs, 0.9),
    p99_ms: percentile(latenciesMs, 0.99),
    max_ms: Math.max(...latenciesMs),
  };
}

function named(prefix: string, values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}_${name}`, value]));
}

function fourPlaces(values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value.toFixed(4))]));
}

function lines(path: string): Line[] {
  const text = readFileSync(new URL(path, DATA), 'utf8').trim();
  return text.split('\n').map((line) => JSON.parse(line) as Line); // the format of the data's README
}
