// The example of docs/recall.md, asked of a shard: the tables there are what the product answers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { RecallBreakdown } from '../src/engine/calls/recall.ts';
import type { VectorLeg } from '../src/engine/recall/legs/vector-leg.ts';
import { recall } from '../src/engine/recall/recall.ts';
import { contextOf, openShard, settingsOf } from './support/shard.ts';
import { temporaryDirectory } from './support/temporary.ts';

const START = 1_700_000_000;
const DOCUMENT = readFileSync(new URL('../docs/recall.md', import.meta.url), 'utf8');

/** The rows of the table below a header line, as cells. */
function table(header: string): string[][] {
  const lines = DOCUMENT.slice(DOCUMENT.indexOf(header)).split('\n');
  const rows = lines.slice(2, lines.indexOf(''));
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

test('the example of the ranking is what the product computes', async (t) => {
  const turns = table('| turn | speaker | text | cosine |').map(([, speaker, text, cosine]) => ({
    speaker: speaker!,
    text: text!,
    cosine: Number(cosine),
  }));
  const rows = new Map(
    table('| term | 1 | 2 | 3 | 4 | |').map(([name, ...cells]) => [
      name!.replaceAll('`', ''),
      cells.slice(0, 4).map(Number),
    ]),
  );
  assert.equal(turns.length, 4);
  assert.equal(rows.size, 13);
  const query = /The question is `([^`]+)`/.exec(DOCUMENT)![1]!;

  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.abandon());
  await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
  const items = turns.map(({ speaker, text }, at) => ({
    grainType: 'event',
    fields: { content: text, speaker, session_id: 's', created_at: START + at },
  }));
  await engine.write('addBatch', contextOf(1), { items });
  const { store } = engine;
  const memory = store.memory(1);
  const cosineOf = (ordinal: number): number =>
    turns.find(({ text }) => text === store.readGrain(memory, ordinal)!.grain.fields['content'])!.cosine;
  const ordinals = store.parts(1).flatMap((part) => [...part.ordinals.subarray(0, part.docCount)]);
  const vectors: VectorLeg = {
    search: () =>
      ordinals.map((ordinal) => ({ ordinal, cosine: cosineOf(ordinal) })).sort((a, b) => b.cosine - a.cosine),
    cosinesOf: (asked) => asked.map(cosineOf),
  };
  const asked = { query, filter: {}, limit: 10, candidateLimit: 50, structural: false };
  const { hits } = recall(store, memory, contextOf(1), asked, { vectors });
  assert.equal(hits.length, 4);
  for (const [at, { text }] of turns.entries()) {
    const hit = hits.find(({ grain }) => grain.fields['content'] === text)!;
    const same = (name: string, value: number): void => {
      const written = rows.get(name)?.[at];
      assert.ok(written !== undefined && Math.abs(written - value) < 0.000_51, `turn ${at + 1}: ${name} is ${value}`);
    };
    let sum = 0;
    for (const [name, value] of Object.entries(hit.breakdown) as [keyof RecallBreakdown, number][]) {
      if (name === 'rrf' || name === 'final') continue;
      sum += value;
      if (rows.has(name)) same(name, value * 5.4);
      else assert.equal(value, 0, name);
    }
    same('sum', sum * 5.4);
    same('score', hit.score);
    same('relevance', hit.relevance!);
  }
});

test('the weights of the document are those of the product', async () => {
  const { SCORE_MAX, WEIGHTS } = await import('../src/engine/recall/legs/text-leg.ts');
  const written = table('| term | weight | what it measures, from 0 to 1 |').map(([name, weight]) => [
    name!.replaceAll('`', ''),
    Number(weight),
  ]);
  assert.deepEqual(Object.fromEntries(written), WEIGHTS);
  assert.ok(DOCUMENT.includes(`divided by ${SCORE_MAX}`));
});
