// The table and the picture that a comparison with other stores writes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { written } from '../bench/lib/marked-part.ts';
import { longTable, newestBySize, type PeerLine, peersPicture, shortTable } from '../bench/lib/peers/peer-figures.ts';

const FIGURES = ['rows_per_s', 'settled_rows_per_s', 'during_p50_ms', 'during_p99_ms', 'after_p50_ms', 'after_p99_ms'];

function lineOf(commit: string, rows: number, factors: Readonly<Record<string, number>>): PeerLine {
  const metrics = Object.entries(factors).flatMap(([name, factor]) =>
    [...FIGURES, 'bytes_per_row', 'resident_mb'].map(
      (figure, i) => [`${name}_${rows}_${figure}`, factor * (i + 1)] as const,
    ),
  );
  return { machine: 'a machine', node: 'v24', commit, metrics: Object.fromEntries(metrics) };
}

const older = lineOf('older', 100, { granary: 10, sqlite: 20 });
const newer = lineOf('newer', 100, { granary: 1000, sqlite: 3000, chroma: 5 });
const large = lineOf('large', 1_000, { granary: 7, sqlite: 8 });

test('each size is taken from the newest line that has it', () => {
  const found = newestBySize([large, older, newer]);
  assert.deepEqual(
    [...found].map(([size, { commit }]) => [size, commit]),
    [
      [100, 'newer'],
      [1_000, 'large'],
    ],
  );
});

test('the short table has a row for each store that was measured', () => {
  const rows = shortTable(newer, 100).split('\n').slice(2);
  assert.deepEqual(rows, [
    '| Granary | 1,000 / 2,000 | 4,000 ms | 5,000 ms | 7,000 |',
    '| SQLite: FTS5, sqlite-vec | 3,000 / 6,000 | 12,000 ms | 15,000 ms | 21,000 |',
    '| Chroma | 5 / 10 | 20 ms | 25 ms | 35 |',
  ]);
});

test('the long table says where a load stopped', () => {
  const stopped = { ...large, metrics: { ...large.metrics, sqlite_1000_rows: 600 } };
  const table = longTable(stopped, 1_000);
  assert.match(table, /^1,000 rows, measured on a machine, Node v24; commit large\.$/m);
  assert.match(
    table,
    /^\| Granary \| 7 \| 14 \| 21 \/ 28 \| 35 \/ 42 \| 49 \| 56 \| synced \| words and vectors;.*\|$/m,
  );
  assert.match(table, /^\| SQLite: FTS5, sqlite-vec, stopped after 600 rows \| 8 \|/m);
});

test('the picture has a bar for each figure and size, longer for more, and none for what was not measured', () => {
  const picture = peersPicture(newestBySize([large, newer]));
  const bars = [...picture.matchAll(/<rect class="size(\d)" x="215" y="[\d.]+" width="([\d.]+)" height="9"\/>/g)];
  // Five panels: three stores of the small size, two of the large one.
  assert.equal(bars.length, 5 * 5);
  const [granarySmall, granaryLarge, sqliteSmall] = bars.map(([, , width]) => Number(width));
  assert.ok(sqliteSmall! > granarySmall! && granarySmall! > granaryLarge!, bars.map(([, , width]) => width).join(' '));
  assert.match(picture, />6,000<\/text>/);
  assert.doesNotMatch(picture, /NaN|undefined/);
});

test('a part of a document is written between its marks, again and again', () => {
  const marks = { begin: '<!-- a -->', end: '<!-- b -->' };
  const once = written('above\n<!-- a --><!-- b -->\nbelow\n', marks, 'first');
  assert.equal(once, 'above\n<!-- a -->\n\nfirst\n<!-- b -->\nbelow\n');
  assert.equal(written(once, marks, 'first'), once);
  assert.throws(() => written('no marks', marks, ''), /no line <!-- a -->/);
});
