// Questions in German, French, Spanish and Chinese over a small conversation each, asked of a shard: the product finds
// the turn that answers, and finds it better than without the lists of src/engine/index/text/question-lists.ts. The same
// in a memory whose language is English, the default. The sets were written beside the lists, so the figures say what
// the lists can do, not how often a stranger's question is answered.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Analyzer, analyzer } from '../../src/engine/index/text/analyze.ts';
import { parseQuestion } from '../../src/engine/index/text/query.ts';
import { unscoredTerms } from '../../src/engine/index/text/question-words.ts';
import { collectStatistics, searchText } from '../../src/engine/index/text/search.ts';
import { TextTail } from '../../src/engine/index/text/tail.ts';
import { contextOf, openShard, settingsOf } from '../support/shard.ts';
import { temporaryDirectory } from '../support/temporary.ts';

interface Row {
  readonly text: string;
  /** A question that this text answers. */
  readonly question?: string;
}

interface Found {
  readonly first: number;
  /** The mean of 1 / rank of the answer. */
  readonly reciprocalRank: number;
}

const START = 1_700_000_000;

function rowsOf(language: string): readonly Row[] {
  const lines = readFileSync(new URL(`${language}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as Row); // the format of the files
}

/** `ranked`: texts by question, best first. */
function found(rows: readonly Row[], ranked: (question: string) => readonly string[]): Found {
  const asked = rows.filter(({ question }) => question !== undefined);
  const ranks = asked.map(({ text, question }) => ranked(question!).indexOf(text));
  return {
    first: ranks.filter((rank) => rank === 0).length / asked.length,
    reciprocalRank: ranks.reduce((sum, rank) => sum + (rank < 0 ? 0 : 1 / (rank + 1)), 0) / asked.length,
  };
}

function byWords(rows: readonly Row[], spoken: Analyzer, unscored: (question: string) => ReadonlySet<string>): Found {
  const text = new TextTail();
  for (const [doc, row] of rows.entries()) text.add(doc, spoken.analyze(row.text));
  const parts = [{ text, removed: undefined, allowed: undefined }];
  return found(rows, (question) => {
    const query = parseQuestion(question, spoken, unscored(question));
    const hits = searchText(parts, query, collectStatistics(parts, query.terms), rows.length);
    return hits.map(({ doc }) => rows[doc]!.text);
  });
}

for (const language of ['de', 'fr', 'es', 'zh'])
  for (const memory of [language, 'en']) {
    test(`questions in ${language} in a memory in ${memory}`, async (t) => {
      const rows = rowsOf(language);
      const questions = rows.filter(({ question }) => question !== undefined).length;
      assert.ok(questions >= 20 && questions <= 30, `${questions}`);
      const spoken = analyzer(memory);
      const without = byWords(rows, spoken, () => new Set());
      const withLists = byWords(rows, spoken, (question) => unscoredTerms(question, spoken));
      t.diagnostic(`words without lists ${JSON.stringify(without)}, with them ${JSON.stringify(withLists)}`);
      assert.ok(withLists.reciprocalRank > without.reciprocalRank);
      assert.ok(withLists.first >= without.first);

      const engine = await openShard(temporaryDirectory(t));
      t.after(() => engine.abandon());
      await engine.write('attachMemory', contextOf(1), { settings: { ...settingsOf(1), language: memory } });
      const items = rows.map(({ text }, at) => ({
        grainType: 'event',
        fields: { content: text, role: 'user', session_id: 's', created_at: START + at },
      }));
      await engine.write('addBatch', contextOf(1), { items });
      const recalled = found(rows, (query) => {
        const asked = { query, filter: {}, limit: 20, candidateLimit: 100, structural: false };
        return engine.read('recall', contextOf(1), asked).hits.map(({ grain }) => String(grain.fields['content']));
      });
      t.diagnostic(`recall ${JSON.stringify(recalled)}`);
      assert.ok(recalled.first >= 0.8 && recalled.reciprocalRank >= 0.9, JSON.stringify(recalled));
    });
  }
