// Recall in process over one sealed memory: by words (two to four, any of them) and by structure (the newest of a
// subject), to ranked ordinals and with the grains opened. SQLite FTS5 answers the same words over the same texts.
import { join } from 'node:path';
import type { RecallQuery } from '../../src/engine/calls/recall.ts';
import { filterPart } from '../../src/engine/recall/filter/filter.ts';
import { inOrder } from '../../src/engine/recall/legs/ordered.ts';
import { addAll, batchesOf, contextOf, makeMemories, type OpenShard, openShard, settle } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { grainSource } from '../lib/grains.ts';
import { type Measured, type Options, type Scenario, sized } from '../lib/scenario.ts';
import { openSqlite } from '../lib/sqlite.ts';
import { inTurns, median, medianRatio, percentile, rounded } from '../lib/statistics.ts';

const CONTEXT = contextOf(1);
const HITS = 20;
const NEWEST = 16;
/** The service's default. */
const CANDIDATES = 100;

export const scenario: Scenario = {
  name: 'recall',
  about: 'by words and by structure from one shard, in process, beside SQLite FTS5',
  aims: [
    { metric: 'words_ranked_p50_ms', atMost: 0.15 },
    { metric: 'words_opened_p50_ms', atMost: 0.35 },
    { metric: 'newest_p50_us', atMost: 30 },
    { metric: 'newest_opened_p50_us', atMost: 200 },
    { metric: 'sqlite_over_words_ratio', atLeast: 50 },
  ],
  run,
};

async function run({ size }: Options): Promise<Measured> {
  const grains = sized(size, { full: 100_000, quick: 30_000, smoke: 500 });
  const rounds = sized(size, { full: 7, quick: 3, smoke: 1 });
  const queries = sized(size, { full: 1_000, quick: 300, smoke: 20 });
  /** FTS5 takes milliseconds per query. */
  const peerQueries = sized(size, { full: 100, quick: 30, smoke: 20 });
  return inFolder(async (folder) => {
    const source = grainSource(1);
    const shard = await openShard(join(folder, 'granary'));
    const sqlite = openSqlite(join(folder, 'sqlite'), 'bare');
    await makeMemories(shard.engine, 1, 1);
    for (let left = grains; left > 0; left -= 10_000) {
      const batches = batchesOf(1, source.take(Math.min(left, 10_000)));
      await addAll(shard, batches);
      for (const { items } of batches) sqlite.insert(JSON.stringify(items));
    }
    await settle(shard);
    const questions = Array.from({ length: queries }, () => source.question());
    const subjects = Array.from({ length: queries }, () => source.subject());
    let hits = 0;
    let wordHits = 0;
    let newestHits = 0;
    const all = await inTurns(rounds + 1, {
      ranked: () => times(questions, (query) => byWords(shard, query, 0)),
      opened: () =>
        times(questions, (query) => {
          hits = byWords(shard, query, HITS);
          wordHits += hits;
        }),
      newest: () => times(subjects, (subject) => newest(shard, subject)),
      newestOpened: () =>
        times(subjects, (subject) => {
          newestHits += newestOpened(shard, subject);
        }),
      sqlite: () => times(questions.slice(0, peerQueries), (query) => sqlite.search(query.split(' '), HITS)),
    });
    const [part] = shard.engine.store.parts(1);
    const parts = shard.engine.store.parts(1).length;
    await shard.close();
    sqlite.close();
    const of = (name: keyof typeof all, share: number): number =>
      median(all[name].slice(1).map((figures) => percentile(figures, share)));
    const p50s = (name: keyof typeof all): number[] => all[name].slice(1).map((figures) => percentile(figures, 0.5));
    return {
      parameters: { grains, queries, rounds, hits: HITS, newest: NEWEST, candidates: CANDIDATES, parts },
      metrics: rounded({
        words_ranked_p50_ms: of('ranked', 0.5) / 1_000,
        words_ranked_p99_ms: of('ranked', 0.99) / 1_000,
        words_opened_p50_ms: of('opened', 0.5) / 1_000,
        words_opened_p99_ms: of('opened', 0.99) / 1_000,
        words_first_round_p50_ms: percentile(all.ranked[0]!, 0.5) / 1_000,
        words_hits_mean: wordHits / (queries * (rounds + 1)),
        newest_p50_us: of('newest', 0.5),
        newest_p99_us: of('newest', 0.99),
        newest_opened_p50_us: of('newestOpened', 0.5),
        newest_opened_p99_us: of('newestOpened', 0.99),
        newest_hits_mean: newestHits / (queries * (rounds + 1)),
        sqlite_words_p50_ms: of('sqlite', 0.5) / 1_000,
        sqlite_over_words_ratio: medianRatio(p50s('sqlite'), p50s('opened')),
        grains_of_first_part: part?.docCount ?? 0,
      }),
    };
  });
}

function byWords({ engine }: OpenShard, query: string, limit: number): number {
  const asked: RecallQuery = { query, filter: {}, structural: false, limit, candidateLimit: CANDIDATES };
  return engine.read('recall', CONTEXT, asked).hits.length;
}

/** The structural leg alone, at which the engine's own recall would not stop. */
function newest({ engine: { store } }: OpenShard, subject: string): number {
  const parts = store.parts(1);
  const filters = parts.map((part) => filterPart(store, part, { subject }, CONTEXT));
  return inOrder(store, parts, filters, { limit: NEWEST, order: 'desc' }).length;
}

function newestOpened({ engine }: OpenShard, subject: string): number {
  const asked = { filter: { subject }, structural: true, limit: NEWEST, candidateLimit: CANDIDATES };
  return engine.read('recall', CONTEXT, asked).hits.length;
}

/** Microseconds per call. */
function times<T>(inputs: readonly T[], call: (input: T) => unknown): number[] {
  return inputs.map((input) => {
    const start = performance.now();
    call(input);
    return (performance.now() - start) * 1_000;
  });
}
