import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dotLines, treeLines } from './graph.ts';

const NODES = [
  { id: 'ann', depth: 0 },
  { id: 'bob', depth: 1 },
  { id: 'tea', depth: 1 },
  { id: 'cy', depth: 2 },
];
const EDGES = [
  { source: 'ann', relation: 'knows', target: 'bob' },
  { source: 'ann', relation: 'likes', target: 'tea' },
  { source: 'ann', relation: 'trusts', target: 'bob' },
  { source: 'bob', relation: 'knows', target: 'cy' },
  { source: 'cy', relation: 'knows', target: 'ann' },
  { source: 'tea', relation: 'is', target: 'tea' },
];

test('a tree has each node once, as near to the start as it is', () => {
  assert.deepEqual(treeLines(NODES, EDGES), [
    'ann',
    '├─ knows → bob',
    '│  └─ knows → cy',
    '├─ likes → tea',
    '│  └─ is → tea (elsewhere)',
    '├─ trusts → bob (elsewhere)',
    '└─ ← knows cy (elsewhere)',
  ]);
  assert.deepEqual(treeLines([{ id: 'ann', depth: 0 }], []), ['ann']);
});

test('names are quoted for Graphviz', () => {
  assert.deepEqual(dotLines([{ source: 'a "b"', relation: 'c\\d', target: 'e\nf' }]), [
    'digraph memory {',
    '  "a \\"b\\"" -> "e\\nf" [label="c\\\\d"];',
    '}',
  ]);
});
